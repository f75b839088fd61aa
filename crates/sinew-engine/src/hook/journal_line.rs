//! The lines of a session's journal: what happened, what was offered, and how far it was worked off.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::input::{MaskedText, ToolCall};
use super::offer::SkillOffer;
use super::touched_files::MAX_TOUCHED;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum JournalLine {
    /// The user said something.
    Prompt {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        #[serde(flatten)]
        said: MaskedText,
    },
    /// A tool ran.
    Step {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        #[serde(flatten)]
        call: ToolCall,
    },
    /// The turn was over.
    Stop {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// When, in milliseconds since 1970.
        at: u64,
        agent: String,
        session: String,
        workspace: PathBuf,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// A skill was offered.
    Offer(SkillOffer),
    /// The agent has shortened or cleared its conversation: texts that were given are gone.
    Compacted {
        /// Whether the skills that were in use are to come back with the next message.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        owed: bool,
    },
    /// What was owed after the conversation was shortened has come back.
    Returned,
    /// The agent was told that a skill can be looked for in registries.
    SearchHint,
    /// The agent is about to give a task to a helper.
    Delegation {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The kind of helper.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        helper_kind: Option<String>,
        task: MaskedText,
    },
    /// A helper began with the task of the delegation of that number, counted from zero.
    Claim { helper: String, delegation: usize },
    /// What follows from the turns up to this one was done.
    Settled {
        turns: usize,
        /// Whether a model is to review the last of them.
        review: bool,
    },
    /// A model has reviewed the turns up to this one.
    Reviewed { turns: usize },
    /// The runs up to this turn were learned from.
    Learned { turns: usize },
    /// The session is over.
    Ended,
}

impl JournalLine {
    /// Whether it is something that the agent told, and not what was made of it meanwhile.
    pub(super) fn is_event(&self) -> bool {
        !matches!(
            self,
            Self::Offer(_)
                | Self::Compacted { .. }
                | Self::Returned
                | Self::SearchHint
                | Self::Delegation { .. }
                | Self::Claim { .. }
                | Self::Ended
        )
    }

    fn is_compaction(&self) -> bool {
        matches!(self, Self::Compacted { .. })
    }

    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Prompt { key, .. }
            | Self::Step { key, .. }
            | Self::Stop { key, .. }
            | Self::Delegation { key, .. } => key.as_deref(),
            Self::Offer(_)
            | Self::Compacted { .. }
            | Self::Returned
            | Self::SearchHint
            | Self::Claim { .. }
            | Self::Settled { .. }
            | Self::Reviewed { .. }
            | Self::Learned { .. }
            | Self::Ended => None,
        }
    }
}

/// What a session's journal holds.
#[derive(Debug, Default)]
pub(super) struct JournalLines(pub(super) Vec<JournalLine>);

impl JournalLines {
    /// The skills that were offered in the conversation as the agent has it now.
    pub(super) fn offers(&self) -> Vec<SkillOffer> {
        let since = self.0.iter().rposition(JournalLine::is_compaction);
        let lines = self.0[since.unwrap_or(0)..].iter();
        let offers = lines.filter_map(|line| match line {
            JournalLine::Offer(offer) => Some(offer.clone()),
            _ => None,
        });
        offers.collect()
    }

    /// Whether the conversation was shortened, and what was in use has not come back yet.
    pub(super) fn owes_skills(&self) -> bool {
        let last = self
            .0
            .iter()
            .rev()
            .find(|line| line.is_compaction() || matches!(line, JournalLine::Returned));
        matches!(last, Some(JournalLine::Compacted { owed: true }))
    }

    /// Whether the agent knows that a skill can be looked for.
    pub(super) fn has_search_hint(&self) -> bool {
        self.0.contains(&JournalLine::SearchHint)
    }

    /// Whether nothing was said or done since the conversation was last shortened.
    pub(super) fn has_just_been_shortened(&self) -> bool {
        let since = self.0.iter().rposition(JournalLine::is_compaction);
        let happened = |line: &JournalLine| {
            use JournalLine::{Prompt, Step, Stop};
            matches!(line, Prompt { .. } | Step { .. } | Stop { .. })
        };
        since.is_some_and(|at| !self.0[at..].iter().any(happened))
    }

    /// The files that tools touched, the last ones first.
    pub(super) fn touched_files(&self) -> Vec<String> {
        let steps = self.0.iter().rev().filter_map(|line| match line {
            JournalLine::Step { call, .. } => Some(call),
            _ => None,
        });
        let mut files: Vec<String> = Vec::new();
        for file in steps.flat_map(|call| &call.files) {
            if files.len() == MAX_TOUCHED {
                break;
            }
            if !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }
}
