//! One skill, one version: whoever reports its use, its successes are those of one skill.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sinew_cortex::UtcInstant;
use sinew_testkit::TestMachine;

use crate::hook::{hook, settle};
use crate::mcp::client::Client;
use crate::serving::ServingProgram;
use crate::support::{json as cli_json, sinew};

const TASK: &str = "please resize this photo for the web";
const PHOTO: &str =
    "---\nname: Photo Resizer\ndescription: Resize photos and pictures for the web.\n---\n# R\n";

/// Longer than the week in which successes count less and less.
const PAUSE_MS: u64 = 8 * 24 * 60 * 60 * 1000;
/// Successes in the past, each after such a pause.
const EARLIER: u64 = 16;

/// The time, which the program reads from the machine's own clock.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
    u64::try_from(now).expect("this age")
}

fn machine() -> TestMachine {
    TestMachine::new()
        .file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}")
        .file("work/skills/photo-resizer/SKILL.md", PHOTO)
}

/// A turn in which an agent opens the skill and its next step succeeds.
fn turn(machine: &TestMachine, session: &str) {
    let skill = machine.path("work/skills/photo-resizer/SKILL.md");
    let tool = |id: &str, tool: &str, input: Value| {
        json!({"hook_event_name": "PostToolUse", "session_id": session, "tool_use_id": id,
               "tool_name": tool, "tool_input": input, "tool_response": {"ok": true}})
    };
    for event in [
        json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": "p1",
               "prompt": TASK}),
        tool("t1", "Read", json!({"file_path": skill})),
        tool("t2", "Bash", json!({"command": "identify a.jpg"})),
        json!({"hook_event_name": "Stop", "session_id": session, "prompt_id": "p1",
               "stop_hook_active": false, "last_assistant_message": "done"}),
    ] {
        hook(machine, "claude-code", event);
    }
    settle(machine);
}

/// What is remembered of the skill: its regions, each with one candidate.
fn remembered(machine: &TestMachine) -> Value {
    cli_json(machine, &["cortex", "why", "Photo-Resizer"])
}

#[test]
fn reports_of_every_surface_are_about_one_skill_and_earn_a_reflex() {
    let machine = machine();
    let served = ServingProgram::start(&machine);
    let mut client = Client::session(&machine, json!({}));
    let mut versions = Vec::new();
    let mut last = Value::Null;
    // A reflex takes weeks of good work.
    for pauses in (1..=EARLIER).rev() {
        let at = UtcInstant::from_clock(now_ms() - pauses * PAUSE_MS).to_string();
        let args =
            ["report", "--skill", "photo-resizer", "--task", TASK, "--result", "ok", "--at", &at];
        versions.push(cli_json(&machine, &args)["version"].clone());
    }
    for round in 0..5 {
        let report = json!({"skill": "Photo Resizer", "task": TASK, "outcome": "success"});
        last = client.data("report_outcome", report.clone());
        versions.push(last["version"].clone());
        let (status, told) = served.request("POST", "/api/v1/outcomes", "", &report);
        assert_eq!(status, 201, "{told}");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        versions.push(told["version"].clone());
        turn(&machine, &format!("s{round}"));
        let args = ["report", "--skill", "photo-resizer", "--task", TASK, "--result", "ok"];
        let typed = cli_json(&machine, &args);
        versions.push(typed["version"].clone());
        assert_eq!(typed["streak"], EARLIER + 4 * (round + 1), "one streak: {typed}");
        assert_eq!(typed["skill"], last["skill"]);
    }
    let first = versions[0].as_str().expect("a version").to_owned();
    assert!(versions.iter().all(|version| *version == first.as_str()), "{versions:?}");
    assert!(first.len() == 12 && first.chars().all(|c| c.is_ascii_hexdigit()), "{first}");
    assert_eq!(last["reflex"], true, "{last}");
    let known = remembered(&machine);
    let regions = known["regions"].as_object().expect("regions");
    assert_eq!(regions.len(), 1, "{known}");
    let runs = &regions.values().next().expect("one")["runs"];
    assert_eq!(runs["success"], EARLIER + 20, "{known}");
    // Other bytes are another version, for every surface.
    machine.write("work/skills/photo-resizer/SKILL.md", format!("{PHOTO}More.\n"));
    let changed = client.data(
        "report_outcome",
        json!({"skill": "Photo Resizer", "task": TASK, "outcome": "success"}),
    );
    assert_ne!(changed["version"], first.as_str());
}

#[test]
fn the_version_that_an_author_names_counts_on_every_surface() {
    let machine = TestMachine::new().workspace_skill("mail", "version: 1.2.0");
    let served = ServingProgram::start(&machine);
    let report = json!({"skill": "mail", "region": "mail", "outcome": "success"});
    let mut client = Client::session(&machine, json!({}));
    assert_eq!(client.data("report_outcome", report.clone())["version"], "1.2.0");
    let (_, told) = served.request("POST", "/api/v1/outcomes", "", &report);
    assert!(told.contains("\"version\":\"1.2.0\""), "{told}");
    let typed =
        sinew(&machine, &["report", "--region", "mail", "--skill", "mail", "--result", "ok"]);
    assert!(typed.starts_with("mail 1.2.0 in mail"), "{typed}");
    let absent = json!({"skill": "nowhere", "region": "mail", "outcome": "success"});
    assert_eq!(client.data("report_outcome", absent)["version"], "unversioned");
}
