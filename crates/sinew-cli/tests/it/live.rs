//! Runs that are learned from while they happen: what hooks tell becomes a draft, and the transcript of
//! the same run adds nothing to it.

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::hook::{hook, journal, machine_with, prompt, settle, stop, tool};
use crate::support::{json, sinew};

const LIVE: &str = "{hook: {deadlineMs: 10000}}";
const TASK: &str = "cut a release of the lantern crate";

fn said(id: &str, text: &str) -> Value {
    let mut said = prompt(text);
    said["prompt_id"] = json!(id);
    said
}

fn over(id: &str) -> Value {
    let mut over = stop();
    over["prompt_id"] = json!(id);
    over
}

fn bash(id: &str, command: &str, output: &str) -> Value {
    let mut step = tool(id, "Bash", json!({"command": command}));
    step["tool_response"] = json!({"stdout": output, "stderr": "", "interrupted": false});
    step
}

/// A turn in which the user releases something.
fn release(machine: &TestMachine, id: &str, session: &str, version: &str) {
    let steps = [
        said(id, TASK),
        bash(&format!("{id}-1"), "cargo test --workspace", "ok. 12 passed"),
        tool(&format!("{id}-2"), "Edit", json!({"file_path": "/src/lantern/Cargo.toml"})),
        bash(&format!("{id}-3"), &format!("git tag {version}"), ""),
        bash(&format!("{id}-4"), "cargo publish --dry-run", "Uploading lantern"),
        over(id),
    ];
    for mut event in steps {
        event["session_id"] = json!(session);
        hook(machine, "claude-code", event);
    }
    settle(machine);
}

fn drafts(machine: &TestMachine) -> Vec<Value> {
    let listed = json(machine, &["workshop", "list", "--status", "all"]);
    let all = listed["proposals"].as_array().or(listed.as_array()).cloned().unwrap_or_default();
    all.into_iter().filter(|proposal| proposal["source"] == "trace").collect()
}

/// What was done once without comment is remembered; a word of thanks makes a draft of it.
#[test]
fn a_run_that_the_user_was_content_with_becomes_a_draft() {
    let machine = machine_with(LIVE);
    release(&machine, "p1", "s1", "v1");
    assert_eq!(drafts(&machine).len(), 0);
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("nothing like it was done before"), "{why}");
    hook(&machine, "claude-code", said("p2", "Thanks, that works perfectly!"));
    hook(&machine, "claude-code", over("p2"));
    settle(&machine);
    let made = drafts(&machine);
    assert_eq!(made.len(), 1, "{made:?}");
    let id = made[0]["id"].as_str().expect("an id");
    let shown = sinew(&machine, &["workshop", "inspect", id]);
    assert!(shown.contains("Run `cargo test --workspace`."), "{shown}");
    assert!(sinew(&machine, &["why", "--last"]).contains("the run became a draft of"));
}

/// The same way gone twice is worth a draft, and both runs are in it.
#[test]
fn a_run_that_is_repeated_becomes_a_draft_of_both() {
    let machine = machine_with(LIVE);
    release(&machine, "p1", "s1", "v1");
    release(&machine, "p1", "s2", "v2");
    let made = drafts(&machine);
    assert_eq!(made.len(), 1, "{made:?}");
    let shown = sinew(&machine, &["workshop", "inspect", made[0]["id"].as_str().expect("an id")]);
    assert!(shown.contains("runs: 2"), "{shown}");
    // A third turn of the same session finds nothing left of the first run but the last.
    let traced = journal(&machine);
    assert_eq!(traced.matches("\"type\":\"user\"").count(), 2, "{traced}");
}

/// A run that was seen live and is read from the transcript is one run.
#[test]
fn the_transcript_of_a_run_that_was_seen_live_counts_once() {
    let machine = machine_with(LIVE);
    hook(&machine, "claude-code", said("p1", TASK));
    let traced = journal(&machine);
    let at = traced.split("\"at\":\"").last().and_then(|rest| rest.split('"').next());
    let second = at.and_then(|at| at.get(..19)).expect("a time").to_owned();
    for event in [bash("t1", "cargo test", "ok"), bash("t2", "git tag v1", ""), over("p1")] {
        hook(&machine, "claude-code", event);
    }
    hook(&machine, "claude-code", said("p2", "thanks, works!"));
    hook(&machine, "claude-code", over("p2"));
    settle(&machine);
    assert_eq!(drafts(&machine).len(), 1);
    let told = transcript("s1", &format!("{second}.999Z"), "/src", Some("thanks, works!"));
    let machine = machine.file("work/session.jsonl", told);
    let learned = json(&machine, &["learn", "session.jsonl"]);
    assert_eq!(learned["runs"][0]["became"], "known", "{learned}");
    assert_eq!(drafts(&machine).len(), 1);
}

/// The session of Claude Code in which a crate was released.
fn transcript(session: &str, at: &str, cwd: impl serde::Serialize, then: Option<&str>) -> String {
    let line = |kind: &str, message: Value| {
        json!({"type": kind, "uuid": "u", "sessionId": session, "timestamp": at, "cwd": cwd,
               "message": message})
        .to_string()
    };
    let call = |id: &str, command: &str| {
        let input = json!({"command": command});
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
        line("assistant", json!({"role": "assistant", "content": [call]}))
    };
    let result = |id: &str| {
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        line("user", json!({"role": "user", "content": content}))
    };
    let done = json!([{"type": "text", "text": "done"}]);
    let mut lines = vec![
        line("user", json!({"role": "user", "content": TASK})),
        call("t1", "cargo test"),
        result("t1"),
        call("t2", "git tag v1"),
        result("t2"),
        line("assistant", json!({"role": "assistant", "stop_reason": "end_turn", "content": done})),
    ];
    lines.extend(then.map(|said| line("user", json!({"role": "user", "content": said}))));
    lines.join("\n")
}

/// `traces.sources` names an agent: its sessions in this workspace are looked through, each once.
#[test]
fn the_sessions_of_an_agent_that_is_named_are_looked_through() {
    let machine = machine_with("{traces: {sources: ['claude-code']}}");
    let here = machine.path("work");
    let at = "2026-11-16T09:00:00.000Z";
    let thanks = Some("thanks, works!");
    let machine = machine
        .file("home/.claude/projects/-work/a.jsonl", transcript("a", at, &here, thanks))
        .file("home/.claude/projects/-other/b.jsonl", transcript("b", at, "/other", thanks));
    let learned = json(&machine, &["learn"]);
    assert_eq!(learned["runs"].as_array().map(Vec::len), Some(1), "{learned}");
    assert_eq!(learned["runs"][0]["became"], "proposed", "{learned}");
    let again = json(&machine, &["learn"]);
    assert_eq!(again["files"], json!([]), "{again}");
    // It got no comment, and it says nothing new: it is remembered.
    let late = "2026-11-16T10:00:00.000Z";
    let machine =
        machine.file("home/.claude/projects/-work/c.jsonl", transcript("c", late, &here, None));
    let more = json(&machine, &["learn"]);
    assert_eq!(more["files"].as_array().map(Vec::len), Some(1), "{more}");
    let without = machine_with("{}");
    assert!(sinew(&without, &["learn"]).contains("traces.sources"));
}

/// A password is known by what stands before it. A run in which one was told is left to its transcript,
/// and nothing of it is written down.
#[test]
fn a_run_with_a_password_is_left_to_its_transcript() {
    let machine = machine_with(LIVE);
    hook(&machine, "claude-code", said("p1", TASK));
    hook(&machine, "claude-code", bash("t1", "export DB_PASSWORD=tr0ub4dor-and-3", ""));
    hook(&machine, "claude-code", bash("t2", "psql -c 'select 1'", "1"));
    assert!(!journal(&machine).contains("tr0ub4dor"), "{}", journal(&machine));
    hook(&machine, "claude-code", over("p1"));
    hook(&machine, "claude-code", said("p2", "thanks, works!"));
    hook(&machine, "claude-code", over("p2"));
    settle(&machine);
    assert_eq!(drafts(&machine).len(), 0);
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("its transcript can be learned from"), "{why}");
}

/// `traces.sources` without `live`, or `traces.enabled: false`: nothing is written down.
#[test]
fn where_nobody_wants_it_nothing_is_traced() {
    for off in ["sources: []", "sources: ['codex']", "enabled: false"] {
        let machine = machine_with(&format!("{{hook: {{deadlineMs: 10000}}, traces: {{{off}}}}}"));
        release(&machine, "p1", "s1", "v1");
        assert!(!journal(&machine).contains("cargo test"), "{off}");
        assert!(drafts(&machine).is_empty(), "{off}");
    }
}
