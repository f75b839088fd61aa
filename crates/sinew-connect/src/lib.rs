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

mod agents;
mod config_file;
mod connect;
mod connections;
mod connector;
mod disconnect;
mod edit;
mod error;
mod import;
mod ledger;
mod plan;
mod probe;
mod skill_links;

pub use agents::ConnectScope;
pub use connect::{ConnectParts, ConnectPlan, ConnectRequest};
pub use connections::{AgentConnection, ConnectionFile};
pub use connector::{ConnectHost, Connector};
pub use disconnect::{DisconnectReport, DisconnectedFile};
pub use error::ConnectError;
pub use import::{
    ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill, SkillImportMode,
};
pub use plan::{FileChange, FileChangeStatus};
pub use probe::ConnectionProbe;
pub use skill_links::SkillLinks;
