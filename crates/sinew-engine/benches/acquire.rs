//! Remembering against searching: what a task costs that the memory knows, and what the same task costs
//! with a registry on loopback. Goal: recall at least 50 times faster.
//!
//! `cargo bench -p sinew-engine --bench acquire`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reports, and may fail loudly"
)]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use divan::Bencher;
use sinew_engine::acquire::{AcquireTarget, HubMarket, MarketListing, MarketQuery, SkillMarket};
use sinew_engine::hub::HubOverrides;
use sinew_engine::{Engine, EngineOptions, NewOutcome};
use sinew_testkit::{ClawHubDouble, TestMachine};

const TASK: &str = "manage my to-do list";
/// Areas that are remembered: as many as a memory keeps.
const REGIONS: usize = 80;
/// Times that each is measured for the ratio.
const TIMES: usize = 20;

struct World {
    engine: Engine,
    clawhub: ClawHubDouble,
    _machine: TestMachine,
}

/// A registry with ten skills that a search gives, and a memory that is full.
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let clawhub = ClawHubDouble::new();
    for number in 0..10 {
        let slug = format!("todo-{number}");
        clawhub.publish_simple("ada", &slug, "1.0.0");
        clawhub.describe("ada", &slug, "Manage todo lists, tasks and reminders");
    }
    let machine = TestMachine::new();
    let mut env = machine.environment();
    env.vars.insert("SINEW_REGISTRY".to_owned(), clawhub.address().to_owned());
    let engine = Engine::open(env, EngineOptions::default()).unwrap();
    let cortex = engine.cortex().unwrap();
    for number in 0..REGIONS {
        let task = if number == 0 { TASK.to_owned() } else { format!("convert file {number}") };
        let outcome = NewOutcome {
            region: Some(format!("region-{number}")),
            task: Some(task),
            slug: "todo-0".to_owned(),
            version: "1.0.0".to_owned(),
            worked: Some(true),
            ..NewOutcome::default()
        };
        cortex.record(&outcome).unwrap();
    }
    World { engine, clawhub, _machine: machine }
});

fn recalled(engine: &Engine) -> usize {
    engine.cortex().unwrap().recall(TASK, None).explanation.candidates.len()
}

fn listings(market: &HubMarket<'_>) -> Vec<MarketListing> {
    let words = ["manage", "todo", "list"].map(str::to_owned);
    let query = MarketQuery { message: "manage my todo list", keywords: &words };
    market.search(&query, &|_| true).unwrap().listings
}

/// What a task without a memory of it costs, up to the question whether to install: the search, and
/// the best skill fetched, verified and scanned. A new client for each: one with cached answers would
/// send no request.
fn searched(market: &HubMarket<'_>) -> usize {
    let listings = listings(market);
    let best = &listings[0];
    let wanted =
        AcquireTarget { slug: &best.slug, reference: "", source: &best.source, version: None };
    market.fetch(&wanted).unwrap();
    listings.len()
}

fn main() {
    let world = &*WORLD;
    assert!(recalled(&world.engine) > 0);
    let mut recalls: Vec<Duration> = Vec::new();
    let mut searches: Vec<Duration> = Vec::new();
    for _ in 0..TIMES {
        let start = Instant::now();
        recalled(&world.engine);
        recalls.push(start.elapsed());
        let market = world.engine.hub().market(&HubOverrides::default()).unwrap();
        let start = Instant::now();
        assert_eq!(searched(&market), 10);
        searches.push(start.elapsed());
    }
    recalls.sort();
    searches.sort();
    let (recall, search) = (recalls[TIMES / 2], searches[TIMES / 2]);
    let ratio = search.as_secs_f64() / recall.as_secs_f64();
    println!("median recall {recall:?}, median search {search:?}: {ratio:.1} times");
    println!("requests to the registry: {}", world.clawhub.paths().len());
    divan::main();
}

#[divan::bench]
fn recall(bencher: Bencher<'_, '_>) {
    let world = &*WORLD;
    bencher.bench(|| recalled(&world.engine));
}

/// The search alone: candidates that nothing is known of yet.
#[divan::bench]
fn bare_search(bencher: Bencher<'_, '_>) {
    let world = &*WORLD;
    let fresh = || world.engine.hub().market(&HubOverrides::default()).unwrap();
    bencher.with_inputs(fresh).bench_values(|market| listings(&market).len());
}

#[divan::bench]
fn search(bencher: Bencher<'_, '_>) {
    let world = &*WORLD;
    let fresh = || world.engine.hub().market(&HubOverrides::default()).unwrap();
    bencher.with_inputs(fresh).bench_values(|market| searched(&market));
}
