//! The project's own messages, with a ratchet: a change must not lower these figures.

use std::collections::BTreeSet;

use sinew_route::eval::{RouteEvalOptions, evaluate, read_questions};

use crate::support::{corpus_router, corpus_skills, has_models};

/// The best figures of these models so far. Raise them when they rise; only another model resets
/// them.
const RATCHET: [(&str, f64); 6] = [
    ("hit@1", 0.9356),
    ("hit@5", 0.9924),
    ("ndcg@10", 0.9689),
    ("abstain recall", 0.9767),
    ("right not silent", 0.9280),
    ("match precision", 0.9867),
];

#[test]
fn the_corpus_is_as_large_as_promised() {
    let read = read_questions(include_str!("../corpus/messages.jsonl"));
    assert_eq!(read.bad, []);
    assert!(read.rows.len() >= 300 && corpus_skills().len() >= 60);
    let kinds: BTreeSet<&str> = read.rows.iter().map(|row| row.kind.as_str()).collect();
    let wanted = ["conflict", "mention", "multilingual", "netclaw", "noisy", "none", "normal"];
    assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let ids: BTreeSet<String> = corpus_skills().into_iter().map(|one| one.id).collect();
    for row in &read.rows {
        assert!(row.expected.iter().chain(&row.also).all(|id| ids.contains(id)), "{}", row.id);
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "a ratchet that turned should say what it reached")]
fn figures_never_fall() {
    if !has_models() {
        return;
    }
    let questions = read_questions(include_str!("../corpus/messages.jsonl")).rows;
    let report = evaluate(
        corpus_router(),
        &questions,
        Vec::new(),
        RouteEvalOptions { parallel: true, misses: true },
    );
    let reached = [
        report.figures.hit1,
        report.figures.hit5,
        report.figures.ndcg10,
        report.abstain.recall,
        1.0 - report.abstain.wrong_abstentions,
        report.decision.match_precision,
    ];
    for ((name, best), reached) in RATCHET.iter().zip(reached) {
        eprintln!("{name}: {reached:.4} (ratchet {best:.4})");
    }
    for miss in report.misses.iter().filter(|_| std::env::var_os("SHOW_MISSES").is_some()) {
        eprintln!(
            "{} {:?} {:?} want {:?} got {:?}: {:.90}",
            miss.id, miss.decision, miss.rank, miss.expected, miss.first, miss.query
        );
    }
    for ((name, best), reached) in RATCHET.iter().zip(reached) {
        assert!(reached >= best - 1e-9, "{name} fell from {best} to {reached}");
    }
    let kind = |name: &str| report.by_kind[name].hit5;
    assert!((kind("netclaw") - 1.0).abs() < 1e-9 && (kind("mention") - 1.0).abs() < 1e-9);
}
