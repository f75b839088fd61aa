//! The team's database is away: what is reported meanwhile is kept, said to be kept, and counts once,
//! whichever way it came.

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::hook::{hook_with, machine_with, prompt, settle, stop, tool};
use crate::mcp::client::Client;
use crate::support::{command, json, shown, sinew};

/// A database on another machine that does not answer.
const AWAY: [(&str, &str); 1] =
    [("SINEW_DATABASE_URL", "postgres://guest:hunter2@127.0.0.1:1/none")];

const REPORT: &[&str] =
    &["report", "--region", "writing", "--skill", "notes", "--version", "1", "--result", "ok"];

fn while_away(machine: &TestMachine, args: &[&str]) -> String {
    let told = shown(machine, &command(machine, args).envs(AWAY).output().expect("sinew runs"));
    assert!(!told.contains("hunter2"), "no password is shown: {told}");
    told
}

/// How many uses of a skill are recorded once the database answers.
fn successes(machine: &TestMachine, skill: &str) -> u64 {
    let learned = json(machine, &["cortex", "why", skill]);
    let regions = learned["regions"].as_object().into_iter().flatten();
    regions.filter_map(|(_, region)| region["runs"]["success"].as_u64()).sum()
}

fn kept(machine: &TestMachine) -> usize {
    let folder = std::fs::read_dir(machine.path("home/.sinew/waiting-reports"));
    let files = folder.into_iter().flatten().flatten();
    files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
}

#[test]
fn what_is_reported_on_the_command_line_is_kept_and_counts_once() {
    let machine = TestMachine::new().skill("work/skills/notes", "notes");
    let told = while_away(&machine, REPORT);
    assert!(told.contains("kept as ") && told.ends_with("exit 0"), "{told}");
    assert_eq!(kept(&machine), 1);
    let told = sinew(&machine, REPORT);
    assert!(told.ends_with("exit 0"), "{told}");
    assert_eq!((kept(&machine), successes(&machine, "notes")), (0, 2));
    sinew(&machine, REPORT);
    assert_eq!(successes(&machine, "notes"), 3);
}

#[test]
fn a_run_of_a_skills_program_is_kept_as_well() {
    let machine = TestMachine::new().skill("work/skills/notes", "notes").script("show", "exit 0");
    let told = while_away(&machine, &["exec", "notes", "--", "show"]);
    assert!(told.ends_with("exit 0"), "the program ran: {told}");
    assert_eq!(kept(&machine), 1, "{told}");
    sinew(&machine, REPORT);
    assert_eq!((kept(&machine), successes(&machine, "notes")), (0, 2));
}

/// An error would make a model report the same once more.
#[test]
fn a_model_is_told_that_its_report_is_kept() {
    let machine = TestMachine::new().skill("work/skills/notes", "notes");
    let vars = AWAY.map(|(name, value)| (name, value.to_owned()));
    let mut client = Client::session_with(&machine, json!({}), &vars);
    let report = json!({"skill": "notes", "region": "writing", "outcome": "success"});
    let said = client.data("report_outcome", report.clone());
    assert!(said["waiting"].as_str().is_some_and(|id| id.len() == 26), "{said}");
    assert!(client.text("report_outcome", report).contains("do not repeat it"));
    assert_eq!(kept(&machine), 2);
    sinew(&machine, REPORT);
    assert_eq!((kept(&machine), successes(&machine, "notes")), (0, 3));
}

#[test]
fn a_turn_during_the_outage_is_learned_from_later_and_once() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let away = |event: Value| hook_with(&machine, "claude-code", event, &AWAY);
    away(prompt("please resize this photo for the web"));
    let skill = machine.path("work/skills/photo-resizer/SKILL.md");
    away(tool("t1", "Read", json!({"file_path": skill})));
    away(tool("t2", "Bash", json!({"command": "convert a.jpg b.jpg"})));
    away(stop());
    while_away(&machine, &["hook", "settle"]);
    for _ in 0..2 {
        hook_with(&machine, "claude-code", stop(), &[]);
        settle(&machine);
        // Whatever is reported next brings along what waits.
        sinew(&machine, REPORT);
        assert_eq!(successes(&machine, "photo-resizer"), 1);
    }
    assert_eq!(kept(&machine), 0);
}
