//! The first time, and the times after it.

use sinew_cortex::acquire::UseReport;
use sinew_engine::approval::{ApprovalAnswer, ConsentAct};
use sinew_settings::Actor;

use super::stall::{Goods, Stall};
use super::{Kim, ONLY, TASK, YES, begin, end, weekly};
use crate::cortex::support::World;

/// The memory knows nothing: a search, a question about the bytes, a question about the
/// plan, and nothing is left but what was learned.
#[test]
fn the_first_time_searches_and_asks_and_leaves_nothing() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mut kim = Kim::answering([YES, YES]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(
        kim.story(),
        [
            "run",
            "recalled",
            "searched",
            "candidates",
            "needs_approval",
            "answered",
            "installed",
            "plan",
            "needs_approval",
            "answered",
            "use",
            "finished",
            "learned",
            "released",
            "closed"
        ]
    );
    assert_eq!(kim.acts(), [ConsentAct::Install, ConsentAct::Plan]);
    assert_eq!(kim.event("searched")["keywords"], serde_json::json!(["manage", "todo", "list"]));
    assert_eq!(kim.event("searched")["relevant"], 2);
    let candidates = kim.event("candidates")["candidates"].as_array().expect("a list");
    assert_eq!(candidates.len(), 2, "{candidates:?}");
    assert_eq!(
        (&candidates[0]["stars"], &candidates[0]["scan"]["verdict"]),
        (&12.into(), &"allow".into())
    );
    // Two relevant ones: no other source is asked.
    assert_eq!((stall.asked("search"), stall.asked("supplement")), (1, 0));
    assert_eq!(stall.left(), [] as [&str; 0]);
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    let stats = memory.stats;
    assert_eq!(
        (stats.searches, stats.installs, stats.cache_hits, stats.reflexes_fired),
        (1, 1, 0, 0)
    );
    assert_eq!(memory.patterns.len(), 1);
    assert_eq!(cortex.run(&standing.run.id).expect("a run").task, None);
    assert_eq!(engine.approvals().list(true).expect("approvals"), []);
}

/// Worded differently, the same task is recalled, and no registry is asked what there is.
#[test]
fn the_next_time_is_recalled_without_a_search() {
    let world = World::new();
    let stall = Stall::new(&world);
    weekly(&world, &stall, 1);
    let searches = stall.asked("search");
    let mut kim = Kim::answering([YES, YES]).finishing([UseReport::success()]);
    let engine = world.engine();
    let standing = begin(&engine, &stall, "please manage the todo entries of this week", &mut kim);
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(stall.asked("search"), searches);
    assert!(!kim.story().contains(&"searched"));
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.stats.cache_hits, 1);
    let shown = &kim.event("candidates")["candidates"][0];
    assert_eq!(shown["history"], "worked 1 of 1 times here; at least 26 % (one-sided 95 %)");
    // What it is called there is remembered: a recall needs no search to fetch it.
    let fetched = stall.calls.borrow().iter().rfind(|call| call.starts_with("fetch")).cloned();
    let slug = shown["slug"].as_str().expect("a slug").to_owned();
    assert_eq!(fetched.as_deref(), Some(format!("fetch {slug} @ada/{slug}").as_str()));
}

#[test]
fn an_installed_skill_that_fits_ends_it_at_once() {
    let world = World::new();
    world.write(
        "work/skills/todo-list/SKILL.md",
        "---\nname: todo-list\ndescription: Manage your todo list\n---\n",
    );
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(handled)");
    assert_eq!(kim.event("handled")["skill"], "todo-list");
    assert_eq!(*stall.calls.borrow(), [] as [&str; 0]);
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.stats.searches, 0);
}

/// Too little that fits: unreviewed sources are added, and say so, and needs its own yes.
#[test]
fn a_short_answer_is_filled_up_with_unreviewed_ones() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    stall.change("task-keeper", |goods| goods.reviewed = false);
    stall.change("todoist-cli", |goods| goods.install_fails = Some("the disk is full".to_owned()));
    let mut kim = Kim::answering([YES, YES, YES]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(stall.asked("supplement"), 1);
    let shown = &kim.event("candidates")["candidates"];
    assert_eq!((&shown[0]["reviewed"], &shown[1]["reviewed"]), (&true.into(), &false.into()));
    assert_eq!(shown[1]["source"], "github");
    assert_eq!(
        kim.acts(),
        [ConsentAct::Install, ConsentAct::Install, ConsentAct::Plan],
        "a yes of its own"
    );
}

#[test]
fn nothing_that_fits_is_an_answer() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, "compress the video of the meeting", &mut kim);
    assert_eq!(end(&standing), "failed(no_candidates)");
    assert_eq!(kim.event("searched")["relevant"], 0);
}

/// A blacklisted skill is in no answer.
#[test]
fn a_blacklisted_skill_is_not_offered() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    engine
        .cortex()
        .expect("a cortex")
        .blacklist_add("todoist-cli", None, &Actor::System)
        .expect("a blacklist");
    let mut kim = Kim::default();
    begin(&engine, &stall, TASK, &mut kim);
    let shown = kim.event("candidates")["candidates"].as_array().expect("a list").clone();
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["slug"], "task-keeper");
}

/// A skill of the person's own is never touched.
#[test]
fn a_skill_that_is_there_for_another_reason_stays() {
    let world = World::new();
    world.write(
        "work/skills/todoist-cli/SKILL.md",
        "---\nname: todoist-cli\ndescription: Something about tides\n---\n",
    );
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let mut kim = Kim::answering([YES, YES]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "done(released)");
    let shown = kim.event("candidates")["candidates"].as_array().expect("a list").clone();
    let theirs = shown.iter().find(|shown| shown["slug"] == "todoist-cli").expect("a row");
    assert_eq!(theirs["failed"], "a skill of that name is installed already");
    assert_eq!(stall.left(), ["todoist-cli"]);
}

#[test]
fn a_person_may_want_others_once_or_only_this_one_or_nothing() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    stall.offer("todo-bot", Goods::new("Manage a todo list with reminders"));
    stall.offer("todo-txt", Goods::new("Manage the todo list in a text file"));
    let mut kim = Kim::answering([ApprovalAnswer::Others]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!((end(&standing).as_str(), stall.asked("search")), ("waits for install", 2));
    assert_eq!(kim.acts(), [ConsentAct::Install, ConsentAct::Install]);
    stall.change("task-keeper", |goods| goods.install_fails = Some("gone".to_owned()));
    stall.change("todoist-cli", |goods| goods.install_fails = Some("gone".to_owned()));
    stall.change("todo-bot", |goods| goods.install_fails = Some("gone".to_owned()));
    stall.change("todo-txt", |goods| goods.install_fails = Some("gone".to_owned()));
    let mut kim = Kim::answering([ONLY, ApprovalAnswer::No]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "aborted(declined)");
    assert_eq!(
        kim.acts(),
        [ConsentAct::Install, ConsentAct::Install],
        "the second needs its own yes"
    );
    assert_eq!(stall.left(), [] as [&str; 0]);
}
