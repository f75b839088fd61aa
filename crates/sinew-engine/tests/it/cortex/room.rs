//! How much room an outcome takes in the database.

use std::path::Path;

use sinew_cortex::record::{Body, Outcome, Record};
use sinew_cortex::stored::Stored;
use sinew_cortex::{Id, Stamp};
use sinew_engine::{Engine, Options};
use sinew_store::{Json, NewRecord};
use sinew_testkit::Machine;

/// What an outcome may take with everything around it: its row, its index and its share of pages.
const MAX_GROWTH: u64 = 400;
const MANY: usize = 5_000;

fn folder_size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    let files = files.map(|entry| entry.metadata().expect("facts"));
    files.filter(std::fs::Metadata::is_file).map(|facts| facts.len()).sum()
}

fn growth(outcome: impl Fn(usize) -> Outcome) -> u64 {
    let machine = Machine::new();
    let start: Stamp = "2026-03-02T09:00:00Z".parse().expect("a time");
    let engine = Engine::open(machine.environment(), Options::default()).expect("an engine");
    let store = engine.store().expect("a store");
    let before = folder_size(&machine.path("home/.sinew"));
    let rows: Vec<NewRecord> = (0..MANY)
        .map(|number| {
            let ts = start.plus_ms(number as i64 * 60_000);
            let chance = (number as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060);
            let body = Body::Outcome(Box::new(outcome(number)));
            let record = Record { id: Id::new(ts, chance), ts, body };
            NewRecord {
                id: record.id.to_string(),
                ts: ts.ms(),
                kind: record.body.name().to_owned(),
                body: Json::of(&Stored(&record.body)).expect("JSON"),
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
        Outcome::success(&region, &slug, "1.0.0")
    };
    let of_a_run = |number: usize| Outcome {
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
