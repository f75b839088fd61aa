//! A run: one row that says everything, so that it can be stored after each step and carried on.

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
    /// Its name.
    pub id: String,
    /// When it began.
    pub started: UtcInstant,
    /// When it last moved.
    pub updated: UtcInstant,
    /// The task in the person's words; deleted when the run closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The task's words.
    pub signals: Vec<String>,
    /// English words to search with, where the caller chose them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Whether the person wants another skill although one that is installed seems to fit.
    #[serde(default)]
    pub anyway: bool,
    /// The one skill that the caller chose, where they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<ChosenSkill>,
    /// Whether a skill that changes anything is no candidate.
    #[serde(default)]
    pub read_only: bool,
    /// The region it belongs to.
    pub region: Option<String>,
    /// Whether a pattern knew the task.
    pub hit: bool,
    /// How often a registry was searched.
    pub searches: u8,
    /// Whether the person asked for others than those that were shown first.
    pub others: bool,
    /// The candidates, in the order in which they are tried.
    pub candidates: Vec<AcquireCandidate>,
    /// The candidate that is tried now.
    pub cursor: usize,
    /// How often another candidate was turned to.
    pub switches: u8,
    /// Every yes that was given.
    pub consents: Vec<ConsentRecord>,
    /// What was tried, and how it went.
    pub attempts: Vec<CandidateAttempt>,
    /// Whether the plan is asked about.
    pub mode: PlanMode,
    /// The skill that this run installed and has not uninstalled.
    pub installed: Option<String>,
    /// Where it stands.
    pub state: AcquireState,
    /// Records made so far; their ids come from it.
    pub logged: u32,
    /// Records that must reach the log before the next step. They keep their ids, so that writing
    /// them again after a crash changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<CortexRecord>,
}

impl AcquireRun {
    /// A run that begins.
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

    /// The candidate that is tried now.
    pub fn current(&self) -> Option<&AcquireCandidate> {
        self.candidates.get(self.cursor)
    }

    /// The words a registry is searched with.
    pub fn keywords(&self) -> Vec<String> {
        match self.keywords.as_slice() {
            [] => signals::search_keywords(&self.signals, self.region.as_deref()),
            chosen => chosen.to_vec(),
        }
    }

    /// The region that an outcome of this skill belongs to: the one that fits the task, or a new one
    /// named after the task's words.
    pub fn region_for(&self, slug: &str) -> String {
        match &self.region {
            Some(region) => region.clone(),
            None => signals::region_name(&self.signals, slug, &SignalVocabulary::built_in()),
        }
    }

    /// Whether a yes covers the installation of a candidate, with the bytes it has now.
    pub fn covers(&self, offer: &AcquireCandidate) -> bool {
        let Some(staged) = &offer.staged else { return false };
        self.consents.iter().any(|consent| {
            consent.act == ConsentAct::Install
                && consent.subject == offer.slug
                && consent.digest.as_ref() == Some(&staged.digest)
        })
    }

    /// Puts a record into the outbox and gives its id.
    pub(super) fn log(&mut self, body: RecordBody, now: UtcInstant) -> Ulid {
        // In the order of writing, also within one millisecond.
        let id = Ulid::derived(self.started, &[&self.id]).nth_after(self.logged);
        self.logged += 1;
        self.outbox.push(CortexRecord { id, ts: now, body });
        id
    }
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum AcquireState {
    /// The memory is asked.
    Recall,
    /// A registry is searched.
    Search,
    /// Candidates are fetched, scanned and shown.
    Present,
    /// A reflex told the person, who may cancel until then.
    Notice {
        /// When it goes on.
        until: UtcInstant,
    },
    /// A person is asked.
    Approve {
        /// What.
        question: ConsentQuestion,
        /// Since when.
        asked: UtcInstant,
    },
    /// The approved bytes are put in place.
    Install,
    /// The plan is made; `asked` once a person sees it.
    Plan {
        /// Since when a person is asked.
        asked: Option<UtcInstant>,
    },
    /// The skill is used.
    Execute {
        /// For the how-manieth time.
        attempt: u32,
    },
    /// It ended, and something must happen before that counts.
    Outcome {
        /// What was reported.
        finish: UseReport,
        /// For the how-manieth time it was tried.
        attempt: u32,
        /// What must happen.
        pending: OutcomePrerequisite,
    },
    /// The outcome is learned.
    Learn {
        /// How it ended.
        finish: UseReport,
        /// The record of it.
        record: Ulid,
    },
    /// A person is asked whether the skill stays.
    Retain {
        /// Since when.
        asked: UtcInstant,
    },
    /// The skill is uninstalled.
    Release {
        /// How the run ends then.
        then: AcquireEnding,
    },
    /// The run is over.
    Closed {
        /// How it ended.
        end: AcquireEnding,
    },
}

impl AcquireState {
    /// Its name in records; a notice is part of presenting.
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
    /// The one retry after a service failure waits.
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

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsentQuestion {
    /// What a yes would allow.
    pub act: ConsentAct,
    /// The skill, or the command of a system dependency.
    pub subject: String,
    /// The digest that a yes would be bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A skill that somebody chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenSkill {
    /// How its source names it.
    pub reference: String,
    /// Which version; the newest where absent.
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
    /// How that source names it; empty where the slug is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Whether somebody reviews what that source offers.
    pub reviewed: bool,
    /// The version that was learned, for one that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<String>,
    /// The version that was asked for; the newest where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// Whether it is offered as a last resort.
    #[serde(default)]
    pub last_resort: bool,
    /// What staging gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<StagedCandidate>,
    /// Why it cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

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

/// A candidate's files, fetched, verified and scanned, where no catalog sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedCandidate {
    /// Their version.
    pub version: String,
    /// Their digest.
    pub digest: String,
    /// What the scanner says.
    pub verdict: CandidateVerdict,
    /// What they can do, as side effects.
    pub side_effects: Vec<String>,
    /// Characters of SKILL.md.
    pub skill_md_chars: u64,
    /// Bytes of SKILL.md.
    pub skill_md_bytes: u64,
}

/// What the scanner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateVerdict {
    /// Nothing speaks against it.
    Allow,
    /// Something should be looked at.
    Warn,
    /// It cannot be used.
    Block,
}

/// One candidate that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateAttempt {
    /// The skill.
    pub slug: String,
    /// Where it comes from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// How far it came.
    pub stage: AttemptStage,
    /// How it failed; `None` when it did not.
    pub kind: Option<FailureKind>,
    /// What was seen.
    pub detail: String,
    /// How often it was executed.
    pub attempts: u32,
}

/// How far a candidate came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttemptStage {
    /// It was to be installed.
    Install,
    /// It was used.
    Execute,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AcquireEnding {
    /// An installed skill could do it.
    Handled,
    /// Done, and the skill stays.
    Retained,
    /// Done, and the skill is gone.
    Released,
    /// Nothing was found.
    NoCandidates,
    /// Nothing could be installed.
    InstallFailed,
    /// Nothing worked.
    AllCandidates,
    /// A person said no.
    Declined,
    /// Nobody answered.
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
