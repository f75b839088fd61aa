//! Fits `data/calibration.json` for the models in the binary.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example calibrate -- 2026-11-15
//!
//! Fitted on validation messages over their own skills, over small parts of these, and over these
//! plus the skills of dev; with and without the right skill; and on four fifths of the messages
//! that need none. Dev's messages and the last fifth are never used for fitting: they test it (see
//! `figures`).
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints what it fits")]

mod common;

use std::sync::Arc;

use rayon::prelude::*;
use sinew_route::eval::{EvalQuestion, candidates, raw_signals};
use sinew_route::{
    Calibration, CalibrationSample, CalibrationSet, LogisticModel, MatchFeatures, RouteContext,
    RouteDocument, RouteIndex, Router, RouterConfig, RouterModels, SignalBackground, SignalWeights,
    fit,
};

/// Candidates per message used for fitting.
const TOP: usize = 5;

type Candidates = Vec<(String, MatchFeatures)>;

struct Pool {
    index: Arc<RouteIndex>,
    questions: Vec<EvalQuestion>,
}

fn main() {
    let date = std::env::args().nth(1).unwrap_or_else(|| "undated".to_owned());
    let models = common::remembering();
    let pools = pools(&models);
    let none = common::none_messages(false);
    let mut sets = Vec::new();
    let without = models.clone().without_encoder();
    let mut wanted = vec![(without, SignalWeights { lexical: 1.0, table: 1.5, encoder: 0.0 })];
    if models.encoder.is_some() {
        wanted.push((models, SignalWeights { lexical: 1.0, table: 1.5, encoder: 3.0 }));
    }
    for (models, weights) in wanted {
        sets.push(calibration(&models, weights, &pools, &none, &date));
    }
    let text = serde_json::to_string_pretty(&CalibrationSet { sets }).expect("plain data");
    let out = concat!(env!("CARGO_MANIFEST_DIR"), "/data/calibration.json");
    std::fs::write(out, text + "\n").expect("a writable crate");
    println!("{out}");
}

/// Validation as a whole, in parts of 20 and 60, and with the skills of dev as well; each of the
/// first three also with only names and descriptions, as in many catalogs.
fn pools(models: &RouterModels) -> Vec<Pool> {
    let (validation, dev) = (common::validation(), common::dev());
    let mut joint = validation.documents.clone();
    joint.extend(dev.documents);
    let whole = common::index("validation", &validation.documents, models);
    let joint = common::index("joint", &joint, models);
    let bare =
        |one: &RouteDocument| RouteDocument::from_description(&one.id, &one.name, &one.description);
    let bare_documents: Vec<RouteDocument> = validation.documents.iter().map(bare).collect();
    let bare = common::index("bare", &bare_documents, models);
    let mut pools = Vec::new();
    for (documents, whole) in [(&validation.documents, &whole), (&bare_documents, &bare)] {
        for size in [20, 60] {
            for part in documents.chunks(size) {
                let holds = |question: &&EvalQuestion| {
                    part.iter().any(|one: &RouteDocument| one.id == question.expected[0])
                };
                let questions = validation.questions.iter().filter(holds).cloned().collect();
                pools.push(Pool { index: Arc::new(whole.update(part, models).0), questions });
            }
        }
    }
    pools.push(Pool { index: Arc::new(bare), questions: validation.questions.clone() });
    pools.push(Pool { index: Arc::new(whole), questions: validation.questions.clone() });
    pools.push(Pool { index: Arc::new(joint), questions: validation.questions });
    pools
}

fn calibration(
    models: &RouterModels,
    weights: SignalWeights,
    pools: &[Pool],
    none: &[EvalQuestion],
    date: &str,
) -> Calibration {
    let with_encoder = models.encoder.is_some();
    let whole = &pools[pools.len() - 2];
    let background = background(&router(whole, models, None), &whole.questions, with_encoder);
    let table = models.table.as_ref().expect("a static table").id();
    let ids = [Some(table), models.encoder.as_ref().map(|encoder| encoder.id())];
    let start = Calibration {
        model: ids.into_iter().flatten().collect::<Vec<_>>().join("+"),
        data: "validation part of train-messages, four fifths of train-none".to_owned(),
        date: date.to_owned(),
        weights,
        background,
        ..Calibration::default()
    };
    let (mut right, mut fits) = (Vec::new(), Vec::new());
    for (at, pool) in pools.iter().enumerate() {
        let router = router(pool, models, Some(&start));
        let share = pool.questions.len() as f64 / whole.questions.len() as f64;
        let some_none: Vec<&EvalQuestion> = none
            .iter()
            .enumerate()
            .filter(|(i, _)| share > 0.5 || i % 33 == at % 33)
            .map(|(_, one)| one)
            .collect();
        observe(&router, pool, &some_none, &mut right, &mut fits);
    }
    let unused: &[&str] = if with_encoder { &[] } else { &["encoder"] };
    let right = fit(&right, 0.0005, unused);
    let fit_unused: Vec<&str> = unused.iter().copied().chain(["behind"]).collect();
    let fits = fit(&fits, 0.0005, &fit_unused);
    println!("{}: weights {weights:?}\n  background {background:?}", start.model);
    describe("right", &right);
    describe("fit", &fits);
    Calibration { right, fit: fits, ..start }
}

fn describe(name: &str, model: &LogisticModel) {
    let slopes: Vec<String> = sinew_route::FEATURES
        .iter()
        .zip(&model.slopes)
        .map(|(name, slope)| format!("{name} {slope}"))
        .collect();
    println!("  {name}: {} + {}", model.bias, slopes.join(", "));
}

fn router(pool: &Pool, models: &RouterModels, calibration: Option<&Calibration>) -> Router {
    let calibrations = CalibrationSet { sets: calibration.into_iter().cloned().collect() };
    let config = RouterConfig { calibrations, ..RouterConfig::default() };
    Router::from_index(Arc::clone(&pool.index), models.clone(), config).0
}

/// Each message with its skill present, each without it, and messages that need none.
fn observe(
    router: &Router,
    pool: &Pool,
    none: &[&EvalQuestion],
    right: &mut Vec<CalibrationSample>,
    fits: &mut Vec<CalibrationSample>,
) {
    let sample = |features: MatchFeatures, right: bool, weight: f64| CalibrationSample {
        features,
        right,
        weight,
    };
    let asked: Vec<(Candidates, Candidates)> = pool
        .questions
        .par_iter()
        .map(|question| {
            let answer = [question.expected[0].as_str()];
            let there = candidates(router, &question.query, &RouteContext::default(), TOP);
            let away = candidates(
                router,
                &question.query,
                &RouteContext { excluded: &answer, prior: None },
                TOP,
            );
            (there, away)
        })
        .collect();
    for (question, (there, away)) in pool.questions.iter().zip(&asked) {
        for (place, (id, features)) in there.iter().enumerate() {
            right.push(sample(*features, question.accepts(id), 1.0));
            if place == 0 {
                fits.push(sample(*features, true, 1.0));
            }
        }
        for (place, (_, features)) in away.iter().enumerate() {
            right.push(sample(*features, false, NEAR_MISS_RIGHT));
            if place == 0 {
                fits.push(sample(*features, false, NEAR_MISS_FIT));
            }
        }
    }
    // Three messages without a skill to five with one.
    let weight = 0.6 * pool.questions.len() as f64 / none.len().max(1) as f64;
    let silent: Vec<_> = none
        .par_iter()
        .map(|question| candidates(router, &question.query, &RouteContext::default(), TOP))
        .collect();
    for there in &silent {
        for (place, (_, features)) in there.iter().enumerate() {
            right.push(sample(*features, false, weight));
            if place == 0 {
                fits.push(sample(*features, false, weight));
            }
        }
    }
}

/// The weight of a near miss when fitting the confidence of a match: three for ten hits.
const NEAR_MISS_RIGHT: f64 = 0.3;

/// The same when fitting whether anything fits: small, because a neighbour is often worth reading.
const NEAR_MISS_FIT: f64 = 0.15;

/// Mean and deviation of each signal over documents that are not the right one.
fn background(router: &Router, questions: &[EvalQuestion], with_encoder: bool) -> SignalBackground {
    let raw: Vec<_> = questions
        .par_iter()
        .step_by(5)
        .map(|question| raw_signals(router, &question.query))
        .collect();
    let over = |values: &dyn Fn(usize) -> Vec<f64>| -> [f64; 2] {
        let (mut means, mut deviations) = (0.0, 0.0);
        for at in 0..raw.len() {
            let values = values(at);
            let n = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / n;
            means += mean;
            deviations +=
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
        }
        [means, deviations].map(|sum| (1e4 * sum / raw.len() as f64).round() / 1e4)
    };
    let plain = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    SignalBackground {
        lexical: over(&|at| {
            raw[at]
                .lexical
                .iter()
                .map(|&value| f64::from(value / raw[at].mass.max(1e-3).sqrt()))
                .collect()
        }),
        table: over(&|at| plain(&raw[at].table)),
        encoder: if with_encoder { over(&|at| plain(&raw[at].encoder)) } else { [0.1, 0.1] },
    }
}
