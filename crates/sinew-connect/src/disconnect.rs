//! Removing what was written, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_settings::{CodedError, ErrorCode};

use super::agents::ConnectableAgent;
use super::config_file::{AgentConfigFile, digest, unreadable_error};
use super::connect::find_agent;
use super::edit::{ConfigDocument, ConfigFormat};
use super::file_change::{RemovedValue, diff, remove_value};
use super::ledger::{ConnectChange, WrittenValue};
use super::skill_links;

use crate::Connector;

/// What disconnecting an agent did, or would do.
#[derive(Debug, Serialize)]
pub struct DisconnectReport {
    /// The agent.
    pub agent: &'static str,
    /// Its files.
    pub files: Vec<DisconnectedFile>,
    /// Skills that were removed from its folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<PathBuf>,
    /// Whether it was written.
    pub written: bool,
}

/// What became of one file.
#[derive(Debug, Serialize)]
pub struct DisconnectedFile {
    /// The file.
    pub file: PathBuf,
    /// Whether the file has its earlier bytes again.
    pub restored: bool,
    /// Entries that were removed.
    pub removed: Vec<String>,
    /// Entries that were changed since; they stay.
    pub changed_by_user: Vec<String>,
    /// What changes, as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip)]
    found: Option<AgentConfigFile>,
    /// The text to write; `None` removes the file.
    #[serde(skip)]
    text: Option<String>,
    #[serde(skip)]
    backups: Vec<PathBuf>,
    /// Folders that were made for it, outermost first.
    #[serde(skip)]
    folders: Vec<PathBuf>,
}

impl Connector<'_> {
    /// Removes what connecting wrote; without `write`, only says what it would do.
    pub fn disconnect(&self, name: &str, write: bool) -> Result<DisconnectReport, CodedError> {
        let agent = find_agent(name)?;
        let _alone = if write { Some(self.lock()?) } else { None };
        let ledger = self.ledger();
        let changes = ledger.changes().map_err(|error| self.ledger_failed(error))?;
        let mut by_file: BTreeMap<PathBuf, Vec<ConnectChange>> = BTreeMap::new();
        for change in changes.into_iter().filter(|change| change.agent == agent.id) {
            by_file.entry(change.file.clone()).or_default().push(change);
        }
        let published = skill_links::linked_folders(self, agent);
        if by_file.is_empty() && published.is_empty() {
            return Err(CodedError::new(
                ErrorCode::NotConnected,
                format!("{} is not connected by sinew", agent.title),
            )
            .hint("`sinew connect --list` shows what is"));
        }
        let mut files = Vec::new();
        for (file, changes) in by_file {
            let undone = self.undo(agent, file, &changes)?;
            if write {
                let scope = changes.last().map_or(super::ConnectScope::User, |change| change.scope);
                carry_out(&undone, scope)?;
                ledger
                    .record_disconnect(self.stamp(), agent.id, &undone.file)
                    .map_err(|error| self.ledger_failed(error))?;
            }
            files.push(undone);
        }
        if write {
            skill_links::remove_links(&published)?;
        }
        Ok(DisconnectReport { agent: agent.id, files, skills: published, written: write })
    }

    fn undo(
        &self,
        agent: &ConnectableAgent,
        file: PathBuf,
        changes: &[ConnectChange],
    ) -> Result<DisconnectedFile, CodedError> {
        let found = AgentConfigFile::read(self.env, self.workspace, &file)?;
        let mut undone = DisconnectedFile {
            file,
            restored: false,
            removed: Vec::new(),
            changed_by_user: Vec::new(),
            diff: String::new(),
            found: None,
            text: None,
            backups: changes.iter().filter_map(|change| change.backup.clone()).collect(),
            folders: Vec::new(),
        };
        let Some(now) = found.text.clone() else {
            // The file was removed, and our entry with it.
            return Ok(undone);
        };
        if let Some(before) = as_before(changes, &now) {
            let all = changes.iter().flat_map(|change| &change.written);
            undone.removed = all.map(WrittenValue::label).collect();
            undone.restored = true;
            undone.text = before;
            if changes.iter().any(ConnectChange::is_whole_file) {
                let made = changes.iter().flat_map(|change| &change.made).flatten();
                undone.folders = made.map(PathBuf::from).collect();
            }
        } else if changes.iter().any(ConnectChange::is_whole_file) {
            undone.changed_by_user.push(WrittenValue::File.label());
            undone.text = Some(now.clone());
        } else {
            let format = format_of(agent, &undone.file);
            let mut document = found.document(format)?;
            for change in changes.iter().rev() {
                take_out(&mut document, change, &mut undone);
            }
            undone.text = Some(match undone.removed.is_empty() {
                true => now.clone(),
                false => document.text(),
            });
            ConfigDocument::read(format, undone.text.as_deref().unwrap_or_default())
                .map_err(|trouble| unreadable_error(&undone.file, &trouble))?;
        }
        undone.diff = diff(&undone.file, &now, undone.text.as_deref().unwrap_or_default());
        undone.found = Some(found);
        Ok(undone)
    }
}

/// The file as it was before the first of these changes, where nothing else has touched it since:
/// `Some(None)` where there was no file.
fn as_before(changes: &[ConnectChange], now: &str) -> Option<Option<String>> {
    let unbroken =
        changes.windows(2).all(|pair| pair[1].before.as_deref() == Some(&*pair[0].after));
    let (first, last) = (changes.first()?, changes.last()?);
    if !unbroken || last.after != digest(now) {
        return None;
    }
    let Some(before) = &first.before else { return Some(None) };
    let text = fs::read_to_string(first.backup.as_ref()?).ok()?;
    (digest(&text) == *before).then_some(Some(text))
}

fn take_out(document: &mut ConfigDocument, change: &ConnectChange, undone: &mut DisconnectedFile) {
    for written in &change.written {
        match remove_value(document, written) {
            RemovedValue::Ours => undone.removed.push(written.label()),
            RemovedValue::Changed => undone.changed_by_user.push(written.label()),
            RemovedValue::Missing => {}
        }
    }
    for made in change.made.iter().rev() {
        let at: Vec<&str> = made.iter().map(String::as_str).collect();
        if document.is_empty(&at) {
            document.remove(&at);
        }
    }
}

/// Hooks are kept in JSON, whatever the agent's own format is.
pub(super) fn format_of(agent: &ConnectableAgent, file: &Path) -> ConfigFormat {
    let hooks =
        file.file_name().is_some_and(|name| name == "hooks.json" || name == "settings.json");
    if hooks { ConfigFormat::Json } else { agent.format }
}

fn carry_out(undone: &DisconnectedFile, scope: super::ConnectScope) -> Result<(), CodedError> {
    let Some(found) = &undone.found else { return Ok(()) };
    match &undone.text {
        Some(text) if found.text.as_ref() != Some(text) => found.replace(text, scope)?,
        Some(_) => {}
        None => fs::remove_file(&found.path)
            .map_err(|error| CodedError::file("remove", &found.path, error))?,
    }
    if undone.restored {
        // The file equals its backup again, so the backup is not needed.
        for backup in &undone.backups {
            let _ = fs::remove_file(backup);
        }
        // A folder that holds something else by now stays.
        for folder in undone.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}
