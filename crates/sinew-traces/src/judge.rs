//! Whether a run succeeded, and what says so.

use serde::{Deserialize, Serialize};

use crate::run::{AgentRun, RunEnding, RunStep};
use crate::user_reaction::{UserReaction, reaction};

/// What speaks for or against a run, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum JudgementEvidence {
    /// The transcript says so.
    Stated,
    /// The agent reported it.
    Reported,
    /// The run was stopped.
    Aborted,
    /// The user complained.
    Complaint,
    /// The last step failed, and nothing after it fixed that.
    LastStepFailed,
    /// The user was content.
    Confirmed,
    /// The agent's program recorded the task as complete.
    Completed,
    /// The user accepted the result and gave an instruction for the next time.
    Accepted,
    /// The agent stopped of its own accord and most steps worked; the user did not react.
    Weak,
    /// Nothing says how it went.
    Unknown,
}

/// Whether a run succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunJudgement {
    /// Whether it did; `None` where there is no evidence.
    pub ok: Option<bool>,
    /// By what.
    pub evidence: JudgementEvidence,
}

/// The share of steps that must not have failed where only the end speaks for a run.
const MOSTLY: f64 = 0.8;

/// Judges a run; the first evidence that applies wins.
pub fn judge_run(run: &AgentRun) -> RunJudgement {
    let told = |ok: bool, evidence| RunJudgement { ok: Some(ok), evidence };
    match run.ending {
        RunEnding::Succeeded => return told(true, JudgementEvidence::Stated),
        RunEnding::Failed => return told(false, JudgementEvidence::Stated),
        RunEnding::Open | RunEnding::Normal | RunEnding::Completed | RunEnding::Aborted => {}
    }
    if let Some(ok) = run.reported {
        return told(ok, JudgementEvidence::Reported);
    }
    if run.ending == RunEnding::Aborted {
        return told(false, JudgementEvidence::Aborted);
    }
    let reaction = run.next_message.as_deref().map_or(UserReaction::None, reaction);
    if reaction == UserReaction::Complaint {
        return told(false, JudgementEvidence::Complaint);
    }
    if run.steps.last().is_some_and(|step| step.failed) {
        return told(false, JudgementEvidence::LastStepFailed);
    }
    if reaction == UserReaction::Confirmation {
        return told(true, JudgementEvidence::Confirmed);
    }
    let failed = run.steps.iter().filter(|step| step.failed).count();
    let mostly = (run.steps.len() - failed) as f64 >= MOSTLY * run.steps.len() as f64;
    match (run.ending, reaction) {
        (RunEnding::Completed, _) if mostly => told(true, JudgementEvidence::Completed),
        (RunEnding::Normal, UserReaction::Correction) if mostly => {
            told(true, JudgementEvidence::Accepted)
        }
        (RunEnding::Normal, _) if mostly => told(true, JudgementEvidence::Weak),
        _ => RunJudgement { ok: None, evidence: JudgementEvidence::Unknown },
    }
}

/// For each failed step, its position and that of the step that fixed it: the next one of the same
/// program or kind that did not fail.
pub fn pitfalls(steps: &[RunStep]) -> Vec<(usize, Option<usize>)> {
    let failed = steps.iter().enumerate().filter(|(_, step)| step.failed);
    failed
        .map(|(at, step)| {
            let later = steps.iter().enumerate().skip(at + 1);
            let mut fixes = later.filter(|(_, later)| {
                !later.failed && later.app == step.app && later.action.kind == step.action.kind
            });
            (at, fixes.next().map(|(at, _)| at))
        })
        .collect()
}
