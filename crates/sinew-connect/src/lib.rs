//! Other programs' files: sinew's entry in the configuration of agents that people already use, and
//! the import of those agents' skills.
//!
//! A [`Connector`] is built by the engine, which gives it a view of skills and its one way to install
//! ([`ConnectHost`]). [`Connector::plan`] says what connecting would change, [`Connector::connect`]
//! writes it, with a backup and a line in a ledger, and [`Connector::disconnect`] removes exactly that
//! again. [`Connector::import`] finds the skills of other agents and imports them. Agents are rows of a
//! table; one writer serves them all.
//!
//! **Promise:** undo is exact: a file that was not changed since gets its old bytes back; from one that
//! was, only our entry is removed. **Left out on purpose:** routing, and deciding what is installed.
//!
//! What must never happen here: a file that is half written, a change to a file that could not be
//! parsed, an entry of the user that is replaced without `--force`, a secret in a file.

mod agent_table;
mod agents;
mod client_word;
mod config_file;
mod connect;
mod connections;
mod connector;
mod context_cost;
mod disconnect;
mod edit;
mod file_change;
mod import;
mod ledger;
mod library;
mod plan;
mod plugin_files;
mod probe;
mod server_check;
mod skill_links;
mod skill_placement;
mod tool_list;
mod trial;

pub use agents::ConnectScope;
pub use connect::{ConnectParts, ConnectPlan, ConnectRequest};
pub use connections::{AgentConnection, ConnectionFile};
pub use connector::{ConnectHost, Connector};
pub use context_cost::{AgentContext, ContextCost, SkillCost};
pub use disconnect::{DisconnectReport, DisconnectedFile};
pub use edit::json5_with_values;
pub use file_change::{FileChange, FileChangeStatus};
pub use import::{
    ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill, SkillImportMode,
};
pub use library::ListedSkill;
pub use probe::ConnectionProbe;
pub use server_check::ServerCheck;
pub use skill_links::SkillLinks;
pub use skill_placement::{PlacementOutcome, place_skill, remove_placement};
pub use trial::{AgentPromise, TRIAL_VARIABLE, TrialLaunch, variables_before_trial};
