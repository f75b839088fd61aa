//! The ledger: what was written into other programs' files, so that exactly that can be removed.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_guard::scan_records;

use super::agents::ConnectScope;

/// One thing that was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum WrittenValue {
    /// An entry of a map, and what stood there before.
    Entry {
        at: Vec<String>,
        value: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaced: Option<Value>,
    },
    /// An item of a list.
    Item { at: Vec<String>, value: Value },
    /// A whole file of ours.
    File,
}

impl WrittenValue {
    pub(super) fn at(&self) -> Vec<&str> {
        match self {
            Self::Entry { at, .. } | Self::Item { at, .. } => {
                at.iter().map(String::as_str).collect()
            }
            Self::File => Vec::new(),
        }
    }

    /// What it is called in a report.
    pub(super) fn label(&self) -> String {
        match self {
            Self::File => "the file".to_owned(),
            _ => self.at().join("."),
        }
    }
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ConnectChange {
    /// When, in RFC 3339.
    pub(super) at: String,
    pub(super) agent: String,
    pub(super) scope: ConnectScope,
    pub(super) file: PathBuf,
    pub(super) written: Vec<WrittenValue>,
    /// What earlier changes wrote and this one took out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed: Vec<WrittenValue>,
    /// Maps and lists that were not there before; folders, where the file is ours.
    pub(super) made: Vec<Vec<String>>,
    /// Whether this is about which skills the agent lists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) library: bool,
    /// The file's digest before; `None` where there was none.
    pub(super) before: Option<String>,
    pub(super) after: String,
    pub(super) backup: Option<PathBuf>,
}

impl ConnectChange {
    /// Whether the file is ours.
    pub(super) fn is_whole_file(&self) -> bool {
        self.written.contains(&WrittenValue::File)
    }

    /// What is still meant to be there of these changes, oldest first: what a later one took out is not.
    pub(super) fn standing(changes: &[Self]) -> Vec<(&Self, &WrittenValue)> {
        let mut standing: Vec<(&Self, &WrittenValue)> = Vec::new();
        for change in changes {
            let same_file = |of: &Self| of.file == change.file && of.agent == change.agent;
            standing.retain(|(of, value)| {
                let is_gone = change.removed.contains(value)
                    || **value == WrittenValue::File
                        && change.written.contains(&WrittenValue::File);
                !(same_file(of) && is_gone)
            });
            standing.extend(change.written.iter().map(|value| (change, value)));
        }
        standing
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum ConnectLedgerLine {
    Connected(ConnectChange),
    /// Everything written for this agent into this file was removed, or is no longer ours.
    Disconnected {
        at: String,
        agent: String,
        file: PathBuf,
    },
}

/// The ledger's file.
#[derive(Debug)]
pub(super) struct ConnectLedger {
    path: PathBuf,
}

impl ConnectLedger {
    pub(super) fn below(home: &Path) -> Self {
        Self { path: home.join("connections.jsonl") }
    }

    /// What is connected, oldest first.
    pub(super) fn changes(&self) -> io::Result<Vec<ConnectChange>> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut changes: Vec<ConnectChange> = Vec::new();
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                ConnectLedgerLine::Connected(change) => changes.push(change),
                ConnectLedgerLine::Disconnected { agent, file, .. } => {
                    changes.retain(|change| change.agent != agent || change.file != file);
                }
            }
        }
        Ok(changes)
    }

    pub(super) fn record_connect(&self, change: ConnectChange) -> io::Result<()> {
        scan_records::append_audit_record(&self.path, &ConnectLedgerLine::Connected(change))
    }

    pub(super) fn record_disconnect(&self, at: String, agent: &str, file: &Path) -> io::Result<()> {
        let (agent, file) = (agent.to_owned(), file.to_owned());
        scan_records::append_audit_record(
            &self.path,
            &ConnectLedgerLine::Disconnected { at, agent, file },
        )
    }
}
