//! A database on another machine that is away: reports wait for it, and count once.

use sinew_engine::{Engine, EngineOptions, NewOutcome, OutcomeReport};
use sinew_settings::ErrorCode;

use crate::cortex::support::{R, S, World, ok};

/// An engine whose database does not answer.
fn cut_off(world: &World) -> Engine {
    let mut env = world.environment();
    let nowhere = "postgres://guest:hunter2@127.0.0.1:1/none";
    env.vars.insert("SINEW_DATABASE_URL".to_owned(), nowhere.to_owned());
    Engine::open(env, EngineOptions::default()).expect("an engine")
}

#[test]
fn a_report_during_an_outage_is_kept_and_recorded_later() {
    let world = World::new();
    let engine = cut_off(&world);
    let detail = "curl -u bob:Tide-and-4-Owls failed".to_owned();
    let outcome = NewOutcome { task: Some(detail), ..ok() };
    for _ in 0..3 {
        let report = engine.report_outcome(&outcome).expect("it is kept");
        let OutcomeReport::Waiting { outage, .. } = report else { panic!("{report:?}") };
        assert_eq!(outage.code, ErrorCode::DatabaseUnreachable);
    }
    assert_eq!(engine.waiting_reports(), 3);
    let folder = world.environment().sinew_home().join("waiting-reports");
    for entry in std::fs::read_dir(folder).expect("the reports").flatten() {
        let kept = std::fs::read_to_string(entry.path()).expect("a report");
        assert!(!kept.contains("Owls") && !kept.contains("hunter2"), "{kept}");
    }
    // A surface that has no words for waiting tells the outage, and that nothing is lost.
    let told = engine.report_outcome(&ok()).and_then(OutcomeReport::recorded);
    let told = told.expect_err("an outage");
    assert!(told.hints.iter().any(|hint| hint.contains("recorded when the database answers")));

    // The next report finds a database.
    let engine = world.engine();
    engine.report_outcome(&ok()).expect("a record").recorded().expect("a record");
    assert_eq!(engine.waiting_reports(), 0);
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.candidate(R, S).expect("a record").success, 5);
}

/// The process may be killed between the record and the removal of the file.
#[test]
fn what_was_recorded_is_not_recorded_again() {
    let world = World::new();
    cut_off(&world).report_outcome(&ok()).expect("it is kept");
    let folder = world.environment().sinew_home().join("waiting-reports");
    let file = std::fs::read_dir(&folder).expect("the reports").flatten().next().expect("one");
    let bytes = std::fs::read(file.path()).expect("a report");
    let engine = world.engine();
    engine.report_outcome(&ok()).expect("a record").recorded().expect("a record");
    std::fs::write(file.path(), bytes).expect("the file is there again");
    std::fs::write(folder.join("zzz.json"), "no JSON").expect("a file");
    engine.report_outcome(&ok()).expect("a record").recorded().expect("a record");
    assert_eq!(engine.waiting_reports(), 0);
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.candidate(R, S).expect("a record").success, 3);
}
