//! Whether a run succeeded, and what says so.

use serde::{Deserialize, Serialize};

use super::run::{Ending, Run, Step};
use super::said::{Reaction, reaction};

/// What speaks for or against a run, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The transcript says so.
    Stated,
    /// The agent reported it.
    Reported,
    /// The run was stopped.
    Aborted,
    /// The user complained.
    Complaint,
    /// The last step failed, and nothing after it put that right.
    LastStepFailed,
    /// The user was content.
    Confirmed,
    /// The agent's program recorded the task as complete.
    Completed,
    /// The user went on from there with a word for the next time.
    Accepted,
    /// The agent stopped of its own accord and most steps worked; nobody said anything.
    Weak,
    /// Nothing says how it went.
    Unknown,
}

/// Whether a run succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// Whether it did; `None` where nothing tells.
    pub ok: Option<bool>,
    /// By what.
    pub evidence: Evidence,
}

/// The share of steps that must not have failed where only the end speaks for a run.
const MOSTLY: f64 = 0.8;

/// Judges a run; the first evidence that applies wins.
pub fn judge(run: &Run) -> Judgement {
    let told = |ok: bool, evidence| Judgement { ok: Some(ok), evidence };
    match run.ending {
        Ending::Succeeded => return told(true, Evidence::Stated),
        Ending::Failed => return told(false, Evidence::Stated),
        Ending::Open | Ending::Normal | Ending::Completed | Ending::Aborted => {}
    }
    if let Some(ok) = run.reported {
        return told(ok, Evidence::Reported);
    }
    if run.ending == Ending::Aborted {
        return told(false, Evidence::Aborted);
    }
    let reaction = run.next_message.as_deref().map_or(Reaction::None, reaction);
    if reaction == Reaction::Complaint {
        return told(false, Evidence::Complaint);
    }
    if run.steps.last().is_some_and(|step| step.failed) {
        return told(false, Evidence::LastStepFailed);
    }
    if reaction == Reaction::Confirmation {
        return told(true, Evidence::Confirmed);
    }
    let failed = run.steps.iter().filter(|step| step.failed).count();
    let mostly = (run.steps.len() - failed) as f64 >= MOSTLY * run.steps.len() as f64;
    match (run.ending, reaction) {
        (Ending::Completed, _) if mostly => told(true, Evidence::Completed),
        (Ending::Normal, Reaction::Correction) if mostly => told(true, Evidence::Accepted),
        (Ending::Normal, _) if mostly => told(true, Evidence::Weak),
        _ => Judgement { ok: None, evidence: Evidence::Unknown },
    }
}

/// For each failed step, where it stands and the step that put it right: the next one of the same
/// program or kind that did not fail.
pub fn pitfalls(steps: &[Step]) -> Vec<(usize, Option<usize>)> {
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
