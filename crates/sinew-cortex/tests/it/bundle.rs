//! A log under construction, and the memory it folds to.

use std::cell::Cell;

use sinew_cortex::failure::FailureKind;
use sinew_cortex::memory::RegionCandidate;
use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
use sinew_cortex::{CortexMemory, CortexPolicy, Ulid, UtcDay, UtcInstant, fold};

pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const DAY: i64 = 24 * HOUR;

/// The region and the skill that most tests use.
pub(crate) const R: &str = "task-management";
pub(crate) const S: &str = "todoist";

/// Monday, 2 March 2026, nine o'clock.
pub(crate) fn start() -> UtcInstant {
    "2026-03-02T09:00:00Z".parse().expect("a time")
}

pub(crate) fn today() -> UtcDay {
    start().day()
}

/// A growing log, with a clock that tests set.
pub(crate) struct Log {
    pub(crate) records: Vec<CortexRecord>,
    pub(crate) now: UtcInstant,
    pub(crate) policy: CortexPolicy,
    entropy: Cell<u128>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            records: Vec::new(),
            now: start(),
            policy: CortexPolicy::default(),
            entropy: Cell::new(0),
        }
    }

    pub(crate) fn with(policy: CortexPolicy) -> Self {
        Self { policy, ..Self::new() }
    }

    pub(crate) fn push(&mut self, body: RecordBody) -> Ulid {
        self.entropy.set(self.entropy.get() + 1);
        let id = Ulid::new(self.now, self.entropy.get());
        self.records.push(CortexRecord { id, ts: self.now, body });
        id
    }

    pub(crate) fn outcome(&mut self, outcome: SkillOutcome) -> Ulid {
        self.push(RecordBody::Outcome(Box::new(outcome)))
    }

    pub(crate) fn ok(&mut self) -> Ulid {
        self.outcome(SkillOutcome::success(R, S, "1.0.0"))
    }

    pub(crate) fn fail(&mut self, kind: FailureKind) -> Ulid {
        self.outcome(SkillOutcome::failure(R, S, "1.0.0", kind))
    }

    /// Successes, one every `ms`.
    pub(crate) fn every(&mut self, ms: i64, many: u32) {
        for number in 0..many {
            if number > 0 {
                self.pass(ms);
            }
            self.ok();
        }
    }

    pub(crate) fn pass(&mut self, ms: i64) {
        self.now = self.now.plus_ms(ms);
    }

    pub(crate) fn memory(&self) -> CortexMemory {
        fold::fold(&self.records, &self.policy)
    }

    pub(crate) fn candidate(&self) -> RegionCandidate {
        self.memory().candidate(R, S).expect("a record").clone()
    }

    pub(crate) fn weight(&self) -> f64 {
        self.candidate().weight
    }
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// For numbers that are known to six places.
#[track_caller]
pub(crate) fn rounded(found: f64, expected: f64) {
    assert!((found - expected).abs() < 5.1e-7, "{found} is not {expected} (rounded)");
}
