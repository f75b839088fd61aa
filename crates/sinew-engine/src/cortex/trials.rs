//! How a skill did since something was learned about it, for the workshop's probation.

use std::collections::BTreeSet;

use sinew_cortex::UtcInstant;
use sinew_cortex::record::{RecordBody, SkillOutcome, UseResult};
use sinew_workshop::TrialRecord;

use super::Cortex;
use crate::EngineError;

impl Cortex<'_> {
    /// Uses of a skill since a moment, and those of the same regions that happened without what was
    /// learned then: of other skills, and of this one before.
    pub(crate) fn trials(&self, slug: &str, since: UtcInstant) -> Result<TrialRecord, EngineError> {
        let records =
            self.latest_records(usize::MAX, |body| matches!(body, RecordBody::Outcome(_)))?;
        // Retracted outcomes do not count. A use older than the latest records is still remembered by its
        // day.
        let (retracted, mut used) = self.with_memory(|memory| {
            let candidates = memory.motor.values().flat_map(|region| &region.candidates);
            let mut own = candidates.filter(|candidate| candidate.slug == slug);
            let used = own.any(|candidate| candidate.last_used > since.day());
            (memory.retracted.clone(), used)
        })?;
        let outcomes: Vec<(UtcInstant, &SkillOutcome)> = records
            .iter()
            .filter(|record| !retracted.contains(&record.id))
            .filter_map(|record| match &record.body {
                RecordBody::Outcome(outcome) => Some((record.ts, outcome.as_ref())),
                _ => None,
            })
            .collect();
        let with = |at: UtcInstant, outcome: &SkillOutcome| outcome.slug == slug && at >= since;
        let own = outcomes.iter().filter(|(at, outcome)| with(*at, outcome));
        let regions: BTreeSet<&str> = own.map(|(_, outcome)| outcome.region.as_str()).collect();
        used |= !regions.is_empty();
        let mut trials = TrialRecord { used, ..TrialRecord::default() };
        for (at, outcome) in outcomes {
            if !regions.contains(outcome.region.as_str()) {
                continue;
            }
            let count = match (with(at, outcome), outcome.result) {
                (true, UseResult::Success) => &mut trials.success,
                (true, UseResult::Failure) => &mut trials.failure,
                (false, UseResult::Success) => &mut trials.success_without,
                (false, UseResult::Failure) => &mut trials.failure_without,
                (_, UseResult::Unknown) => continue,
            };
            *count += 1;
        }
        Ok(trials)
    }
}
