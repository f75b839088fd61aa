//! `sinew approve`: a decision is a person's, in a terminal.

use insta::assert_snapshot;
use sinew_engine::approval::{
    ApprovalContent, ApprovalEvidence, ApprovalScan, ApprovalSubject, CandidateVerdict, ConsentAct,
    NewApproval, PlanStep, StepRisk,
};
use sinew_engine::{Engine, EngineOptions};
use sinew_settings::{Actor, Environment};
use sinew_testkit::TestMachine;

use crate::support::{json, sinew, typed};

/// The engine of the commands, as an agent's server has it: real time, the same home.
fn engine(machine: &TestMachine) -> Engine {
    let env = Environment { clock: std::sync::Arc::new(Now), ..machine.environment() };
    Engine::open(env, EngineOptions::default()).expect("an engine")
}

#[derive(Debug)]
struct Now;

impl sinew_settings::Clock for Now {
    fn now_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::try_from(since.expect("after 1970").as_millis()).expect("a time")
    }
}

fn subject(name: &str) -> ApprovalSubject {
    let content =
        ApprovalContent::from_files([("SKILL.md", b"---\nname: tasks\n---\n".as_slice())]);
    ApprovalSubject { name: name.to_owned(), version: Some("1.2.0".to_owned()), content }
}

fn install() -> NewApproval {
    NewApproval {
        also: vec![subject("tasks-too")],
        run: Some("01J00000000000000000000000".to_owned()),
        ..NewApproval::new(
            ConsentAct::Install,
            subject("todoist-cli"),
            ApprovalEvidence {
                description: Some("Tasks \u{1b}]52;c;ZXZpbA==\u{7} and reminders".to_owned()),
                source: Some("github".to_owned()),
                reviewed: Some(false),
                stars: Some(12),
                downloads: Some(3400),
                scan: Some(ApprovalScan {
                    verdict: CandidateVerdict::Warn,
                    critical: 0,
                    warn: 2,
                    info: 0,
                }),
                capabilities: vec!["network api.example.com".to_owned()],
                history: Some("worked 3 of 4 times here".to_owned()),
                lessons: vec!["needs the program todoist".to_owned()],
                ..ApprovalEvidence::default()
            },
        )
    }
}

fn plan() -> NewApproval {
    let steps = [("reads your tasks", StepRisk::ReadOnly), ("runs todoist", StepRisk::Shell)];
    let steps = steps
        .map(|(text, severity)| PlanStep { text: text.to_owned(), severity, effects: Vec::new() })
        .to_vec();
    NewApproval::new(
        ConsentAct::Plan,
        subject("tasks"),
        ApprovalEvidence { steps, ..ApprovalEvidence::default() },
    )
}

fn opened(machine: &TestMachine, asked: NewApproval) -> String {
    let by = Actor::Agent { name: "claude".to_owned() };
    engine(machine).approvals().open(asked, &by).expect("an approval").id
}

fn state(machine: &TestMachine, id: &str) -> &'static str {
    engine(machine).approvals().get(id).expect("an approval").state.as_str()
}

/// A person's view without what differs from run to run.
fn shown(text: &str, ids: &[&str]) -> String {
    let mut text = text.to_owned();
    for (at, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("<id {at}>"));
    }
    let until = regex::Regex::new(r"20\d\d-[-0-9T:.]+Z").expect("a pattern");
    until.replace_all(&text, "<time>").into_owned()
}

#[test]
fn what_waits_is_listed() {
    let machine = TestMachine::new();
    assert_snapshot!(sinew(&machine, &["approve"]), @r"
    nothing waits
    exit 0
    ");
    let id = opened(&machine, install());
    assert_snapshot!(shown(&sinew(&machine, &["approve"]), &[&id]));
    let listed = json(&machine, &["approve", "--list"]);
    assert_eq!(listed["approvals"][0]["id"], id.as_str());
    assert_eq!(listed["approvals"][0]["state"], "pending");
    assert_eq!(listed["approvals"][0]["subject"]["files"][0]["path"], "SKILL.md");
}

/// A pipe cannot decide, whatever it is told.
#[test]
fn a_decision_needs_a_terminal() {
    let machine = TestMachine::new();
    let id = opened(&machine, install());
    for args in [&["approve", &id] as &[&str], &["approve", &id, "--reject"]] {
        assert_snapshot!(shown(&sinew(&machine, args), &[&id]));
    }
    assert_snapshot!(sinew(&machine, &["approve", "000000000000"]));
    assert_eq!(state(&machine, &id), "pending");
}

#[cfg(unix)]
#[test]
fn a_person_decides_with_one_key() {
    let machine = TestMachine::new();
    let ids = [opened(&machine, install()), opened(&machine, plan())];
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let seen = typed(&machine, &["approve", ids[0]], "xo");
    assert!(!seen.contains('\u{1b}'), "nothing of a skill reaches the terminal raw: {seen:?}");
    assert_snapshot!("install", shown(&seen, &ids));
    assert_eq!(state(&machine, ids[0]), "approved");
    assert_snapshot!("plan", shown(&typed(&machine, &["approve"], "r"), &ids));
    assert_eq!(state(&machine, ids[1]), "rejected");
    let over = typed(&machine, &["approve", ids[1]], "");
    assert_snapshot!("over", shown(&over, &ids));
}

#[cfg(unix)]
#[test]
fn a_person_may_say_no_at_once_or_nothing() {
    let machine = TestMachine::new();
    let id = opened(&machine, install());
    let left = typed(&machine, &["approve", &id], "q");
    assert!(left.ends_with("nothing was decided\nexit 3"), "{left}");
    assert_eq!(state(&machine, &id), "pending");
    let told = typed(&machine, &["approve", &id, "--reject", "--json"], "");
    assert!(told.contains(r#""state": "rejected""#) && told.ends_with("exit 0"), "{told}");
}
