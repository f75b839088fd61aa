//! Capture: which of a user's messages is a correction worth keeping, and what it becomes.
//!
//! No language model is asked. The `reference` profile is the plugin's seven patterns; `extended` is a
//! small classifier over static vectors, words and cues, in nine languages, with what was asked before.
//! Both leave alone what the user only quotes, and refuse a message that holds a secret.

mod classifier;
mod cues;
mod extended;
mod features;
mod reference;
mod topic;
mod transcript;
mod vetoes;

pub use topic::CaptureTopic;
pub use transcript::{TranscriptError, count_tool_calls, message_text, read_transcript};

pub(crate) use transcript::{transcript_text, user_texts};

use serde::Serialize;

use crate::proposal::ProposalChange;
use sinew_settings::config::CaptureProfile;
use sinew_skill::ecmascript as text;

/// Whether quoted text and messages with secrets are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaptureGuards {
    /// They are left out.
    #[default]
    On,
    /// They are judged too, as the plugin does, for comparison with its recorded results.
    Off,
}

/// A correction, and the proposal it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedCorrection {
    /// What the skill is about.
    pub topic: &'static CaptureTopic,
    /// What the user wants done.
    pub instruction: String,
    /// Which cues matched, for explanations.
    pub cues: Vec<String>,
    /// What was asked before, where the profile looks at it.
    pub request: Option<String>,
    /// What the agent said that it had done.
    pub done: Option<String>,
    /// The skill that was in use.
    pub in_use: Option<String>,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureVerdict {
    /// It is a correction.
    Captured(CapturedCorrection),
    /// It would be one, but must not be kept.
    Skipped(CaptureSkipReason),
    /// It is not one, with the cues that matched.
    Nothing(Vec<String>),
}

/// Why a message that sounds like a correction is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureSkipReason {
    /// It holds a secret.
    Secret,
    /// The words that make it a correction are not the user's own.
    Quoted,
}

impl CaptureSkipReason {
    /// The reason, for logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "the message holds a literal secret",
            Self::Quoted => "the words lie inside a quotation",
        }
    }
}

impl CapturedCorrection {
    /// The reason that is recorded.
    pub fn reason(&self) -> String {
        format!("User correction for {}", self.topic.label)
    }

    /// The change it proposes: a skill with the instruction as its first step.
    pub fn change(&self) -> ProposalChange {
        ProposalChange::Create {
            description: format!("Reusable workflow notes for {}.", self.topic.label),
            body: format!(
                "# {}\n\n## Workflow\n\n- {}\n- {}\n- {}",
                self.topic.title, self.instruction, REMINDERS[0], REMINDERS[1]
            ),
            files: Default::default(),
            generated: None,
        }
    }
}

/// The two reminders under every captured instruction.
pub(crate) const REMINDERS: [&str; 2] = [
    "Check the outcome against these steps before you answer.",
    "Note lasting pitfalls here in one line each, without retelling the chat.",
];

/// Judges one message.
pub fn judge_message(
    message: &str,
    profile: CaptureProfile,
    guards: CaptureGuards,
) -> CaptureVerdict {
    judge_message_after(None, message, profile, guards)
}

/// What the classifier sees of a message, for training.
pub fn capture_features(message: &str, previous: Option<&str>) -> Vec<f32> {
    features::features(message, previous)
}

/// Whether a message is kept out however much it sounds like a correction, for training.
pub fn capture_vetoed(message: &str) -> bool {
    vetoes::veto(message).is_some()
}

/// Judges one message with what was asked before it.
pub fn judge_message_after(
    previous: Option<&str>,
    message: &str,
    profile: CaptureProfile,
    guards: CaptureGuards,
) -> CaptureVerdict {
    // A message longer than any that may be kept is not inspected.
    if text::utf16_len(message) > MAX_RAW {
        return CaptureVerdict::Nothing(Vec::new());
    }
    match profile {
        CaptureProfile::Reference => reference::judge(message, guards),
        CaptureProfile::Extended => extended::judge(message, guards, previous),
    }
}

/// Collapsing shortens a message of 1,200 characters from at most about this many.
const MAX_RAW: usize = 20_000;

/// Judges the messages of a turn: the last correction counts. Returns the skipped
/// ones too, for the log. Messages of an earlier turn are marked `context`: they are what was asked
/// before, and are not judged again.
pub fn judge_turn(
    messages: &[serde_json::Value],
    profile: CaptureProfile,
) -> (Option<CapturedCorrection>, Vec<CaptureSkipReason>) {
    let (mut last, mut skipped) = (None, Vec::new());
    let (mut previous, mut done, mut in_use): (Option<String>, Option<String>, Option<String>) =
        (None, None, None);
    for message in messages {
        if let Some(skill) = message.get("skill_in_use").and_then(serde_json::Value::as_str) {
            in_use = Some(skill.to_owned());
        }
        let said = message_text(message);
        if said.is_empty() {
            continue;
        }
        if message.get("role") != Some(&"user".into()) {
            done = Some(said);
            continue;
        }
        let is_context = message.get("context") == Some(&serde_json::Value::Bool(true));
        if !is_context {
            match judge_message_after(previous.as_deref(), &said, profile, CaptureGuards::On) {
                CaptureVerdict::Captured(found) => {
                    let (done, in_use) = (done.clone(), in_use.clone());
                    last = Some(CapturedCorrection { done, in_use, ..found });
                }
                CaptureVerdict::Skipped(why) => skipped.push(why),
                CaptureVerdict::Nothing(_) => {}
            }
        }
        previous = Some(said);
        done = None;
    }
    (last, skipped)
}
