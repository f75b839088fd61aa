//! Loading 1,000 skills, cold and warm, against the floor: walk + read + hash of the same tree.
//!
//! `cargo bench -p sinew-catalog --bench catalog`. Each round measures the floor and the catalog one
//! after the other, so that a busy machine slows both; the medians and their ratios are printed.

#![allow(clippy::print_stdout, reason = "a bench reports on standard output")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use sinew_catalog::CatalogBuilder;
use sinew_testkit::TestMachine;

const SKILLS: usize = 1_000;
const ROUNDS: usize = 41;

fn main() {
    let machine = machine();
    let root = machine.path("work/skills");
    // The file system's cache is warm for both.
    floor(&root);
    let warm = CatalogBuilder::default();
    machine.request(|request| warm.build(request));

    let mut floors = Vec::new();
    let mut colds = Vec::new();
    let mut warms = Vec::new();
    for _ in 0..ROUNDS {
        floors.push(time(|| floor(&root)));
        let cold = CatalogBuilder::default();
        colds.push(time(|| machine.request(|request| cold.build(request))));
        warms.push(time(|| machine.request(|request| warm.build(request))));
    }
    let (floor, cold, warm) = (median(floors), median(colds), median(warms));
    println!("{SKILLS} skills, median of {ROUNDS} rounds");
    println!("  floor (walk + read + hash)  {floor:>9.2?}");
    println!(
        "  cold load                   {cold:>9.2?}  {:.2}x the floor (goal 1.6)",
        ratio(cold, floor)
    );
    println!(
        "  warm reload                 {warm:>9.2?}  {:.2}x the floor (goal 0.15)",
        ratio(warm, floor)
    );
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// How long the work takes; dropping its result is not counted.
fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let elapsed = start.elapsed();
    drop(result);
    elapsed
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The minimum for any program that has to know the content of every file.
fn floor(folder: &Path) -> usize {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            bytes += floor(&path);
        } else {
            let content = fs::read(&path).expect("a file");
            black_box(sinew_skill::content_hash(&content));
            bytes += content.len();
        }
    }
    bytes
}

/// Skills of the sizes and shapes that are common in practice: 5 KB each, every third with
/// metadata.
fn machine() -> TestMachine {
    let machine = TestMachine::new().bin("git").bin("jq");
    for number in 0..SKILLS {
        let mut text = format!(
            "---\nname: skill-{number:04}\ndescription: Works on things of kind {number}. Use when a person asks for kind {number}, or wants it shown, checked or changed.\n"
        );
        if number % 3 == 0 {
            text.push_str("metadata:\n  openclaw:\n    emoji: \"🔧\"\n    requires:\n      bins: [git, jq]\n    install:\n      - id: brew\n        kind: brew\n        formula: jq\n        bins: [jq]\n");
        }
        text.push_str("---\n\n# A skill\n\n");
        for line in 0..60 {
            let _ = writeln!(
                text,
                "{line}. Look at thing {number}, then write down what was found in step {line}."
            );
        }
        machine.write(&format!("work/skills/skill-{number:04}/SKILL.md"), text);
    }
    machine.after_long_time().with_scanner()
}
