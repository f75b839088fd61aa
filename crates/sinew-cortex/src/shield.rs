//! The outage shield: if several skills fail at their services within minutes, the network is the
//! cause.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sinew_settings::config::ShieldScope;

use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::record::{CortexRecord, RecordBody, UseResult};
use crate::time::{MINUTE_MS, UtcInstant};

/// Failures of different skills this close to each other are one outage.
pub const WINDOW_MS: i64 = 10 * MINUTE_MS;

/// What must be known about earlier failures to judge the next one. Two skills within one window
/// shield each other, so the latest failures are enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageState {
    /// The latest service failure.
    last: Option<(String, UtcInstant)>,
    /// The latest one of another skill.
    other: Option<UtcInstant>,
    /// The latest one that was attributed to the skill.
    unshielded: Option<(String, UtcInstant)>,
}

/// An earlier failure that was attributed to the skill turns out to belong to an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LateOutage;

impl OutageState {
    /// The nearest earlier failure of another skill.
    fn nearest(&self, slug: &str) -> Option<UtcInstant> {
        match &self.last {
            Some((last, at)) if last != slug => Some(*at),
            _ => self.other,
        }
    }

    /// Records a service failure that was folded.
    pub(crate) fn note(&mut self, slug: &str, at: UtcInstant, shielded: bool) {
        match &mut self.last {
            Some((last, when)) if last == slug => *when = at,
            last => {
                self.other = last.take().map(|(_, at)| at);
                *last = Some((slug.to_owned(), at));
            }
        }
        if !shielded {
            self.unshielded = Some((slug.to_owned(), at));
        }
    }

    /// Whether a failure would shield an earlier one that was already attributed to its skill.
    fn is_too_late(&self, slug: &str, at: UtcInstant) -> bool {
        let own = self.unshielded.as_ref();
        own.is_some_and(|(other, when)| other != slug && at.ms() - when.ms() <= WINDOW_MS)
    }
}

/// The service failure in a record, if it is one.
pub(crate) fn service_failure(record: &CortexRecord) -> Option<&str> {
    match &record.body {
        RecordBody::Outcome(outcome)
            if outcome.result == UseResult::Failure
                && outcome.failure_kind() == FailureKind::ApiError =>
        {
            Some(&outcome.slug)
        }
        _ => None,
    }
}

/// Which of `records`, in order, an outage shields, given what was folded before.
pub(crate) fn shielded(
    records: &[&CortexRecord],
    before: &OutageState,
    shield: ShieldScope,
) -> Result<BTreeSet<Ulid>, LateOutage> {
    let mut found = BTreeSet::new();
    if shield == ShieldScope::Off {
        return Ok(found);
    }
    let failures: Vec<(&str, &CortexRecord)> =
        records.iter().filter_map(|record| Some((service_failure(record)?, *record))).collect();
    let close = |a: UtcInstant, b: UtcInstant| (a.ms() - b.ms()).abs() <= WINDOW_MS;
    let mut earlier = before.clone();
    for (slug, record) in &failures {
        if before.is_too_late(slug, record.ts) {
            return Err(LateOutage);
        }
        if earlier.nearest(slug).is_some_and(|at| close(at, record.ts)) {
            found.insert(record.id);
        }
        earlier.note(slug, record.ts, true);
    }
    let mut later = OutageState::default();
    for (slug, record) in failures.iter().rev() {
        if later.nearest(slug).is_some_and(|at| close(at, record.ts)) {
            found.insert(record.id);
        }
        later.note(slug, record.ts, true);
    }
    Ok(found)
}
