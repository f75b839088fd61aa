//! What an agent does in a session, recorded live: a generic trace that grows by a record with each
//! event, beside the session's journal. When a turn is over, it is read as runs like a transcript.
//!
//! Records are cleaned before they are written, and only the last run stays: the user's next message
//! may be a verdict on it, or go on with it.

use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_guard::atomic::{self, FileAccess};
use sinew_traces::{AgentRun, TraceAgent, TraceReadError, TranscriptOptions};

use super::json_lines;

/// The largest trace of one run, in bytes. Further steps are not recorded: a run of that size is not
/// worth repeating.
const MAX_SPOOL: u64 = 4 << 20;

/// A session's trace.
#[derive(Debug)]
pub(super) struct TraceSpool {
    path: PathBuf,
}

impl TraceSpool {
    /// The ending of its file, beside the journal of the session.
    pub(super) const EXTENSION: &str = "trace";

    pub(super) fn beside(journal: &Path) -> Self {
        Self { path: journal.with_extension(Self::EXTENSION) }
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Adds a record; the first one of a session comes after `head`.
    pub(super) fn add(&self, head: &Value, record: &Value) -> io::Result<()> {
        match fs::metadata(&self.path) {
            Ok(facts) if facts.len() > MAX_SPOOL => {
                return Err(io::Error::other("the trace of the session's run is full"));
            }
            Ok(_) => {}
            Err(_) => json_lines::append(&self.path, head)?,
        }
        json_lines::append(&self.path, record)
    }

    /// The runs in it; the last may go on.
    pub(super) fn runs(&self) -> io::Result<Vec<AgentRun>> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut runs = Vec::new();
        let reading =
            TranscriptOptions { agent: Some(TraceAgent::Generic), name: "", progress: &|_| {} };
        match sinew_traces::read(&mut Cursor::new(bytes), &reading, &mut |run| runs.push(run)) {
            Ok(_) => Ok(runs),
            Err(TraceReadError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Removes everything before the run that began at `start`.
    pub(super) fn keep_from(&self, start: &str) -> io::Result<()> {
        let records: Vec<Value> = json_lines::read(&self.path)?;
        let begins = |record: &Value| record["type"] == "user" && record["at"] == start;
        let Some(at) = records.iter().position(begins).filter(|at| *at > 1) else { return Ok(()) };
        let mut kept = Vec::new();
        for record in records[..1].iter().chain(&records[at..]) {
            writeln!(kept, "{record}")?;
        }
        atomic::write(&self.path, &kept, FileAccess::OwnerOnly)
    }
}
