//! How much room an outcome takes in the database.

use std::path::Path;

use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
use sinew_cortex::stored_body::StoredBody;
use sinew_cortex::{Ulid, UtcInstant};
use sinew_engine::{Engine, EngineOptions};
use sinew_store::{JsonText, NewStreamRecord};
use sinew_testkit::TestMachine;

/// What an outcome may take with everything around it: its row, its index and its share of pages.
const MAX_GROWTH: u64 = 400;
const MANY: usize = 5_000;

fn folder_size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    let files = files.map(|entry| entry.metadata().expect("facts"));
    files.filter(std::fs::Metadata::is_file).map(|facts| facts.len()).sum()
}

fn growth(outcome: impl Fn(usize) -> SkillOutcome) -> u64 {
    let machine = TestMachine::new();
    let start: UtcInstant = "2026-03-02T09:00:00Z".parse().expect("a time");
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    let store = engine.store().expect("a store");
    let before = folder_size(&machine.path("home/.sinew"));
    let rows: Vec<NewStreamRecord> = (0..MANY)
        .map(|number| {
            let ts = start.plus_ms(number as i64 * 60_000);
            let chance = (number as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060);
            let body = RecordBody::Outcome(Box::new(outcome(number)));
            let record = CortexRecord { id: Ulid::new(ts, chance), ts, body };
            NewStreamRecord {
                id: record.id.to_string(),
                ts: ts.ms(),
                kind: record.body.name().to_owned(),
                body: JsonText::of(&StoredBody(&record.body)).expect("JSON"),
            }
        })
        .collect();
    store.append("outcomes", &rows).expect("appended");
    drop((store, engine));
    (folder_size(&machine.path("home/.sinew")) - before) / MANY as u64
}

#[test]
fn an_outcome_grows_the_database_by_at_most_400_bytes() {
    let reported = |number: usize| {
        let (region, slug) =
            (format!("region-number-{}", number % 80), format!("slug-{}", number % 5));
        SkillOutcome::success(&region, &slug, "1.0.0")
    };
    let of_a_run = |number: usize| SkillOutcome {
        run: Some(format!("01HF{number:022}")),
        digest: Some(format!("sha256:{number:064x}")),
        skill_md_chars: Some(3_200),
        skill_md_bytes: Some(3_300),
        side_effects: Some(vec!["network:api.example.com".to_owned()]),
        ms: Some(1_234),
        tokens: Some(5_678),
        ..reported(number)
    };
    for (what, each) in [("reported", growth(reported)), ("of a run", growth(of_a_run))] {
        assert!(each <= MAX_GROWTH, "{what}: {each} bytes");
    }
}
