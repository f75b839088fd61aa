//! Acquisition runs in the database.

use sinew_cortex::acquire::{
    AcquireCandidate, AcquireEffect, AcquireEvent, AcquireStep, CandidateVerdict, ConsentAnswer,
    ConsentChannel, ConsentReply, ConsentScope, StagedCandidate, StagedSummary, UseReport,
};
use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_engine::Cortex;
use sinew_settings::ErrorCode;
use sinew_settings::config::RelayPolicy;

use crate::cortex::support::World;

fn yes() -> AcquireEvent {
    AcquireEvent::Answered(ConsentReply {
        answer: ConsentAnswer::Yes(ConsentScope::Listed),
        who: "Kim".to_owned(),
        channel: ConsentChannel::Cli,
        can_elicit: false,
    })
}

fn staged(slug: &str) -> (String, Result<StagedCandidate, String>) {
    let staged = StagedCandidate {
        version: "1.0.0".to_owned(),
        digest: format!("sha256:{slug}"),
        verdict: CandidateVerdict::Allow,
        side_effects: Vec::new(),
        skill_md_chars: 900,
        skill_md_bytes: 900,
        shown: StagedSummary::default(),
    };
    (slug.to_owned(), Ok(staged))
}

/// Brings a run to where its skill is used.
fn executing(cortex: &Cortex<'_>) -> String {
    let run = cortex.start_run("compress the photos of Alice").expect("a run");
    let step = |event: AcquireEvent| {
        cortex.step_run(&run.id, &event, RelayPolicy::Limited).expect("a step")
    };
    step(AcquireEvent::Recalled { region: None, hit: false, offers: Vec::new() });
    step(AcquireEvent::Found(vec![
        AcquireCandidate::new("one", "clawhub"),
        AcquireCandidate::new("two", "clawhub"),
    ]));
    step(AcquireEvent::Fetched(vec![staged("one"), staged("two")]));
    step(yes());
    step(AcquireEvent::Installed("sha256:one".to_owned()));
    step(AcquireEvent::Planned);
    let AcquireStep { effects, .. } = step(yes());
    assert_eq!(effects, [AcquireEffect::Execute("one".to_owned())]);
    run.id
}

on_both! {
    /// Each step is stored with what it logs; another process carries on.
    fn a_run_is_carried_on_by_another_process(world) {
        let id = executing(&world.engine().cortex().expect("a cortex"));
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        assert_eq!(cortex.open_runs().expect("runs").len(), 1);
        assert_eq!(cortex.memory().expect("a memory").stats.installs, 1);
        let stepped = cortex.report_run(&id, UseReport::success()).expect("a report");
        assert_eq!(stepped.run.state.name(), "release");
        let memory = cortex.memory().expect("a memory");
        assert_eq!(memory.candidate("photo-compress", "one").expect("a record").weight, 0.575);
        assert_eq!(memory.patterns.len(), 1);
        let stepped = cortex.step_run(&id, &AcquireEvent::Uninstalled, RelayPolicy::Limited).expect("a step");
        assert_eq!((stepped.run.state.name(), stepped.run.task), ("done(released)", None));
        assert!(cortex.open_runs().expect("runs").is_empty());
        assert!(cortex.rebuild().expect("a fold").agreed);
    }

    /// A crash while the skill is used: the person is asked, and nothing counts twice.
    fn a_crash_while_it_runs_asks_and_counts_once(world) {
        let id = executing(&world.engine().cortex().expect("a cortex"));
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        let resumed = cortex.resume_run(&id).expect("a run");
        assert_eq!(resumed.effects, [AcquireEffect::AskOutcome("one".to_owned())]);
        cortex.report_run(&id, UseReport::failure(RuntimeError)).expect("a report");
        let again = cortex.report_run(&id, UseReport::failure(RuntimeError)).expect_err("told already");
        assert_eq!(again.code, ErrorCode::NotNow);
        let memory = cortex.memory().expect("a memory");
        assert_eq!(memory.candidate("photo-compress", "one").expect("a record").fail, 1);
    }
}

#[test]
fn learning_from_an_outcome_twice_writes_once() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let id = executing(&cortex);
    let stepped = cortex
        .step_run(&id, &AcquireEvent::Finished(UseReport::success()), RelayPolicy::Limited)
        .expect("a step");
    let [AcquireEffect::Learn { record, outcome, task, .. }] = stepped.effects.as_slice() else {
        panic!("{:?}", stepped.effects)
    };
    for _ in 0..3 {
        cortex.learn_from_run(*record, outcome, task.as_deref()).expect("learned");
    }
    let memory = cortex.memory().expect("a memory");
    let words = memory.patterns[0].signals.len();
    assert_eq!(
        (memory.candidate("photo-compress", "one").expect("a record").success, words),
        (1, 2)
    );
}

#[test]
fn what_failed_is_told_without_names() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let id = executing(&cortex);
    let finish = UseReport {
        detail: Some("cannot reach alice@example.com: timeout".to_owned()),
        ..UseReport::failure(RuntimeError)
    };
    let stepped = cortex.report_run(&id, finish).expect("a report");
    assert_eq!(stepped.run.attempts[0].detail, "cannot reach … timeout");
    let text = serde_json::to_string(&cortex.run(&id).expect("a run")).expect("JSON");
    assert!(!text.contains("example.com"));
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let world = World::new();
    let engine = world.engine();
    let error = engine
        .cortex()
        .expect("a cortex")
        .report_run("01ARYZ6S410000000000000000", UseReport::success())
        .expect_err("no run");
    assert_eq!(error.code, ErrorCode::UnknownRun);
}
