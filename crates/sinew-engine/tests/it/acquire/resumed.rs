//! Runs that go on elsewhere: other processes, other surfaces, after a day.

use sinew_cortex::acquire::UseReport;
use sinew_cortex::failure::FailureKind;
use sinew_engine::acquire::AcquireWait;
use sinew_engine::approval::{
    ApprovalAnswer, ApprovalDecision, ConsentAct, ConsentAnswer, ConsentChannel, ConsentScope,
};
use sinew_settings::{Actor, ErrorCode};

use super::stall::Stall;
use super::{Kim, TASK, YES, begin, end, weekly};
use crate::cortex::support::{DAY, World};

fn yes(by: Actor, channel: ConsentChannel) -> ApprovalDecision {
    let said = ConsentAnswer::Yes(ConsentScope::Listed);
    let quote = Some("yes please".to_owned());
    ApprovalDecision { channel, quote, ..ApprovalDecision::at_terminal(said, by) }
}

/// An agent without a terminal: it gets approval ids, a person answers elsewhere, the agent carries
/// on, follows the skill itself and reports.
#[test]
fn an_agent_goes_on_where_a_person_answered() {
    let world = World::new();
    let stall = Stall::new(&world);
    let person = Actor::Person { name: Some("kim".to_owned()), via: None };
    let agent = Actor::Agent { name: "claude".to_owned() };
    let mut absent = Kim::default();
    let standing = begin(&world.engine(), &stall, TASK, &mut absent);
    let id = standing.run.id.clone();
    let AcquireWait::Approval { approval } = standing.waits else { panic!("{standing:?}") };
    let engine = world.engine();
    // The agent may not pass on a yes to an installation.
    let relayed =
        engine.approvals().decide(&approval.id, &yes(agent.clone(), ConsentChannel::Relay));
    assert_eq!(relayed.expect_err("a relayed yes").code, ErrorCode::NotApproved);
    let standing = engine.hub().acquisition(&stall).resume(&id, &mut absent).expect("a run");
    assert_eq!(end(&standing), "waits for install", "the same question still");
    assert_eq!(engine.approvals().list(true).expect("approvals").len(), 1);
    engine.approvals().decide(&approval.id, &yes(person, ConsentChannel::Cli)).expect("a yes");
    let standing = engine.hub().acquisition(&stall).resume(&id, &mut absent).expect("a run");
    let AcquireWait::Approval { approval } = standing.waits else { panic!("{standing:?}") };
    // It may pass on one to a plan.
    assert_eq!(approval.kind, ConsentAct::Plan);
    assert!(!approval.evidence.steps.is_empty());
    engine.approvals().decide(&approval.id, &yes(agent, ConsentChannel::Relay)).expect("a yes");
    let standing = engine.hub().acquisition(&stall).resume(&id, &mut absent).expect("a run");
    let AcquireWait::Use { slug, folder } = &standing.waits else { panic!("{standing:?}") };
    assert!(folder.ends_with(slug) && folder.join("SKILL.md").is_file());
    let standing = world
        .engine()
        .hub()
        .acquisition(&stall)
        .report(&id, UseReport::success(), &mut absent)
        .expect("a run");
    assert_eq!(end(&standing), "done(released)");
    assert_eq!(stall.left(), [] as [&str; 0]);
}

/// Carried on by a new process in every state: nothing is installed twice, nothing counts twice.
#[test]
fn every_state_is_taken_up_by_the_next_process() {
    let world = World::new();
    let stall = Stall::new(&world);
    let mut kim = Kim::default();
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    let id = standing.run.id;
    for expected in ["waits for install", "waits for plan"] {
        // Twice without an answer, then with one.
        for _ in 0..2 {
            let standing =
                world.engine().hub().acquisition(&stall).resume(&id, &mut kim).expect("a run");
            assert_eq!(end(&standing), expected);
        }
        kim.answers.push_back(YES);
        world.engine().hub().acquisition(&stall).resume(&id, &mut kim).expect("a run");
    }
    // It was in use: how did it go?
    let standing = world.engine().hub().acquisition(&stall).resume(&id, &mut kim).expect("a run");
    assert_eq!(end(&standing), "\"outcome\"");
    kim.went = Some(UseReport::success());
    let engine = world.engine();
    let standing = engine.hub().acquisition(&stall).resume(&id, &mut kim).expect("a run");
    assert_eq!(end(&standing), "done(released)");
    assert_eq!((stall.asked("install"), stall.left().len()), (1, 0));
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    assert_eq!((memory.outcomes(), memory.stats.installs), (1, 1));
    let over = engine.hub().acquisition(&stall).report(&id, UseReport::success(), &mut kim);
    assert_eq!(over.expect_err("it is over").code, ErrorCode::NotNow);
}

/// No answer for a day: the next run to begin closes it.
#[test]
fn an_unanswered_run_is_closed_after_a_day() {
    let world = World::new();
    let stall = Stall::new(&world);
    let mut kim = Kim::answering([YES]);
    let waiting = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!((end(&waiting).as_str(), stall.left().len()), ("waits for plan", 2));
    world.pass(i64::try_from(DAY).expect("a day") + 1);
    let engine = world.engine();
    begin(&engine, &stall, TASK, &mut Kim::default());
    let run = engine.cortex().expect("a cortex").run(&waiting.run.id).expect("a run");
    assert_eq!((run.state.name(), stall.left().len()), ("aborted(expired)", 0));
}

/// Cancelled at any time: nothing is left, and nothing waits.
#[test]
fn a_cancelled_run_leaves_nothing() {
    let world = World::new();
    let stall = Stall::new(&world);
    let engine = world.engine();
    for answers in [vec![], vec![YES], vec![YES, YES]] {
        let mut kim = Kim::answering(answers);
        let standing = begin(&engine, &stall, TASK, &mut kim);
        let standing =
            engine.hub().acquisition(&stall).cancel(&standing.run.id, &mut kim).expect("a run");
        assert_eq!(end(&standing), "aborted(cancelled)");
        assert_eq!(stall.left(), [] as [&str; 0]);
        assert_eq!(engine.approvals().list(true).expect("approvals"), []);
    }
    let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
    assert_eq!(memory.outcomes(), 0);
}

#[test]
fn what_makes_no_sense_is_refused_before_a_run_begins() {
    let world = World::new();
    let (engine, stall) = (world.engine(), Stall::new(&world));
    let wish = |task: &str, region: Option<&str>, keywords: &[&str]| {
        sinew_engine::acquire::AcquireRequest {
            task: task.to_owned(),
            region: region.map(str::to_owned),
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            anyway: false,
            ..sinew_engine::acquire::AcquireRequest::default()
        }
    };
    for (wish, code) in [
        (wish(" ", None, &[]), "no-task"),
        (wish(TASK, Some("No Region"), &[]), "bad-region"),
        (wish(TASK, None, &["one", "two"]), "bad-keywords"),
        (wish(TASK, None, &["a", "b", "--c"]), "bad-keywords"),
    ] {
        let error = engine.hub().acquisition(&stall).begin(&wish, &mut Kim::default());
        assert_eq!(error.expect_err("no run").code.as_str(), code);
    }
    assert!(engine.hub().acquisition(&stall).open_runs().expect("runs").is_empty());
}

/// A run that nothing is heard of ends after `cortex.runTimeout`, wherever it stands: nothing of it is
/// left, and nothing is learned.
#[test]
fn a_run_that_nothing_is_heard_of_ends_by_itself() {
    const HOUR: i64 = 3_600_000;
    let states: [(&[ApprovalAnswer], &str, &str); 3] = [
        (&[], "waits for install", "aborted(expired)"),
        (&[YES], "waits for plan", "aborted(expired)"),
        (&[YES, YES], "\"use\"", "done(released)"),
    ];
    for (config, hours) in [("{}", 24), ("{cortex: {runTimeout: 2}}", 2)] {
        for (answers, stands, ends) in &states {
            let world = World::new().config(config);
            let stall = Stall::new(&world);
            weekly(&world, &stall, 1);
            let engine = world.engine();
            let cortex = engine.cortex().expect("a cortex");
            let before = cortex.memory().expect("a memory");
            let mut kim = Kim::answering(answers.iter().cloned());
            let standing = begin(&engine, &stall, TASK, &mut kim);
            assert_eq!(end(&standing), *stands);
            let flow = engine.hub().acquisition(&stall);
            world.pass(hours * HOUR - 1_000);
            assert_eq!(flow.close_overdue().expect("a look"), [], "not yet, after {hours} hours");
            world.pass(2_000);
            let closed = flow.close_overdue().expect("a look");
            // What waits for an answer for a day expires as a question.
            let state = cortex.run(&standing.run.id).expect("a run").state;
            assert_eq!(state.name(), *ends, "{stands} after {hours} hours: {closed:?}");
            assert_eq!(stall.left(), [] as [&str; 0]);
            assert_eq!(flow.open_runs().expect("runs"), []);
            let after = cortex.memory().expect("a memory");
            let known = |memory: &sinew_cortex::CortexMemory| -> Vec<(String, f64, u64, u64)> {
                let all = memory.motor.values().flat_map(|region| &region.candidates);
                all.map(|one| (one.slug.clone(), one.weight, one.success, one.runs())).collect()
            };
            assert_eq!(known(&after), known(&before), "no weight changes");
        }
    }
}

/// Warnings of the kind of task stand in the question about the plan.
#[test]
fn a_lesson_is_shown_with_the_plan() {
    let world = World::new();
    let stall = Stall::new(&world);
    let lacking = UseReport {
        key: Some("qpdf".to_owned()),
        ..UseReport::failure(FailureKind::DependencyMissing)
    };
    for _ in 0..2 {
        let mut kim = Kim::answering([YES, YES, ApprovalAnswer::No, ApprovalAnswer::No])
            .finishing([lacking.clone(), lacking.clone()]);
        begin(&world.engine(), &stall, TASK, &mut kim);
        world.pass(24 * 3_600_000);
    }
    let mut kim = Kim::answering([YES]);
    begin(&world.engine(), &stall, TASK, &mut kim);
    let approval = &kim.event("needs_approval")["approval"];
    assert_eq!(approval["kind"], "plan", "{:?}", kim.story());
    let lessons = approval["evidence"]["lessons"].to_string();
    assert!(lessons.contains("needs the program qpdf"), "{lessons}");
    assert!(lessons.contains("it is missing now"), "{lessons}");
}
