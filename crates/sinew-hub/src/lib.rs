//! Registries of skills: finding, fetching, verifying and installing skills that an agent lacks.
//!
//! A skill version is a [`tree::SkillTree`] of files; [`digest`] computes the digests that other tools
//! have to agree on, and [`version_archive`] packs it as registries do.
//!
//! ```
//! use sinew_hub::tree::{SkillTree, TreeFile};
//!
//! let tree = SkillTree::new(vec![TreeFile::new("SKILL.md", "---\nname: demo\n---\n")])?;
//! assert!(tree.records().iter().all(|file| file.sha256.len() == 64));
//! # Ok::<(), sinew_hub::tree::TreeError>(())
//! ```
//!
//! **Promise:** an install is all or nothing, and what is loaded is what was scanned and approved.
//! **Left out on purpose:** deciding to install: that takes a permit, which the engine gives after its
//! policy and a person agree.

pub mod cache;
pub mod credentials;
pub mod digest;
mod error;
mod fetch;
mod hub;
pub mod install;
pub mod lock;
mod manage;
pub mod manifest;
pub mod net;
pub mod own_remote;
mod permit;
pub mod publisher;
pub mod reference;
pub mod registry;
mod remote_details;
mod resolve;
mod restore;
mod search;
pub mod settings;
pub mod signature;
pub mod source;
mod sync_record;
pub mod tree;
mod update;
mod verify;
pub mod version_archive;
pub mod wire;
mod workdir;

pub use error::HubError;
pub use fetch::{FolderLookup, GitHubSkill};
pub use hub::Hub;
pub use manage::UninstalledSkill;
pub use permit::{ChangePermit, HubAuthority, ImportPermit, InstallPermit};
pub use remote_details::{RemoteSkillDetails, RemoteSkillExtras};
pub use resolve::{ResolvedVersion, vouched_folder};
pub use restore::{RestoreStrictness, RestoredSkill};
pub use search::{NameMatching, RegistryCandidate, RegistryHits, RegistryQuery, SearchSources};
pub use sync_record::{SyncRecord, SyncedSkill};
pub use update::{UpdateRequest, UpdateResult, UpdateStatus};
pub use verify::{SkillVerification, TreeStatus, WorkdirSkill, hold_reason};
pub use workdir::{Workdir, WorkdirGuard};
