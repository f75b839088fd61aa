//! Learning from transcripts: which files, and what came of them.
//!
//! Files are read as they are and never written. What is found in them is cleaned by the workshop
//! before it is compared, stored or shown.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Cursor};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_settings::ErrorCode;
use sinew_traces::{
    AgentRun, CleanRun, DraftForm, LineCounts, PrivateNames, SkillDraft, TraceAgent,
    TraceReadError, TraceSettings, TranscriptOptions, TranscriptSource,
};
use sinew_workshop::{LearnResult, LearnStatus, RememberedRun, WorkshopEvent};

use super::session_stamps::SessionStamps;
use crate::{EngineError, TracesHandle};

/// Runs that are reported one by one: more than a person reads, and it bounds the memory for a file of
/// thousands of small runs.
const MAX_TOLD: usize = 200;

/// Where transcripts come from.
#[derive(Debug, Clone)]
pub enum LearnSource {
    /// A file, or every transcript below a folder.
    Path(PathBuf),
    /// What was handed over.
    Bytes(Vec<u8>),
    /// The newest session of an agent on this machine.
    Latest(TraceAgent),
    /// Every session of an agent that changed in so many days.
    Since(TraceAgent, u64),
    /// The sessions of the agents that `traces.sources` names, as far as they are new and about this
    /// workspace. Naming an agent there is the consent to look through them.
    Sources,
}

/// What was read of a file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LearnedFile {
    /// The file; `-` for what was handed over.
    pub path: String,
    /// Whose it is.
    pub agent: TraceAgent,
    /// Runs in it.
    pub runs: usize,
    /// Counts of what it contained.
    #[serde(flatten)]
    pub counts: LineCounts,
}

/// A file that was not read, and why.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnreadFile {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What was learned.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LearnReport {
    /// The first draft.
    pub draft: Option<SkillDraft>,
    /// How many values of each kind were redacted, over all runs.
    pub redactions: BTreeMap<String, u64>,
    /// What became of each run, as far as runs are reported one by one.
    pub runs: Vec<LearnResult>,
    /// How many of the runs behind them became what.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<LearnStatus, usize>,
    /// The files.
    pub files: Vec<LearnedFile>,
    /// Files that were skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<UnreadFile>,
    /// What happened in runs that are only counted.
    #[serde(skip)]
    unlisted: Vec<WorkshopEvent>,
}

impl LearnReport {
    /// What happened, for the log.
    pub fn events(&self) -> impl Iterator<Item = &WorkshopEvent> {
        self.runs.iter().flat_map(|run| &run.events).chain(&self.unlisted)
    }

    /// Whether any run is, or was, worth a draft.
    pub fn is_empty(&self) -> bool {
        let listed = self.runs.iter().map(|run| &run.became);
        listed.chain(self.more.keys()).all(|became| *became == LearnStatus::Skipped)
    }

    /// How many runs there were.
    fn count(&self) -> usize {
        self.runs.len() + self.more.values().sum::<usize>()
    }

    fn add(&mut self, learned: LearnResult) {
        for (kind, count) in &learned.redactions {
            *self.redactions.entry(kind.clone()).or_default() += count;
        }
        if self.draft.is_none() {
            self.draft.clone_from(&learned.draft);
        }
        if self.runs.len() < MAX_TOLD {
            self.runs.push(learned);
        } else {
            *self.more.entry(learned.became).or_default() += 1;
            self.unlisted.extend(learned.events);
        }
    }
}

impl TracesHandle<'_> {
    /// Learns from transcripts; `progress` is told how many bytes of how many are read.
    pub fn learn(
        &self,
        from: &LearnSource,
        agent: Option<TraceAgent>,
        progress: &dyn Fn(u64, u64),
    ) -> Result<LearnReport, EngineError> {
        let mut report = LearnReport::default();
        if let LearnSource::Bytes(bytes) = from {
            let total = bytes.len() as u64;
            let mut source = Cursor::new(bytes.as_slice());
            let done = |bytes| progress(bytes, total);
            let whose = (agent, LearnScope::AllRuns);
            let read = self.learn_source(&mut source, "-", whose, &done, &mut report)?;
            return match read {
                Ok(()) => Ok(report),
                Err(error) => Err(not_read("standard input", error)),
            };
        }
        let mut files = self.transcripts(from)?;
        let looked = match from {
            LearnSource::Sources if files.is_empty() => return Ok(report),
            LearnSource::Sources => Some((self.looked()?, files.clone())),
            _ => None,
        };
        if let Some((looked, _)) = &looked {
            files.retain(|file| !looked.knows(file));
        }
        let whose = if looked.is_some() { LearnScope::OfWorkspace } else { LearnScope::AllRuns };
        let is_single =
            matches!(from, LearnSource::Path(path) if self.engine.env.cwd.join(path).is_file());
        let total = files.iter().map(|file| file.size).sum();
        let mut before = 0;
        for file in &files {
            let name = file.path.display().to_string();
            let opened = File::open(&file.path);
            let read = match opened {
                Ok(opened) => {
                    let mut source = BufReader::with_capacity(64 * 1024, opened);
                    let done = |bytes| progress(before + bytes, total);
                    self.learn_source(&mut source, &name, (agent, whose), &done, &mut report)?
                }
                Err(error) => Err(TraceReadError::Io(error)),
            };
            if let Err(error) = read {
                if is_single {
                    return Err(not_read(&name, error));
                }
                report.skipped.push(UnreadFile { path: name, reason: error.to_string() });
            }
            before += file.size;
            progress(before, total);
        }
        if let Some((looked, all)) = looked {
            looked.save(&all).map_err(not_looked)?;
        }
        Ok(report)
    }

    /// Learns from runs that the user did not hand over.
    pub(crate) fn learn_runs(&self, runs: Vec<AgentRun>) -> Result<Vec<LearnResult>, EngineError> {
        let settings = self.settings().for_unrequested_runs();
        let private = self.private();
        self.engine
            .workshop()
            .with(|shop| runs.into_iter().map(|run| shop.learn(run, &settings, &private)).collect())
    }

    /// What the configuration says, in the form that the profile reads.
    fn settings(&self) -> TraceSettings {
        let profile = &self.engine.profile;
        let form = match () {
            () if profile.is_openpocket() => DraftForm::OpenPocket,
            () if profile.reads_grouped_folders() => DraftForm::GroupedFolder,
            () => DraftForm::SkillFolder,
        };
        TraceSettings::of(&self.engine.config).in_form(form)
    }

    fn looked(&self) -> Result<SessionStamps, EngineError> {
        SessionStamps::open(&self.engine.env.sinew_home(), self.engine.workspace())
            .map_err(not_looked)
    }

    /// Names of this machine that must not be shown.
    fn private(&self) -> PrivateNames {
        PrivateNames {
            homes: vec![self.engine.env.home.to_string_lossy().into_owned()],
            hosts: self.engine.env.var("HOSTNAME").map(str::to_owned).into_iter().collect(),
        }
    }

    /// Runs that were learned from in this workspace, oldest first.
    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the path of a method is not general enough over the workshop's lifetime"
    )]
    pub fn remembered_runs(&self) -> Result<Vec<RememberedRun>, EngineError> {
        self.engine.workshop().with(|shop| shop.remembered_runs())
    }

    /// One of them, with what was done in it where that is kept.
    pub fn remembered_run(
        &self,
        id: &str,
    ) -> Result<(RememberedRun, Option<CleanRun>), EngineError> {
        self.engine.workshop().with(|shop| shop.remembered_run(id))
    }

    /// Proposes a skill from a run that is kept.
    pub fn draft_remembered_run(&self, id: &str) -> Result<LearnResult, EngineError> {
        let settings = self.settings();
        self.engine.workshop().with(|shop| shop.draft_remembered_run(id, &settings))
    }

    /// Removes the steps of a run; the run itself stays known.
    pub fn discard_run(&self, id: &str) -> Result<RememberedRun, EngineError> {
        self.engine.workshop().with(|shop| shop.forget_run(id))
    }

    /// Learns from one source. The outer error stops everything, the inner one only this source.
    fn learn_source(
        &self,
        source: &mut dyn TranscriptSource,
        path: &str,
        (agent, whose): (Option<TraceAgent>, LearnScope),
        progress: &dyn Fn(u64),
        report: &mut LearnReport,
    ) -> Result<Result<(), TraceReadError>, EngineError> {
        let handed_over = self.settings();
        let settings = match whose {
            LearnScope::AllRuns => handed_over,
            LearnScope::OfWorkspace => handed_over.for_unrequested_runs(),
        };
        let private = self.private();
        let stem = Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.unwrap_or_default();
        let reading = TranscriptOptions { agent, name: &name, progress };
        let before = report.count();
        self.engine.workshop().with(|shop| {
            let mut trouble = None;
            let read = sinew_traces::read(source, &reading, &mut |run| {
                if trouble.is_some() || !whose.includes(&run, self.engine.workspace()) {
                    return;
                }
                match shop.learn(run, &settings, &private) {
                    Ok(learned) => report.add(learned),
                    Err(error) => trouble = Some(error),
                }
            });
            if let Some(error) = trouble {
                return Err(error);
            }
            Ok(read.map(|(agent, counts)| {
                let runs = report.count() - before;
                report.files.push(LearnedFile { path: path.to_owned(), agent, runs, counts });
            }))
        })
    }
}

/// Which runs of a transcript are learned from.
#[derive(Debug, Clone, Copy)]
enum LearnScope {
    /// All: the user handed the transcript over.
    AllRuns,
    /// Those in the workspace: the user did not ask for this transcript.
    OfWorkspace,
}

impl LearnScope {
    fn includes(self, run: &AgentRun, workspace: &Path) -> bool {
        match self {
            Self::AllRuns => true,
            Self::OfWorkspace => {
                run.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(workspace))
            }
        }
    }
}

fn not_looked(error: io::Error) -> EngineError {
    let told = format!("cannot keep which sessions were looked through: {error}");
    EngineError::new(ErrorCode::NotKept, told).caused_by(error)
}

fn not_read(name: &str, error: TraceReadError) -> EngineError {
    let told = |code| EngineError::new(code, format!("cannot learn from {name}: {error}"));
    let told = match &error {
        TraceReadError::Unknown => {
            told(ErrorCode::UnknownTranscript).hint("name the agent that wrote it with --agent")
        }
        TraceReadError::TooLarge => told(ErrorCode::TooLarge),
        TraceReadError::Io(_) => told(ErrorCode::FileError),
    };
    told.caused_by(error)
}
