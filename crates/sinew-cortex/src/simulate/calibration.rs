//! Reflexes by reliability: how often one is granted, when first, and its share of all uses.

use serde::Serialize;
use sinew_settings::config::ReflexGate;

use super::clean_successes::new_candidate;
use super::rng::SimulationRng;
use crate::bayes::BayesCounts;
use crate::failure::FailureKind;
use crate::fold::{fail, succeed};
use crate::memory::RegionCandidate;
use crate::policy::CortexPolicy;
use crate::record::{SkillOutcome, UseResult};
use crate::reflex::{self, ReflexContext};
use crate::time::{DAY_MS, UtcInstant};

const USES: u32 = 200;
const HISTORIES: u64 = 200;
const RELIABILITIES: [f64; 6] = [0.70, 0.80, 0.90, 0.95, 0.98, 1.0];
/// The share of failures that are the skill's own, in the worlds of Skill Cortex's gate.
const RUNTIME_SHARE: f64 = 0.7;

/// A column: its name, milliseconds between uses, and the bound; without a bound, Skill Cortex's
/// gate.
const COLUMNS: [(&str, i64, Option<f64>); 5] = [
    ("reference weekly", 7 * DAY_MS, None),
    ("reference daily", DAY_MS, None),
    ("reference 5/day", DAY_MS / 5, None),
    ("LB ≥ .80", 7 * DAY_MS, Some(0.80)),
    ("LB ≥ .85", 7 * DAY_MS, Some(0.85)),
];

/// The expected figures, in the same order, rounded as they were computed.
const SAID: [[&str; 5]; 6] = [
    ["42 % @102, fails 27 %", "0", "0", "1 %", "0"],
    ["95 % @56, fails 18 %", "0", "0", "23 % @48, 1.2 %", "3 %"],
    ["100 % @22, 29 %", "0", "0", "99 % @35, 36 %", "71 % @68, 11 %"],
    ["100 % @13, 56 %", "18 % @114, 1.8 %", "0", "100 % @13, 69 %", "100 % @31, 54 %"],
    ["100 % @13, 78 %", "83 % @95, 20 %", "0", "100 % @13, 84 %", "100 % @19, 79 %"],
    ["100 % @13, 94 %", "100 % @65, 68 %", "0", "100 % @13, 94 %", "100 % @19, 91 %"],
];

/// One reliability.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationRow {
    /// The reliability.
    pub reliability: f64,
    /// Its columns.
    pub grants: Vec<ReflexGrant>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReflexGrant {
    /// The column.
    pub gate: &'static str,
    /// The share of histories in which a reflex ever fired.
    pub ever: f64,
    /// The median index of the first reflex, from 0.
    pub first: Option<u32>,
    /// The share of uses that were reflexes.
    pub share: f64,
    /// The share of reflexes that failed.
    pub failed: f64,
    /// The expected figures.
    pub said: &'static str,
}

/// Runs all columns.
pub fn simulate_calibration(seed: u64) -> Vec<CalibrationRow> {
    let rows = RELIABILITIES.iter().zip(SAID).enumerate();
    rows.map(|(row, (&reliability, said))| CalibrationRow {
        reliability,
        grants: COLUMNS
            .iter()
            .zip(said)
            .enumerate()
            .map(|(column, (&(gate, step, bound), said))| {
                let cell = (row * COLUMNS.len() + column) as u64;
                grant(
                    gate,
                    said,
                    reliability,
                    step,
                    bound,
                    seed.wrapping_mul(31).wrapping_add(cell),
                )
            })
            .collect(),
    })
    .collect()
}

fn grant(
    gate: &'static str,
    said: &'static str,
    reliability: f64,
    step: i64,
    bound: Option<f64>,
    seed: u64,
) -> ReflexGrant {
    let mut policy = CortexPolicy::default();
    if let Some(bound) = bound {
        policy.gate = Some(ReflexGate::Bound);
        policy.min_lb = bound;
    }
    let (mut first, mut fired, mut failed) = (Vec::new(), 0_u32, 0_u32);
    for history in 0..HISTORIES {
        let mut rng = SimulationRng::new(seed.wrapping_mul(1_000_003).wrapping_add(history));
        let mut candidate = new_candidate();
        let mut first_here = None;
        for number in 0..USES {
            let at = UtcInstant::from_ms(i64::from(number) * step);
            let idle = if number == 0 { 0 } else { at.day().days_since(candidate.last_used) };
            let moment = ReflexContext { idle, ..ReflexContext::default() };
            let fires = reflex::decide(&candidate, &moment, &policy).fires;
            let works = rng.happens(reliability);
            if fires {
                first_here.get_or_insert(number);
                fired += 1;
                failed += u32::from(!works);
            }
            use_once(&mut candidate, works, bound.is_some(), at, &mut rng, &policy);
        }
        first.extend(first_here);
    }
    first.sort_unstable();
    let histories = HISTORIES as f64;
    ReflexGrant {
        gate,
        ever: first.len() as f64 / histories,
        first: first.get(first.len() / 2).copied(),
        share: f64::from(fired) / (histories * f64::from(USES)),
        failed: if fired == 0 { 0.0 } else { f64::from(failed) / f64::from(fired) },
        said,
    }
}

/// In the worlds with a bound every failure counts in full; in Skill Cortex's, some are the
/// service's.
fn use_once(
    candidate: &mut RegionCandidate,
    works: bool,
    in_full: bool,
    at: UtcInstant,
    rng: &mut SimulationRng,
    policy: &CortexPolicy,
) {
    if works {
        succeed(candidate, at, 1.0, policy);
    } else {
        let own = in_full || rng.happens(RUNTIME_SHARE);
        let kind = if own { FailureKind::RuntimeError } else { FailureKind::ApiError };
        let outcome = SkillOutcome::new("region", "skill", "1.0.0", UseResult::Failure);
        // The drift alarm is a separate safeguard; the table is about the gates alone.
        let counts: BayesCounts = candidate.counts.failure(kind, 1.0);
        fail(candidate, at, kind, &outcome, 1.0, false, policy);
        candidate.counts = counts;
        candidate.drift = 0.0;
    }
    candidate.last_used = at.day();
}
