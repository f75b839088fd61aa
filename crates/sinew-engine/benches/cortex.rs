//! The cortex against its goals: recall and ranking ≤ 200 µs over 80 regions × 5 candidates, a report
//! with its fold ≤ 3 ms on SQLite, a rebuild from 100,000 outcomes ≤ 2 s, growth ≤ 400 bytes per outcome.
//!
//! `cargo bench -p sinew-engine --bench cortex`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reports, and may fail loudly"
)]

use std::path::Path;
use std::sync::LazyLock;

use divan::Bencher;
use sinew_cortex::acquire::{
    AcquireCandidate, AcquireRun, CandidateVerdict, StagedCandidate, StagedSummary, UseReport,
};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::recall::{RecallTask, recall};
use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_cortex::stored_body::StoredBody;
use sinew_cortex::{CortexMemory, CortexPolicy, Ulid, UtcInstant, fold};
use sinew_engine::{Engine, EngineOptions, NewOutcome};
use sinew_settings::FixedClock;
use sinew_store::{JsonText, NewStreamRecord, Store};
use sinew_testkit::TestMachine;

const REGIONS: usize = 80;
const CANDIDATES: usize = 5;
const OUTCOMES: usize = 100_000;
/// What a growth may be, in bytes.
const MAX_GROWTH: u64 = 400;

fn main() {
    growth("a reported outcome", &bare);
    growth("an outcome of a run, with its digest", &full);
    divan::main();
}

fn start() -> UtcInstant {
    "2026-03-02T09:00:00Z".parse().unwrap()
}

/// Outcomes of a full memory: every candidate in turn, mostly successes, minutes apart.
fn outcome(number: usize) -> SkillOutcome {
    let (region, slug) = (number % REGIONS, number / REGIONS % CANDIDATES);
    let (region, slug) = (format!("region-number-{region}"), format!("candidate-{slug}"));
    match number % 9 {
        0 => SkillOutcome::failure(&region, &slug, "1.0.0", FailureKind::RuntimeError),
        _ => SkillOutcome::success(&region, &slug, "1.0.0"),
    }
}

fn record(number: usize, outcome: SkillOutcome) -> CortexRecord {
    let ts = start().plus_ms(number as i64 * 60_000);
    let id = Ulid::new(ts, (number as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060));
    CortexRecord { id, ts, body: RecordBody::Outcome(Box::new(outcome)) }
}

/// Words for each region, so that a task has something to be compared with.
fn signals(region: usize) -> CortexRecord {
    const WORDS: [&str; 20] = [
        "manage",
        "todo",
        "image",
        "convert",
        "resize",
        "report",
        "invoice",
        "send",
        "merge",
        "split",
        "query",
        "deploy",
        "server",
        "translate",
        "summary",
        "chart",
        "video",
        "archive",
        "backup",
        "note",
    ];
    let words = (0..10).map(|at| WORDS[(region + at * (1 + region % 3)) % WORDS.len()].to_owned());
    let body = RecordBody::Signals {
        region: format!("region-number-{region}"),
        words: words.collect(),
        vocabulary: 1,
    };
    CortexRecord { id: Ulid::new(start(), region as u128), ts: start(), body }
}

static FULL: LazyLock<CortexMemory> = LazyLock::new(|| {
    let words = (0..REGIONS).map(signals);
    let outcomes = (0..20 * REGIONS * CANDIDATES).map(|number| record(number, outcome(number)));
    fold::fold(&words.chain(outcomes).collect::<Vec<_>>(), &CortexPolicy::default())
});

#[divan::bench]
fn recall_and_ranking(bencher: Bencher<'_, '_>) {
    let (memory, policy) = (&*FULL, CortexPolicy::default());
    let vocabulary = SignalVocabulary::built_in();
    let today = start().day();
    bencher.bench(|| {
        let words =
            signal_words("please convert this image and resize it for the report", &vocabulary);
        recall(memory, &RecallTask { words: &words, ..RecallTask::default() }, today, &policy)
    });
}

/// A machine whose database holds so many outcomes.
struct World {
    machine: TestMachine,
    engine: Engine,
}

fn world(outcomes: usize) -> World {
    let machine = TestMachine::new().var("SINEW_BUNDLED_SKILLS_DIR", "/nowhere");
    let mut env = machine.environment();
    let now = start().plus_ms(outcomes as i64 * 60_000);
    env.clock = std::sync::Arc::new(FixedClock(u64::try_from(now.ms()).unwrap()));
    let engine = Engine::open(env, EngineOptions::default()).unwrap();
    let records: Vec<CortexRecord> =
        (0..REGIONS).map(signals).chain((0..outcomes).map(|n| record(n, outcome(n)))).collect();
    fill(&*engine.store().unwrap(), &records);
    World { machine, engine }
}

fn fill(store: &dyn Store, records: &[CortexRecord]) {
    for chunk in records.chunks(10_000) {
        let rows: Vec<NewStreamRecord> = chunk.iter().map(row).collect();
        store.append("outcomes", &rows).unwrap();
    }
}

fn row(record: &CortexRecord) -> NewStreamRecord {
    NewStreamRecord {
        id: record.id.to_string(),
        ts: record.ts.ms(),
        kind: record.body.name().to_owned(),
        body: JsonText::of(&StoredBody(&record.body)).unwrap(),
    }
}

/// A report to a full memory, from acknowledged on disk to what it did.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn report_with_fold(bencher: Bencher<'_, '_>) {
    let world = world(10_000);
    let cortex = world.engine.cortex().unwrap();
    cortex.memory().unwrap();
    let new = NewOutcome {
        region: Some("region-number-7".to_owned()),
        slug: "candidate-3".to_owned(),
        version: "1.0.0".to_owned(),
        worked: Some(true),
        side_effects: Some(Vec::new()),
        ..NewOutcome::default()
    };
    bencher.bench(|| cortex.record(&new).unwrap());
}

/// The first look of a new process at a full memory: a snapshot and the rest.
#[divan::bench(sample_count = 50, sample_size = 1)]
fn open_from_snapshot(bencher: Bencher<'_, '_>) {
    let world = world(10_000);
    world.engine.cortex().unwrap().memory().unwrap();
    let env = world.machine.environment();
    bencher
        .with_inputs(|| Engine::open(env.clone(), EngineOptions::default()).unwrap())
        .bench_values(|engine| engine.cortex().unwrap().memory().unwrap().records);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn rebuild_from_100_000(bencher: Bencher<'_, '_>) {
    let world = world(OUTCOMES);
    let cortex = world.engine.cortex().unwrap();
    bencher.bench(|| cortex.rebuild().unwrap());
}

/// What `sinew report` writes.
fn bare(number: usize) -> SkillOutcome {
    outcome(number)
}

/// What a run writes.
fn full(number: usize) -> SkillOutcome {
    let mut run =
        AcquireRun::new(Ulid::new(start(), number as u128), start(), "a task", Vec::new());
    run.candidates = vec![AcquireCandidate::new("candidate", "clawhub")];
    run.candidates[0].staged = Some(StagedCandidate {
        version: "1.0.0".to_owned(),
        digest: format!("sha256:{:064x}", number),
        verdict: CandidateVerdict::Allow,
        side_effects: vec!["network:api.example.com".to_owned()],
        skill_md_chars: 3_200,
        skill_md_bytes: 3_300,
        shown: StagedSummary::default(),
    });
    let finish = UseReport { ms: Some(1_234), tokens: Some(5_678), ..UseReport::success() };
    let staged = run.candidates[0].staged.clone().unwrap();
    SkillOutcome {
        run: Some(run.id),
        digest: Some(staged.digest),
        skill_md_chars: Some(staged.skill_md_chars),
        skill_md_bytes: Some(staged.skill_md_bytes),
        side_effects: Some(staged.side_effects),
        ms: finish.ms,
        tokens: finish.tokens,
        ..outcome(number)
    }
}

/// Bytes of the database per outcome, once its log is folded in.
fn growth(what: &str, outcome: &dyn Fn(usize) -> SkillOutcome) {
    const MANY: usize = 20_000;
    let world = world(0);
    let size = |world: &World| folder_size(&world.machine.path("home/.sinew"));
    let store = world.engine.store().unwrap();
    let before = size(&world);
    let records: Vec<CortexRecord> =
        (0..MANY).map(|number| record(number, outcome(number))).collect();
    fill(&*store, &records);
    world.engine.cortex().unwrap().memory().unwrap();
    drop(store);
    let World { machine, engine } = world;
    drop(engine);
    let after = folder_size(&machine.path("home/.sinew"));
    let each = (after - before) / MANY as u64;
    println!("growth per outcome ({what}): {each} bytes, goal {MAX_GROWTH}");
}

fn folder_size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|entry| entry.unwrap().metadata().unwrap())
        .filter(std::fs::Metadata::is_file)
        .map(|m| m.len())
        .sum()
}
