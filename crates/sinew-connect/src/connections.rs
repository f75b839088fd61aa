//! Which agents are on this machine, and which parts of them are connected.

use std::path::PathBuf;

use serde::Serialize;

use super::agents::{AGENTS, ConnectScope};
use super::config_file::AgentConfigFile;
use super::disconnect::format_of;
use super::ledger::{ConnectChange, WrittenValue};
use crate::{ConnectError, Connector};

/// An agent.
#[derive(Debug, Serialize)]
pub struct AgentConnection {
    /// Its name on the command line.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether it is on this machine.
    pub found: bool,
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
    pub fn connections(&self) -> Result<Vec<AgentConnection>, ConnectError> {
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let each = AGENTS.iter().map(|agent| {
            let mut files: Vec<ConnectionFile> = Vec::new();
            for change in changes.iter().filter(|change| change.agent == agent.id) {
                let (intact, changed) = self.compared(agent, change);
                match files.iter_mut().find(|file| file.file == change.file) {
                    Some(known) => {
                        known.intact.extend(intact);
                        known.changed.extend(changed);
                    }
                    None => files.push(ConnectionFile {
                        file: change.file.clone(),
                        scope: change.scope,
                        intact,
                        changed,
                    }),
                }
            }
            AgentConnection {
                agent: agent.id,
                title: agent.title,
                found: agent.is_installed(self.env),
                files,
            }
        });
        Ok(each.collect())
    }

    /// Compares the entries that were written with what the files hold now.
    fn compared(
        &self,
        agent: &super::agents::ConnectableAgent,
        change: &ConnectChange,
    ) -> (Vec<String>, Vec<String>) {
        let found = AgentConfigFile::read(self.env, self.workspace, &change.file);
        let document = found.and_then(|found| found.document(format_of(agent, &change.file)));
        let (mut intact, mut changed) = (Vec::new(), Vec::new());
        for written in &change.written {
            let there = document.as_ref().ok().and_then(|document| document.get(&written.at()));
            let same = match written {
                WrittenValue::Entry { value, .. } => there.as_ref() == Some(value),
                WrittenValue::Item { value, .. } => {
                    there.and_then(|list| Some(list.as_array()?.contains(value))) == Some(true)
                }
            };
            let list = if same { &mut intact } else { &mut changed };
            list.push(written.at().join("."));
        }
        (intact, changed)
    }
}
