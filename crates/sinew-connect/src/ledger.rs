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
    /// An entry of a map.
    Entry { at: Vec<String>, value: Value },
    /// An item of a list.
    Item { at: Vec<String>, value: Value },
}

impl WrittenValue {
    pub(super) fn at(&self) -> Vec<&str> {
        let (Self::Entry { at, .. } | Self::Item { at, .. }) = self;
        at.iter().map(String::as_str).collect()
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
    /// Maps and lists that were not there before.
    pub(super) made: Vec<Vec<String>>,
    /// The file's digest before; `None` where there was none.
    pub(super) before: Option<String>,
    pub(super) after: String,
    pub(super) backup: Option<PathBuf>,
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
