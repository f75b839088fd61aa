//! Uninterrupted successes from 0.5: how many uses a weight and a reflex take. Exact.

use serde::Serialize;

use crate::fold::succeed;
use crate::memory::RegionCandidate;
use crate::policy::CortexPolicy;
use crate::reflex::{self, ReflexContext};
use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS, UtcDay, UtcInstant};

/// How often a task is done.
#[derive(Debug, Clone, Copy)]
pub struct TaskCadence {
    /// Its name.
    pub name: &'static str,
    /// Milliseconds between two uses.
    pub step_ms: i64,
    /// The expected figures: uses to 0.90, days until then, uses to 0.80, and the first reflex.
    pub said: (u32, f64, u32, Option<u32>),
}

const fn cadence(
    name: &'static str,
    step_ms: i64,
    said: (u32, f64, u32, Option<u32>),
) -> TaskCadence {
    TaskCadence { name, step_ms, said }
}

/// The cadences of the table.
pub const CADENCES: [TaskCadence; 10] = [
    cadence("every 14 days", 14 * DAY_MS, (10, 126.0, 6, Some(20))),
    cadence("every 8 days", 8 * DAY_MS, (10, 72.0, 6, Some(15))),
    cadence("weekly", 7 * DAY_MS, (10, 63.0, 6, Some(14))),
    cadence("every 3.5 days", 84 * HOUR_MS, (20, 66.5, 11, None)),
    cadence("every 3 days", 3 * DAY_MS, (29, 84.0, 16, Some(33))),
    cadence("daily", DAY_MS, (63, 62.0, 31, Some(66))),
    cadence("2 a day", 12 * HOUR_MS, (117, 58.0, 52, None)),
    cadence("5 a day", 288 * MINUTE_MS, (261, 52.0, 99, None)),
    cadence("10 a day", 144 * MINUTE_MS, (474, 47.3, 150, None)),
    cadence("50 a day", 1_728_000, (1806, 36.1, 221, None)),
];

/// The maximum number of simulated uses: twice what the slowest row needs.
const MAX_USES: u32 = 4_000;

/// One cadence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CleanRow {
    /// Its name.
    pub cadence: &'static str,
    /// Uses until the weight is 0.90.
    pub to_90: Option<u32>,
    /// Days until then.
    pub days: Option<f64>,
    /// Uses until the weight is 0.80.
    pub to_80: Option<u32>,
    /// The first use that is a reflex, counted from 1.
    pub first_reflex: Option<u32>,
    /// The expected figures, in the same order.
    pub said: (u32, f64, u32, Option<u32>),
}

/// Runs one cadence.
pub fn clean_successes(cadence: &TaskCadence) -> CleanRow {
    let policy = CortexPolicy::default();
    let mut candidate = new_candidate();
    let mut row = CleanRow {
        cadence: cadence.name,
        to_90: None,
        days: None,
        to_80: None,
        first_reflex: None,
        said: cadence.said,
    };
    let mut last = UtcDay::default();
    for number in 1..=MAX_USES {
        let elapsed = i64::from(number - 1) * cadence.step_ms;
        let at = UtcInstant::from_ms(elapsed);
        let idle = if number == 1 { 0 } else { at.day().days_since(last) };
        let moment = ReflexContext { idle, ..ReflexContext::default() };
        if row.first_reflex.is_none() && reflex::decide(&candidate, &moment, &policy).fires {
            row.first_reflex = Some(number);
        }
        succeed(&mut candidate, at, 1.0, &policy);
        last = at.day();
        if row.to_80.is_none() && candidate.weight >= 0.8 {
            row.to_80 = Some(number);
        }
        if row.to_90.is_none() && candidate.weight >= reflex::MIN_WEIGHT {
            row.to_90 = Some(number);
            row.days = Some(elapsed as f64 / DAY_MS as f64);
        }
        if row.to_90.is_some() && row.first_reflex.is_some() {
            break;
        }
    }
    row
}

/// Numbers of successes within one window, and the expected weight for each.
pub const WINDOW_ONLY: [(u32, f64); 4] =
    [(10, 0.6838), (100, 0.7749), (1_000, 0.8405), (10_000, 0.8871)];

/// The weight after this many successes in one window.
pub fn in_one_window(successes: u32) -> f64 {
    let policy = CortexPolicy::default();
    let mut candidate = new_candidate();
    for number in 0..successes {
        succeed(&mut candidate, UtcInstant::from_ms(i64::from(number)), 1.0, &policy);
    }
    candidate.weight
}

/// A new skill that only reads.
pub(super) fn new_candidate() -> RegionCandidate {
    let mut candidate = RegionCandidate::new("skill", "clawhub", "1.0.0", UtcDay::default());
    candidate.side_effects = Some(Vec::new());
    candidate
}
