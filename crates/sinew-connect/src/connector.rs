//! What connecting and importing work with: the machine, the workspace, and the engine's services.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew_catalog::Snapshot;
use sinew_cortex::UtcInstant;
use sinew_guard::atomic::FileLock;
use sinew_settings::Environment;

use crate::agents::{AgentSkillAccess, ConnectableAgent};
use crate::ledger::ConnectLedger;
use crate::library::ListedSkill;
use sinew_settings::CodedError;

/// The engine's services: its view of skills, and its one way to install.
pub trait ConnectHost: Debug {
    /// The skills as they are now.
    fn snapshot(&self) -> Arc<Snapshot>;
    /// The skills of one folder: parsed, gated and scanned like any other.
    fn look_at(&self, folder: &Path) -> Result<Arc<Snapshot>, CodedError>;
    /// The skills that an agent finds by itself, by its profile's folders.
    fn listed_skills(&self, profile: &str) -> Result<Vec<ListedSkill>, CodedError>;
    /// The names of skills that agents go on listing in library mode.
    fn core_skills(&self) -> Vec<String>;
    /// Installs a copy of a folder under a name: scanned, staged and locked like any other. Nothing
    /// happens where the name is taken.
    fn install_copy(&self, name: &str, source: &Path) -> Result<(), CodedError>;
}

/// Other programs' files, as one user sees them from one workspace.
#[derive(Debug, Clone)]
pub struct Connector<'a> {
    /// The machine.
    pub env: &'a Environment,
    /// The agent's workspace.
    pub workspace: &'a Path,
    /// Where installed skills live.
    pub managed_folder: PathBuf,
    /// sinew's own configuration file, which names folders that are read where they are.
    pub config_path: &'a Path,
    /// The engine.
    pub host: &'a dyn ConnectHost,
}

impl Connector<'_> {
    pub(crate) fn ledger(&self) -> ConnectLedger {
        ConnectLedger::below(&self.env.sinew_home())
    }

    /// Keeps other processes from writing for agents at the same time: a background process that follows
    /// library mode must not write again what a person has just taken out.
    pub(crate) fn lock(&self) -> Result<FileLock, CodedError> {
        let path = self.env.sinew_home().join("connecting.lock");
        FileLock::acquire(&path).map_err(|error| CodedError::file("lock", &path, error))
    }

    pub(crate) fn ledger_failed(&self, error: io::Error) -> CodedError {
        CodedError::file("write", &self.env.sinew_home().join("connections.jsonl"), error)
    }

    pub(crate) fn stamp(&self) -> String {
        UtcInstant::from_clock(self.env.clock.now_ms()).to_string()
    }

    /// Where sinew's own skills go for an agent that has a folder for them.
    pub(crate) fn skills_folder(&self, agent: &ConnectableAgent) -> Option<PathBuf> {
        match agent.skills {
            AgentSkillAccess::Folder(place) => Some(place.path(self.env, self.workspace)),
            AgentSkillAccess::Listed(_) => None,
        }
    }
}
