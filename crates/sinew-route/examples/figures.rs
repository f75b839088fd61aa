//! Prints the table of BENCHMARKS.md: every signal, each pair, and all, on dev, validation and
//! triggers.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example figures
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

mod common;

use std::sync::Arc;

use sinew_route::eval::{EvalQuestion, RouteEvalOptions, evaluate, evaluate_triggers, near_misses};
use sinew_route::{RouteDecision, Router, RouterConfig, RouterModels, SignalWeights};

const SYSTEMS: [(&str, [f64; 3]); 7] = [
    ("BM25F", [1.0, 0.0, 0.0]),
    ("static", [0.0, 1.0, 0.0]),
    ("encoder", [0.0, 0.0, 1.0]),
    ("BM25F + static", [1.0, 1.5, 0.0]),
    ("BM25F + encoder", [1.0, 0.0, 2.0]),
    ("static + encoder", [0.0, 1.0, 2.0]),
    ("all", [1.0, 1.5, 3.0]),
];

fn main() {
    let brief = std::env::args().nth(1).as_deref() == Some("decisions");
    let models = if brief { common::remembering() } else { common::models() };
    let sets = [common::dev(), common::validation()];
    for set in &sets {
        let index = Arc::new(common::index(set.name, &set.documents, &models));
        let router = |models: &RouterModels, weights: Option<SignalWeights>, bridge: bool| {
            let config = RouterConfig { weights, bridge, ..RouterConfig::default() };
            Router::from_index(Arc::clone(&index), models.clone(), config).0
        };
        println!(
            "\n{}: {} messages over {} skills",
            set.name,
            set.questions.len(),
            set.documents.len()
        );
        for (name, [lexical, table, encoder]) in SYSTEMS {
            if brief || (encoder > 0.0 && models.encoder.is_none()) {
                continue;
            }
            let router = router(&models, Some(SignalWeights { lexical, table, encoder }), true);
            row(name, &router, &set.questions);
        }
        row(
            "fitted, no encoder",
            &router(&models.clone().without_encoder(), None, true),
            &set.questions,
        );
        if models.encoder.is_some() {
            row("fitted, all", &router(&models, None, true), &set.questions);
        }
        let plain = router(&models, None, false);
        row("fitted, no lexicon", &plain, &set.questions);
        decisions("static", &router(&models.clone().without_encoder(), None, true), &set.questions);
        if models.encoder.is_some() {
            decisions("all", &router(&models, None, true), &set.questions);
        }
    }
    let (documents, rows) = common::trigger();
    let mut all = documents.clone();
    all.extend(sets[0].documents.iter().cloned());
    for (name, documents) in [("trigger", &documents), ("trigger+dev", &all)] {
        let index = Arc::new(common::index(name, documents, &models));
        println!("\n{name}: {} messages over {} skills", rows.len(), documents.len());
        for (which, models) in
            [("static", models.clone().without_encoder()), ("all", models.clone())]
        {
            let router = Router::from_index(Arc::clone(&index), models, RouterConfig::default()).0;
            let report = evaluate_triggers(&router, &rows, None);
            println!(
                "  {which:8} hit@1 {:.1}  offered {:.1}  false matches {:.1}  false offers {:.1}",
                100.0 * report.hit1,
                100.0 * report.offered,
                100.0 * report.false_matches,
                100.0 * report.false_offers
            );
        }
    }
}

fn row(name: &str, router: &Router, questions: &[EvalQuestion]) {
    let report = evaluate(
        router,
        questions,
        Vec::new(),
        RouteEvalOptions { parallel: false, misses: false },
    );
    let f = &report.figures;
    let (one, gain) = (report.intervals["hit@1"], report.intervals["ndcg@10"]);
    let foreign = report.by_kind.get("foreign").or_else(|| report.by_kind.get("multilingual"));
    let foreign = foreign.map_or_else(String::new, |f| {
        format!(
            "  not English ({}) {:.1} / {:.1} / {:.1}",
            f.messages,
            100.0 * f.hit1,
            100.0 * f.hit5,
            100.0 * f.ndcg10
        )
    });
    println!(
        "  {name:20} {:5.1} / {:5.1} / {:5.1}  [{:.1}, {:.1}] [{:.1}, {:.1}]  p50 {} µs{foreign}",
        100.0 * f.hit1,
        100.0 * f.hit5,
        100.0 * f.ndcg10,
        100.0 * one.low,
        100.0 * one.high,
        100.0 * gain.low,
        100.0 * gain.high,
        report.latency.total.p50
    );
}

fn decisions(name: &str, router: &Router, questions: &[EvalQuestion]) {
    let mut questions = questions.to_vec();
    questions.extend(common::none_messages(true));
    let report = evaluate(
        router,
        &questions,
        Vec::new(),
        RouteEvalOptions { parallel: true, misses: false },
    );
    let near = near_misses(router, &questions);
    let matched = near.iter().filter(|one| one.decision == RouteDecision::Match).count();
    println!(
        "  decisions {name}: none kept {:.1} %, wrongly silent {:.1} %, match precision {:.1} % ({} matches), near misses matched {:.1} %  {:?}",
        100.0 * report.abstain.recall,
        100.0 * report.abstain.wrong_abstentions,
        100.0 * report.decision.match_precision,
        report.decision.match_right + report.decision.match_wrong + report.decision.match_for_none,
        100.0 * matched as f64 / near.len().max(1) as f64,
        report.decision
    );
}
