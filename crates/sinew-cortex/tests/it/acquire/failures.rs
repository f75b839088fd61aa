//! What happens when an install or a run fails.

use sinew_cortex::acquire::{
    AcquireRefusal, AcquireReport, CandidateVerdict, ConsentAct, ConsentAnswer, ConsentScope,
    StagedCandidate, UseReport, check_consent, may_retain,
};
use sinew_cortex::failure::FailureKind::{
    ApiError, AuthError, DependencyMissing, RuntimeError, TaskMismatch,
};
use sinew_cortex::record::{RecordBody, UseResult};
use sinew_settings::config::RelayPolicy;

use super::world::{World, YES, approved, harmless, reflexive, reply};
use crate::bundle::{Log, R, S, close};

#[test]
fn three_failed_installs_are_two_switches_and_a_report() {
    let mut world = World::new();
    world.broken = ["one", "two", "three"].map(str::to_owned).to_vec();
    let run = world.run();
    assert_eq!((run.state.name(), run.switches), ("failed(install)", 2));
    let report = world.report.expect("a report");
    let rows: Vec<&str> = report.tried.iter().map(|row| row.slug.as_str()).collect();
    assert_eq!((rows, report.switches), (vec!["one", "two", "three"], 2));
    assert_eq!(report.tried[0].detail, "the disk is full");
    assert_eq!(world.asked, [ConsentAct::Install], "one yes covers the list");
    assert!(world.log.iter().all(|record| !matches!(record.body, RecordBody::Outcome(_))));
}

#[test]
fn a_candidate_that_cannot_be_fetched_counts_as_one_that_cannot_be_installed() {
    let mut world = World::new();
    for slug in ["one", "two", "three"] {
        world.staged.insert(slug.to_owned(), Err("404".to_owned()));
    }
    let run = world.run();
    assert_eq!((run.state.name(), run.switches, run.attempts.len()), ("failed(install)", 2, 3));
    assert!(world.asked.is_empty());
}

#[test]
fn what_the_scanner_blocks_cannot_be_approved() {
    let mut world = World::new();
    let blocked = StagedCandidate { verdict: CandidateVerdict::Block, ..harmless("one") };
    world.staged.insert("one".to_owned(), Ok(blocked));
    world.run();
    assert_eq!(world.installs, ["two"]);
    let yes = reply(YES);
    assert_eq!(
        check_consent(ConsentAct::Install, &yes, RelayPolicy::Allow, CandidateVerdict::Block),
        Err(AcquireRefusal::Blocked)
    );
}

#[test]
fn a_yes_to_only_this_covers_only_this() {
    let mut world = World::new().answering([ConsentAnswer::Yes(ConsentScope::OnlyThis)]);
    world.broken = vec!["one".to_owned()];
    world.run();
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Install, ConsentAct::Plan]);
}

#[test]
fn an_unreviewed_source_needs_its_own_yes() {
    let mut world = World::new();
    world.registry[1].reviewed = false;
    world.broken = vec!["one".to_owned()];
    world.run();
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Install, ConsentAct::Plan]);
    assert_eq!(world.installs, ["two"]);
}

#[test]
fn a_service_failure_is_tried_once_more_after_three_seconds() {
    let api = || UseReport::failure(ApiError);
    let mut world = World::new().finishing([api(), UseReport::success()]);
    world.run();
    assert_eq!(world.waited, [3_000]);
    assert_eq!(world.executed.len(), 2);
    let outcomes = world.outcomes();
    assert_eq!(
        (outcomes.len(), outcomes[0].result, outcomes[0].attempts),
        (1, UseResult::Success, 2)
    );
    close(world.memory().candidate("todo-manage", "one").expect("a record").weight, 0.575);

    let mut world = World::new().finishing([api(), api()]).answering([YES, YES, ConsentAnswer::No]);
    world.run();
    assert_eq!((world.executed.len(), world.outcomes().len()), (2, 1));
    assert_eq!(world.outcomes()[0].kind, Some(ApiError));
    close(world.memory().candidate("todo-manage", "one").expect("a record").weight, 0.45);
}

#[test]
fn refused_credentials_are_never_retried_by_themselves() {
    let mut world = World::new().finishing([UseReport::failure(AuthError)]).answering([
        YES,
        YES,
        ConsentAnswer::No,
        ConsentAnswer::No,
    ]);
    world.run();
    assert_eq!((world.executed.len(), world.shown[0].as_str()), (1, "check the credentials"));
    assert_eq!(world.outcomes()[0].kind, Some(AuthError));
    let mut world =
        World::new().finishing([UseReport::failure(AuthError)]).answering([YES, YES, YES]);
    world.run();
    assert_eq!(world.outcomes()[0].result, UseResult::Success);
}

#[test]
fn a_missing_program_is_installed_only_after_its_own_yes() {
    let missing = || UseReport {
        key: Some("ffmpeg".to_owned()),
        command: Some("brew install ffmpeg".to_owned()),
        ..UseReport::failure(DependencyMissing)
    };
    let mut world = World::new().finishing([missing()]).answering([
        YES,
        YES,
        ConsentAnswer::No,
        ConsentAnswer::No,
    ]);
    world.run();
    assert_eq!(world.installs, ["one"]);
    assert_eq!(world.asked[2], ConsentAct::Dependency);
    assert_eq!(world.outcomes()[0].key.as_deref(), Some("ffmpeg"));
    let mut world = World::new().finishing([missing()]);
    let run = world.run();
    assert_eq!(world.installs, ["one", "brew install ffmpeg"]);
    assert_eq!(
        run.consents.iter().filter(|consent| consent.act == ConsentAct::Dependency).count(),
        1
    );
    assert_eq!(world.outcomes()[0].result, UseResult::Success);
}

#[test]
fn a_broken_skill_goes_and_the_next_comes_only_after_a_yes() {
    for kind in [RuntimeError, TaskMismatch] {
        let mut world = World::new().finishing([UseReport::failure(kind)]).answering([
            YES,
            YES,
            ConsentAnswer::No,
        ]);
        let run = world.run();
        assert_eq!(run.state.name(), "aborted(declined)");
        assert_eq!((world.installs.len(), world.uninstalls.len()), (1, 1));
        assert_eq!(world.asked[2], ConsentAct::SwitchCandidate);
        let mut world = World::new().finishing([UseReport::failure(kind)]);
        let run = world.run();
        assert_eq!((run.state.name(), run.switches), ("done(released)", 1));
        assert_eq!(world.installs, ["one", "two"]);
        assert_eq!(world.outcomes().len(), 2, "one outcome per candidate");
    }
}

#[test]
fn after_two_switches_nothing_more_is_tried() {
    let broken = |_| UseReport::failure(RuntimeError);
    let mut world = World::new().finishing((0..5).map(broken));
    world.broken = vec!["two".to_owned()];
    let run = world.run();
    assert_eq!((run.state.name(), run.switches), ("failed(all_candidates)", 2));
    let report = AcquireReport::of(&run);
    let stages: Vec<String> = report
        .tried
        .iter()
        .map(|row| format!("{} {:?} {}", row.slug, row.stage, row.kind))
        .collect();
    assert_eq!(
        stages,
        ["one Execute runtime_error", "two Install runtime_error", "three Execute runtime_error"]
    );
    assert!(world.disk.is_empty());
}

#[test]
fn a_proven_small_skill_may_stay() {
    let with = |success: u64, weight: f64, chars: u64| {
        let mut log = Log::new();
        log.ok();
        let mut candidate = log.candidate();
        (candidate.success, candidate.weight, candidate.skill_md_chars) = (success, weight, chars);
        may_retain(&candidate)
    };
    assert!(with(3, 0.81, 7_999));
    assert!(!with(3, 0.81, 8_000) && !with(2, 0.81, 10) && !with(3, 0.79, 10));

    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let run = world.run();
    assert_eq!(run.state.name(), "done(retained)");
    assert!(world.disk.contains_key(S) && world.uninstalls.is_empty());
    let memory = world.memory();
    assert!(memory.candidate(R, S).is_none() && memory.retained_candidate(R, S).is_some());
    let exported = sinew_cortex::original::export(&memory, world.now, &world.policy).to_text();
    assert!(!exported.contains("\"slug\": \"todoist\""));

    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log).answering([ConsentAnswer::No]);
    let run = world.run();
    assert_eq!((run.state.name(), world.uninstalls.len()), ("done(released)", 1));
    assert!(world.memory().candidate(R, S).is_some());
}
