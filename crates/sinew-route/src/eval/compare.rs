//! Two routers on the same questions.

use serde::Serialize;

use super::report::{Interval, interval_of_mean};
use super::run::Observed;

/// The paired difference of two runs, second minus first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Questions in both.
    pub messages: usize,
    /// Difference of hit@1.
    #[serde(rename = "hit@1")]
    pub hit1: f64,
    /// Its interval.
    #[serde(rename = "hit@1_95")]
    pub hit1_interval: Interval,
    /// Difference of NDCG@10.
    #[serde(rename = "ndcg@10")]
    pub ndcg10: f64,
    /// Its interval.
    #[serde(rename = "ndcg@10_95")]
    pub ndcg10_interval: Interval,
    /// Questions that the second has first and the first has not.
    pub won: usize,
    /// The other way round.
    pub lost: usize,
}

/// Compares two runs question by question; questions in one only do not count.
pub fn compare(first: &[Observed], second: &[Observed]) -> Comparison {
    let pairs: Vec<(&Observed, &Observed)> = first
        .iter()
        .filter(|one| !one.wants_none)
        .filter_map(|one| Some((one, second.iter().find(|other| other.id == one.id)?)))
        .collect();
    let hits: Vec<f64> = pairs.iter().map(|(a, b)| b.hit(1) - a.hit(1)).collect();
    let gains: Vec<f64> = pairs.iter().map(|(a, b)| b.ndcg() - a.ndcg()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    Comparison {
        messages: pairs.len(),
        hit1: mean(&hits),
        hit1_interval: interval_of_mean(&hits),
        ndcg10: mean(&gains),
        ndcg10_interval: interval_of_mean(&gains),
        won: hits.iter().filter(|&&hit| hit > 0.0).count(),
        lost: hits.iter().filter(|&&hit| hit < 0.0).count(),
    }
}
