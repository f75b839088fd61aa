//! Which agents are on this machine, and which parts of them are connected.

use sinew_settings::CodedError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::agent_table::AGENTS;
use super::agents::{ConnectScope, ConnectableAgent};
use super::config_file::AgentConfigFile;
use super::disconnect::format_of;
use super::edit::{ConfigDocument, has_item, same_meaning};
use super::ledger::{ConnectChange, WrittenValue};
use crate::Connector;

/// An agent.
#[derive(Debug, Serialize)]
pub struct AgentConnection {
    /// Its name on the command line.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether it is on this machine.
    pub found: bool,
    /// How it is told what fits a message: `commands`, `plugin`, or `none` where its model has to ask.
    pub hooks: &'static str,
    /// Whether it can list a core of skills only.
    pub library: bool,
    /// Whether projects have a configuration of their own.
    pub projects: bool,
    /// What was written for it.
    pub files: Vec<ConnectionFile>,
}

/// A file into which something was written.
#[derive(Debug, Serialize)]
pub struct ConnectionFile {
    /// The file.
    pub file: PathBuf,
    /// Whose it is.
    pub scope: ConnectScope,
    /// Entries that still hold what was written.
    pub intact: Vec<String>,
    /// Entries that were changed or removed since.
    pub changed: Vec<String>,
}

impl Connector<'_> {
    /// Every agent that can be connected, with what is connected of it.
    pub fn connections(&self) -> Result<Vec<AgentConnection>, CodedError> {
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let each = AGENTS.iter().map(|agent| {
            let of_agent: Vec<ConnectChange> =
                changes.iter().filter(|change| change.agent == agent.id).cloned().collect();
            let mut files: Vec<ConnectionFile> = Vec::new();
            let mut states: BTreeMap<&Path, FileState> = BTreeMap::new();
            for (change, written) in ConnectChange::standing(&of_agent) {
                let at = files.iter().position(|file| file.file == change.file);
                let at = at.unwrap_or_else(|| {
                    files.push(ConnectionFile::new(change));
                    files.len() - 1
                });
                let read = || FileState::read(self, agent, &change.file);
                let state = states.entry(&change.file).or_insert_with(read);
                let file = &mut files[at];
                let is_intact = state.is_intact(change, written);
                let list = if is_intact { &mut file.intact } else { &mut file.changed };
                // Library mode writes a value for each skill, in one place.
                let library = agent.library.as_ref().map(|library| library.at);
                let label = match library.filter(|at| written.at().starts_with(at)) {
                    Some(at) => at.join("."),
                    None => written.label(),
                };
                if !list.contains(&label) {
                    list.push(label);
                }
            }
            AgentConnection {
                agent: agent.id,
                title: agent.title,
                found: agent.is_installed(self.env),
                hooks: agent.hooks.as_str(),
                library: agent.library.is_some(),
                projects: agent.configs.iter().any(|(scope, _)| *scope == ConnectScope::Project),
                files,
            }
        });
        Ok(each.collect())
    }
}

/// A file as it is now.
struct FileState {
    digest: Option<String>,
    document: Option<ConfigDocument>,
}

impl FileState {
    fn read(connector: &Connector<'_>, agent: &ConnectableAgent, file: &Path) -> Self {
        let found = AgentConfigFile::read(connector.env, connector.workspace, file).ok();
        let document = found.as_ref().and_then(|found| found.document(format_of(agent, file)).ok());
        Self { digest: found.and_then(|found| found.digest()), document }
    }

    /// Whether it still says what was written.
    fn is_intact(&self, change: &ConnectChange, written: &WrittenValue) -> bool {
        let there = || self.document.as_ref()?.get(&written.at());
        match written {
            WrittenValue::Entry { value, .. } => {
                there().is_some_and(|there| same_meaning(&there, value))
            }
            WrittenValue::Item { value, .. } => has_item(there().as_ref(), value),
            WrittenValue::File => self.digest.as_ref() == Some(&change.after),
        }
    }
}

impl ConnectionFile {
    fn new(change: &ConnectChange) -> Self {
        let (file, scope) = (change.file.clone(), change.scope);
        Self { file, scope, intact: Vec::new(), changed: Vec::new() }
    }
}
