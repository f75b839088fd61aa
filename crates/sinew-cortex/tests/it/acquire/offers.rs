//! What is offered for a task: what is known, what is found, what a reflex may do.

use sinew_cortex::acquire::{
    AcquireEffect, AcquireEnding, AcquireEvent, AcquireState, CandidateVerdict, ConsentAct,
    StagedCandidate,
};
use sinew_cortex::record::{BlacklistOp, RecordBody};
use sinew_settings::config::ReflexInstall;

use super::world::{World, approved, harmless, reflexive};
use crate::bundle::{Log, R, S, close};

#[test]
fn an_unknown_task_searches_installs_works_learns_and_leaves() {
    // After a miss and a success, words are learned.
    let mut world = World::new();
    let run = world.run();
    assert_eq!(run.state, AcquireState::Closed { end: AcquireEnding::Released });
    assert_eq!(run.task, None, "no word of the person outlives the run");
    let memory = world.memory();
    assert_eq!((memory.stats.searches, memory.stats.installs), (1, 1));
    assert_eq!(memory.patterns.len(), 1);
    let region = &memory.patterns[0].region;
    assert_eq!(region, "todo-manage");
    close(memory.candidate(region, "one").expect("a record").weight, 0.575);
    assert_eq!(
        (world.installs, world.uninstalls),
        (vec!["one".to_owned()], vec!["one".to_owned()])
    );
    assert!(world.disk.is_empty());
    assert_eq!(world.asked, [ConsentAct::Install, ConsentAct::Plan]);
}

#[test]
fn a_task_that_an_installed_skill_can_do_ends_at_once() {
    let mut world = World { handled: true, ..World::new() };
    let run = world.run();
    assert_eq!(run.state.name(), "done(handled)");
    assert!(world.log.is_empty(), "nothing is learned");
}

#[test]
fn a_memory_that_cannot_be_read_does_not_stand_in_the_way() {
    let world = World::new();
    let recalled = AcquireEvent::Recalled { region: None, hit: false, offers: Vec::new() };
    let stepped = world.step(&world.begin(), recalled).expect("a step");
    assert_eq!(stepped.run.state, AcquireState::Search);
}

#[test]
fn what_is_known_is_offered_without_a_search_and_its_words_stay() {
    let mut log = Log::new();
    let words = vec!["manage".to_owned(), "todo".to_owned()];
    log.push(RecordBody::Signals { region: R.to_owned(), words, vocabulary: 1 });
    log.ok();
    let mut world = World::knowing(log);
    world.run();
    let memory = world.memory();
    assert_eq!((memory.stats.searches, memory.stats.cache_hits), (0, 1));
    let pattern = memory.pattern(R).expect("a pattern");
    let words: Vec<&str> = pattern.signals.iter().map(|s| s.word.as_str()).collect();
    assert_eq!(words, ["manage", "todo"]);
    assert_eq!(memory.candidate(R, S).expect("a record").success, 2);
}

#[test]
fn nothing_found_is_an_end() {
    let mut world = World { registry: Vec::new(), ..World::new() };
    assert_eq!(world.run().state.name(), "failed(no_candidates)");
}

#[test]
fn a_blacklisted_search_result_is_not_shown() {
    let mut log = Log::new();
    log.push(RecordBody::Blacklist { op: BlacklistOp::Add, slug: "one".to_owned(), reason: None });
    let mut world = World::knowing(log);
    let run = world.run();
    assert!(run.candidates.iter().all(|offer| offer.slug != "one"));
    assert_eq!(world.installs, ["two"]);
}

#[test]
fn a_reflex_tells_waits_and_asks_for_nothing() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let run = world.run();
    assert_eq!(world.asked, [ConsentAct::Retain]);
    assert!(
        world.shown[0].starts_with("⚡ Skill Cortex reflex: todoist v1.0.0 (100% success rate)")
    );
    assert_eq!(world.memory().stats.reflexes_fired, 1);
    assert_eq!(run.state.name(), "done(retained)");
}

#[test]
fn a_reflex_without_an_approved_digest_asks() {
    let mut world = World::knowing(reflexive());
    world.run();
    assert_eq!(
        world.asked,
        [ConsentAct::Install, ConsentAct::Retain],
        "the plan is not asked about"
    );
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    world.policy.install = ReflexInstall::Confirm;
    world.run();
    assert_eq!(world.asked[0], ConsentAct::Install);
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let warned = StagedCandidate { verdict: CandidateVerdict::Warn, ..harmless(S) };
    world.staged.insert(S.to_owned(), Ok(warned));
    world.run();
    assert_eq!(world.asked[0], ConsentAct::Install);
}

#[test]
fn a_reflex_that_is_cancelled_leaves_no_trace() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let before = world.memory();
    let run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Notice { .. })
    });
    assert!(
        matches!(run.state, AcquireState::Notice { until } if until == world.now.plus_ms(5_000))
    );
    let stepped = world.step(&run, AcquireEvent::Cancelled).expect("a step");
    let run = world.drive(stepped.run, stepped.effects, |_| false);
    assert_eq!(run.state.name(), "aborted(cancelled)");
    assert!(world.installs.is_empty());
    let after = world.memory();
    assert_eq!(before.motor, after.motor);
    assert_eq!(after.stats.reflexes_fired, 0);
}

#[test]
fn another_version_is_recorded_before_the_user_is_asked() {
    let mut log = reflexive();
    approved(&mut log);
    let mut world = World::knowing(log);
    let newer = StagedCandidate { version: "1.3.0".to_owned(), ..harmless(S) };
    world.staged.insert(S.to_owned(), Ok(newer));
    let mut run = world.drive(world.begin(), vec![AcquireEffect::Recall], |run| {
        matches!(run.state, AcquireState::Approve { .. })
    });
    assert!(world.asked.is_empty());
    world.flush(&mut run);
    let memory = world.memory();
    let candidate = memory.candidate(R, S).expect("a record");
    assert_eq!((candidate.reflex, candidate.streak), (false, 0));
}
