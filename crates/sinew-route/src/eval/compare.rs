//! Two routers on the same questions.

use std::collections::HashMap;

use serde::Serialize;

use super::data::ExpectedMatch;
use super::report::{ConfidenceInterval, interval_of_mean};
use super::run::QuestionResult;

/// The paired difference of two runs, second minus first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EvalComparison {
    /// Questions in both.
    pub messages: usize,
    /// Difference of hit@1.
    #[serde(rename = "hit@1")]
    pub hit1: f64,
    /// Its interval.
    #[serde(rename = "hit@1_95")]
    pub hit1_interval: ConfidenceInterval,
    /// Difference of hit@5.
    #[serde(rename = "hit@5")]
    pub hit5: f64,
    /// Its interval.
    #[serde(rename = "hit@5_95")]
    pub hit5_interval: ConfidenceInterval,
    /// Difference of NDCG@10.
    #[serde(rename = "ndcg@10")]
    pub ndcg10: f64,
    /// Its interval.
    #[serde(rename = "ndcg@10_95")]
    pub ndcg10_interval: ConfidenceInterval,
    /// Questions that only the second router got right at rank 1.
    pub won: usize,
    /// Questions that only the first did.
    pub lost: usize,
}

/// Compares two runs question by question; questions in only one of them do not count.
pub fn compare(first: &[QuestionResult], second: &[QuestionResult]) -> EvalComparison {
    let others: HashMap<&str, &QuestionResult> =
        second.iter().map(|one| (one.id.as_str(), one)).collect();
    let pairs: Vec<(&QuestionResult, &QuestionResult)> = first
        .iter()
        .filter(|one| one.wants == ExpectedMatch::Skill)
        .filter_map(|one| Some((one, *others.get(one.id.as_str())?)))
        .collect();
    let difference = |value: &dyn Fn(&QuestionResult) -> f64| -> Vec<f64> {
        pairs.iter().map(|(a, b)| value(b) - value(a)).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let hits = difference(&|one| one.hit(1));
    let fives = difference(&|one| one.hit(5));
    let gains = difference(&QuestionResult::ndcg);
    EvalComparison {
        messages: pairs.len(),
        hit1: mean(&hits),
        hit1_interval: interval_of_mean(&hits),
        hit5: mean(&fives),
        hit5_interval: interval_of_mean(&fives),
        ndcg10: mean(&gains),
        ndcg10_interval: interval_of_mean(&gains),
        won: hits.iter().filter(|&&hit| hit > 0.0).count(),
        lost: hits.iter().filter(|&&hit| hit < 0.0).count(),
    }
}
