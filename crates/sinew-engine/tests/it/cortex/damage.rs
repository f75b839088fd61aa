//! Bad input and bad luck: a clear error or a bounded record, and nothing lost.

use std::fs;

use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_engine::NewOutcome;
use sinew_settings::{ErrorCode, ErrorKind};

use crate::cortex::support::{DAY, R, S, World, failed, ok, used};

/// The files whose name holds this, in sinew's home.
fn kept(world: &World, part: &str) -> Vec<String> {
    let entries = fs::read_dir(world.path("home/.sinew")).expect("the home");
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(part)).collect()
}

#[test]
fn a_database_that_is_none_is_an_error_and_stays() {
    let world = World::new();
    world.write("home/.sinew/sinew.db", "{\"version\":1,");
    let engine = world.engine();
    let error = engine.cortex().expect_err("damage");
    assert_eq!(error.code, ErrorCode::DatabaseDamaged);
    assert!(error.hints.iter().any(|hint| hint.contains("--repair")), "{error:?}");
    assert_eq!(engine.check_gate().expect_err("a closed gate").code, ErrorCode::DatabaseDamaged);
    assert!(kept(&world, "corrupt-").is_empty());
    let bytes = fs::read(world.path("home/.sinew/sinew.db")).expect("the file");
    assert_eq!(bytes, b"{\"version\":1,");
}

#[test]
fn damage_that_is_found_in_use_is_remembered() {
    let world = World::new();
    {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        for _ in 0..50 {
            cortex.record(&ok()).expect("a record");
        }
    }
    let path = world.path("home/.sinew/sinew.db");
    let mut bytes = fs::read(&path).expect("the database");
    // Its first page is sound, so it opens.
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xA5;
    }
    fs::write(&path, bytes).expect("damage");
    for name in ["sinew.db-wal", "sinew.db-shm"] {
        let _ = fs::remove_file(world.path("home/.sinew").join(name));
    }
    let engine = world.engine();
    let refused = engine.cortex().and_then(|cortex| cortex.record(&ok()).map(drop));
    assert_eq!(refused.expect_err("damage").code, ErrorCode::DatabaseDamaged);
    // The next process knows it without looking.
    assert_eq!(world.engine().check_gate().expect_err("known").code, ErrorCode::DatabaseDamaged);
}

#[test]
fn a_fresh_database_gets_back_what_the_mirror_holds() {
    let world = World::new().config("{cortex: {mirror: '$ROOT/home/cortex.json'}}");
    {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        for _ in 0..5 {
            cortex.record(&ok()).expect("a record");
        }
    }
    world.write("home/.sinew/sinew.db", "rubbish");
    let engine = world.engine();
    let aside = engine.database().begin_fresh().expect("a database").expect("the old file");
    assert_eq!(fs::read(aside).expect("the old file"), b"rubbish");
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    assert_eq!(memory.candidate(R, S).expect("a record").success, 5);
    assert_eq!(cortex.notices().len(), 2, "{:?}", cortex.notices());
}

#[test]
fn a_home_that_cannot_be_written_is_a_clear_error() {
    let world = World::new();
    // A file where the folder should be: also the superuser cannot write below it.
    world.write("home/.sinew", "not a folder");
    let engine = world.engine();
    let error = engine.cortex().expect_err("no database");
    assert_eq!(error.kind(), ErrorKind::Environment);
    assert!(!error.hints.is_empty(), "{error:?}");
}

#[test]
fn an_address_that_makes_no_sense_is_a_clear_error() {
    let world = World::new();
    let mut env = world.environment();
    for (url, kind) in [
        ("mysql://u:hunter2@h/d", ErrorKind::Usage),
        ("postgres://guest:hunter2@127.0.0.1:1/none", ErrorKind::Environment),
    ] {
        env.vars.insert("SINEW_DATABASE_URL".to_owned(), url.to_owned());
        let engine =
            sinew_engine::Engine::open(env.clone(), sinew_engine::EngineOptions::default())
                .expect("an engine");
        let error = engine.cortex().expect_err("no database");
        assert_eq!(error.kind(), kind);
        assert!(!error.message.contains("hunter2") && !error.hints.is_empty(), "{error:?}");
    }
}

#[test]
fn a_clock_that_goes_backwards_loses_nothing() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    for step in [DAY as i64, -40 * DAY as i64, 3 * DAY as i64, -1, 80 * DAY as i64] {
        cortex.record(&ok()).expect("a record");
        world.pass(step);
    }
    let memory = cortex.memory().expect("a memory");
    assert_eq!(memory.candidate(R, S).expect("a record").success, 5);
    assert!(cortex.rebuild().expect("a fold").agreed);
}

#[test]
fn a_report_from_the_future_is_refused() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let at = |ms: i64| NewOutcome { at: Some(cortex.now().plus_ms(ms)), ..ok() };
    let refused = cortex.record(&at(2 * DAY as i64)).expect_err("the future");
    assert_eq!(refused.code, ErrorCode::InTheFuture);
    cortex.record(&at(3_600_000)).expect("clocks of a team differ");
    // A record that lies ahead stays ahead; those of now are folded before it.
    cortex.record(&ok()).expect("a record");
    assert_eq!(cortex.memory().expect("a memory").candidate(R, S).expect("a record").success, 2);
    assert!(cortex.rebuild().expect("a fold").agreed);
}

#[test]
fn long_and_hostile_texts_are_bounded() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let megabyte = "timeout \u{1b}[31m</skill> alice@example.com ".repeat(25_000);
    let outcome = NewOutcome { detail: Some(megabyte.clone()), ..failed(RuntimeError) };
    cortex.record(&outcome).expect("a record");
    let memory = cortex.memory().expect("a memory");
    let fail = memory.candidate(R, S).and_then(|candidate| candidate.last_fail.clone());
    let detail = fail.expect("a failure").detail;
    assert!(detail.chars().count() <= 200 && !detail.contains(['\u{1b}', '<', '@']), "{detail}");
    let refused = [
        NewOutcome { slug: megabyte.clone(), ..ok() },
        NewOutcome { slug: String::new(), ..ok() },
        NewOutcome { slug: "a\nb".to_owned(), ..ok() },
        NewOutcome { version: " ".to_owned(), ..ok() },
        NewOutcome { region: Some("Task Management".to_owned()), ..ok() },
        NewOutcome { region: None, ..ok() },
        NewOutcome { side_effects: Some(vec!["x".to_owned(); 33]), ..ok() },
        NewOutcome { blame: Some(f64::NAN), ..ok() },
        NewOutcome { blame: Some(0.0), ..ok() },
        NewOutcome { kind: Some(RuntimeError), ..ok() },
    ];
    for outcome in refused {
        let error = cortex.record(&outcome).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.message.chars().count() < 200, "{error}");
    }
    assert_eq!(cortex.memory().expect("a memory").records, 1, "what is refused leaves nothing");
}

#[test]
fn an_outcome_of_an_unknown_skill_is_remembered() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let recorded = cortex.record(&used("odd-things", "owner/unheard-of")).expect("a record");
    assert_eq!(recorded.weight, Some(0.575));
    let unknown = NewOutcome { worked: None, ..used("odd-things", "never-used") };
    let recorded = cortex.record(&unknown).expect("a record");
    assert_eq!((recorded.weight, recorded.effective_weight), (None, None));
}

#[test]
fn a_record_that_cannot_be_read_is_skipped_and_told() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    let odd = sinew_store::NewStreamRecord {
        id: "not a ulid".to_owned(),
        ts: 5,
        kind: "outcome".to_owned(),
        body: sinew_store::JsonText::of(&[1, 2]).expect("JSON"),
    };
    engine.store().expect("a store").append("outcomes", &[odd]).expect("a record");
    cortex.record(&ok()).expect("a record");
    assert_eq!(cortex.memory().expect("a memory").candidate(R, S).expect("a record").success, 2);
    assert!(cortex.notices()[0].contains("cannot be read"), "{:?}", cortex.notices());
}

#[test]
fn a_snapshot_that_says_something_else_is_not_believed() {
    let world = World::new();
    {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        for _ in 0..300 {
            cortex.record(&ok()).expect("a record");
        }
        let store = engine.store().expect("a store");
        let mut snapshot = store.snapshot("cortex").expect("a look").expect("a snapshot");
        snapshot.through = sinew_store::RecordSeq(9_999);
        snapshot.body = b"{\"base\":".to_vec();
        store.put_snapshot("cortex", snapshot).expect("damage");
    }
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    assert_eq!(cortex.memory().expect("a memory").candidate(R, S).expect("a record").success, 300);
}
