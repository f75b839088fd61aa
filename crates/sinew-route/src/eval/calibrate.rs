//! Fits the calibration of a set of models to messages over catalogs.

use std::sync::Arc;

use rayon::prelude::*;

use super::data::EvalQuestion;
use super::raw_signals::{RawSignals, candidates, raw_signals};
use crate::calibrate::{
    Calibration, CalibrationSample, CalibrationSet, MatchFeatures, SignalBackground, fit,
};
use crate::index::RouteIndex;
use crate::router::{RouteContext, Router, RouterConfig};
use crate::router_models::RouterModels;

/// Candidates per message used for fitting.
const TOP: usize = 5;

/// Messages without a skill, to one that has one.
const NONE_SHARE: f64 = 0.6;

/// The weight of a near miss when fitting the confidence of a match: three for ten hits.
const NEAR_MISS_RIGHT: f64 = 0.3;

/// The same when fitting whether anything fits: small, because a neighbour is often worth reading.
const NEAR_MISS_FIT: f64 = 0.15;

/// Messages over one catalog, to fit on.
#[derive(Debug, Clone)]
pub struct CalibrationPool {
    /// The catalog, with all vectors.
    pub index: Arc<RouteIndex>,
    /// Messages with the skills that answer them.
    pub questions: Vec<EvalQuestion>,
    /// Messages that need none.
    pub none: Vec<EvalQuestion>,
}

/// The calibration that best explains the pools. `start` says what weighs how much and where the data comes
/// from; what unrelated documents score is measured on the pool numbered `background`; `pull` keeps slopes
/// small (the fewer the messages, the larger it should be).
pub fn calibrate(
    models: &RouterModels,
    pools: &[CalibrationPool],
    background: usize,
    start: Calibration,
    pull: f64,
) -> Calibration {
    let with_encoder = models.encoder.is_some();
    let ids = [
        models.table.as_ref().map(|table| table.id()),
        models.encoder.as_ref().map(|one| one.id()),
    ];
    let mut start =
        Calibration { model: ids.into_iter().flatten().collect::<Vec<_>>().join("+"), ..start };
    if let Some(pool) = pools.get(background) {
        let router = router(pool, models, None);
        start.background = unrelated(&router, &pool.questions, with_encoder);
    }
    let (mut right, mut fits) = (Vec::new(), Vec::new());
    for pool in pools {
        observe(&router(pool, models, Some(&start)), pool, &mut right, &mut fits);
    }
    let unused: &[&str] = if with_encoder { &[] } else { &["encoder"] };
    let fit_unused: Vec<&str> = unused.iter().copied().chain(["behind"]).collect();
    Calibration { right: fit(&right, pull, unused), fit: fit(&fits, pull, &fit_unused), ..start }
}

fn router(
    pool: &CalibrationPool,
    models: &RouterModels,
    calibration: Option<&Calibration>,
) -> Router {
    let calibrations = CalibrationSet { sets: calibration.into_iter().cloned().collect() };
    let config = RouterConfig { calibrations, ..RouterConfig::default() };
    Router::from_index(Arc::clone(&pool.index), models.clone(), config).0
}

/// Each message with its skill present, each without it, and messages that need none.
fn observe(
    router: &Router,
    pool: &CalibrationPool,
    right: &mut Vec<CalibrationSample>,
    fits: &mut Vec<CalibrationSample>,
) {
    let mut add = |found: &[(String, MatchFeatures)],
                   is_right: &dyn Fn(&str) -> bool,
                   any: bool,
                   [right_weight, fit_weight]: [f64; 2]| {
        for (place, (id, features)) in found.iter().enumerate() {
            let sample =
                |right: bool, weight: f64| CalibrationSample { features: *features, right, weight };
            right.push(sample(is_right(id), right_weight));
            if place == 0 {
                fits.push(sample(any, fit_weight));
            }
        }
    };
    let ask = |text: &str, excluded: &[&str]| {
        candidates(router, text, &RouteContext { excluded, prior: None }, TOP)
    };
    let asked: Vec<_> = pool
        .questions
        .par_iter()
        .map(|question| {
            let answers: Vec<&str> =
                question.expected.iter().chain(&question.also).map(String::as_str).collect();
            (ask(&question.query, &[]), ask(&question.query, &answers))
        })
        .collect();
    for (question, (there, away)) in pool.questions.iter().zip(&asked) {
        add(there, &|id| question.accepts(id), true, [1.0, 1.0]);
        add(away, &|_| false, false, [NEAR_MISS_RIGHT, NEAR_MISS_FIT]);
    }
    let weight = NONE_SHARE * pool.questions.len() as f64 / pool.none.len().max(1) as f64;
    let silent: Vec<_> = pool.none.par_iter().map(|question| ask(&question.query, &[])).collect();
    for there in &silent {
        add(there, &|_| false, false, [weight, weight]);
    }
}

/// Mean and deviation of each signal over documents, which are nearly all unrelated.
fn unrelated(router: &Router, questions: &[EvalQuestion], with_encoder: bool) -> SignalBackground {
    // A few hundred messages say as much as all. Five has no divisor with the three styles that messages come in.
    let step = if questions.len() > 1_000 { 5 } else { 1 };
    let raw: Vec<RawSignals> = questions
        .par_iter()
        .step_by(step)
        .map(|question| raw_signals(router, &question.query))
        .collect();
    let over = |values: &dyn Fn(&RawSignals) -> Vec<f64>| -> [f64; 2] {
        let (mut means, mut deviations) = (0.0, 0.0);
        for one in &raw {
            let values = values(one);
            let n = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / n;
            means += mean;
            deviations +=
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        }
        [means, deviations].map(|sum| (1e4 * sum / raw.len().max(1) as f64).round() / 1e4)
    };
    let plain = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    SignalBackground {
        lexical: over(&|one| {
            let mass = one.mass.max(1e-3).sqrt();
            one.lexical.iter().map(|&value| f64::from(value / mass)).collect()
        }),
        table: over(&|one| plain(&one.table)),
        encoder: if with_encoder { over(&|one| plain(&one.encoder)) } else { [0.1, 0.1] },
    }
}
