//! The catalog: every skill that was found, and what was decided about it.
//!
//! A [`Catalog`] is built from the roots of a [`Profile`] and never fails as a whole: a file that
//! cannot be read becomes an entry with a [`Reason`](sinew_settings::Reason), so that a list can show
//! it. What is eligible, who may see it, how it fits into a prompt and which slash command it gets
//! are decided here, once, for every surface.
//!
//! ```
//! use sinew_catalog::{CallerFolders, CatalogBuilder, CatalogRequest, Profile, RemoteMachines};
//! use sinew_settings::{Config, Environment, FixedClock};
//! use std::{collections::BTreeMap, path::PathBuf, sync::Arc};
//!
//! let env = Environment {
//!     home: PathBuf::from("/nowhere"),
//!     cwd: PathBuf::from("/nowhere"),
//!     vars: BTreeMap::new(),
//!     os: "linux".into(),
//!     exe: None,
//!     clock: Arc::new(FixedClock(0)),
//! };
//! let config = Config::default();
//! let catalog = CatalogBuilder::default().build(&CatalogRequest {
//!     profile: Profile::default_profile(),
//!     places: CallerFolders { workspace: "/nowhere".into(), ..CallerFolders::default() },
//!     config: &config,
//!     env: &env,
//!     agent: None,
//!     overrides: BTreeMap::new(),
//!     remote: RemoteMachines::default(),
//!     reserved_commands: Vec::new(),
//!     scan: None,
//!     vouch: None,
//! });
//! assert!(catalog.entries.is_empty());
//! assert!(catalog.issues.iter().all(|reason| reason.code.as_str() == "root-missing"));
//! ```
//!
//! **Invariant:** this crate reads skill folders, and the files in which hosts say where theirs are,
//! and nothing else. The environment, the clock and
//! the configuration are passed in. **Left out on purpose:** ranking by meaning (`sinew-route`),
//! and writing anything.

mod agent_folders;
mod assembled_catalog;
mod bins;
mod catalog;
mod catalog_cache;
pub mod collate;
pub mod commands;
mod discover;
pub mod dispatch;
mod entry;
mod entry_filter;
mod entry_owner;
mod filter;
mod gate;
mod host_table;
mod hosts;
pub mod install;
mod listing;
mod load;
pub mod locations;
mod lookup;
mod memory;
mod merge;
mod parallel;
mod plain_commands;
mod profile;
pub mod prompt;
mod reading_progress;
pub mod references;
mod remote;
mod roots;
mod scan;
mod shell_word;
mod skill_needs;
mod snapshot;
pub mod tools;
pub mod watch;

pub use agent_folders::{SkillFolderScope, agent_name, agent_skill_folder, agents_with_folders};
pub use assembled_catalog::{AssembledCatalog, CHECK_AFTER, CatalogExcerpt, LARGE_CATALOG};
pub use bins::{find_program, program_folders};
pub use catalog::{Catalog, CatalogBuilder, CatalogRequest, InstallVoucher};
pub use discover::SKILL_FILE;
pub use entry::{CatalogEntry, ConfigPathCheck, EntryState, RequirementOrigin, SkillRequirements};
pub use entry_filter::{EntryFilter, SkillStateFilter};
pub use filter::SessionOverrides;
pub use host_table::{HOSTS, HostRow, McpServersFile, all_profiles, configured_profile};
pub use hosts::{
    HostPackage, HostSwitch, HostSwitches, PluginHost, PluginOrigin, PluginState, find_host_package,
};
pub use lookup::SkillLookupError;
pub use parallel::use_current_thread;
pub use profile::{
    AGENT_ROOTS, AgentRoots, LinkPolicy, MergeWinner, PROFILES, Profile, ProjectTrust,
    RootLocation, RootTemplate, ScopeFolder, ScopeOrder, ScopeReach, SkillNaming, Tier,
};
pub use reading_progress::reading_progress;
pub use remote::{RemoteMachine, RemoteMachines};
pub use roots::{
    CallerFolders, RootShape, SkillRoot, expand_root_path, find_bundled_skills, resolve_roots,
};
pub use scan::{ScanGate, ScanSummary};
pub use shell_word::shell_word;
pub use snapshot::{
    CatalogChange, LiveCatalog, PROMPT_FORMAT_VERSION, RefreshCause, Snapshot, SnapshotRecord,
    SnapshotSkill,
};
