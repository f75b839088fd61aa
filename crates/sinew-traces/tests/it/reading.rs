//! Readers: what they tolerate, what they follow, and how little they hold.

use std::fmt::Write as _;
use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};
use sinew_testkit::{claude_code_session, generic_trace};
use sinew_traces::{JudgementEvidence, RunEnding, TraceAgent, TranscriptOptions, judge_run};

use crate::read;

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A message of a session tree.
#[allow(clippy::needless_pass_by_value, reason = "callers write the value with `json!`")]
fn entry(id: &str, parent: Option<&str>, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": message})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn call(id: &str, command: &str) -> Value {
    json!({"role": "assistant", "stopReason": "toolUse", "content": [
        {"type": "toolCall", "id": id, "name": "exec", "arguments": {"command": command}},
    ]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "isError": false,
        "content": [{"type": "text", "text": text}]})
}

fn stop(text: &str) -> Value {
    json!({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": text}]})
}

#[test]
fn an_abandoned_branch_does_not_count() {
    let tree = lines(&[
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/w"}),
        entry("a", None, user("Count the files")),
        entry("b", Some("a"), call("1", "rm -rf everything")),
        entry("c", Some("b"), result("1", "gone")),
        entry("d", Some("a"), call("2", "ls | wc -l")),
        entry("e", Some("d"), result("2", "14")),
        entry("f", Some("e"), stop("There are 14.")),
    ]);
    let (runs, _) = read(tree.as_bytes());
    let commands: Vec<&str> = runs[0].steps.iter().map(|s| s.action.text("command")).collect();
    assert_eq!(commands, ["ls | wc -l"]);
    assert_eq!(runs[0].steps[0].result, "14");
}

#[test]
fn a_tree_that_bites_its_tail_ends() {
    let tree = lines(&[
        json!({"type": "session", "version": 3, "id": "s"}),
        entry("a", Some("b"), user("Count the files")),
        entry("b", Some("a"), call("1", "ls")),
    ]);
    assert_eq!(read(tree.as_bytes()).0.len(), 1);
}

#[test]
fn messages_that_open_work_start_runs_and_reactions_belong_to_the_run_before() {
    let text = claude_code_session(&[
        ("Build it", &["make -j2"]),
        ("Thanks, that worked.", &[]),
        ("Now write the changelog", &["git log --oneline"]),
        ("That did not work, try again", &["git log -p"]),
        ("Publish the page", &["make publish"]),
        ("still fails", &[]),
    ]);
    let (runs, _) = read(text.as_bytes());
    let shown: Vec<(&str, usize, Option<bool>, JudgementEvidence)> = runs
        .iter()
        .map(|run| (run.task.as_str(), run.steps.len(), judge_run(run).ok, judge_run(run).evidence))
        .collect();
    assert_eq!(
        shown,
        [
            ("Build it", 1, Some(true), JudgementEvidence::Confirmed),
            ("Now write the changelog", 2, Some(true), JudgementEvidence::Weak),
            ("Publish the page", 1, Some(false), JudgementEvidence::Complaint),
        ]
    );
}

#[test]
fn delegates_have_runs_of_their_own() {
    let mut text = claude_code_session(&[("Build it", &["make -j2"])]);
    for (kind, message) in [
        ("user", json!({"role": "user", "content": "Look for the cause"})),
        (
            "assistant",
            json!({"id": "x", "stop_reason": "tool_use", "content": [
                {"type": "tool_use", "id": "d", "name": "Grep", "input": {"pattern": "x"}},
            ]}),
        ),
    ] {
        let record = json!({"type": kind, "uuid": "u", "sessionId": "s", "isSidechain": true,
            "agentId": "a1", "timestamp": "t", "message": message});
        let _ = writeln!(text, "{record}");
    }
    let (runs, _) = read(text.as_bytes());
    let delegate = runs.iter().find(|run| run.parent.is_some()).expect("a delegate's run");
    assert_eq!(
        (delegate.task.as_str(), delegate.parent.as_deref()),
        ("Look for the cause", Some("s"))
    );
    assert_eq!(delegate.steps[0].action.kind, "search");
    assert_eq!(runs.len(), 2);
}

#[test]
fn what_the_program_writes_in_the_users_name_is_no_message() {
    let mut text = claude_code_session(&[
        ("<command-name>/clear</command-name>", &[]),
        ("Build it", &["make"]),
    ]);
    let _ = writeln!(
        text,
        "{}",
        json!({"type": "user", "uuid": "u", "sessionId": "s", "message":
            {"role": "user", "content": "[Request interrupted by user]"}})
    );
    let (runs, _) = read(text.as_bytes());
    assert_eq!((runs.len(), runs[0].task.as_str()), (1, "Build it"));
    assert_eq!(runs[0].ending, RunEnding::Aborted);
}

#[test]
fn bad_lines_are_counted_and_the_rest_is_read() {
    let good = claude_code_session(&[("Build it", &["make -j2"])]);
    let mut text = "not JSON at all\n".repeat(5);
    text.push_str(&"{\"type\":\"user\",\n".repeat(5));
    text.push_str("{\"type\":\"something-new\",\"uuid\":\"x\"}\n");
    let _ = writeln!(text, "{{\"type\":\"user\",\"pad\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
    text.push_str(&good);
    let (runs, counts) = read(text.as_bytes());
    assert_eq!(runs.len(), 1);
    assert_eq!((counts.malformed, counts.unknown, counts.oversize), (10, 1, 1));
}

#[test]
fn a_trace_without_an_end_is_no_success() {
    let whole = generic_trace("Count").exec("ls").lines();
    let cut: String = whole.lines().take(2).map(|line| format!("{line}\n")).collect();
    let (runs, _) = read(cut.as_bytes());
    assert_eq!(judge_run(&runs[0]).ok, None);
}

#[test]
fn openpockets_flat_lines_are_read_too() {
    let text = lines(&[
        json!({"event": "session_started", "sessionId": "p", "task": "Turn it on", "at": "t"}),
        json!({"event": "step_appended", "stepNo": 1, "at": "t", "thought": "Tap.",
            "actionJson": "{\"type\":\"tap\",\"x\":1,\"y\":2}", "result": "ok",
            "trace": {"currentApp": "com.x", "status": "ok", "actionType": "tap"}}),
        json!({"event": "runtime_event_appended"}),
        json!({"event": "session_finalized", "status": "SUCCESS", "message": "It is on."}),
    ]);
    let (runs, counts) = read(text.as_bytes());
    assert_eq!((runs[0].task.as_str(), runs[0].steps[0].app.as_str()), ("Turn it on", "com.x"));
    assert_eq!(judge_run(&runs[0]).ok, Some(true));
    assert_eq!(counts.unknown, 0);
}

#[test]
fn a_page_with_two_tasks_is_two_runs() {
    let step = |number: usize, x: usize| {
        format!(
            "### Step {number}\n\n- at: t\n- action: tap\n- app: com.x\n- status: ok\n- thought:\n\
             ```text\nTap.\n```\n- action:\n```json\n{{\"type\":\"tap\",\"x\":{x},\"y\":1}}\n```\n\
             - execution_result:\n```text\nTapped\n```\n\n"
        )
    };
    let page = format!(
        "# OpenPocket Session\n\n- id: p\n\n## Task\n\nOne\n\n## Steps\n\n{}## Final\n\n\
         - status: SUCCESS\n\n### Message\n\nDone one.\n\n---\n\n## Task (later)\n\nTwo\n\n## Steps\n\n\
         {}## Final\n\n- status: FAILED\n\n### Message\n\nNo.\n",
        step(1, 5),
        step(1, 6)
    );
    let (runs, _) = read(page.as_bytes());
    let shown: Vec<(&str, &str, Option<bool>)> = runs
        .iter()
        .map(|run| (run.task.as_str(), run.final_message.as_str(), judge_run(run).ok))
        .collect();
    assert_eq!(shown, [("One", "Done one.", Some(true)), ("Two", "No.", Some(false))]);
}

#[test]
fn ten_thousand_steps_over_several_runs_come_one_run_at_a_time() {
    let commands: Vec<String> = (0..2_500).map(|at| format!("echo {at}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let turns: Vec<(&str, &[&str])> =
        ["First", "Second", "Third", "Fourth"].iter().map(|task| (*task, &commands[..])).collect();
    let text = claude_code_session(&turns);
    let (runs, _) = read(text.as_bytes());
    let steps: Vec<usize> = runs.iter().map(|run| run.steps.len()).collect();
    assert_eq!(steps, [2_500; 4]);
}

#[test]
fn a_run_keeps_five_thousand_steps_and_counts_the_rest() {
    let commands = vec!["true"; 5_003];
    let (runs, counts) = read(claude_code_session(&[("Go", &commands)]).as_bytes());
    assert_eq!((runs[0].steps.len(), runs[0].left_out), (5_000, 3));
    assert_eq!(counts.steps_left_out, 3);
}

/// The first lines may look like another agent's; the agent that the caller names counts.
#[test]
fn a_named_agent_is_believed() {
    let text = format!(
        "{}\n{}",
        json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"}),
        claude_code_session(&[("Build it", &["make -j2"])])
    );
    let runs = |agent: Option<TraceAgent>| {
        let reading = TranscriptOptions { agent, name: "here", progress: &|_| {} };
        let mut runs = 0;
        let read =
            sinew_traces::read(&mut Cursor::new(text.as_bytes()), &reading, &mut |_| runs += 1);
        (read.expect("read").0, runs)
    };
    assert_eq!(runs(None), (TraceAgent::Openclaw, 0));
    assert_eq!(runs(Some(TraceAgent::ClaudeCode)), (TraceAgent::ClaudeCode, 1));
}

fn read_as(agent: Option<TraceAgent>, bytes: &[u8]) {
    let reading = TranscriptOptions { agent, name: "x", progress: &|_| {} };
    let _ = sinew_traces::read(&mut Cursor::new(bytes), &reading, &mut |run| {
        let _ = judge_run(&run);
    });
}

proptest! {
    /// Whatever a file holds, no reader stops in the middle of a character or runs without end.
    #[test]
    fn no_bytes_stop_a_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for agent in [None, Some(TraceAgent::ClaudeCode), Some(TraceAgent::Codex), Some(TraceAgent::Openclaw),
            Some(TraceAgent::Openpocket), Some(TraceAgent::Generic)] {
            read_as(agent, &bytes);
        }
    }

    /// The same for records that are nearly right.
    #[test]
    fn no_odd_record_stops_a_reader(
        kind in "(user|assistant|trace|step|end|session|message|response_item|event_msg|custom)",
        field in "(message|payload|action|uiContext|data|content|result|task)",
        value in "(null|1|true|\"x\"|\\[\\]|\\{\\}|\\[null\\]|\\{\"type\":1\\}|\\{\"content\":\\[1\\]\\})",
    ) {
        let record = format!(r#"{{"type":"{kind}","{field}":{value},"uuid":"u","id":"i"}}"#);
        for agent in TraceAgent::ALL {
            read_as(Some(agent.1), record.as_bytes());
        }
    }
}

/// What the agent reports about a run counts before anything that can be read from it, and is no step.
#[test]
fn an_agents_own_report_is_evidence_and_no_work() {
    let session = |outcome: &str| {
        let call = |id: &str, name: &str, input: Value| {
            json!({"type": "assistant", "uuid": "u", "sessionId": "s", "timestamp": "t",
                   "message": {"role": "assistant", "stop_reason": "end_turn",
                               "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
        };
        let asked = json!({"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "t",
                           "message": {"role": "user", "content": "Build it"}});
        let report = json!({"skill": "builder", "outcome": outcome});
        let lines = [
            asked,
            call("1", "Bash", json!({"command": "make"})),
            call("2", "mcp__sinew__report_outcome", report),
        ];
        lines.map(|line| line.to_string()).join("\n")
    };
    for (outcome, ok, evidence) in [
        ("success", Some(true), JudgementEvidence::Reported),
        ("failure", Some(false), JudgementEvidence::Reported),
    ] {
        let (runs, _) = read(session(outcome).as_bytes());
        let judged = judge_run(&runs[0]);
        assert_eq!((runs[0].steps.len(), judged.ok, judged.evidence), (1, ok, evidence));
    }
    let (runs, _) = read(session("who knows").as_bytes());
    assert_eq!((runs[0].steps.len(), judge_run(&runs[0]).evidence), (2, JudgementEvidence::Weak));
}
