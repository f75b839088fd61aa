//! The outcome of runs, on recorded output of real programs.
//!
//! `tests/data/samples.jsonl` contains what programs wrote to standard error when they were made to
//! fail, with the outcome that follows from the cause. A third, chosen by the hash of the sample's
//! name before anything was recorded, was not looked at while the rules were written.

use serde::Deserialize;
use sinew_cortex::failure::FailureKind;
use sinew_exec::child::ExitCause;
use sinew_exec::classify::{FailureEvidence, classify};

#[derive(Deserialize)]
struct Sample {
    id: String,
    round: u8,
    program: String,
    exit: i32,
    expect: FailureKind,
    stderr: String,
    #[serde(default)]
    missing: Vec<String>,
}

/// Which samples: those that the rules were written with, the third that was held out, and a second
/// round recorded after the rules were finished.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Behind,
    HeldOut,
    SecondRound,
    ThirdRound,
}

fn part(sample: &Sample) -> Part {
    let hash = sinew_skill::content_hash(sample.id.as_bytes());
    let first = u8::from_str_radix(&hash[..2], 16).expect("hexadecimal");
    match (sample.round, first % 3) {
        (1, 0) => Part::HeldOut,
        (1, _) => Part::Behind,
        (2, _) => Part::SecondRound,
        _ => Part::ThirdRound,
    }
}

fn samples(wanted: Part) -> Vec<Sample> {
    let text = include_str!("../data/samples.jsonl");
    let all = text.lines().map(|line| serde_json::from_str::<Sample>(line).expect("a sample"));
    all.filter(|sample| part(sample) == wanted).collect()
}

/// The share of correct outcomes, and a line for each wrong one.
fn judged(samples: &[Sample]) -> (f64, Vec<String>) {
    let mut wrong = Vec::new();
    for sample in samples {
        let found = classify(&FailureEvidence {
            how: Some(ExitCause::Exit(sample.exit)),
            program: &sample.program,
            text: &sample.stderr,
            missing: &sample.missing,
        });
        if found.outcome.failure() != Some(sample.expect) {
            wrong.push(format!(
                "{}: {} instead of {} ({}: {})",
                sample.id,
                found.outcome.as_str(),
                sample.expect.as_str(),
                found.rule,
                found.line
            ));
        }
    }
    (1.0 - wrong.len() as f64 / samples.len() as f64, wrong)
}

#[track_caller]
fn check(part: Part) {
    let samples = samples(part);
    let (right, wrong) = judged(&samples);
    assert!(samples.len() >= 40, "{} samples", samples.len());
    assert!(right >= 0.95, "{right:.3} of {}:\n{}", samples.len(), wrong.join("\n"));
}

#[test]
fn the_samples_behind_the_rules_are_classified() {
    check(Part::Behind);
}

#[test]
fn the_third_that_was_held_out_is_classified() {
    check(Part::HeldOut);
}

#[test]
fn samples_recorded_after_the_rules_were_done_are_classified() {
    check(Part::SecondRound);
}

#[test]
fn new_situations_of_common_programs_are_classified() {
    check(Part::ThirdRound);
}
