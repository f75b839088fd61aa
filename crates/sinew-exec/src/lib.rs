//! Running programs for skills: the only crate that starts one.
//!
//! - [`EnvPlan`] collects and sanitises the variables that the user configured for a skill;
//!   [`EnvLeases`] pass them to one run, and [`EnvLedger`] writes them into a host's own table and
//!   restores it.
//! - [`child`] starts a program from an argument vector, with an explicit environment, in its own
//!   process group, under limits; [`run`] adds the one retry; [`classify`] decides how it ended.
//! - [`sandbox`] puts a program into a box that holds the files and the network it was given.
//! - [`install`] runs installers and downloads, and asks the operator's policy first.
//!
//! ```
//! use sinew_exec::classify::{FailureEvidence, classify};
//! use sinew_exec::child::ExitCause;
//!
//! let evidence = FailureEvidence {
//!     how: Some(ExitCause::Exit(127)),
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
mod env_plan;
mod env_states;
mod env_value;
pub mod install;
mod lease;
mod ledger;
mod output_excerpt;
mod process_group;
pub mod run;
pub mod sandbox;
pub mod secret;
mod supervise;
mod terminal;

pub use env_plan::{CoveredSkill, EnvPlan, EnvRules, PlannedVar};
pub use env_states::{EnvState, EnvValueSource, env_states};
pub use env_value::{EnvValue, SecretMasker};
pub use lease::{EnvLease, EnvLeases};
pub use ledger::{AppliedEnv, EnvLedger, EnvTarget};
pub use output_excerpt::{KEPT_BYTES, OutputExcerpt, plain_text};
pub use process_group::ProcessSignal;
