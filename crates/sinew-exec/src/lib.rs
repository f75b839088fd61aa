//! Running programs for skills: the only crate that starts one.
//!
//! - [`Plan`] collects and sanitises the variables that the user configured for a skill; [`Leases`]
//!   hand them to one run, and [`Ledger`] writes them into a host's own table and puts that back.
//! - [`child`] starts a program from an argument vector, with an explicit environment, in a group of
//!   its own, under limits; [`run`] adds the one retry; [`classify`] says what became of it.
//! - [`install`] runs installers and downloads, and asks the operator's policy first.
//!
//! ```
//! use sinew_exec::classify::{Evidence, classify};
//! use sinew_exec::child::How;
//!
//! let evidence = Evidence {
//!     how: Some(How::Exit(127)),
//!     program: "sh",
//!     text: "sh: 1: gh: not found",
//!     missing: &[],
//! };
//! assert_eq!(classify(&evidence).outcome.as_str(), "dependency_missing");
//! ```
//!
//! **Promise:** nothing from a skill reaches a shell, and no value of a lease reaches a record, an
//! error or `Debug`. **Left out on purpose:** asking a person, and deciding which skills take part
//! (`sinew-engine`).

pub mod child;
pub mod classify;
mod group;
pub mod install;
mod kept;
mod lease;
mod ledger;
mod plan;
pub mod run;
pub mod secret;
mod states;
mod supervise;
mod terminal;
mod value;

pub use group::Signal;
pub use kept::{KEPT_BYTES, Kept, plain};
pub use lease::{EnvLease, Leases};
pub use ledger::{Applied, EnvTarget, Ledger};
pub use plan::{Covered, Plan, Planned, Rules};
pub use states::{EnvState, From, env_states};
pub use value::{Masker, Value};
