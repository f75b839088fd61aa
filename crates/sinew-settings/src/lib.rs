//! The machine and its settings: what every other crate is given instead of looking for itself.
//!
//! An [`Environment`] is the machine as the caller sees it, with its folders, variables and
//! [`Clock`]. A [`Config`] is what its user decided: every key is declared once, in [`config`], with
//! its type, default, range and meaning. An [`Actor`] says who acts. A [`Reason`] says why something
//! was left out, shortened, repaired or overridden; an [`ErrorCode`] names an error and its
//! [`ErrorKind`].
//!
//! ```
//! use sinew_settings::Config;
//! use sinew_settings::config::{ModelChoice, find_key};
//!
//! let (config, reasons) = Config::from_text("{route: {model: 'words', treshold: 0.5}}");
//! assert_eq!(config.route.model, ModelChoice::Words);
//! assert_eq!(reasons[0].remedy.as_deref(), Some("did you mean route.threshold?"));
//!
//! let key = find_key("hook.maxChars").expect("every key is in the table");
//! assert_eq!(key.values(), "a whole number from 500 to 9500");
//! assert_eq!(key.default, "6000");
//! ```
//!
//! **Promise:** the only description of a key, and of the machine that other crates read.
//! **Invariant:** no I/O beyond reading the configuration file; only the feature `process` looks at
//! the process. **Left out on purpose:** what a key does.

mod actor;
mod coded_error;
pub mod config;
mod environment;
mod error_code;
mod error_kind;
mod nearest;
#[cfg(feature = "process")]
mod process;
mod reason;

pub use actor::Actor;
pub use coded_error::CodedError;
pub use config::Config;
pub use environment::{
    Clock, Environment, FixedClock, FolderRelocation, path_text, platform_alias, platform_name,
    tidy_path,
};
pub use error_code::{ErrorCode, UnknownErrorCode};
pub use error_kind::ErrorKind;
pub use nearest::{index_name, nearest};
pub use reason::{Reason, ReasonCode, ReasonSeverity, ReasonStage};
