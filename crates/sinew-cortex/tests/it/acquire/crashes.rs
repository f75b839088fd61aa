//! Runs that are closed, cancelled or cut off.

use sinew_cortex::acquire::{
    AcquireEffect, AcquireEnding, AcquireEvent, AcquireRefusal, AcquireRun, AcquireState,
    UseReport, resume,
};
use sinew_cortex::failure::FailureKind::{self, ApiError, RuntimeError};
use sinew_cortex::record::UseResult;

use super::world::{World, harmless};

#[test]
fn a_closed_run_hears_nothing() {
    let mut world = World::new();
    let run = world.run();
    assert_eq!(world.step(&run, AcquireEvent::Cancelled), Err(AcquireRefusal::NotNow));
    assert_eq!(resume(&run).effects, []);
}

#[test]
fn cancel_is_heard_in_every_state() {
    let mut states = Vec::new();
    let mut world =
        World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        states.push(run.clone());
        false
    });
    assert!(states.len() > 12);
    for run in states.into_iter().filter(|run| !matches!(run.state, AcquireState::Closed { .. })) {
        let mut world = World::new();
        if let Some(slug) = &run.installed {
            world.disk.insert(slug.clone(), "sha256".to_owned());
        }
        let stepped = world.step(&run, AcquireEvent::Cancelled).expect("a step");
        assert!(matches!(
            stepped.run.state,
            AcquireState::Release { then: AcquireEnding::Cancelled }
        ));
        let run = world.drive(stepped.run, stepped.effects, |_| false);
        assert_eq!((run.state.name(), world.disk.len()), ("aborted(cancelled)", 0));
    }
}

/// What must be the same with and without a crash.
fn tally(world: &World) -> (usize, usize, Vec<(String, UseResult)>) {
    let outcomes = world.outcomes();
    let outcomes = outcomes.iter().map(|outcome| (outcome.slug.clone(), outcome.result)).collect();
    (world.installs.len(), world.disk.len(), outcomes)
}

#[test]
fn a_crash_in_any_state_doubles_nothing() {
    let fresh =
        || World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    let mut calm = fresh();
    let mut steps = 0;
    calm.drive(calm.begin(), vec![AcquireEffect::Recall], |_| {
        steps += 1;
        false
    });
    for at in 1..=steps {
        // Crash after the step was stored, before its outbox was written and its effects began.
        let mut world = fresh();
        let mut number = 0;
        let stored = world.drive(world.begin(), vec![AcquireEffect::Recall], |_| {
            number += 1;
            number == at
        });
        check_resumed(world, &stored, &calm, at);
    }
}

#[test]
fn a_crash_after_the_work_and_before_its_record_doubles_nothing() {
    let fresh =
        || World::new().finishing([UseReport::failure(ApiError), UseReport::failure(RuntimeError)]);
    let mut calm = fresh();
    let mut steps = 0;
    calm.drive(calm.begin(), vec![AcquireEffect::Recall], |_| {
        steps += 1;
        false
    });
    for at in 2..=steps {
        // The effects of the previous step were carried out, but that was not recorded.
        let mut world = fresh();
        let mut stored = world.begin();
        let mut number = 0;
        let mut before = stored.clone();
        world.drive(stored.clone(), vec![AcquireEffect::Recall], |run| {
            number += 1;
            before = std::mem::replace(&mut stored, run.clone());
            number == at
        });
        check_resumed(world, &before, &calm, at);
    }
}

fn check_resumed(mut world: World, stored: &AcquireRun, calm: &World, at: usize) {
    let text = serde_json::to_string(stored).expect("a run");
    let mut run: AcquireRun = serde_json::from_str(&text).expect("a run");
    assert_eq!(run, *stored);
    let was_executing = matches!(run.state, AcquireState::Execute { .. });
    world.flush(&mut run);
    let resumed = resume(&run);
    if was_executing {
        assert!(matches!(resumed.effects[..], [AcquireEffect::AskOutcome(_)]), "{at}");
    }
    let run = world.drive(resumed.run, resumed.effects, |_| false);
    assert!(matches!(run.state, AcquireState::Closed { .. }), "{at}: {}", run.state.name());
    let (installs, left, outcomes) = tally(&world);
    let slugs: Vec<&str> = outcomes.iter().map(|(slug, _)| slug.as_str()).collect();
    let mut once = slugs.clone();
    once.dedup();
    assert_eq!(slugs, once, "{at}: an outcome is counted once");
    assert_eq!(left, 0, "{at}: nothing stays installed");
    let (most, _, _) = tally(calm);
    assert!(installs <= most, "{at}: {installs} installs, {most} without a crash");
}

#[test]
fn the_one_outcome_of_a_candidate_says_where_it_comes_from() {
    let mut world = World::new();
    world.run();
    let outcomes = world.outcomes();
    let outcome = outcomes[0];
    assert_eq!(outcome.digest, Some(harmless("one").digest));
    assert_eq!(outcome.skill_md_chars, Some(1_200));
    assert_eq!(outcome.side_effects, Some(vec!["network:api.example.com".to_owned()]));
    let kinds: Vec<FailureKind> = outcomes.iter().filter_map(|outcome| outcome.kind).collect();
    assert!(kinds.is_empty());
}
