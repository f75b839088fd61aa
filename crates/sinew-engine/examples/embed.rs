//! An agent's side of sinew: open, route, prompt.
//!
//!     cargo run -p sinew-engine --features process --example embed -- "merge two PDF files"
#![allow(clippy::print_stdout, reason = "a program that prints its answer")]

use sinew_engine::{AnswerPrompt, Engine, EngineOptions, RouteRequest};
use sinew_settings::Environment;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let message = std::env::args().nth(1).unwrap_or_else(|| "show me the git history".to_owned());
    let machine = Environment::of_process().ok_or("there is no home folder")?;
    let engine = Engine::open(machine, EngineOptions::default())?;
    let request = RouteRequest { prompt: AnswerPrompt::ForMessage, ..RouteRequest::new(message) };
    let answer = engine.route(&request);
    for found in answer.offers() {
        println!("{:.2} {}", found.probability, found.name);
    }
    println!("{}", answer.prompt.unwrap_or_default());
    Ok(())
}
