//! `sinew learn`, as people run it: what it prints, what it leaves behind, and what it does not.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::{Value, json};
use sinew_testkit::{TestMachine, shared_data};

use crate::support::{command, json, shown, sinew, unattended};

/// A generic trace of a run that succeeded.
fn trace(task: &str, id: &str, commands: &[&str]) -> String {
    let head = json!({"type": "trace", "version": 1, "id": id, "agent": "tester", "task": task,
        "startedAt": "2026-11-01T10:00:00.000Z"});
    let steps = commands.iter().map(|command| {
        json!({"type": "step", "action": {"type": "exec", "command": command}, "result": "fine"})
    });
    let end = json!({"type": "end", "ok": true, "finalMessage": "Done."});
    let records = [head].into_iter().chain(steps).chain([end]);
    records.map(|record| format!("{record}\n")).collect()
}

fn release() -> String {
    let commands = ["git status --short", "git tag -a v1.2.0 -m release", "git push --follow-tags"];
    trace("Publish the release 1.2.0 of the ledger", "s1", &commands)
}

/// What was printed, without ids that differ from run to run.
fn steady(text: &str) -> String {
    let id = regex::Regex::new(r"\b[0-9a-f]{8}\b").expect("a pattern");
    id.replace_all(text, "[id]").into_owned()
}

/// Every file below a folder.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir { folders.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    found
}

#[test]
fn a_run_becomes_a_proposal_and_says_what_next() {
    let machine = TestMachine::new().file("work/run.jsonl", release());
    assert_snapshot!(steady(&sinew(&machine, &["learn", "run.jsonl"])));
    assert_snapshot!(steady(&sinew(&machine, &["learn", "run.jsonl"])));
    let failed = release().replace("\"ok\":true", "\"ok\":false").replace("s1", "s2");
    machine.write("work/failed.jsonl", failed);
    assert_snapshot!(sinew(&machine, &["learn", "failed.jsonl"]));
    machine.write("work/notes.md", "# Notes\n");
    assert_snapshot!(sinew(&machine, &["learn", "notes.md"]));
    assert_snapshot!(sinew(&machine, &["learn", "none.jsonl"]));
    assert_snapshot!(sinew(&machine, &["learn", "run.jsonl", "--agent", "somebody"]));
}

#[test]
fn the_answer_in_json_holds_draft_and_redactions() {
    let token = format!("ghp_{}", "FAKEfake".repeat(5));
    let push = format!("GITHUB_TOKEN={token} git push");
    let machine = TestMachine::new().file("work/run.jsonl", trace("Push it", "s", &[&push, "ls"]));
    let work = machine.path("work").to_string_lossy().into_owned();
    let answer = json(&machine, &["learn", "run.jsonl", "--workspace", &work]);
    assert_eq!(answer["draft"]["name"], "push-it");
    assert_eq!(answer["redactions"], json!({"token": 1}));
    assert_eq!(answer["runs"][0]["became"], "proposed");
    assert_eq!(answer["files"][0]["agent"], "generic");
    assert!(!answer.to_string().contains(&token));
}

#[test]
fn a_draft_is_no_skill_until_it_is_applied_and_then_it_is_found() {
    let machine = TestMachine::new()
        .file("work/run.jsonl", release())
        .file(
            "home/.sinew/config.json5",
            "{plugins: {entries: {'skill-workshop': {enabled: true}}}, approvals: {unattended: ['proposal']}}",
        )
        .workspace_skill("soup", "")
        .workspace_skill("tyres", "");
    let name = "publish-the-release-1-2-0-of-the-ledger";
    let id = json(&machine, &["learn", "run.jsonl"])["runs"][0]["proposal"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(!sinew(&machine, &["list", "--eligible"]).contains(name));
    let pending = json(&machine, &["workshop", "list"]);
    assert_eq!(pending[0]["source"], "trace", "{pending}");
    let applied = json(&machine, &["workshop", "apply", &id]);
    assert_eq!(applied["status"], "applied", "{applied}");
    assert!(sinew(&machine, &["list", "--eligible"]).contains(name));
    let found = json(&machine, &["find", "can you tag and publish a new ledger release?"]);
    assert_eq!(found["matches"][0]["name"], name, "{found}");
}

#[test]
fn a_transcript_with_bad_lines_is_read_and_they_are_counted() {
    let mut text = "no JSON\n".repeat(10);
    let _ = writeln!(text, "{{\"type\":\"pad\",\"x\":\"{}\"}}", "x".repeat(2 * 1024 * 1024));
    text.push_str(&release());
    text.push_str("{\"type\":\"something-new\"}\n");
    let machine = TestMachine::new().file("work/run.jsonl", text);
    let output = sinew(&machine, &["learn", "run.jsonl"]);
    assert!(output.ends_with("exit 0"), "{output}");
    for part in ["10 of 17 lines are no JSON", "1 of 17 lines are too long", "unknown type"] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn a_session_that_grows_is_learned_once() {
    let second = trace("Write the changelog", "s2", &["git log --oneline", "vi -n CHANGES"]);
    let machine = TestMachine::new().file("work/run.jsonl", release());
    sinew(&machine, &["learn", "run.jsonl"]);
    machine.write("work/run.jsonl", format!("{}{second}", release()));
    let answer = json(&machine, &["learn", "run.jsonl"]);
    assert_eq!(answer["runs"][0]["became"], "known");
    assert_eq!(answer["runs"][1]["became"], "proposed");
    assert_eq!(json(&machine, &["workshop", "list"]).as_array().map(Vec::len), Some(2));
}

#[test]
fn standard_input_and_the_newest_session_are_read_too() {
    let machine = TestMachine::new();
    let mut child = command(&machine, &["learn", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    child.stdin.take().expect("a pipe").write_all(release().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("sinew ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["runs"][0]["became"], "proposed");

    let none = sinew(&machine, &["learn", "--latest", "--agent", "claude-code"]);
    assert!(
        none.contains("there is no session of claude-code") && none.ends_with("exit 1"),
        "{none}"
    );
    let record = |kind: &str, message: Value| json!({"type": kind, "uuid": "u", "sessionId": "c", "timestamp": "t", "message": message});
    let session = [
        record("user", json!({"role": "user", "content": "Count the lines"})),
        record(
            "assistant",
            json!({"id": "m", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "wc -l *"}}]}),
        ),
        record(
            "user",
            json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "14"}]}),
        ),
        record(
            "assistant",
            json!({"id": "n", "stop_reason": "end_turn", "content": [
            {"type": "text", "text": "There are 14."}]}),
        ),
    ];
    let session: String = session.iter().map(|record| format!("{record}\n")).collect();
    machine.write("home/.claude/projects/-work/c.jsonl", &session);
    machine.write("home/.claude/projects/-work/c/subagents/x.jsonl", "not a session");
    let answer = json(&machine, &["learn", "--latest", "--agent", "claude-code"]);
    assert_eq!(answer["runs"][0]["task"], "Count the lines", "{answer}");
    assert_eq!(answer["draft"]["confidence"]["level"], "low", "no word that it worked");
    let since = json(&machine, &["learn", "--since", "7d", "--agent", "claude-code"]);
    assert_eq!(since["runs"][0]["became"], "known");
}

#[cfg(unix)]
#[test]
fn a_folder_with_a_loop_ends_and_nothing_else_is_written() {
    let machine = TestMachine::new()
        .file("work/in/a.jsonl", release())
        .file("work/in/deep/b.jsonl", trace("Count", "s9", &["ls", "wc -l x"]))
        .file("work/in/README.md", "# Notes\n")
        .link("work/in/deep/loop", "work/in")
        .link("work/in/again.jsonl", "work/in/a.jsonl");
    let before = files(machine.root());
    let answer = json(&machine, &["learn", "in"]);
    assert_eq!(answer["files"].as_array().map(Vec::len), Some(2), "{answer}");
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(2), "{answer}");
    let state = machine.path("home/.sinew");
    let new: Vec<PathBuf> = files(machine.root())
        .into_iter()
        .filter(|file| !before.contains(file) && !file.starts_with(&state))
        .collect();
    assert_eq!(new, Vec::<PathBuf>::new());
}

#[test]
fn no_planted_secret_is_printed_or_stored() {
    let Some(folder) = shared_data("data/traces") else { return };
    let expected = fs::read_to_string(folder.join("expected.json")).expect("answers");
    let expected: Value = serde_json::from_str(&expected).expect("answers");
    let machine = unattended();
    let folder = folder.to_string_lossy().into_owned();
    let mut printed = Vec::new();
    for args in
        [&["learn", &folder][..], &["learn", &folder, "--json"], &["workshop", "list", "--json"]]
    {
        let output = command(&machine, args).output().expect("sinew runs");
        assert!(output.status.success(), "{}", shown(&machine, &output));
        printed.extend(output.stdout);
        printed.extend(output.stderr);
    }
    let listed = json(&machine, &["workshop", "list"]);
    for proposal in listed.as_array().expect("proposals") {
        let id = proposal["id"].as_str().expect("an id");
        for args in [&["workshop", "inspect", id][..], &["workshop", "apply", id]] {
            let output = command(&machine, args).output().expect("sinew runs");
            printed.extend(output.stdout);
            printed.extend(output.stderr);
        }
    }
    let mut places = vec![("what was printed".to_owned(), printed)];
    for file in files(machine.root()) {
        places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
    }
    let mut secrets = 0;
    for secret in expected
        .as_object()
        .expect("files")
        .values()
        .flat_map(|a| a["secrets"].as_array())
        .flatten()
    {
        let secret = secret.as_str().expect("a text");
        secrets += 1;
        for (place, bytes) in &places {
            for form in forms(secret) {
                let found = bytes.windows(form.len()).any(|part| part == form.as_bytes());
                assert!(!found, "{secret} as {form} in {place}");
            }
        }
    }
    assert!(secrets >= 9 && places.len() > 8, "{secrets} secrets in {} places", places.len());
}

/// A text as it is, in base64 at each alignment, and as an address holds it.
fn forms(text: &str) -> Vec<String> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base64 = |bytes: &[u8]| -> String {
        bytes
            .chunks_exact(3)
            .flat_map(|three| {
                let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
                (0..4).map(move |at| char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]))
            })
            .collect()
    };
    let percent: String = text
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let shifted = (0..3).map(|skip| base64(&text.as_bytes()[skip..]));
    shifted.chain([text.to_owned(), percent]).filter(|form| form.len() >= 6).collect()
}

/// A line of a large session: what the user says, a command with what it printed, the end of a turn.
#[cfg(target_os = "linux")]
enum Part<'p> {
    Said(&'p str),
    Ran(usize, &'p str),
    Done,
}

/// How each agent writes it.
#[cfg(target_os = "linux")]
type WrittenAs = fn(u64, &Part<'_>) -> Vec<Value>;

#[cfg(target_os = "linux")]
const LARGE: [(&str, WrittenAs); 3] =
    [("claude-code", of_claude_code), ("codex", of_codex), ("openclaw", of_openclaw)];

#[cfg(target_os = "linux")]
fn of_claude_code(number: u64, part: &Part<'_>) -> Vec<Value> {
    let record = |kind: &str, message: Value| {
        json!({"type": kind, "uuid": number.to_string(), "sessionId": "s",
            "timestamp": number.to_string(), "cwd": "/home/robin/x", "message": message})
    };
    match part {
        Part::Said(text) => vec![record("user", json!({"role": "user", "content": text}))],
        Part::Ran(at, printed) => {
            let input = json!({"command": format!("tool{at} run --part {at}")});
            let call =
                json!({"type": "tool_use", "id": at.to_string(), "name": "Bash", "input": input});
            let result =
                json!({"type": "tool_result", "tool_use_id": at.to_string(), "content": printed});
            vec![
                record(
                    "assistant",
                    json!({"id": at.to_string(), "stop_reason": "tool_use", "content": [call]}),
                ),
                record("user", json!({"role": "user", "content": [result]})),
            ]
        }
        Part::Done => {
            let said = json!([{"type": "text", "text": "Done."}]);
            vec![record(
                "assistant",
                json!({"id": "e", "stop_reason": "end_turn", "content": said}),
            )]
        }
    }
}

#[cfg(target_os = "linux")]
fn of_codex(number: u64, part: &Part<'_>) -> Vec<Value> {
    let record = |kind: &str, payload: Value| json!({"timestamp": number.to_string(), "type": kind, "payload": payload});
    match part {
        Part::Said(text) => {
            let content = json!([{"type": "input_text", "text": text}]);
            let said = json!({"type": "message", "role": "user", "content": content});
            vec![record("response_item", said)]
        }
        Part::Ran(at, printed) => {
            let id = format!("call_{number}");
            let arguments = json!({"cmd": ["bash", "-lc", format!("tool{at} run --part {at}")]});
            let call = json!({"type": "function_call", "name": "exec_command", "call_id": id,
                "arguments": arguments.to_string()});
            let end = json!({"type": "exec_command_end", "call_id": id, "exit_code": 0,
                "aggregated_output": printed});
            vec![record("response_item", call), record("event_msg", end)]
        }
        Part::Done => vec![record(
            "event_msg",
            json!({"type": "task_complete", "last_agent_message": "Done."}),
        )],
    }
}

#[cfg(target_os = "linux")]
fn of_openclaw(number: u64, part: &Part<'_>) -> Vec<Value> {
    let entry = |at: u64, message: Value| {
        let parent = (at > 2).then(|| (at - 1).to_string());
        json!({"type": "message", "id": at.to_string(), "parentId": parent,
            "timestamp": at.to_string(), "message": message})
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    // Two ids for each part, so that every entry follows the one before it.
    let (first, second) = (2 * number, 2 * number + 1);
    match part {
        Part::Said(said) => vec![
            entry(first, json!({"role": "user", "content": text(said)})),
            json!({"type": "label", "id": second.to_string(), "parentId": first.to_string()}),
        ],
        Part::Ran(at, printed) => {
            let arguments = json!({"command": format!("tool{at} run --part {at}")});
            let call = json!([{"type": "toolCall", "id": second.to_string(), "name": "exec",
                "arguments": arguments}]);
            vec![
                entry(
                    first,
                    json!({"role": "assistant", "stopReason": "toolUse", "content": call}),
                ),
                entry(
                    second,
                    json!({"role": "toolResult", "toolCallId": second.to_string(),
                    "isError": false, "content": text(printed)}),
                ),
            ]
        }
        Part::Done => vec![
            entry(
                first,
                json!({"role": "assistant", "stopReason": "stop", "content": text("Done.")}),
            ),
            json!({"type": "label", "id": second.to_string(), "parentId": first.to_string()}),
        ],
    }
}

/// A session of so many bytes: several runs, thousands of steps. Returns how many.
#[cfg(target_os = "linux")]
fn large(path: &Path, bytes: u64, written_as: fn(u64, &Part<'_>) -> Vec<Value>) -> usize {
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("a file"));
    let printed =
        "src/main.rs:42: warning: unused variable `x`, prefix it with an underscore\n".repeat(70);
    let (mut written, mut number, mut runs) = (0, 0, 0);
    let mut write = |record: &Value| {
        let line = format!("{record}\n");
        file.write_all(line.as_bytes()).expect("written");
        line.len() as u64
    };
    written += write(&json!({"type": "session", "version": 3, "id": "s", "cwd": "/home/robin"}));
    while written < bytes {
        runs += 1;
        let task = format!("Do part {number}");
        let steps = (0..1_600).map(|at| Part::Ran(at, &printed));
        let parts = [Part::Said(&task)].into_iter().chain(steps);
        for part in parts.chain([Part::Done, Part::Said("Thanks, that worked.")]) {
            number += 1;
            written += written_as(number, &part).iter().map(&mut write).sum::<u64>();
        }
    }
    runs
}

/// 60 MB of each with `SINEW_LONG=1`, 12 MB without.
#[cfg(target_os = "linux")]
#[test]
fn a_large_session_needs_little_memory() {
    let is_long = std::env::var_os("SINEW_LONG").is_some();
    for (agent, written_as) in LARGE {
        let machine = TestMachine::new().file("work/small.jsonl", release());
        let (_, small) = peak_of(&machine, &["learn", "small.jsonl", "--json"]);
        let bytes = if is_long { 60_000_000 } else { 12_000_000 };
        let runs = large(&machine.path("work/large.jsonl"), bytes, written_as);
        let (answer, peak) =
            peak_of(&machine, &["learn", "large.jsonl", "--json", "--agent", agent]);
        assert_eq!(answer["runs"].as_array().map(Vec::len), Some(runs), "{agent}");
        let steps = |run: &Value| run["steps"] == 1_600;
        assert!(answer["runs"].as_array().is_some_and(|runs| runs.iter().all(steps)), "{agent}");
        assert!(peak > 10_000 && peak <= MOST_KB, "{agent}: {peak} kB");
        assert!(peak - small.min(peak) <= MOST_MORE_KB, "{agent}: {peak} kB after {small} kB");
    }
}

/// Thousands of small runs in one file: each is counted, and only the first are told one by one.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_many_runs_needs_little_memory() {
    let many = if std::env::var_os("SINEW_LONG").is_some() { 20_000 } else { 500 };
    let padded = format!("echo {}", "word ".repeat(500));
    let run = trace("Publish the release", "s1", &["git status --short", &padded, "git push"]);
    let machine = TestMachine::new().file("work/runs.jsonl", run.repeat(many));
    let (answer, peak) = peak_of(&machine, &["learn", "runs.jsonl", "--json"]);
    assert_eq!(answer["runs"].as_array().map(Vec::len), Some(200));
    assert_eq!(answer["more"], json!({"known": many - 200}));
    assert_eq!(answer["files"][0]["runs"], json!(many));
    assert!(peak > 10_000 && peak <= MOST_KB, "{peak} kB");
    let told = sinew(&machine, &["learn", "runs.jsonl"]);
    assert!(told.contains(&format!("known {} more", many - 200)), "{told}");
}

/// The most that may be resident. The code of an unoptimised program alone is some megabytes more.
#[cfg(target_os = "linux")]
const MOST_KB: u64 = if cfg!(debug_assertions) { 115_000 } else { 100_000 };

/// How much of it may be for what is read, however long that is.
#[cfg(target_os = "linux")]
const MOST_MORE_KB: u64 = 35_000;

/// What a command answers, and the most that was resident, in kB.
#[cfg(target_os = "linux")]
fn peak_of(machine: &TestMachine, args: &[&str]) -> (Value, u64) {
    let answer = machine.path("answer.json");
    let mut child = command(machine, args)
        .stdout(fs::File::create(&answer).expect("a file"))
        .spawn()
        .expect("sinew runs");
    let mut peak = 0;
    let status = loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        peak = peak.max(now);
        match child.try_wait().expect("a child") {
            Some(status) => break status,
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    assert!(status.success());
    let answer = fs::read_to_string(answer).expect("an answer");
    (serde_json::from_str(&answer).expect("JSON"), peak)
}

/// A learner that is killed at any moment and runs again makes nothing twice.
#[cfg(unix)]
#[test]
fn a_killed_learner_leaves_one_proposal() {
    let run = include_str!("../../src/commands/demo/samples/run.jsonl");
    let fresh = || TestMachine::new().file("work/run.jsonl", run);
    let made = |machine: &TestMachine| {
        json(machine, &["workshop", "list"]).as_array().map(Vec::len).expect("a list")
    };
    let undisturbed = fresh();
    let start = std::time::Instant::now();
    let told = sinew(&undisturbed, &["learn", "./run.jsonl"]);
    let took = start.elapsed();
    assert!(told.ends_with("exit 0") && made(&undisturbed) == 1, "{told}");
    let machine = fresh();
    let kills = if std::env::var_os("SINEW_LONG").is_some() { 200 } else { 40 };
    for kill in 0..kills {
        let mut child = command(&machine, &["learn", "./run.jsonl"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("sinew runs");
        // The first signals fall into its start, the last ones after its end.
        std::thread::sleep(took.mul_f64(0.2 + f64::from(kill) / f64::from(kills)));
        let _ = child.kill();
        let _ = child.wait();
        assert!(made(&machine) <= 1, "after {kill} kills");
    }
    let told = sinew(&machine, &["learn", "./run.jsonl"]);
    assert!(told.ends_with("exit 0"), "{told}");
    assert_eq!(made(&machine), 1, "{told}");
}
