//! A hook below an agent that is being tried (`sinew doctor --agent`): its answer is kept whole in the
//! trial's folder, and nothing is learned from it.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agents::HookMoment;
use super::event::HookEvent;
use super::json_lines;
use super::log::{HookDecision, HookDecisionKind};
use super::{HookReply, home};
use crate::agent_trial::is_trial;
use sinew_settings::Environment;

const FILE: &str = "answers.jsonl";

/// What a hook answered during a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrialHookLine {
    /// The moment's word.
    pub(crate) event: String,
    /// How long it took.
    pub(crate) ms: Option<u64>,
    /// What the agent was given.
    pub(crate) answer: Option<Value>,
    /// Why there was no answer.
    pub(crate) failure: Option<String>,
}

impl TrialHookLine {
    /// Whether it belongs to a message.
    pub(crate) fn is_about_a_message(&self) -> bool {
        self.event == HookMoment::UserPrompt.as_str()
    }
}

/// Keeps an answer, where this process belongs to a trial. A failure to do so shows as a hook that was
/// not called.
pub(super) fn keep(env: &Environment, event: &HookEvent, reply: &HookReply) {
    if !is_trial(env) {
        return;
    }
    let took: Duration = event.started.elapsed();
    let line = TrialHookLine {
        event: event.moment.as_str().to_owned(),
        ms: u64::try_from(took.as_millis()).ok(),
        answer: reply.output.clone(),
        failure: None,
    };
    if let Err(error) = json_lines::append(&home(env).join(FILE), &line) {
        tracing::warn!(%error, "the trial's record could not be written");
    }
}

impl super::Hooks<'_> {
    /// A message that fits a skill at hand, and that skill: for proofs that hooks answer.
    pub fn sample_message(&self) -> Option<(String, String)> {
        crate::agent_trial::sample_message(self.engine)
    }
}

/// What the hooks of a trial answered, and where they failed.
pub(crate) fn trial_lines(folder: &Path) -> Vec<TrialHookLine> {
    let mut lines: Vec<TrialHookLine> = json_lines::read(&folder.join(FILE)).unwrap_or_default();
    let log: Vec<HookDecision> = json_lines::read(&folder.join("log.jsonl")).unwrap_or_default();
    lines.extend(log.into_iter().filter_map(|decided| match decided.what {
        HookDecisionKind::Failed { why } => Some(TrialHookLine {
            event: decided.event,
            ms: decided.ms,
            answer: None,
            failure: Some(why),
        }),
        _ => None,
    }));
    lines
}
