//! How far a draft is trusted.

use std::collections::BTreeSet;

use serde::ser::SerializeMap as _;

use super::fingerprint::STEPS;
use super::judge::Evidence;
use super::run::Step;

/// Steps that a run needs to be more than an accident.
const ENOUGH_STEPS: usize = 4;

/// Kinds of steps that it needs.
const ENOUGH_KINDS: usize = 2;

/// Runs that went the same way, all well, before a draft is trusted.
const ENOUGH_RUNS: usize = 3;

/// How far a draft is trusted, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confidence {
    level: Level,
    evidence: Evidence,
    steps: usize,
    kinds: usize,
    runs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Low,
    Medium,
    High,
}

impl Confidence {
    /// The confidence in a run that went well `runs` times.
    pub(crate) fn of(steps: &[Step], evidence: Evidence, runs: usize) -> Self {
        let first = &steps[..steps.len().min(STEPS)];
        let kinds: BTreeSet<&str> = first.iter().map(|step| step.action.kind.as_str()).collect();
        let level = match () {
            () if evidence == Evidence::Weak => Level::Low,
            () if runs >= ENOUGH_RUNS => Level::High,
            () if first.len() >= ENOUGH_STEPS && kinds.len() >= ENOUGH_KINDS => Level::Medium,
            () => Level::Low,
        };
        Self { level, evidence, steps: first.len(), kinds: kinds.len(), runs }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self.level {
            Level::Low => "low",
            Level::Medium => "medium",
            Level::High => "high",
        }
    }

    /// Why.
    pub fn why(self) -> String {
        match (self.level, self.evidence) {
            (Level::High, _) => format!("{} runs went the same way", self.runs),
            (_, Evidence::Weak) => "nobody said that it worked".to_owned(),
            _ => format!("{} steps of {} kinds", self.steps, self.kinds),
        }
    }
}

impl serde::Serialize for Confidence {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("level", self.as_str())?;
        map.serialize_entry("why", &self.why())?;
        map.end()
    }
}
