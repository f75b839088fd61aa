//! How hooks behave as processes: one worker behind them, the same decision as `find`, records that stay
//! with their message, and silence where something is wrong.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::hook::{WORKSHOP, hook, machine_with, prompt, send, settle, stop, tool};
use crate::serving::ServingProgram;
use crate::support::{command, json, sinew};

/// Longer than any of these needs on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(180);

const VERBS: &[&str] =
    &["resize", "convert", "review", "translate", "schedule", "encrypt", "render"];
const THINGS: &[&str] =
    &["images", "videos", "invoices", "branches", "letters", "tickets", "recipes"];

/// Forty-nine skills that nothing is known about yet.
fn cold_machine(config: &str) -> TestMachine {
    let machine = TestMachine::new().file("home/.sinew/config.json5", config);
    for verb in VERBS {
        for thing in THINGS {
            let text = format!(
                "---\nname: {verb}-{thing}\ndescription: {verb} {thing} when the user wants to {verb} them\n\
                 ---\n# {verb} {thing}\n\nLook at the {thing} first, then {verb} them one by one.\n"
            );
            machine.write(&format!("work/skills/{verb}-{thing}/SKILL.md"), text);
        }
    }
    machine
}

/// The processes that settle for this machine now.
fn workers(machine: &TestMachine) -> BTreeSet<u32> {
    let home = format!("HOME={}", machine.path("home").display());
    let ours = |process: &Path| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let vars = fs::read(process.join("environ")).unwrap_or_default();
        let holds = |bytes: &[u8], part: &str| {
            bytes.split(|byte| *byte == 0).any(|one| one == part.as_bytes())
        };
        holds(&line, "settle") && holds(&vars, &home)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| {
        let id = process.file_name().to_str()?.parse().ok()?;
        ours(&process.path()).then_some(id)
    });
    ids.collect()
}

/// Thirty-one hooks on a cold home once left thirty-three processes at work for minutes.
#[test]
#[cfg(target_os = "linux")]
fn many_hooks_at_once_leave_one_worker() {
    let machine = cold_machine("{hook: {deadlineMs: 50}}");
    let children: Vec<_> = (0..31)
        .map(|at| {
            let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": format!("s{at}"), "prompt_id": "p",
                               "prompt": "resize these images", "cwd": machine.path("work")});
            let mut child = command(&machine, &["hook", "auto", "--agent", "claude-code"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("sinew runs");
            let _ = child.stdin.take().expect("a pipe").write_all(event.to_string().as_bytes());
            child
        })
        .collect();
    let (mut seen, mut most) = (BTreeSet::<u32>::new(), 0);
    let mut look = || {
        let now = workers(&machine);
        most = most.max(now.len());
        seen.extend(&now);
        now.len()
    };
    for mut child in children {
        while child.try_wait().expect("a child").is_none() {
            look();
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let began = Instant::now();
    while look() > 0 {
        assert!(began.elapsed() < PATIENCE, "the worker never ends");
        std::thread::sleep(Duration::from_millis(20));
    }
    // One that ends and one that begins may meet.
    assert!(most <= 2, "{most} workers at once");
    assert!(seen.len() <= 4, "{} workers for 31 hooks", seen.len());
    let status = json(&machine, &["find", "resize these images"]);
    let pending = status["degraded"].as_array().expect("a list");
    let is_pending =
        |one: &Value| one["kind"] == "vectors-pending" || one["kind"] == "VectorsPending";
    assert!(!pending.iter().any(is_pending), "the worker has computed the vectors: {status}");
}

/// A program that asks with `find` does not wait for vectors, and finds them the next time.
#[test]
fn a_piped_find_has_vectors_computed_behind_it() {
    let machine = cold_machine("{}");
    let vectors = |answer: &Value| {
        answer["degraded"]
            .as_array()
            .is_some_and(|all| all.iter().all(|one| one["signal"] != "encoder"))
    };
    let first = json(&machine, &["find", "resize these images"]);
    let began = Instant::now();
    let mut later = first.clone();
    while !vectors(&later) {
        assert!(began.elapsed() < PATIENCE, "{later}");
        std::thread::sleep(Duration::from_millis(200));
        later = json(&machine, &["find", "resize these images"]);
    }
    assert_eq!(later["decision"], first["decision"]);
}

/// The first user of a server finds the vectors there.
#[test]
fn a_server_computes_vectors_before_it_is_asked() {
    let machine = cold_machine("{}");
    let pending = || json(&machine, &["index", "status"])["pending"].as_u64();
    assert_eq!(pending(), Some(49));
    let served = ServingProgram::start(&machine);
    wait_for_vectors(&pending);
    drop(served);
}

fn wait_for_vectors(pending: &dyn Fn() -> Option<u64>) {
    let began = Instant::now();
    while pending() != Some(0) {
        assert!(began.elapsed() < PATIENCE, "{:?} are missing", pending());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The moments of a turn as an agent tells of them: the word on the command line, and what it sends.
struct HookDialect {
    agent: &'static str,
    message: (&'static str, Value),
    read: (&'static str, Value),
    run: (&'static str, Value),
    end: (&'static str, Value),
}

impl HookDialect {
    fn tell(&self, machine: &TestMachine, (word, event): &(&'static str, Value), more: Value) {
        let mut event = event.clone();
        (event["session_id"], event["cwd"]) = (json!("s1"), json!(machine.path("work")));
        for (name, value) in more.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        let text = event.to_string();
        let output = send(machine, &[word, "--agent", self.agent], text.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}: {text}", self.agent);
    }
}

/// What our plugins and Gemini CLI send, field for field.
fn dialects(skill: &Path) -> [HookDialect; 3] {
    let run = "magick a.jpg -resize 50% b.jpg";
    [
        HookDialect {
            agent: "openclaw",
            message: ("user-prompt", json!({"hook_event_name": "before_prompt_build"})),
            read: (
                "post-tool",
                json!({"hook_event_name": "after_tool_call", "tool_name": "read", "tool_use_id": "t1",
                       "tool_input": {"path": skill}, "tool_response": {"content": []}, "duration_ms": 3}),
            ),
            run: (
                "post-tool",
                json!({"hook_event_name": "after_tool_call", "tool_name": "exec", "tool_use_id": "t2",
                       "tool_input": {"command": run}, "tool_response": {"content": []}}),
            ),
            end: (
                "stop",
                json!({"hook_event_name": "agent_end", "last_assistant_message": "Done."}),
            ),
        },
        HookDialect {
            agent: "opencode",
            message: ("user-prompt", json!({"hook_event_name": "chat.message"})),
            read: (
                "post-tool",
                json!({"hook_event_name": "tool.execute.after", "tool_name": "read", "tool_use_id": "t1",
                       "tool_input": {"filePath": skill}, "tool_response": {"output": "text"}}),
            ),
            run: (
                "post-tool",
                json!({"hook_event_name": "tool.execute.after", "tool_name": "bash", "tool_use_id": "t2",
                       "tool_input": {"command": run},
                       "tool_response": {"output": "", "exit_code": 0}}),
            ),
            end: (
                "stop",
                json!({"hook_event_name": "session.idle", "last_assistant_message": "Done."}),
            ),
        },
        HookDialect {
            agent: "gemini",
            message: ("auto", json!({"hook_event_name": "BeforeAgent"})),
            read: (
                "auto",
                json!({"hook_event_name": "AfterTool", "tool_name": "read_file",
                       "tool_input": {"file_path": skill}, "tool_response": {"llmContent": "text"}}),
            ),
            run: (
                "auto",
                json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
                       "tool_input": {"command": run}, "tool_response": {"llmContent": ""}}),
            ),
            end: ("auto", json!({"hook_event_name": "AfterAgent", "prompt_response": "Done."})),
        },
    ]
}

/// Use, outcome and what a user says for next time arrive in every dialect.
#[test]
fn every_dialect_tells_of_use_outcome_and_corrections() {
    for at in 0..3 {
        let machine = machine_with(WORKSHOP);
        let skill = machine.path("work/skills/photo-resizer/SKILL.md");
        let dialect = &dialects(&skill)[at];
        let agent = dialect.agent;
        let ids = |turn: &str| json!({"prompt_id": turn, "turn_id": turn});
        let said = |turn: &str, text: &str| {
            let mut more = ids(turn);
            more["prompt"] = json!(text);
            dialect.tell(&machine, &dialect.message, more);
        };
        said("p1", "please resize this photo for the web");
        dialect.tell(&machine, &dialect.read, json!({}));
        dialect.tell(&machine, &dialect.run, json!({}));
        dialect.tell(&machine, &dialect.end, ids("p1"));
        settle(&machine);
        let usage = json(&machine, &["usage"]);
        let row = &usage["rows"][0];
        assert_eq!(row["name"], "photo-resizer", "{agent}: {usage}");
        assert_eq!((&row["offered"], &row["read"]), (&json!(1), &json!(1)), "{agent}: {usage}");
        assert_eq!(row["worked"], 1, "{agent}: {usage}");
        let learned = json(&machine, &["cortex", "why", "photo-resizer"]);
        let region = learned["regions"].as_object().and_then(|all| all.values().next());
        assert_eq!(region.expect("a region")["runs"]["success"], 1, "{agent}: {learned}");
        said(
            "p2",
            "Next time when asked for animated GIFs, verify the GIF source URL and record attribution.",
        );
        dialect.tell(&machine, &dialect.end, ids("p2"));
        settle(&machine);
        let listed = sinew(&machine, &["workshop", "list"]);
        assert!(listed.contains("animated-gif-workflow"), "{agent}: {listed}");
    }
}

/// A correction counts against the skill that it is about, a project is a row, and what is older than
/// asked for is left out.
#[test]
fn corrections_projects_and_times_are_counted() {
    let machine = machine_with(WORKSHOP);
    let skill = machine.path("work/skills/photo-resizer/SKILL.md");
    hook(&machine, "claude-code", prompt("please resize this photo for the web"));
    hook(&machine, "claude-code", tool("t1", "Read", json!({"file_path": skill})));
    hook(&machine, "claude-code", tool("t2", "Bash", json!({"command": "magick a.jpg b.jpg"})));
    hook(&machine, "claude-code", stop());
    let mut wrong =
        prompt("Next time when asked to resize photos, verify the source ratio and record it.");
    wrong["prompt_id"] = json!("p2");
    hook(&machine, "claude-code", wrong);
    let mut end = stop();
    end["prompt_id"] = json!("p2");
    hook(&machine, "claude-code", end);
    settle(&machine);
    let usage = json(&machine, &["usage"]);
    assert_eq!(usage["rows"][0]["corrected"], 1, "{usage}");

    let log = machine.path("home/.sinew/hooks/usage.jsonl");
    let kept = fs::read_to_string(&log).expect("the record");
    let line = kept.lines().next().expect("a line");
    let mut old: Value = serde_json::from_str(line).expect("JSON");
    (old["id"], old["at"]) = (json!("old"), json!(1_000));
    old["project"] = json!(machine.path("other"));
    machine.write("home/.sinew/hooks/usage.jsonl", format!("{kept}{old}\n"));
    let rows = |options: &[&str]| {
        let all: Vec<&str> = ["usage", "--by", "project"].iter().chain(options).copied().collect();
        let found = json(&machine, &all);
        let names = found["rows"].as_array().expect("rows").iter();
        names.map(|row| row["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let both = rows(&[]);
    assert_eq!(both.len(), 2, "{both:?}");
    let recent = rows(&["--since", "1d"]);
    assert_eq!(recent.len(), 1, "{recent:?}");
    assert!(recent[0].ends_with("work"), "{recent:?}");
}

/// What a process of Linux adds to its share of the processor: 19 lets everything else go first.
#[cfg(target_os = "linux")]
fn niceness(id: u32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program, in brackets, may hold blanks.
    line.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse().ok()
}

/// The first thing that ever happens is that a session begins: the vectors come behind it, and slow
/// nothing down.
#[test]
#[cfg(target_os = "linux")]
fn a_session_that_begins_has_vectors_computed_with_low_priority() {
    let machine = cold_machine("{hook: {deadlineMs: 10000}}");
    let event = json!({"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"});
    hook(&machine, "claude-code", event);
    let (began, mut seen, mut nicest) = (Instant::now(), false, 0);
    loop {
        let now = workers(&machine);
        nicest = now.iter().filter_map(|id| niceness(*id)).chain([nicest]).max().unwrap_or(0);
        if seen && now.is_empty() {
            break;
        }
        seen |= !now.is_empty();
        assert!(began.elapsed() < PATIENCE, "a worker begins and ends: {seen}");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(nicest, 19, "the worker lets others go first");
    let status = json(&machine, &["index", "status"]);
    assert_eq!(status["pending"], 0, "{status}");
}

/// One message, one decision: whether a person asks or a hook.
#[test]
fn a_hook_decides_as_find_does() {
    let machine = cold_machine("{hook: {deadlineMs: 10000}}");
    sinew(&machine, &["index", "rebuild"]);
    let messages = [
        "resize these images for our page, please",
        "could you translate the letters to French",
        "what a lovely day",
        "render the recipes as a book",
        "thanks, that is all",
        "encrypt tickets",
        "make these pictures smaller",
        "put the meetings into my calendar",
        "$review-invoices for March",
        "why is the sky blue?",
    ];
    for (at, message) in messages.iter().enumerate() {
        let found = json(&machine, &["find", message]);
        let mut event = prompt(message);
        (event["session_id"], event["prompt_id"]) = (json!(format!("s{at}")), json!("p"));
        hook(&machine, "claude-code", event);
        let why = sinew(&machine, &["why", "--last"]);
        let decision = found["decision"].as_str().expect("a decision");
        assert!(why.contains(&format!("{decision}; a match needs")), "{message}: {why}");
        let first = &found["matches"][0];
        let name = first["name"].as_str().unwrap_or_default();
        let sure = first["probability"].as_f64().unwrap_or_default();
        assert!(why.contains(&format!("{name} {:.0} % (", 100.0 * sure)), "{message}: {why}");
        assert!(!why.contains("left out:"), "{why}");
    }
}

#[test]
fn the_record_of_a_message_belongs_to_the_message() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    hook(&machine, "claude-code", prompt("please resize this photo for the web"));
    let given = "the message was given photo-resizer";
    assert!(sinew(&machine, &["why", "--last"]).contains(given));
    // A stop that comes late, from this session and from another, and the end of the session.
    hook(&machine, "claude-code", stop());
    let mut other = stop();
    other["session_id"] = json!("another");
    hook(&machine, "claude-code", other);
    fs::write(machine.path("home/.sinew/config.json5"), "{hook: {deadlineMs: 50}}")
        .expect("writable");
    let mut child = command(&machine, &["hook", "stop", "--agent", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let held = child.stdin.take();
    child.wait_with_output().expect("it ends by itself");
    drop(held);
    hook(
        &machine,
        "claude-code",
        json!({"hook_event_name": "SessionEnd", "session_id": "s1", "reason": "exit"}),
    );
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains(given), "{why}");
    assert!(why.contains("“please resize this photo for the web”"), "{why}");
}

#[test]
fn what_became_of_offers_is_counted() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    machine.write(
        "work/skills/photo-resizer/SKILL.md",
        "---\nname: photo-resizer\ndescription: Resize photos and pictures for the web; use it for smaller \
         images.\n---\n# Resize\n\nRun `magick in.jpg -resize 50% out.jpg`.\n",
    );
    hook(&machine, "claude-code", prompt("please resize this photo for the web"));
    let run = tool("t1", "Bash", json!({"command": "magick a.jpg -resize 50% b.jpg"}));
    hook(&machine, "claude-code", run);
    hook(&machine, "claude-code", stop());
    settle(&machine);
    let mut second = prompt("and this picture, smaller for the web please");
    second["prompt_id"] = json!("p2");
    hook(&machine, "claude-code", second);
    hook(&machine, "claude-code", tool("t2", "Skill", json!({"skill": "photo-resizer"})));
    let failed = json!({"hook_event_name": "PostToolUseFailure", "session_id": "s1", "tool_use_id": "t3",
                        "tool_name": "Bash", "tool_input": {"command": "magick a b"},
                        "error": "sh: 1: magick: not found"});
    hook(&machine, "claude-code", failed);
    let mut end = stop();
    end["prompt_id"] = json!("p2");
    hook(&machine, "claude-code", end);
    settle(&machine);
    settle(&machine);
    let usage = json(&machine, &["usage"]);
    let row = &usage["rows"][0];
    assert_eq!(row["name"], "photo-resizer", "{usage}");
    let counts: Vec<u64> =
        ["offered", "brought", "read", "invoked", "followed", "worked", "failed", "from_offers"]
            .iter()
            .map(|field| row[*field].as_u64().expect("a number"))
            .collect();
    assert_eq!(counts, [2, 1, 0, 1, 1, 1, 1, 2], "{usage}");
    assert!(row["characters"].as_u64().expect("a number") > 300, "{usage}");
    assert_eq!(usage["neverUsed"], json!(["tea-timer"]), "{usage}");
    let text = sinew(&machine, &["usage", "--by", "agent", "--since", "1d"]);
    assert!(text.contains("claude-code") && text.contains("never used (1): tea-timer"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // What was followed is an outcome as well.
    let learned = json(&machine, &["cortex", "why", "photo-resizer"]);
    let runs = learned["regions"].as_object().expect("regions").values().next().expect("one");
    assert_eq!(runs["runs"]["success"], 1, "{learned}");
}

/// Cursor reads what is added when a session begins, and nothing that is added to a message: no offer is
/// counted that nobody sees.
#[test]
fn cursor_is_told_of_skills_when_a_session_begins() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let base = json!({"conversation_id": "c1", "generation_id": "g1", "cursor_version": "2.4.0",
                      "workspace_roots": [machine.path("work")]});
    let event = |name: &str| {
        let mut event = base.clone();
        event["hook_event_name"] = json!(name);
        event
    };
    let answer = hook(&machine, "cursor", event("sessionStart")).expect("an answer");
    assert_eq!(answer.as_object().map(serde_json::Map::len), Some(1), "{answer}");
    let text = answer["additional_context"].as_str().expect("a text");
    assert!(text.contains("<name>photo-resizer</name>"), "{text}");
    let mut message = event("beforeSubmitPrompt");
    message["prompt"] = json!("please resize this photo for the web");
    assert_eq!(hook(&machine, "cursor", message), None);
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("cursor reads nothing that a hook adds to a message"), "{why}");
    // The turn still counts: its words, its steps and its end are kept.
    let mut read = event("postToolUse");
    read["tool_name"] = json!("Read");
    read["tool_input"] = json!({"file_path": machine.path("work/skills/photo-resizer/SKILL.md")});
    assert_eq!(hook(&machine, "cursor", read), None);
    let mut run = event("postToolUse");
    (run["tool_name"], run["tool_input"]) = (json!("Shell"), json!({"command": "true"}));
    assert_eq!(hook(&machine, "cursor", run), None);
    assert_eq!(hook(&machine, "cursor", event("stop")), None);
    settle(&machine);
    let usage = json(&machine, &["usage"]);
    assert_eq!(usage["rows"][0]["offered"], 0, "{usage}");
    assert_eq!(usage["rows"][0]["read"], 1, "{usage}");
}

/// Whatever an agent sends, in whatever order: nothing breaks, and nothing wrong is said.
#[test]
fn unusual_input_passes_and_is_explained() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    // Events out of order, of sessions that never began.
    assert_eq!(hook(&machine, "claude-code", stop()), None);
    let done = json!({"hook_event_name": "SubagentStop", "session_id": "s9", "agent_id": "a"});
    assert_eq!(hook(&machine, "claude-code", done), None);
    let begun = json!({"hook_event_name": "SubagentStart", "session_id": "s9", "agent_id": "a"});
    assert_eq!(hook(&machine, "claude-code", begun), None);
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s9"});
    assert_eq!(hook(&machine, "claude-code", end), None);
    // A version of the agent that is not known, with fields and types of its own.
    let mut newer = prompt("please resize this photo for the web");
    newer["agent_version"] = json!("99.0");
    newer["effort"] = json!({"level": ["high"]});
    newer["transcript_path"] = json!(7);
    newer["source"] = json!(["typed"]);
    assert!(hook(&machine, "claude-code", newer).is_some());
    // A message of ten megabytes.
    let mut child = command(&machine, &["hook", "auto", "--agent", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let huge = prompt(&"resize ".repeat(10_000_000 / 7)).to_string();
    let _ = child.stdin.take().expect("a pipe").write_all(huge.as_bytes());
    let output = child.wait_with_output().expect("sinew ends");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("nothing was added: the event is too large"), "{why}");
}

#[test]
fn two_sessions_at_once_do_not_mix() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let event = |session: &str| {
        let mut event = prompt("please resize this photo for the web");
        event["session_id"] = json!(session);
        event["cwd"] = json!(machine.path("work"));
        event.to_string()
    };
    let children: Vec<_> = ["one", "two", "one", "two"]
        .iter()
        .map(|session| {
            let mut child = command(&machine, &["hook", "auto", "--agent", "claude-code"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("sinew runs");
            let written = child.stdin.take().expect("a pipe").write_all(event(session).as_bytes());
            written.expect("written");
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("sinew ends");
        assert_eq!(output.status.code(), Some(0));
        let answer: Value = serde_json::from_slice(&output.stdout).expect("one whole object");
        assert!(answer.to_string().contains("photo-resizer"));
    }
    // Both sessions have the text now, and each is reminded of its own.
    for session in ["one", "two"] {
        let mut again = prompt("resize one more photo for the web");
        (again["session_id"], again["prompt_id"]) = (json!(session), json!("later"));
        let answer = hook(&machine, "claude-code", again).expect("an answer").to_string();
        assert!(answer.contains("fits this message too"), "{answer}");
    }
}

/// Without a home the message passes unchanged; with one that cannot be written to, it gets its skill,
/// and what is not recorded is said.
#[test]
#[cfg(unix)]
fn a_home_that_is_missing_or_read_only_stops_no_message() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let mut event = prompt("please resize this photo for the web");
    event["cwd"] = json!(machine.path("work"));
    let send = |mut command: std::process::Command| {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sinew runs");
        let _ = child.stdin.take().expect("a pipe").write_all(event.to_string().as_bytes());
        child.wait_with_output().expect("sinew ends")
    };
    let args = ["hook", "auto", "--agent", "claude-code"];
    let mut homeless = command(&machine, &args);
    // Without the variable, the system would name the home of the user who runs this test.
    homeless.env("HOME", "not-absolute");
    let output = send(homeless);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "no home");
    let mut homeless = command(&machine, &["why", "--last"]);
    let told = homeless.env("HOME", "not-absolute").output().expect("sinew runs");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("there is no home folder"), "{told}");
    // Where a folder is expected, a file: that stops even a process that may write everywhere.
    machine.write("home/.sinew/hooks", "not a folder");
    let output = send(command(&machine, &args));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(0) && told.contains("photo-resizer"), "{told}");
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("not recorded: hooks cannot write to"), "{why}");
    assert!(why.contains("skills still come along, and nothing is learned"), "{why}");
    // A log that was written before, and cannot be written now.
    fs::remove_file(machine.path("home/.sinew/hooks")).expect("a file");
    hook(&machine, "claude-code", event.clone());
    let lock = machine.path("home/.sinew/hooks/log.lock");
    fs::remove_file(&lock).and_then(|()| fs::create_dir(&lock)).expect("a folder in its place");
    let mut second = event.clone();
    (second["session_id"], second["prompt_id"]) = (json!("s2"), json!("p2"));
    let answer = hook(&machine, "claude-code", second).expect("an answer").to_string();
    assert!(answer.contains("photo-resizer"), "{answer}");
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("not recorded: hooks cannot write to"), "{why}");
    assert!(why.contains("before that, the message was given photo-resizer"), "{why}");
}

/// Where nothing here fits, what did such tasks before is named, in one line; for anything else nothing
/// is added.
#[test]
fn a_skill_that_is_gone_is_remembered() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let task = "convert a spreadsheet with invoices into a printable document";
    for _ in 0..3 {
        let args = [
            "report",
            "--skill",
            "sheet-printer",
            "--version",
            "1",
            "--region",
            "spreadsheet-documents",
        ];
        json(&machine, &[args.as_slice(), &["--task", task, "--result", "ok"]].concat());
    }
    let answer = hook(&machine, "claude-code", prompt(task)).expect("an answer");
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
    assert_eq!(text.lines().count(), 3, "one line in its frame: {text}");
    assert!(text.contains("sheet-printer worked 3 of 3 times for tasks like this one"), "{text}");
    assert!(sinew(&machine, &["why", "--last"]).contains("remembered: sheet-printer"));
    let mut other = prompt("what a lovely evening it was");
    other["prompt_id"] = json!("p2");
    assert_eq!(hook(&machine, "claude-code", other), None);
}

/// Every write fails, as on a full disk: the skill comes along all the same.
#[test]
#[cfg(unix)]
fn a_full_disk_still_gives_the_answer() {
    let machine = machine_with("{hook: {deadlineMs: 10000}}");
    let run = command(&machine, &["hook", "auto", "--agent", "claude-code"]);
    let mut full = std::process::Command::new("/bin/sh");
    full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).arg(run.get_program());
    full.args(run.get_args()).current_dir(machine.path("work")).env_clear();
    full.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut event = prompt("please resize this photo for the web");
    event["cwd"] = json!(machine.path("work"));
    let mut child = full
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("sinew runs");
    let _ = child.stdin.take().expect("a pipe").write_all(event.to_string().as_bytes());
    let output = child.wait_with_output().expect("sinew ends");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(0) && told.contains("photo-resizer"), "{told}");
}
