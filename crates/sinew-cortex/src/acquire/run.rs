//! A run: one record with the complete state, so that it can be stored after each step and resumed.

use serde::{Deserialize, Serialize};

use super::consent::ConsentAct;
use super::outcome::UseReport;
use crate::explain::PlanMode;
use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::record::{ConsentRecord, CortexRecord, RecordBody};
use crate::signals::{self, SignalVocabulary};
use crate::time::UtcInstant;

/// One acquisition, from the task to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcquireRun {
    /// Its id.
    pub id: String,
    /// When it began.
    pub started: UtcInstant,
    /// When its state last changed.
    pub updated: UtcInstant,
    /// The task in the user's words; deleted when the run closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The signal words of the task.
    pub signals: Vec<String>,
    /// English words to search with, if the caller chose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Whether the user wants another skill although an installed one seems to fit.
    #[serde(default)]
    pub anyway: bool,
    /// The skill that the caller chose, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<ChosenSkill>,
    /// Whether to exclude skills that change anything.
    #[serde(default)]
    pub read_only: bool,
    /// The region it belongs to.
    pub region: Option<String>,
    /// Whether a pattern matched the task.
    pub hit: bool,
    /// How often a registry was searched.
    pub searches: u8,
    /// Whether the user asked for other candidates than those shown first.
    pub others: bool,
    /// The candidates, in the order in which they are tried.
    pub candidates: Vec<AcquireCandidate>,
    /// The current candidate.
    pub cursor: usize,
    /// How often it switched to another candidate.
    pub switches: u8,
    /// All approvals.
    pub consents: Vec<ConsentRecord>,
    /// What was tried, and how it went.
    pub attempts: Vec<CandidateAttempt>,
    /// Whether the user is asked about the plan.
    pub mode: PlanMode,
    /// The skill that this run installed and has not uninstalled.
    pub installed: Option<String>,
    /// Its state.
    pub state: AcquireState,
    /// The number of records made so far; their ids derive from it.
    pub logged: u32,
    /// Records that must reach the log before the next step. They keep their ids, so that writing
    /// them again after a crash changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<CortexRecord>,
}

impl AcquireRun {
    /// A new run.
    pub fn new(id: Ulid, now: UtcInstant, task: &str, signals: Vec<String>) -> Self {
        Self {
            id: id.to_string(),
            started: now,
            updated: now,
            task: Some(task.to_owned()),
            signals,
            keywords: Vec::new(),
            anyway: false,
            chosen: None,
            read_only: false,
            region: None,
            hit: false,
            searches: 0,
            others: false,
            candidates: Vec::new(),
            cursor: 0,
            switches: 0,
            consents: Vec::new(),
            attempts: Vec::new(),
            mode: PlanMode::Standard,
            installed: None,
            state: AcquireState::Recall,
            logged: 0,
            outbox: Vec::new(),
        }
    }

    /// The current candidate.
    pub fn current(&self) -> Option<&AcquireCandidate> {
        self.candidates.get(self.cursor)
    }

    /// The words to search registries with.
    pub fn keywords(&self) -> Vec<String> {
        match self.keywords.as_slice() {
            [] => signals::search_keywords(
                &self.signals,
                self.task.as_deref(),
                self.region.as_deref(),
            ),
            chosen => chosen.to_vec(),
        }
    }

    /// The region for an outcome of this skill: the matching one, or a new one named after the
    /// task's words.
    pub fn region_for(&self, slug: &str) -> String {
        match &self.region {
            Some(region) => region.clone(),
            None => signals::region_name(&self.signals, slug, &SignalVocabulary::built_in()),
        }
    }

    /// Whether an approval covers the installation of a candidate with its current bytes.
    pub fn covers(&self, offer: &AcquireCandidate) -> bool {
        let Some(staged) = &offer.staged else { return false };
        self.consents.iter().any(|consent| {
            consent.act == ConsentAct::Install
                && consent.subject == offer.slug
                && consent.digest.as_ref() == Some(&staged.digest)
        })
    }

    /// Adds a record to the outbox and returns its id.
    pub(super) fn log(&mut self, body: RecordBody, now: UtcInstant) -> Ulid {
        // Ids are in the order of writing, even within one millisecond.
        let id = Ulid::derived(self.started, &[&self.id]).nth_after(self.logged);
        self.logged += 1;
        self.outbox.push(CortexRecord { id, ts: now, body });
        id
    }
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum AcquireState {
    /// The memory is queried.
    Recall,
    /// A registry is searched.
    Search,
    /// Candidates are fetched, scanned and shown.
    Present,
    /// A reflex has notified the user, who may still cancel.
    Notice {
        /// When it continues.
        until: UtcInstant,
    },
    /// A person is asked for approval.
    Approve {
        /// The question.
        question: ConsentQuestion,
        /// When it was asked.
        asked: UtcInstant,
    },
    /// The approved bytes are being installed.
    Install,
    /// The plan is being made; `asked` is set once a person sees it.
    Plan {
        /// When a person was asked.
        asked: Option<UtcInstant>,
    },
    /// The skill is being used.
    Execute {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// The use ended, and something must happen before the outcome counts.
    Outcome {
        /// What was reported.
        finish: UseReport,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// What must happen.
        pending: OutcomePrerequisite,
    },
    /// The outcome is being learned.
    Learn {
        /// How it ended.
        finish: UseReport,
        /// The record of it.
        record: Ulid,
    },
    /// A person is asked whether to retain the skill.
    Retain {
        /// When it was asked.
        asked: UtcInstant,
    },
    /// The skill is being uninstalled.
    Release {
        /// How the run ends afterwards.
        then: AcquireEnding,
    },
    /// The run is over.
    Closed {
        /// How it ended.
        end: AcquireEnding,
    },
}

impl AcquireState {
    /// Whether a run goes on by itself from here: a process is at it, or was cut short. Everything else
    /// waits for a person, an agent or the clock.
    pub fn goes_on_by_itself(&self) -> bool {
        matches!(
            self,
            Self::Recall
                | Self::Search
                | Self::Present
                | Self::Install
                | Self::Plan { asked: None }
                | Self::Learn { .. }
                | Self::Release { .. }
        )
    }

    /// Its name in records; a notice counts as presenting.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Search => "search",
            Self::Present | Self::Notice { .. } => "present",
            Self::Approve { .. } => "approve",
            Self::Install => "install",
            Self::Plan { .. } => "plan",
            Self::Execute { .. } => "execute",
            Self::Outcome { .. } => "outcome",
            Self::Learn { .. } => "learn",
            Self::Retain { .. } => "retain",
            Self::Release { .. } => "release",
            Self::Closed { end } => end.name(),
        }
    }
}

/// What must happen before an outcome counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomePrerequisite {
    /// The wait before the one retry after a service failure.
    Wait,
    /// A person is asked to install a program.
    Dependency,
    /// The program is being installed.
    Installing,
    /// A person is asked to check the credentials.
    Credentials,
    /// A person is asked how it went.
    HowItWent,
}

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentQuestion {
    /// What an approval would allow.
    pub act: ConsentAct,
    /// The skill, or the command of a system dependency.
    pub subject: String,
    /// The digest that an approval would be bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A skill that the caller chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenSkill {
    /// The reference at its source.
    pub reference: String,
    /// Which version; the newest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A candidate of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcquireCandidate {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// The reference at that source; empty if the slug is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Whether that source reviews skills.
    pub reviewed: bool,
    /// The learned version, if it is a known candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<String>,
    /// The requested version; the newest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// Whether it is offered as a last resort.
    #[serde(default)]
    pub last_resort: bool,
    /// What its source says it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many people marked it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
    /// How often it was downloaded there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<u64>,
    /// The result of staging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<StagedCandidate>,
    /// Why it cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Why a candidate cannot be had whose source no longer has it.
pub const GONE: &str = "it is gone from where it came from";

impl AcquireCandidate {
    /// A candidate from a reviewed source.
    pub fn new(slug: &str, source: &str) -> Self {
        Self {
            slug: slug.to_owned(),
            source: source.to_owned(),
            reference: String::new(),
            reviewed: true,
            learned: None,
            wanted: None,
            last_resort: false,
            description: None,
            stars: None,
            downloads: None,
            staged: None,
            failed: None,
        }
    }

    /// The version that would be used.
    pub fn version(&self) -> &str {
        let staged = self.staged.as_ref().map(|staged| staged.version.as_str());
        staged.or(self.learned.as_deref()).unwrap_or_default()
    }
}

/// A candidate's files: fetched, verified and scanned, where no catalog can see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedCandidate {
    /// Their version.
    pub version: String,
    /// Their digest.
    pub digest: String,
    /// The scanner's verdict.
    pub verdict: CandidateVerdict,
    /// What they can do, as side effects.
    pub side_effects: Vec<String>,
    /// Characters of SKILL.md.
    pub skill_md_chars: u64,
    /// Bytes of SKILL.md.
    pub skill_md_bytes: u64,
    /// What a person is shown of them, in this process and in the one that takes the run up later.
    #[serde(default)]
    pub shown: StagedSummary,
}

/// What a person is shown of staged files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedSummary {
    /// What they say they are for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What they can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Programs that they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// The scanner's critical findings, accepted ones included.
    #[serde(default)]
    pub critical: usize,
    /// Its warnings.
    #[serde(default)]
    pub warn: usize,
    /// What is merely worth knowing.
    #[serde(default)]
    pub info: usize,
}

/// The scanner's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum CandidateVerdict {
    /// No findings.
    Allow,
    /// There are warnings.
    Warn,
    /// It cannot be used.
    Block,
}

/// An attempt with one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateAttempt {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// How far it got.
    pub stage: AttemptStage,
    /// How it failed; `None` if it did not.
    pub kind: Option<FailureKind>,
    /// What was observed.
    pub detail: String,
    /// How often it was executed.
    pub attempts: u32,
}

/// How far a candidate got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AttemptStage {
    /// Installation.
    Install,
    /// Use.
    Execute,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AcquireEnding {
    /// An installed skill could do it.
    Handled,
    /// Done, and the skill is retained.
    Retained,
    /// Done, and the skill is uninstalled.
    Released,
    /// Nothing was found.
    NoCandidates,
    /// Nothing could be installed.
    InstallFailed,
    /// Nothing worked.
    AllCandidates,
    /// A person declined.
    Declined,
    /// There was no answer in time.
    Expired,
    /// A person cancelled.
    Cancelled,
}

impl AcquireEnding {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handled => "done(handled)",
            Self::Retained => "done(retained)",
            Self::Released => "done(released)",
            Self::NoCandidates => "failed(no_candidates)",
            Self::InstallFailed => "failed(install)",
            Self::AllCandidates => "failed(all_candidates)",
            Self::Declined => "aborted(declined)",
            Self::Expired => "aborted(expired)",
            Self::Cancelled => "aborted(cancelled)",
        }
    }
}
