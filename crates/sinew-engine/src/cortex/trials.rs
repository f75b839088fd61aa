//! How a skill did since something was learned about it, for the workshop's probation.

use std::collections::BTreeSet;

use sinew_cortex::Stamp;
use sinew_cortex::record::{Body, Outcome, Verdict};
use sinew_workshop::Trials;

use super::Cortex;
use crate::Error;

impl Cortex<'_> {
    /// Uses of a skill since a moment, and those of the same regions that happened without what was
    /// learned then: of other skills, and of this one before.
    pub(crate) fn trials(&self, slug: &str, since: Stamp) -> Result<Trials, Error> {
        let records = self.latest(usize::MAX, |body| matches!(body, Body::Outcome(_)))?;
        // What was taken back counts for nothing. A use that lies further back than the latest records
        // is still remembered by its day.
        let (retracted, mut used) = self.with_memory(|memory| {
            let candidates = memory.motor.values().flat_map(|region| &region.candidates);
            let mut own = candidates.filter(|candidate| candidate.slug == slug);
            let used = own.any(|candidate| candidate.last_used > since.day());
            (memory.retracted.clone(), used)
        })?;
        let outcomes: Vec<(Stamp, &Outcome)> = records
            .iter()
            .filter(|record| !retracted.contains(&record.id))
            .filter_map(|record| match &record.body {
                Body::Outcome(outcome) => Some((record.ts, outcome.as_ref())),
                _ => None,
            })
            .collect();
        let with = |at: Stamp, outcome: &Outcome| outcome.slug == slug && at >= since;
        let own = outcomes.iter().filter(|(at, outcome)| with(*at, outcome));
        let regions: BTreeSet<&str> = own.map(|(_, outcome)| outcome.region.as_str()).collect();
        used |= !regions.is_empty();
        let mut trials = Trials { used, ..Trials::default() };
        for (at, outcome) in outcomes {
            if !regions.contains(outcome.region.as_str()) {
                continue;
            }
            let count = match (with(at, outcome), outcome.result) {
                (true, Verdict::Success) => &mut trials.success,
                (true, Verdict::Failure) => &mut trials.failure,
                (false, Verdict::Success) => &mut trials.success_without,
                (false, Verdict::Failure) => &mut trials.failure_without,
                (_, Verdict::Unknown) => continue,
            };
            *count += 1;
        }
        Ok(trials)
    }
}
