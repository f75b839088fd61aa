//! An engine that stays up: one thread follows the skills for all observers.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sinew_engine::{Engine, EngineOptions, LiveEngine, WatchEvent};
use sinew_testkit::TestMachine;

/// Longer than any of these needs.
const PATIENCE: Duration = Duration::from_secs(30);

fn live(machine: &TestMachine) -> Arc<LiveEngine> {
    let engine = Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
    LiveEngine::new(engine)
}

/// What one observer is told.
fn told(live: &Arc<LiveEngine>) -> Receiver<String> {
    let (sender, told) = channel();
    live.follow(move |event| {
        let word = match event {
            WatchEvent::Started { .. } => "started".to_owned(),
            WatchEvent::Changed(change) => format!("added {:?}", change.added),
            WatchEvent::Notice(_) => return ControlFlow::Continue(()),
        };
        match sender.send(word) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    told
}

#[test]
fn all_observers_are_told_even_of_a_change_that_a_question_saw_first() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let live = live(&machine);
    let first = told(&live);
    assert_eq!(first.recv_timeout(PATIENCE).expect("a word"), "started");
    assert!(!live.is_loading());
    let late = told(&live);
    assert_eq!(late.recv_timeout(PATIENCE).expect("a word"), "started");
    machine.write("work/skills/b/SKILL.md", "---\nname: b\ndescription: New\n---\n");
    assert!(live.fresh_view().snapshot.catalog.get("b").is_some());
    for observer in [first, late] {
        assert_eq!(observer.recv_timeout(PATIENCE).expect("a word"), "added [\"b\"]");
    }
}

#[test]
fn another_configuration_is_another_engine_over_the_same_skills() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let live = live(&machine);
    let before = live.engine();
    assert!(Arc::ptr_eq(&before, &live.engine()));
    let ready =
        |live: &Arc<LiveEngine>| live.view().snapshot.catalog.get("a").expect("a skill").eligible;
    assert!(ready(&live));
    machine.write("home/.sinew/config.json5", "{skills: {entries: {a: {enabled: false}}}}");
    assert!(!ready(&live));
    assert!(!Arc::ptr_eq(&before, &live.engine()));
}
