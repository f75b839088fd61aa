//! Reflexes: when one fires, what it still says, and what takes it back.

use sinew_cortex::acquire::UseReport;
use sinew_engine::approval::{ApprovalAnswer, ConsentAct};

use super::stall::Stall;
use super::{Kim, TASK, YES, begin, end, weekly};
use crate::cortex::support::World;

/// Weekly successes until the reflex is due: the eleventh to the thirteenth use are asked about.
fn trained(world: &World) -> Stall {
    let stall = Stall::new(world);
    weekly(world, &stall, 13);
    stall
}

/// The fourteenth use fires: a notice, five seconds, and no question.
#[test]
fn a_reflex_notifies_waits_and_asks_nothing() {
    let world = World::new();
    let stall = trained(&world);
    let searches = stall.asked("search");
    let engine = world.engine();
    let mut kim = Kim::answering([ApprovalAnswer::No]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, "manage the todo entries", &mut kim);
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(kim.acts(), [], "keeping it was declined twice before");
    assert_eq!(kim.waited, [5_000]);
    let notice = kim.event("notice")["text"].as_str().expect("a text").to_owned();
    assert!(
        notice.starts_with("⚡ Skill Cortex reflex: ")
            && notice.contains("v1.0.0 (100% success rate)"),
        "{notice}"
    );
    assert!(
        notice.ends_with(
            "Task: manage todo entry (read-only) | Will install and execute. Say cancel to abort."
        ),
        "{notice}"
    );
    assert_eq!(stall.asked("search"), searches, "and nothing was searched");
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.stats.reflexes_fired, 1);
    assert_eq!(stall.left(), [] as [&str; 0]);
}

/// Cancelled in time: nothing is installed and nothing changes.
#[test]
fn a_cancelled_reflex_changes_nothing() {
    let world = World::new();
    let stall = trained(&world);
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let before = cortex.memory().expect("a memory");
    let installs = stall.asked("install");
    let mut kim = Kim { cancels: true, ..Kim::default() };
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!((end(&standing).as_str(), stall.asked("install")), ("aborted(cancelled)", installs));
    let after = cortex.memory().expect("a memory");
    assert_eq!(after.motor, before.motor);
    assert_eq!(after.stats.reflexes_fired, before.stats.reflexes_fired);
}

/// Another version: standard mode, and the reflex is gone before a person is asked.
#[test]
fn another_version_is_asked_about_like_a_new_skill() {
    let world = World::new();
    let stall = trained(&world);
    for slug in ["todoist-cli", "task-keeper"] {
        stall.change(slug, |goods| goods.version = "1.3.0".to_owned());
    }
    let engine = world.engine();
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(
        (end(&standing).as_str(), kim.acts()),
        ("waits for install", vec![ConsentAct::Install])
    );
    assert_eq!(kim.event("candidates")["mode"], "standard");
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    let region = standing.run.region.as_deref().expect("a region");
    let candidate = memory.candidate(region, &standing.run.candidates[0].slug).expect("a record");
    assert_eq!((candidate.reflex, candidate.streak), (false, 0));
}

/// The same version with other bytes: those were not approved, so a yes is needed.
#[test]
fn other_bytes_of_the_same_version_need_a_yes() {
    let world = World::new();
    let stall = trained(&world);
    for slug in ["todoist-cli", "task-keeper"] {
        stall.change(slug, |goods| goods.body.push_str("\nand so on"));
    }
    let mut kim = Kim::default();
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "waits for install");
    assert_eq!((kim.waited.len(), stall.left().len()), (0, 0));
}

/// A skill that writes is never trusted that far, however often it worked.
#[test]
fn a_skill_that_writes_never_fires() {
    let world = World::new();
    let stall = Stall::new(&world);
    for slug in ["todoist-cli", "task-keeper"] {
        stall.change(slug, |goods| goods.body = "```sh\ntodo add x > tasks.txt\n```".to_owned());
    }
    weekly(&world, &stall, 13);
    let mut kim = Kim::default();
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "waits for install");
    let told = standing.run.candidates[0].staged.as_ref().expect("staged").side_effects.clone();
    assert!(
        told.iter().any(|tag| tag.starts_with("write:") || tag.starts_with("shell:")),
        "{told:?}"
    );
}

/// Worth keeping: offered; a yes keeps it and takes it out of the memory's hands.
#[test]
fn a_skill_that_is_kept_stays_and_leaves_the_region() {
    let world = World::new();
    let stall = Stall::new(&world);
    weekly(&world, &stall, 6);
    let engine = world.engine();
    let mut kim = Kim::answering([YES, YES, YES]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(retained)");
    assert_eq!(kim.acts(), [ConsentAct::Install, ConsentAct::Plan, ConsentAct::Retain]);
    assert_eq!(stall.left().len(), 2, "the folder and its entry");
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    let region = standing.run.region.as_deref().expect("a region");
    assert!(memory.candidate(region, &standing.run.candidates[0].slug).is_none());
    assert!(memory.retained_candidate(region, &standing.run.candidates[0].slug).is_some());
    // From now on it is an installed skill like any other.
    let mut kim = Kim::default();
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(handled)");
}
