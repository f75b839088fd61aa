//! What became of every offer, kept beyond the session: the file from which `sinew usage` counts.
//!
//! A record has an id that follows from what it is about, so that a turn which is settled twice counts
//! once. No message and no file's content is in it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sinew_guard::atomic::FileLock;

use super::json_lines;

/// The file is rotated at this size, and one old one is kept: some ten thousand messages each.
const MAX_LOG: u64 = 4 << 20;

/// What happened to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum UsageEvent {
    /// It was offered.
    Offered,
    /// Its text came along.
    Brought,
    /// The agent read its file.
    Read,
    /// The agent called it by name.
    Invoked,
    /// The agent ran what the text that came along says.
    Followed,
    /// The turn went well after that.
    Worked,
    /// It did not.
    Failed,
    /// The user corrected what came of it.
    Corrected,
}

/// One thing that happened to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UsageRecord {
    /// What makes it the same record when it is written again.
    pub(super) id: String,
    /// When, in milliseconds since 1970.
    pub(super) at: u64,
    pub(super) event: UsageEvent,
    pub(super) skill: String,
    pub(super) agent: String,
    pub(super) project: PathBuf,
    /// The offer that it goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) offer: Option<String>,
    /// Characters that were added to a message.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) chars: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The file.
#[derive(Debug)]
pub(super) struct UsageLog {
    path: PathBuf,
}

impl UsageLog {
    pub(super) fn below(folder: &Path) -> Self {
        Self { path: folder.join("usage.jsonl") }
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("jsonl.1")
    }

    pub(super) fn add(&self, records: &[UsageRecord]) -> io::Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let _lock = FileLock::acquire(&self.path.with_extension("lock"))?;
        if fs::metadata(&self.path).is_ok_and(|facts| facts.len() > MAX_LOG) {
            fs::rename(&self.path, self.old())?;
        }
        records.iter().try_for_each(|record| json_lines::append(&self.path, record))
    }

    /// Every record since a moment, each once.
    pub(super) fn since(&self, from: u64) -> io::Result<Vec<UsageRecord>> {
        let mut all: Vec<UsageRecord> = json_lines::read(&self.old())?;
        all.extend(json_lines::read::<UsageRecord>(&self.path)?);
        let mut known = BTreeSet::new();
        all.retain(|record| record.at >= from && known.insert(record.id.clone()));
        Ok(all)
    }
}
