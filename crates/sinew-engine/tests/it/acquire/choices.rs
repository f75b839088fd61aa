//! What a person may choose among, and what is not asked or tried again.

use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_engine::approval::{ApprovalAnswer, ConsentAct};

use super::stall::{Goods, Stall};
use super::{Kim, TASK, YES, begin, end, weekly};
use crate::cortex::support::World;

fn shown(kim: &Kim) -> Vec<String> {
    let rows = kim.event("candidates")["candidates"].as_array().expect("a list").clone();
    rows.iter().map(|row| row["slug"].as_str().expect("a slug").to_owned()).collect()
}

/// Any candidate that is shown can be chosen; it is asked about by itself.
#[test]
fn another_candidate_can_be_picked() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, TASK, &mut kim);
    let second = shown(&kim)[1].clone();
    let flow = engine.hub().acquisition(&stall);
    let mut kim = Kim::answering([ApprovalAnswer::Pick(second.clone()), YES, YES])
        .finishing([UseReport::success()]);
    let standing = flow.resume(&standing.run.id, &mut kim).expect("a run");
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(kim.event("installed")["slug"], second.as_str());
    // The same over a surface that only names it.
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, "sort the invoices of my to-do list", &mut kim);
    let other = shown(&kim).into_iter().next_back().expect("a candidate");
    let picked = flow.pick(&standing.run.id, &other, &mut Kim::default()).expect("a run");
    assert_eq!(end(&picked), "waits for install");
    let open = engine.approvals().list(true).expect("approvals");
    assert_eq!(open.last().map(|asked| asked.subject.name.clone()), Some(other));
}

/// More candidates come before those that were shown, and none of these is lost.
#[test]
fn more_keeps_what_was_shown() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    for name in ["todo-bot", "todo-txt"] {
        stall.offer(name, Goods::new("Manage a todo list with reminders and tasks"));
    }
    let mut kim = Kim::default();
    begin(&engine, &stall, TASK, &mut kim);
    let first = shown(&kim);
    let mut kim = Kim::answering([ApprovalAnswer::Others]);
    begin(&engine, &stall, TASK, &mut kim);
    let all = shown(&kim);
    assert!(all.len() > first.len(), "{first:?} {all:?}");
    assert!(first.iter().all(|slug| all.contains(slug)), "{first:?} {all:?}");
}

/// A skill that was wrong for this kind of task is not the first to be offered again.
#[test]
fn what_failed_for_this_kind_of_task_is_not_first_again() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mismatch = UseReport::failure(FailureKind::TaskMismatch);
    let mut kim = Kim::answering([YES, YES, ApprovalAnswer::No]).finishing([mismatch]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    let failed = standing.run.attempts[0].slug.clone();
    let mut kim = Kim::default();
    begin(&engine, &stall, TASK, &mut kim);
    let now = shown(&kim);
    assert_ne!(now[0], failed, "{now:?}");
    assert!(now.contains(&failed), "it is still visible, with its history: {now:?}");
}

/// Twice declined is an answer.
#[test]
fn keeping_is_not_asked_a_third_time() {
    let world = World::new();
    let stall = Stall::new(&world);
    let mut asked = 0;
    for _ in 0..12 {
        let mut kim =
            Kim::answering([YES, YES, ApprovalAnswer::No]).finishing([UseReport::success()]);
        begin(&world.engine(), &stall, TASK, &mut kim);
        asked += kim.acts().iter().filter(|act| **act == ConsentAct::Retain).count();
        world.pass(7 * 24 * 3_600_000);
    }
    assert_eq!(asked, 2);
}

/// Deleted upstream: it is marked, a search follows, and it is not tried again until it is back.
#[test]
fn a_vanished_candidate_is_marked_and_a_search_follows() {
    let world = World::new();
    let stall = Stall::new(&world);
    weekly(&world, &stall, 1);
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    let gone = memory.motor.values().flat_map(|region| &region.candidates);
    let gone = gone.map(|known| known.slug.clone()).next().expect("a candidate");
    let goods = stall.goods.borrow_mut().remove(&gone).expect("goods");
    let searches = stall.asked("search");
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(
        (end(&standing).as_str(), stall.asked("search")),
        ("waits for install", searches + 1)
    );
    assert!(!shown(&kim).contains(&gone));
    assert!(cortex.memory().expect("a memory").is_vanished(&gone));
    let tries = stall.asked(&format!("fetch {gone}"));
    begin(&engine, &stall, TASK, &mut Kim::default());
    assert_eq!(stall.asked(&format!("fetch {gone}")), tries, "it is not tried again");
    world.pass(60_000);
    // Back, it is found by the search, used, and remembered as before.
    stall.offer(&gone, goods);
    let pick = ApprovalAnswer::Pick(gone.clone());
    let mut kim = Kim::answering([pick, YES, YES]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(released)", "{:?}", kim.story());
    assert!(!cortex.memory().expect("a memory").is_vanished(&gone));
}

/// The router orders what a registry gives: neither its order nor its words decide, and where two say the
/// same of themselves, their texts do.
#[test]
fn what_was_found_is_in_the_routers_order() {
    let world = World::new();
    let stall = Stall::new(&world);
    stall.offer("accounts", Goods::new("Manage the list of your accounts and what they own"));
    let mut kim = Kim::default();
    begin(&world.engine(), &stall, TASK, &mut kim);
    assert_ne!(shown(&kim)[0], "accounts", "the registry has it first: {:?}", shown(&kim));
    let text = |name: &str, about: &str| {
        format!("---\nname: {name}\ndescription: Tools for pictures\n---\n# {about}\n\n{about}\n")
    };
    let right = "Resize photos for the web: make pictures smaller, change their width and height";
    let other = "Sort albums by year and print them as a calendar for the wall";
    for (resizes, sorts) in [("image-kit", "picture-box"), ("picture-box", "image-kit")] {
        let world = World::new();
        let stall = Stall::new(&world);
        for (slug, about) in [(resizes, right), (sorts, other)] {
            stall.offer(slug, Goods::new("Tools for pictures"));
            stall.texts.borrow_mut().insert(slug.to_owned(), text(slug, about));
        }
        let mut kim = Kim::default();
        begin(&world.engine(), &stall, "resize these photos for the web", &mut kim);
        assert_eq!(shown(&kim)[0], resizes, "{:?}", shown(&kim));
    }
}

/// A message in another language is searched with its English words as well.
#[test]
fn registries_are_asked_in_english_too() {
    let world = World::new();
    let stall = Stall::new(&world);
    let mut kim = Kim::default();
    begin(&world.engine(), &stall, "verwalte meine Aufgaben und Erinnerungen", &mut kim);
    let calls = stall.calls.borrow();
    let asked = calls.iter().find(|call| call.starts_with("search ")).expect("a search");
    let (_, keywords) = asked.split_once(" | ").expect("keywords");
    assert!(keywords.contains("task") || keywords.contains("reminder"), "{asked}");
}
