//! Lists the misses on dev and on the reserved messages that need no skill.
//!
//!     SINEW_SHARED=../shared cargo run --release -p sinew-route --example misses
#![allow(clippy::print_stdout, reason = "a program that prints a list")]

mod common;

use std::sync::Arc;

use sinew_route::eval::{RouteEvalOptions, evaluate};
use sinew_route::{Router, RouterConfig};

fn main() {
    let models = common::models();
    let mut set = common::dev();
    set.questions.extend(common::none_messages(true));
    let index = Arc::new(common::index("dev", &set.documents, &models));
    let router = Router::from_index(index, models, RouterConfig::default()).0;
    let report = evaluate(
        &router,
        &set.questions,
        Vec::new(),
        RouteEvalOptions { parallel: true, misses: true },
    );
    for miss in report.misses {
        let wanted =
            miss.expected.first().and_then(|id| set.documents.iter().find(|one| &one.id == id));
        println!(
            "{} {:?} rank {:?} want {} got {:?}: {}",
            miss.id,
            miss.decision,
            miss.rank,
            wanted.map_or("none", |one| &one.name),
            miss.first,
            miss.query.chars().take(160).collect::<String>()
        );
    }
}
