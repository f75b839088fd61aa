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

use sinew_route::eval::{CalibrationPool, EvalQuestion, calibrate};
use sinew_route::{
    Calibration, CalibrationSet, LogisticModel, RouteDocument, RouterModels, SignalWeights,
};

/// Keeps slopes small; there are thousands of messages, so hardly at all.
const PULL: f64 = 0.0005;

fn main() {
    let date = std::env::args().nth(1).unwrap_or_else(|| "undated".to_owned());
    let models = common::remembering();
    let pools = pools(&models);
    let mut sets = Vec::new();
    let without = models.clone().without_encoder();
    let mut wanted = vec![(without, SignalWeights { lexical: 1.0, table: 1.5, encoder: 0.0 })];
    if models.encoder.is_some() {
        wanted.push((models, SignalWeights { lexical: 1.0, table: 1.5, encoder: 3.0 }));
    }
    for (models, weights) in wanted {
        let start = Calibration {
            data: "validation part of train-messages, four fifths of train-none".to_owned(),
            date: date.clone(),
            weights,
            ..Calibration::default()
        };
        let fitted = calibrate(&models, &pools, pools.len() - 2, start, PULL);
        println!("{}: weights {weights:?}\n  background {:?}", fitted.model, fitted.background);
        describe("right", &fitted.right);
        describe("fit", &fitted.fit);
        sets.push(fitted);
    }
    let text = serde_json::to_string_pretty(&CalibrationSet { sets }).expect("plain data");
    let out = concat!(env!("CARGO_MANIFEST_DIR"), "/data/calibration.json");
    std::fs::write(out, text + "\n").expect("a writable crate");
    println!("{out}");
}

/// Validation as a whole, in parts of 20 and 60, and with the skills of dev as well; each of the
/// first three also with only names and descriptions, as in many catalogs.
fn pools(models: &RouterModels) -> Vec<CalibrationPool> {
    let (validation, dev) = (common::validation(), common::dev());
    let whole = common::index("validation", &validation.documents, models);
    // The vectors of dev's skills are there already, where `figures` ran before.
    let mut joint = dev.documents.clone();
    let dev = common::index("dev", &dev.documents, models);
    joint.extend(validation.documents.iter().cloned());
    let mut joint = dev.update(&joint, models).0;
    if let Some(encoder) = models.encoder.as_deref() {
        let pending = joint.pending();
        joint.fill(encoder, &pending, &|_| ()).expect("a local model");
    }
    let bare =
        |one: &RouteDocument| RouteDocument::from_description(&one.id, &one.name, &one.description);
    let bare_documents: Vec<RouteDocument> = validation.documents.iter().map(bare).collect();
    let bare = common::index("bare", &bare_documents, models);
    let none = common::none_messages(false);
    let mut pools: Vec<CalibrationPool> = Vec::new();
    let mut add = |index, questions: Vec<EvalQuestion>| {
        let is_large = 2 * questions.len() > validation.questions.len();
        let at = pools.len();
        let some = none.iter().enumerate().filter(|(i, _)| is_large || i % 33 == at % 33);
        let none = some.map(|(_, one)| one.clone()).collect();
        pools.push(CalibrationPool { index: Arc::new(index), questions, none });
    };
    for (documents, whole) in [(&validation.documents, &whole), (&bare_documents, &bare)] {
        for size in [20, 60] {
            for part in documents.chunks(size) {
                let holds = |question: &&EvalQuestion| {
                    part.iter().any(|one: &RouteDocument| one.id == question.expected[0])
                };
                let questions = validation.questions.iter().filter(holds).cloned().collect();
                add(whole.update(part, models).0, questions);
            }
        }
    }
    add(bare, validation.questions.clone());
    add(whole, validation.questions.clone());
    add(joint, validation.questions.clone());
    pools
}

fn describe(name: &str, model: &LogisticModel) {
    let slopes: Vec<String> = sinew_route::FEATURES
        .iter()
        .zip(&model.slopes)
        .map(|(name, slope)| format!("{name} {slope}"))
        .collect();
    println!("  {name}: {} + {}", model.bias, slopes.join(", "));
}
