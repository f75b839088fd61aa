//! Registries of skills: finding, fetching, verifying and installing what an agent lacks.
//!
//! A skill version is a [`tree::Tree`] of files; [`digest`] says which, in the words of each tool
//! that has to agree, and [`zipped`] packs it as registries do.
//!
//! ```
//! use sinew_hub::tree::{Tree, TreeFile};
//!
//! let tree = Tree::new(vec![TreeFile::new("SKILL.md", "---\nname: demo\n---\n")])?;
//! assert!(tree.records().iter().all(|file| file.sha256.len() == 64));
//! # Ok::<(), sinew_hub::tree::TreeError>(())
//! ```
//!
//! *Promises*: an install is all or nothing, and what is loaded is what was scanned and approved.
//! *Leaves out*: deciding to install (the engine asks a person for that).

pub mod cache;
pub mod credentials;
pub mod digest;
mod error;
mod fetch;
mod hub;
mod info;
pub mod install;
pub mod lock;
mod manage;
pub mod net;
pub mod publisher;
pub mod reference;
pub mod registry;
mod resolve;
mod restore;
mod search;
pub mod settings;
pub mod source;
pub mod tree;
mod update;
mod verify;
pub mod wire;
mod workdir;
pub mod zipped;

pub use error::{Class, HubError, Word};
pub use fetch::{Folder, TakenSkill};
pub use hub::Hub;
pub use info::{About, Want};
pub use manage::Removed;
pub use resolve::{Resolved, vouched};
pub use restore::{Restored, Strictness};
pub use search::{Candidate, Found, Matching, Query, Sources};
pub use update::{UpdateAsk, UpdateStatus, Updated};
pub use verify::{Row, TreeStatus, Verified, hold};
pub use workdir::{Entered, Workdir};
