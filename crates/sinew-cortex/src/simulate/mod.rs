//! Simulated worlds: how long a reflex takes, what each policy costs, how often a reflex is wrong.
//!
//! The generator is fixed, so the same seed prints the same numbers. Each figure is shown beside
//! the expected one.

mod calibration;
mod clean_successes;
mod regret;
mod rng;

pub use calibration::{CalibrationRow, ReflexGrant, simulate_calibration};
pub use clean_successes::{
    CADENCES, CleanRow, TaskCadence, WINDOW_ONLY, clean_successes, in_one_window,
};
pub use regret::{COLUMNS, RegretCell, RegretPolicy, RegretRow, simulate_regret};
pub use rng::SimulationRng;

use serde::Serialize;

/// Which worlds to run.
#[derive(Debug, Clone, Default)]
pub struct SimulationRequest<'a> {
    /// Only cadences whose name contains this.
    pub cadence: Option<&'a str>,
    /// Only policies whose name contains this.
    pub policy: Option<&'a str>,
    /// The seed.
    pub seed: u64,
}

/// Every table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulationTables {
    /// The seed.
    pub rng: u64,
    /// Clean successes.
    pub clean: Vec<CleanRow>,
    /// Weights after a number of successes in one window, with Skill Cortex's.
    pub one_window: Vec<(u32, f64, f64)>,
    /// Regret against the best skill.
    pub regret: Vec<RegretRow>,
    /// Reflexes by reliability.
    pub calibration: Vec<CalibrationRow>,
}

/// Runs the worlds.
pub fn simulate(request: &SimulationRequest<'_>) -> SimulationTables {
    let fits = |name: &str, filter: Option<&str>| filter.is_none_or(|filter| name.contains(filter));
    let cadences = CADENCES.iter().filter(|cadence| fits(cadence.name, request.cadence));
    let policies = RegretPolicy::ALL.iter().filter(|policy| fits(policy.name(), request.policy));
    SimulationTables {
        rng: request.seed,
        clean: cadences.map(clean_successes).collect(),
        one_window: WINDOW_ONLY.iter().map(|&(n, said)| (n, in_one_window(n), said)).collect(),
        regret: policies
            .map(|policy| simulate_regret(*policy, request.cadence, request.seed))
            .collect(),
        calibration: match request.policy {
            None => simulate_calibration(request.seed),
            Some(_) => Vec::new(),
        },
    }
}
