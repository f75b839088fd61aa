//! Decisions over small catalogs: dev's messages and messages without a skill, over random parts of
//! dev's skills.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example small
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

mod common;

use std::sync::Arc;

use rayon::prelude::*;
use sinew_route::eval::{EvalQuestion, ExpectedMatch};
use sinew_route::{
    RouteContext, RouteDecision, RouteDocument, Router, RouterConfig, RouterModels, UserMessage,
};

fn main() {
    let models = common::remembering();
    let dev = common::dev();
    let none = common::none_messages(true);
    let index = common::index("dev", &dev.documents, &models);
    let about: Vec<&EvalQuestion> =
        dev.questions.iter().filter(|q| q.expected_match() == ExpectedMatch::Skill).collect();
    for (name, models) in [("static", models.clone().without_encoder()), ("all", models)] {
        println!("{name}");
        for size in [6, 20, 60, 200] {
            // Each message over a pool with its skill; over the same pool without the skill; and
            // messages without one.
            let there: Vec<(RouteDecision, bool, bool)> = about
                .par_iter()
                .enumerate()
                .map(|(at, q)| {
                    let router = router(&pool(&dev.documents, q, size, at), &index, &models);
                    let result =
                        router.route(&UserMessage::from_user(&q.query), &RouteContext::default());
                    let first = result.matches.first().is_some_and(|one| q.accepts(&one.id));
                    let offered =
                        result.matches.iter().take(result.offered).any(|one| q.accepts(&one.id));
                    (result.decision, first, offered)
                })
                .collect();
            let away: Vec<RouteDecision> = about
                .par_iter()
                .enumerate()
                .map(|(at, q)| {
                    let router = router(&pool(&dev.documents, q, size + 1, at), &index, &models);
                    let right: Vec<&str> =
                        q.expected.iter().chain(&q.also).map(String::as_str).collect();
                    router
                        .route(
                            &UserMessage::from_user(&q.query),
                            &RouteContext { excluded: &right, prior: None },
                        )
                        .decision
                })
                .collect();
            let silent: Vec<RouteDecision> = none
                .par_iter()
                .enumerate()
                .map(|(at, q)| {
                    let router = router(&pool(&dev.documents, q, size, at), &index, &models);
                    router
                        .route(&UserMessage::from_user(&q.query), &RouteContext::default())
                        .decision
                })
                .collect();
            let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
            let matches = there.iter().filter(|one| one.0 == RouteDecision::Match).count();
            let right = there.iter().filter(|one| one.0 == RouteDecision::Match && one.1).count();
            let none_matched = silent.iter().filter(|one| **one == RouteDecision::Match).count();
            println!(
                "  {size:4} skills: first {:.1}  offered {:.1}  matched {:.1} (right {:.1})  wrongly silent {:.1} | none kept {:.1}, matched {:.1} | taken away: none {:.1}, matched {:.1}",
                share(there.iter().filter(|one| one.1).count(), there.len()),
                share(there.iter().filter(|one| one.2).count(), there.len()),
                share(matches, there.len()),
                share(right, matches + none_matched),
                share(there.iter().filter(|one| one.0 == RouteDecision::None).count(), there.len()),
                share(
                    silent.iter().filter(|one| **one == RouteDecision::None).count(),
                    silent.len()
                ),
                share(none_matched, silent.len()),
                share(away.iter().filter(|one| **one == RouteDecision::None).count(), away.len()),
                share(away.iter().filter(|one| **one == RouteDecision::Match).count(), away.len()),
            );
        }
    }
}

fn router(
    part: &[RouteDocument],
    index: &sinew_route::RouteIndex,
    models: &RouterModels,
) -> Router {
    Router::from_index(
        Arc::new(index.update(part, models).0),
        models.clone(),
        RouterConfig::default(),
    )
    .0
}

/// The skills that answer a question, and others up to a size, by a fixed shuffle.
fn pool(
    all: &[RouteDocument],
    question: &EvalQuestion,
    size: usize,
    seed: usize,
) -> Vec<RouteDocument> {
    let mut part: Vec<RouteDocument> =
        all.iter().filter(|one| question.accepts(&one.id)).take(1).cloned().collect();
    let mut state = seed as u64 + 1;
    while part.len() < size {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let one = &all[(state >> 33) as usize % all.len()];
        if !question.accepts(&one.id) && part.iter().all(|other| other.id != one.id) {
            part.push(one.clone());
        }
    }
    part
}
