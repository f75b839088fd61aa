//! How far a draft is trusted.

use std::collections::BTreeSet;

use serde::ser::SerializeMap as _;

use crate::fingerprint::STEPS;
use crate::judge::JudgementEvidence;
use crate::run::RunStep;

/// Steps that a single run needs for medium confidence.
const ENOUGH_STEPS: usize = 4;

/// Kinds of steps that it needs for that.
const ENOUGH_KINDS: usize = 2;

/// Runs that took the same steps and succeeded, for high confidence.
const ENOUGH_RUNS: usize = 3;

/// How far a draft is trusted, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftConfidence {
    level: ConfidenceLevel,
    evidence: JudgementEvidence,
    steps: usize,
    kinds: usize,
    runs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfidenceLevel {
    Low,
    Medium,
    High,
}

impl DraftConfidence {
    /// The confidence in a run that went well `runs` times.
    pub fn of(steps: &[RunStep], evidence: JudgementEvidence, runs: usize) -> Self {
        let first = &steps[..steps.len().min(STEPS)];
        let kinds: BTreeSet<&str> = first.iter().map(|step| step.action.kind.as_str()).collect();
        let level = match () {
            () if evidence == JudgementEvidence::Weak => ConfidenceLevel::Low,
            () if runs >= ENOUGH_RUNS => ConfidenceLevel::High,
            () if first.len() >= ENOUGH_STEPS && kinds.len() >= ENOUGH_KINDS => {
                ConfidenceLevel::Medium
            }
            () => ConfidenceLevel::Low,
        };
        Self { level, evidence, steps: first.len(), kinds: kinds.len(), runs }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self.level {
            ConfidenceLevel::Low => "low",
            ConfidenceLevel::Medium => "medium",
            ConfidenceLevel::High => "high",
        }
    }

    /// Why.
    pub fn explanation(self) -> String {
        match (self.level, self.evidence) {
            (ConfidenceLevel::High, _) => format!("{} runs went the same way", self.runs),
            (_, JudgementEvidence::Weak) => "the user did not confirm that it worked".to_owned(),
            _ => format!("{} steps of {} kinds", self.steps, self.kinds),
        }
    }
}

impl serde::Serialize for DraftConfidence {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("level", self.as_str())?;
        map.serialize_entry("why", &self.explanation())?;
        map.end()
    }
}
