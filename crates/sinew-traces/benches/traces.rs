//! Speed of learning from transcripts: MB/s of reading them into runs, and of reading, judging,
//! cleaning and hashing them, each as a ratio to plain parsing of the same JSON lines in the same run.
//! Prints one JSON object. Times are CPU times of this thread where the system tells them.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fmt::Write as _;
use std::io::{BufReader, Cursor};
use std::time::Duration;

use serde_json::{Value, json};
use sinew_settings::config::TypedTextMode;
use sinew_traces::{
    AgentRun, PrivateNames, TranscriptOptions, clean, fingerprint, judge_run, simhash, tokens,
};

/// Bytes of each transcript; ten thousand steps over several runs.
const BYTES: usize = 60_000_000;

/// Rounds of each measurement; the best one counts.
const ROUNDS: usize = 3;

fn main() {
    let mut rows = Vec::new();
    for (name, transcript) in
        [("claude-code", claude_code()), ("codex", codex()), ("openclaw", openclaw())]
    {
        let size = transcript.len() as f64 / 1e6;
        let plain = best(|| {
            for line in transcript.lines() {
                std::hint::black_box(serde_json::from_str::<Value>(line).unwrap());
            }
        });
        let reading = best(|| {
            std::hint::black_box(read(&transcript, &mut |_| {}));
        });
        let learning = best(|| {
            let private = PrivateNames { homes: vec!["/home/robin".to_owned()], hosts: Vec::new() };
            read(&transcript, &mut |run| {
                std::hint::black_box(judge_run(&run));
                let clean = clean(run, &private, TypedTextMode::Parameter);
                std::hint::black_box(fingerprint(&clean.run.steps));
                std::hint::black_box(simhash(&tokens(&clean.run.steps)));
            });
        });
        let seconds = |time: Duration| time.as_secs_f64().max(1e-9);
        rows.push(json!({
            "transcript": name,
            "mb": size,
            "plain_json_mb_per_s": size / seconds(plain),
            "read_mb_per_s": size / seconds(reading),
            "read_ratio": seconds(plain) / seconds(reading),
            "read_and_clean_mb_per_s": size / seconds(learning),
            "read_and_clean_ratio": seconds(plain) / seconds(learning),
        }));
    }
    println!("{}", serde_json::to_string_pretty(&json!({"traces": rows})).unwrap());
}

fn read(transcript: &str, sink: &mut dyn FnMut(AgentRun)) -> usize {
    let reading = TranscriptOptions { agent: None, name: "bench", progress: &|_| {} };
    let mut runs = 0;
    let mut from = BufReader::with_capacity(64 * 1024, Cursor::new(transcript));
    sinew_traces::read(&mut from, &reading, &mut |run| {
        runs += 1;
        sink(run);
    })
    .unwrap();
    runs
}

fn best(mut work: impl FnMut()) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let start = now();
        work();
        now() - start
    });
    rounds.min().unwrap_or_default()
}

/// What a command prints.
fn output(at: usize) -> String {
    let mut text = String::new();
    for line in 0..60 {
        let _ = writeln!(
            text,
            "src/module_{at}/part_{line}.rs:{}: warning: unused variable `value_{line}`, prefix it",
            at * 7 % 900
        );
    }
    text
}

fn command(at: usize) -> String {
    format!(
        "cargo check -p part-{at} --all-targets --message-format short 2>&1 | head -n {}",
        at % 90
    )
}

fn lines(mut each: impl FnMut(usize, &mut Vec<Value>)) -> String {
    let mut text = String::with_capacity(BYTES + 100_000);
    let mut records = Vec::new();
    for at in 0.. {
        each(at, &mut records);
        for record in records.drain(..) {
            let _ = writeln!(text, "{record}");
        }
        if text.len() >= BYTES {
            break;
        }
    }
    text
}

fn claude_code() -> String {
    lines(|at, records| {
        let mut record = |kind: &str, message: Value| {
            records.push(json!({
                "parentUuid": at.to_string(), "isSidechain": false, "userType": "external",
                "cwd": "/home/robin/src/x", "sessionId": "s", "type": kind, "uuid": at.to_string(),
                "timestamp": "2026-10-02T09:14:00.000Z", "message": message,
            }));
        };
        if at % 1_000 == 0 {
            record("user", json!({"role": "user", "content": format!("Check part {at}")}));
        }
        let id = format!("toolu_{at}");
        record(
            "assistant",
            json!({"id": id, "role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "The next part."},
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command(at)}},
            ]}),
        );
        record(
            "user",
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output(at)},
            ]}),
        );
    })
}

fn codex() -> String {
    lines(|at, records| {
        let mut record = |kind: &str, payload: Value| {
            records.push(json!({
                "timestamp": "2026-10-05T13:02:51.000Z", "type": kind, "payload": payload,
            }));
        };
        if at % 1_000 == 0 {
            let content = json!([{"type": "input_text", "text": format!("Check part {at}")}]);
            record("response_item", json!({"type": "message", "role": "user", "content": content}));
        }
        let id = format!("call_{at}");
        let arguments = json!({"cmd": ["bash", "-lc", command(at)]}).to_string();
        record(
            "response_item",
            json!({"type": "function_call", "name": "exec_command",
            "arguments": arguments, "call_id": id}),
        );
        record(
            "event_msg",
            json!({"type": "exec_command_end", "call_id": id, "exit_code": 0,
            "aggregated_output": output(at)}),
        );
        record(
            "response_item",
            json!({"type": "function_call_output", "call_id": id,
            "output": output(at)}),
        );
    })
}

fn openclaw() -> String {
    let mut last = Value::Null;
    lines(|at, records| {
        if at == 0 {
            records.push(json!({"type": "session", "version": 3, "id": "s", "cwd": "/home/robin"}));
        }
        let mut entry = |id: String, message: Value| {
            records.push(json!({"type": "message", "id": id, "parentId": last,
                "timestamp": "2026-09-18T06:30:00.000Z", "message": message}));
            last = Value::String(id);
        };
        if at % 1_000 == 0 {
            let content = json!([{"type": "text", "text": format!("Check part {at}")}]);
            entry(format!("u{at}"), json!({"role": "user", "content": content}));
        }
        let call = format!("tc_{at}");
        entry(
            format!("a{at}"),
            json!({"role": "assistant", "stopReason": "toolUse", "content": [
                {"type": "toolCall", "id": call, "name": "exec", "arguments": {"command": command(at)}},
            ]}),
        );
        entry(
            format!("r{at}"),
            json!({"role": "toolResult", "toolCallId": call, "isError": false,
            "content": [{"type": "text", "text": output(at)}]}),
        );
    })
}

/// CPU time of this thread.
#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// The time since the first call, where CPU time is not available.
#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
