//! One answer from a warm index in a fresh process, to measure its time and memory from outside.
//!
//!     cargo run --release -p sinew-route --example figures           writes target/route-cache/dev-*.idx
//!     /usr/bin/time -v target/release/examples/cold target/route-cache/dev-….idx "make these pictures smaller"
#![allow(clippy::print_stdout, reason = "a program that prints an answer")]

use std::sync::Arc;

use sinew_route::{Config, Context, Index, Message, Models, Router};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(text)) = (arguments.next(), arguments.next()) else {
        println!("usage: cold INDEX MESSAGE [encoder]");
        return;
    };
    let models = Models::embedded();
    let models = if arguments.next().is_some() { models } else { models.without_encoder() };
    let file = std::fs::File::open(file).expect("a readable index");
    let length = file.metadata().expect("a file").len() as usize;
    let index = Index::read(file, length).expect("a good index");
    let router = Router::over(Arc::new(index), models, Config::default()).0;
    let result = router.route(&Message::from_user(&text), &Context::default());
    println!(
        "{:?} {:?} {:?}",
        result.decision,
        result.matches.first().map(|one| &one.name),
        result.took
    );
}
