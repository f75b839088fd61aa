//! The machine and its settings: what every other crate is given instead of looking for itself.
//!
//! An [`Environment`] is the machine as the caller sees it, with its folders, variables and
//! [`Clock`]. An [`Actor`] says who acts. A [`Reason`] says why something was left out, shortened,
//! repaired or overridden; an [`ErrorCode`] names an error and its [`ErrorKind`].
//!
//! ```
//! use sinew_settings::{Actor, Environment, FixedClock};
//! use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
//!
//! let env = Environment {
//!     home: PathBuf::from("/home/ada"),
//!     cwd: PathBuf::from("/home/ada/work"),
//!     vars: BTreeMap::new(),
//!     os: "linux".into(),
//!     exe: None,
//!     clock: Arc::new(FixedClock(0)),
//! };
//! assert_eq!(env.expand_home("~/skills"), PathBuf::from("/home/ada/skills"));
//! assert!(!Actor::Agent { name: "codex".into() }.is_person());
//! ```
//!
//! **Promise:** the only description of the machine that other crates read.
//! **Left out on purpose:** what anything here is used for.

mod actor;
mod environment;
mod error_code;
mod error_kind;
mod nearest;
#[cfg(feature = "process")]
mod process;
mod reason;

pub use actor::Actor;
pub use environment::{
    Clock, Environment, FixedClock, FolderRelocation, path_text, platform_alias, platform_name,
};
pub use error_code::{ErrorCode, UnknownErrorCode};
pub use error_kind::ErrorKind;
pub use nearest::{index_name, nearest};
pub use reason::{Reason, ReasonCode, ReasonSeverity, ReasonStage};
