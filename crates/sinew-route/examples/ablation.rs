//! Prints what each part of the ranking is worth: everything, and everything without one part.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example ablation [grid]
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

mod common;

use std::sync::Arc;

use sinew_route::eval::{
    EvalQuestion, RouteEvalOptions, compare, evaluate, evaluate_triggers, observe,
};
use sinew_route::{RankingAids, RouteIndex, Router, RouterConfig};

fn main() {
    let models = common::remembering();
    let (dev, validation) = (common::dev(), common::validation());
    let (trigger, rows) = common::trigger();
    let at = |name: &str, documents| Arc::new(common::index(name, documents, &models));
    let (dev_index, validation_index) =
        (at("dev", &dev.documents), at("validation", &validation.documents));
    let trigger_index = at("trigger", &trigger);
    let none = common::none_messages(true);
    let (noisy, all) = (common::noisy(), RankingAids::default());
    let sets: [(&str, &Arc<RouteIndex>, &[EvalQuestion]); 3] = [
        ("dev", &dev_index, &dev.questions),
        ("validation", &validation_index, &validation.questions),
        ("noisy", &dev_index, &noisy),
    ];
    let nothing = RankingAids { rare: 0.0, constraint: 0.0, spelling: false };
    let mut tried = vec![
        ("none".to_owned(), nothing),
        ("all".to_owned(), all),
        ("no rare names".to_owned(), RankingAids { rare: 0.0, ..all }),
        ("no constraints".to_owned(), RankingAids { constraint: 0.0, ..all }),
        ("no spelling".to_owned(), RankingAids { spelling: false, ..all }),
    ];
    if std::env::args().nth(1).as_deref() == Some("grid") {
        for rare in [0.25, 0.5, 0.75, 1.0] {
            tried.push((format!("rare {rare}"), RankingAids { rare, ..nothing }));
        }
        tried.push(("constraint 1.5".to_owned(), RankingAids { constraint: 1.5, ..nothing }));
        tried.push(("spelling".to_owned(), RankingAids { spelling: true, ..nothing }));
    }
    for (name, aids) in tried {
        let router = |index: &Arc<RouteIndex>, aids: RankingAids| {
            let config = RouterConfig { aids, ..RouterConfig::default() };
            Router::from_index(Arc::clone(index), models.clone(), config).0
        };
        print!("{name:16}");
        for (set, index, questions) in &sets {
            let (router, bare) = (router(index, aids), router(index, nothing));
            let f = evaluate(
                &router,
                questions,
                Vec::new(),
                RouteEvalOptions { parallel: true, misses: false },
            )
            .figures;
            let change =
                compare(&observe(&bare, questions, true), &observe(&router, questions, true));
            print!(
                "  {set} {:.1}/{:.1}/{:.1} (+{} -{} [{:+.1}, {:+.1}])",
                100.0 * f.hit1,
                100.0 * f.hit5,
                100.0 * f.ndcg10,
                change.won,
                change.lost,
                100.0 * change.hit1_interval.low,
                100.0 * change.hit1_interval.high
            );
        }
        let report = evaluate_triggers(&router(&trigger_index, aids), &rows, None);
        let mut decided = dev.questions.clone();
        decided.extend(none.iter().cloned());
        let made = evaluate(
            &router(&dev_index, aids),
            &decided,
            Vec::new(),
            RouteEvalOptions { parallel: true, misses: false },
        );
        println!(
            "  trigger {:.1}, should-not {:.1}  none kept {:.1}, silent {:.1}, match {:.1} of {}",
            100.0 * report.hit1,
            100.0 * report.false_matches,
            100.0 * made.abstain.recall,
            100.0 * made.abstain.wrong_abstentions,
            100.0 * made.decision.match_precision,
            made.decision.match_right + made.decision.match_wrong + made.decision.match_for_none,
        );
    }
}
