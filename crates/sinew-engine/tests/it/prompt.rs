//! Which skills the prompt lists where it cannot list them all.

use sinew_engine::{Engine, EngineOptions, NewOutcome, PromptOptions};
use sinew_testkit::TestMachine;

/// More own skills than the prompt has room for, named so that the alphabet alone would decide.
fn crowded_machine() -> TestMachine {
    (0..300).fold(TestMachine::new(), |machine, number| {
        let text =
            format!("---\nname: s{number:03}\ndescription: Trade number {number}.\n---\nx\n");
        machine.file(&format!("work/skills/s{number:03}/SKILL.md"), text)
    })
}

fn open(machine: &TestMachine) -> Engine {
    Engine::open(machine.environment(), EngineOptions::default()).expect("an engine")
}

fn lists(engine: &Engine, name: &str) -> bool {
    let block = engine.skills().prompt(&engine.snapshot().catalog, &PromptOptions::default());
    assert!(!block.report.shows_everything());
    block.text.contains(&format!("<name>{name}</name>"))
}

fn used(engine: &Engine, slug: &str, worked: bool) {
    let outcome = NewOutcome {
        region: Some("trades".to_owned()),
        slug: slug.to_owned(),
        version: "1.0.0".to_owned(),
        worked: Some(worked),
        ..NewOutcome::default()
    };
    engine.cortex().and_then(|cortex| cortex.record(&outcome)).expect("a record");
}

#[test]
fn a_skill_that_worked_lately_is_listed_before_the_alphabet_decides() {
    let machine = crowded_machine();
    let engine = open(&machine);
    assert!(lists(&engine, "s000") && !lists(&engine, "s299") && !lists(&engine, "s298"));

    used(&engine, "s299", true);
    // A registry's name of a skill is longer than the catalog's.
    used(&engine, "trader/s298", true);
    used(&engine, "s297", false);
    assert!(lists(&engine, "s299") && lists(&engine, "s298"));
    assert!(!lists(&engine, "s297"), "a failure is no success");
    assert!(lists(&open(&machine), "s299"), "another process knows it, too");
}
