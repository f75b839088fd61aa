//! The log of what hooks decided: `sinew why --last` reads it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sinew_guard::atomic::FileLock;

use super::UNHEARD;
use super::agents::HookMoment;
use super::json_lines;
use super::offer::OfferKind;

/// The log is rotated at this size, and one old one is kept.
const MAX_LOG: u64 = 1 << 20;

/// What a hook decided, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HookDecision {
    /// When, in RFC 3339.
    pub(super) at: String,
    pub(super) agent: String,
    pub(super) event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) workspace: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ms: Option<u64>,
    #[serde(flatten)]
    pub(super) what: HookDecisionKind,
}

impl HookDecision {
    /// Whether an agent waited for it before it asked its model.
    fn is_answer(&self) -> bool {
        match &self.what {
            HookDecisionKind::Routed { .. } | HookDecisionKind::Indexed { .. } => true,
            HookDecisionKind::Settled { .. } | HookDecisionKind::Learned { .. } => false,
            // It may have been any moment, and must not take the place of a message.
            HookDecisionKind::Failed { .. } if self.event == UNHEARD => false,
            // What could not be understood may have been a message.
            HookDecisionKind::Failed { .. } => !matches!(
                HookMoment::of_word(&self.event),
                Some(
                    HookMoment::Stop
                        | HookMoment::SessionEnd
                        | HookMoment::SubagentStart
                        | HookMoment::SubagentStop
                        | HookMoment::PreTool
                        | HookMoment::PostTool
                        | HookMoment::ToolFailure
                )
            ),
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(super) enum HookDecisionKind {
    /// A message was routed.
    Routed {
        /// Its beginning, with secrets taken out.
        message: String,
        decision: String,
        /// The skills that the message names itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<String>,
        /// What was ranked first.
        ranked: Vec<LoggedMatch>,
        /// What would fit, but cannot be used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unavailable: Vec<String>,
        threshold: f64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        degraded: Vec<String>,
        /// The skills that were offered, and how each came.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offers: Vec<LoggedOffer>,
        /// Why something did not come along, or came.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Characters that were added.
        added: usize,
    },
    /// The index was given.
    Indexed {
        skills: usize,
        of: usize,
        added: usize,
        /// Skills that the agent lists itself.
        #[serde(default)]
        listed: usize,
        /// Skills in use that came back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        again: Vec<String>,
    },
    /// A turn was settled.
    Settled {
        proposals: Vec<String>,
        outcomes: Vec<LoggedOutcome>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// What was done in the turns so far was learned from.
    Learned {
        /// Drafts that were proposed or revised.
        drafts: Vec<String>,
        /// Runs that led to nothing, and why.
        notes: Vec<String>,
    },
    /// Nothing was added, because something went wrong.
    Failed { why: String },
}

/// A ranked skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LoggedMatch {
    pub(super) name: String,
    pub(super) probability: f64,
    /// What its score is made of.
    pub(super) parts: Vec<(String, f64)>,
    pub(super) offered: bool,
}

/// A skill that was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LoggedOffer {
    pub(super) offer: String,
    pub(super) skill: String,
    pub(super) how: OfferKind,
}

/// How a skill that was opened did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LoggedOutcome {
    pub(super) skill: String,
    pub(super) result: String,
}

/// The log's file.
#[derive(Debug)]
pub(super) struct HookLog {
    path: PathBuf,
}

impl HookLog {
    pub(super) fn below(folder: &Path) -> Self {
        Self { path: folder.join("log.jsonl") }
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("jsonl.1")
    }

    pub(super) fn add(&self, decided: &HookDecision) -> io::Result<()> {
        let _lock = FileLock::acquire(&self.path.with_extension("lock"))?;
        if fs::metadata(&self.path).is_ok_and(|facts| facts.len() > MAX_LOG) {
            fs::rename(&self.path, self.old())?;
        }
        json_lines::append(&self.path, decided)
    }

    /// Why nothing can be written now. What hooks add then leaves no record.
    pub(super) fn write_trouble(&self) -> Option<io::Error> {
        let written = FileLock::try_acquire(&self.path.with_extension("lock"))
            .and_then(|_| fs::OpenOptions::new().append(true).create(true).open(&self.path));
        written.err()
    }

    /// What was decided from an offset of the log on, and the offset after it. A log that was rotated
    /// meanwhile is read to its end first.
    pub(super) fn since(&self, from: u64) -> (Vec<HookDecision>, u64) {
        let length = fs::metadata(&self.path).map_or(0, |facts| facts.len());
        let (mut all, from) = match length < from {
            true => (json_lines::read_from(&self.old(), from).unwrap_or_default().0, 0),
            false => (Vec::new(), from),
        };
        let (new, after) = json_lines::read_from(&self.path, from).unwrap_or((Vec::new(), from));
        all.extend(new);
        (all, after)
    }

    /// Everything that is kept, the oldest first.
    pub(super) fn all(&self) -> Vec<HookDecision> {
        let mut all: Vec<HookDecision> = json_lines::read(&self.old()).unwrap_or_default();
        all.extend(json_lines::read(&self.path).unwrap_or_default());
        all
    }

    /// The last message or session start that was decided on, and what came after it in its session. The
    /// record of a message belongs to the message: what another moment or another session did later adds
    /// to it or stands apart, and never takes its place.
    pub(super) fn last(&self) -> Vec<HookDecision> {
        let mut all = self.all();
        let Some(at) = all.iter().rposition(HookDecision::is_answer) else { return all };
        let mut rest = all.split_off(at).into_iter();
        let Some(first) = rest.next() else { return Vec::new() };
        let session = first.session.clone();
        let same = rest.filter(|later| later.session.is_none() || later.session == session);
        [first].into_iter().chain(same).collect()
    }
}
