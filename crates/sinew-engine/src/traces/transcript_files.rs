//! Where agents keep their sessions, and which files of a folder are transcripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sinew_settings::ErrorCode;
use sinew_traces::TraceAgent;

use super::LearnSource;
use crate::{EngineError, TracesHandle};

/// Files of a folder that are considered: more sessions than any user has.
const MAX_FILES: usize = 20_000;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// How deep a folder is walked: Codex keeps sessions below year, month and day.
const MAX_DEPTH: usize = 8;

/// Names that transcripts end in.
const ENDINGS: &[&str] = &["jsonl", "json", "md"];

/// A file that may be a transcript.
#[derive(Debug, Clone)]
pub(super) struct TranscriptFile {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// When it changed last, in milliseconds since 1970.
    pub(super) changed: u64,
}

impl TracesHandle<'_> {
    /// The files that are meant, in the order in which they are read.
    pub(super) fn transcripts(
        &self,
        from: &LearnSource,
    ) -> Result<Vec<TranscriptFile>, EngineError> {
        match from {
            LearnSource::Path(path) => {
                let path = self.engine.env.cwd.join(path);
                let found = fs::metadata(&path).map_err(|error| {
                    EngineError::file("read", &path, error)
                        .hint("name a transcript, a folder of them, or - for standard input")
                })?;
                if found.is_dir() {
                    let mut files = below(&path);
                    // Where a session is there as lines and as Markdown, the lines come first and count.
                    files.sort_by_key(|file| (ending(&file.path) == "md", file.path.clone()));
                    return Ok(files);
                }
                if !found.is_file() {
                    return Err(EngineError::new(
                        ErrorCode::NotAFile,
                        format!("{} is no regular file", path.display()),
                    ));
                }
                Ok(vec![TranscriptFile { changed: changed(&found), size: found.len(), path }])
            }
            LearnSource::Bytes(_) => Ok(Vec::new()),
            LearnSource::Latest(agent) => {
                let sessions = self.sessions(*agent)?;
                Ok(sessions.into_iter().max_by_key(|file| file.changed).into_iter().collect())
            }
            LearnSource::Since(agent, days) => self.sessions_since(*agent, *days),
            LearnSource::Sources => {
                let sources = self.engine.config.traces.sources.iter();
                let agents: Vec<TraceAgent> =
                    sources.filter_map(|source| TraceAgent::from_name(source.as_str())).collect();
                let days = self.engine.config.traces.max_age_days;
                // An agent without sessions is not an error.
                let sessions = |agent| self.sessions_since(agent, days).unwrap_or_default();
                Ok(agents.into_iter().flat_map(sessions).collect())
            }
        }
    }

    /// The sessions of an agent that changed in so many days, oldest first.
    fn sessions_since(
        &self,
        agent: TraceAgent,
        days: u64,
    ) -> Result<Vec<TranscriptFile>, EngineError> {
        let from = self.engine.env.clock.now_ms().saturating_sub(days.saturating_mul(DAY_MS));
        let mut sessions = self.sessions(agent)?;
        sessions.retain(|file| file.changed >= from);
        sessions.sort_by_key(|file| (file.changed, file.path.clone()));
        Ok(sessions)
    }

    /// The sessions of an agent in its default folder.
    fn sessions(&self, agent: TraceAgent) -> Result<Vec<TranscriptFile>, EngineError> {
        let env = &self.engine.env;
        let moved =
            |name: &str, usual: &str| env.var_path(name).unwrap_or_else(|| env.home.join(usual));
        let root = match agent {
            TraceAgent::ClaudeCode => moved("CLAUDE_CONFIG_DIR", ".claude").join("projects"),
            TraceAgent::Codex => moved("CODEX_HOME", ".codex").join("sessions"),
            TraceAgent::Openclaw => env.openclaw_state().0.join("agents"),
            TraceAgent::Openpocket => env.openpocket_home().join("workspace/sessions"),
            TraceAgent::Generic => {
                return Err(EngineError::new(
                    ErrorCode::NoDefaultPlace,
                    "generic traces have no place of their own",
                )
                .hint("name the file"));
            }
        };
        let mut files = below(&root);
        files.retain(|file| is_session(agent, &file.path));
        if files.is_empty() {
            return Err(EngineError::new(
                ErrorCode::NoSession,
                format!("there is no session of {} in {}", agent.as_str(), root.display()),
            )
            .hint("name the file or its folder"));
        }
        Ok(files)
    }
}

/// Whether a file in an agent's folder is a session with a person.
fn is_session(agent: TraceAgent, path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let has = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    match agent {
        TraceAgent::ClaudeCode => {
            ending(path) == "jsonl" && !has("subagents") && !has("tool-results")
        }
        TraceAgent::Codex => name.starts_with("rollout-") && ending(path) == "jsonl",
        TraceAgent::Openclaw => has("sessions") && ending(path) == "jsonl",
        TraceAgent::Openpocket | TraceAgent::Generic => true,
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The files below a folder that may be transcripts. Links to folders are not followed, and a file
/// with two names is one file.
fn below(root: &Path) -> Vec<TranscriptFile> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        // A folder that cannot be read holds nothing that can.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                waiting.push((path, depth + 1));
                continue;
            }
            let is_named = ENDINGS.contains(&ending(&path).as_str());
            let Some(metadata) = is_named.then(|| fs::metadata(&path).ok()).flatten() else {
                continue;
            };
            let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if metadata.is_file() && found.len() < MAX_FILES && seen.insert(real) {
                found.push(TranscriptFile {
                    changed: changed(&metadata),
                    size: metadata.len(),
                    path,
                });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn changed(metadata: &fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
