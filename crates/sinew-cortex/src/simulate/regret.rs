//! Regret against the best of three skills, with and without a drift halfway through.

use serde::Serialize;

use super::clean_successes::new_candidate;
use super::rng::SimulationRng;
use crate::bayes::{BayesCounts, PRIOR};
use crate::failure::FailureKind;
use crate::fold::{fail, succeed};
use crate::memory::RegionCandidate;
use crate::policy::CortexPolicy;
use crate::record::{SkillOutcome, UseResult};
use crate::time::{DAY_MS, UtcInstant};
use crate::weight;

/// Skills per world.
const SKILLS: usize = 3;
/// The parameters of the beta distribution of reliabilities.
const RELIABILITY: (f64, f64) = (4.0, 1.5);
/// The share of failures that are the skill's own.
const RUNTIME_SHARE: f64 = 0.7;
/// What a drift leaves of the best skill's reliability.
const DRIFT: f64 = 0.3;
/// Worlds per cell.
const HISTORIES: u64 = 300;

/// A column: its name, milliseconds between uses, uses, and whether there is a drift.
pub const COLUMNS: [(&str, i64, u32, bool); 6] = [
    ("1/week ×100", 7 * DAY_MS, 100, false),
    ("1/day ×200", DAY_MS, 200, false),
    ("5/day ×400", DAY_MS / 5, 400, false),
    ("1/week drift", 7 * DAY_MS, 100, true),
    ("1/day drift", DAY_MS, 200, true),
    ("5/day drift", DAY_MS / 5, 400, true),
];

/// How a skill is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RegretPolicy {
    /// By weight, with decay per candidate.
    ReferencePerCandidate,
    /// By weight, with decay per region: the default.
    ReferencePerRegion,
    /// By the mean.
    Mean,
    /// By Thompson sampling.
    Thompson,
    /// By Thompson sampling with counts that do not fade.
    ThompsonForever,
    /// By upper confidence bound, with every failure in full.
    Ucb,
    /// By upper confidence bound, with failures by severity: the policy `bayes`.
    UcbSeverity,
}

impl RegretPolicy {
    /// Every row of the table.
    pub const ALL: [Self; 7] = [
        Self::ReferencePerCandidate,
        Self::ReferencePerRegion,
        Self::Mean,
        Self::Thompson,
        Self::ThompsonForever,
        Self::Ucb,
        Self::UcbSeverity,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReferencePerCandidate => "cortex, decay per candidate",
            Self::ReferencePerRegion => "cortex, decay per region",
            Self::Mean => "beta mean, prior 3:1, g .98",
            Self::Thompson => "thompson, same",
            Self::ThompsonForever => "thompson, no discount",
            Self::Ucb => "ucb, every failure sev 1",
            Self::UcbSeverity => "bayes: ucb, sev table",
        }
    }

    /// The expected figures, with the standard error if known.
    fn expected(self) -> [(f64, Option<f64>); 6] {
        let plain = |values: [f64; 6]| values.map(|value| (value, None));
        let with = |values: [(f64, f64); 6]| values.map(|(value, error)| (value, Some(error)));
        match self {
            Self::ReferencePerCandidate => with([
                (3.7, 0.31),
                (9.9, 0.54),
                (39.9, 1.6),
                (6.7, 0.32),
                (17.7, 0.57),
                (58.6, 1.1),
            ]),
            Self::ReferencePerRegion => with([
                (3.6, 0.29),
                (10.2, 0.54),
                (39.6, 1.6),
                (6.4, 0.31),
                (17.6, 0.58),
                (58.3, 1.1),
            ]),
            Self::Mean => plain([2.9, 5.0, 8.0, 9.2, 14.1, 19.0]),
            Self::Thompson => plain([4.7, 7.1, 9.8, 10.4, 17.4, 24.6]),
            Self::ThompsonForever => plain([4.4, 6.2, 8.1, 11.4, 21.4, 39.2]),
            Self::Ucb => with([
                (3.2, 0.23),
                (4.7, 0.34),
                (6.2, 0.46),
                (7.2, 0.29),
                (11.4, 0.46),
                (15.5, 0.65),
            ]),
            Self::UcbSeverity => with([
                (3.8, 0.25),
                (5.8, 0.37),
                (7.8, 0.46),
                (7.6, 0.31),
                (12.5, 0.48),
                (16.9, 0.65),
            ]),
        }
    }
}

/// One policy over all columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegretRow {
    /// The policy.
    pub policy: &'static str,
    /// Its columns.
    pub cells: Vec<RegretCell>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegretCell {
    /// The column.
    pub column: &'static str,
    /// The mean regret.
    pub regret: f64,
    /// Its standard error.
    pub error: f64,
    /// The expected figure.
    pub said: f64,
    /// Its standard error.
    pub said_error: Option<f64>,
}

impl RegretCell {
    /// The difference in standard errors; if none is known for the other, ours is used for both.
    pub fn distance(&self) -> f64 {
        let theirs = self.said_error.unwrap_or(self.error);
        (self.regret - self.said).abs() / self.error.hypot(theirs)
    }
}

/// Runs one policy, over the columns whose name contains `column`.
pub fn simulate_regret(policy: RegretPolicy, column: Option<&str>, seed: u64) -> RegretRow {
    let mut cells = Vec::new();
    for (&(name, step, uses, drifts), (said, said_error)) in COLUMNS.iter().zip(policy.expected()) {
        if column.is_some_and(|column| !name.contains(column)) {
            continue;
        }
        let each: Vec<f64> = (0..HISTORIES)
            .map(|history| {
                // The same worlds for every policy, so that differences come from the policies.
                let rng = SimulationRng::new(seed.wrapping_mul(1_000_003).wrapping_add(history));
                RegretWorld::new(policy, rng).run(step, uses, drifts)
            })
            .collect();
        let n = each.len() as f64;
        let mean = each.iter().sum::<f64>() / n;
        let spread = each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (spread / n).sqrt();
        cells.push(RegretCell { column: name, regret: mean, error, said, said_error });
    }
    RegretRow { policy: policy.name(), cells }
}

struct RegretWorld {
    policy: RegretPolicy,
    rng: SimulationRng,
    reliability: [f64; SKILLS],
    skills: [RegionCandidate; SKILLS],
    counts: [BayesCounts; SKILLS],
    last: Option<UtcInstant>,
}

impl RegretWorld {
    fn new(policy: RegretPolicy, mut rng: SimulationRng) -> Self {
        let reliability = std::array::from_fn(|_| rng.beta(RELIABILITY.0, RELIABILITY.1));
        let skills = std::array::from_fn(|_| new_candidate());
        Self {
            policy,
            rng,
            reliability,
            skills,
            counts: [BayesCounts::default(); SKILLS],
            last: None,
        }
    }

    fn run(mut self, step: i64, uses: u32, drifts: bool) -> f64 {
        let mut regret = 0.0;
        for number in 0..uses {
            let at = UtcInstant::from_ms(i64::from(number) * step);
            if drifts && number == uses / 2 {
                let best = first_best(&self.reliability);
                self.reliability[best] *= DRIFT;
            }
            let chosen = self.choose(at);
            let best = self.reliability[first_best(&self.reliability)];
            regret += best - self.reliability[chosen];
            self.use_skill(chosen, at);
        }
        regret
    }

    fn choose(&mut self, at: UtcInstant) -> usize {
        use RegretPolicy as P;
        let scores: [f64; SKILLS] = match self.policy {
            P::ReferencePerCandidate | P::ReferencePerRegion => {
                let per_region = self.policy == P::ReferencePerRegion;
                let region = self.last.map_or(0, |last| at.day().days_since(last.day()));
                let effective: [f64; SKILLS] = std::array::from_fn(|skill| {
                    let skill = &self.skills[skill];
                    let own =
                        if skill.runs() == 0 { 0 } else { at.day().days_since(skill.last_used) };
                    weight::effective(skill.weight, if per_region { region } else { own })
                });
                if effective.iter().all(|effective| *effective < weight::OFFER_MIN) {
                    return self.rng.below(SKILLS);
                }
                effective
            }
            P::Mean => self.counts.map(BayesCounts::mean),
            P::Thompson | P::ThompsonForever => {
                let counts = self.counts;
                counts.map(|counts| self.rng.beta(PRIOR.0 + counts.a, PRIOR.1 + counts.b))
            }
            P::Ucb | P::UcbSeverity => {
                let known = self.counts.iter().map(|counts| counts.sum()).sum();
                self.counts.map(|counts| counts.score(known))
            }
        };
        first_best(&scores)
    }

    fn use_skill(&mut self, chosen: usize, at: UtcInstant) {
        let policy = CortexPolicy::default();
        let candidate = &mut self.skills[chosen];
        let counts = &mut self.counts[chosen];
        let works = self.rng.happens(self.reliability[chosen]);
        let fades =
            if self.policy == RegretPolicy::ThompsonForever { 1.0 } else { crate::bayes::DISCOUNT };
        counts.a *= fades;
        counts.b *= fades;
        if works {
            counts.a += 1.0;
            succeed(candidate, at, 1.0, &policy);
        } else {
            let own = self.rng.happens(RUNTIME_SHARE);
            let kind = if own { FailureKind::RuntimeError } else { FailureKind::ApiError };
            let by_kind = self.policy == RegretPolicy::UcbSeverity;
            counts.b += if by_kind { kind.severity() } else { 1.0 };
            let outcome = SkillOutcome::new("region", "skill", "1.0.0", UseResult::Failure);
            fail(candidate, at, kind, &outcome, 1.0, false, &policy);
        }
        candidate.last_used = at.day();
        self.last = Some(at);
    }
}

/// The index of the highest score; ties go to the first.
fn first_best(scores: &[f64; SKILLS]) -> usize {
    (0..SKILLS).rev().max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0)
}
