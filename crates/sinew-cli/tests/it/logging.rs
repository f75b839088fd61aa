//! What the program reports of its own work: when, where and in which form, and what never appears there.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;
use sinew_testkit::TestMachine;

use crate::support::{command, sinew};

const SECRET: &str = "sk-live-4242424242424242";
const MESSAGE: &str = "shrink photographs for aunt Zebedea, the password is hunter2-hunter2";

fn machine() -> TestMachine {
    TestMachine::new().file(
        "work/skills/pictures/SKILL.md",
        "---\nname: pictures\ndescription: Resize, crop and compress photographs.\n---\n",
    )
}

/// The lines of a log file, each of which is one JSON object with a time, a level and a source.
fn json_lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| -> Value {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        for key in ["timestamp", "level", "target", "message"] {
            assert!(event[key].is_string(), "{key} in {line}");
        }
        event
    };
    text.lines().map(parse).collect()
}

#[test]
fn a_command_reports_its_work_only_when_asked() {
    let machine = machine();
    let quiet = sinew(&machine, &["find", MESSAGE]);
    assert!(!quiet.contains("routed a message"), "{quiet}");
    let verbose = sinew(&machine, &["-v", "find", MESSAGE]);
    for event in ["loaded the catalog", "routed a message"] {
        assert!(verbose.contains(event), "{event}: {verbose}");
    }
    assert!(!verbose.contains("DEBUG"), "{verbose}");
    let more = sinew(&machine, &["-vv", "find", MESSAGE]);
    assert!(more.contains("DEBUG") && more.contains("routed a message"), "{more}");
}

#[test]
fn events_never_mix_with_the_answer() {
    let machine = machine();
    let plain = command(&machine, &["--json", "find", MESSAGE]).output().expect("sinew runs");
    let logged =
        command(&machine, &["--json", "-vv", "find", MESSAGE]).output().expect("sinew runs");
    let answer = |bytes: &[u8]| {
        let answer: Value = serde_json::from_slice(bytes).expect("one JSON document");
        (answer["decision"].clone(), answer["matches"][0]["name"].clone())
    };
    assert_eq!(answer(&plain.stdout), answer(&logged.stdout));
    assert!(plain.stderr.is_empty(), "{}", String::from_utf8_lossy(&plain.stderr));
}

#[test]
fn a_log_file_holds_json_lines_and_is_appended_to() {
    let machine = machine();
    let log = machine.path("work/events.jsonl");
    for _ in 0..2 {
        let shown = sinew(&machine, &["--log-file", "events.jsonl", "find", MESSAGE]);
        assert!(!shown.contains("routed a message"), "the terminal stays quiet: {shown}");
    }
    let events = json_lines(&fs::read_to_string(log).expect("the log file"));
    let routed = events.iter().filter(|event| event["message"] == "routed a message");
    assert_eq!(routed.count(), 2);
}

#[test]
fn the_variable_filters_by_level_and_crate() {
    let machine = machine();
    let with = |filter: &str, args: &[&str]| {
        let output = command(&machine, args).env("SINEW_LOG", filter).output().expect("sinew runs");
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
    };
    let (events, _) = with("info", &["find", MESSAGE]);
    assert!(events.contains("routed a message"), "{events}");
    let (events, _) = with("warn,sinew_engine=info", &["find", MESSAGE]);
    assert!(events.contains("routed a message"), "{events}");
    let (events, _) = with("info,sinew_engine=error", &["find", MESSAGE]);
    assert!(!events.contains("routed a message"), "{events}");
    let (refusal, code) = with("sinew_engine=loud", &["find", MESSAGE]);
    assert!(refusal.contains("SINEW_LOG") && refusal.contains("hint: "), "{refusal}");
    assert_eq!(code, Some(2));
}

#[test]
fn a_log_file_that_cannot_be_written_is_an_error_with_its_name() {
    let shown = sinew(&machine(), &["--log-file", "missing/events.jsonl", "find", MESSAGE]);
    assert!(shown.contains("missing/events.jsonl") && !shown.ends_with("exit 0"), "{shown}");
}

/// Also with every detail: what the user said and what must stay secret are in no event.
#[test]
fn no_event_holds_a_message_or_a_secret() {
    let machine = machine().file(
        "home/.sinew/config.json5",
        format!("{{hub: {{registries: {{team: \"http://127.0.0.1:9\"}}}}, note: \"{SECRET}\"}}"),
    );
    let commands: [&[&str]; 4] = [
        &["find", MESSAGE],
        &["prompt", "--for", MESSAGE],
        &["search", MESSAGE],
        &["report", "--task", MESSAGE, "--skill", "pictures", "--version", "1", "--result", "ok"],
    ];
    for args in commands {
        let log = machine.path("work/all.jsonl");
        let output = command(&machine, &["-vv", "--log-file", "all.jsonl"])
            .args(args)
            .env("SINEW_TOKEN", SECRET)
            .env("CLAWHUB_TOKEN", SECRET)
            .output()
            .expect("sinew runs");
        let events = fs::read_to_string(&log).expect("the log file");
        let logged = String::from_utf8_lossy(&output.stderr);
        let told = logged.lines().filter(|line| line.contains(" sinew_")).collect::<String>();
        for hidden in [SECRET, "Zebedea", "hunter2"] {
            assert!(!events.contains(hidden), "{hidden} in the file after {args:?}: {events}");
            assert!(!told.contains(hidden), "{hidden} on the terminal after {args:?}: {told}");
        }
    }
}

/// A server's standard error is read by programs: JSON lines, each request with its number.
#[test]
#[cfg(unix)]
fn a_server_reports_requests_as_json_lines() {
    let machine = machine();
    let mut child = command(&machine, &["-v", "--json", "serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let mut first = String::new();
    let stdout = child.stdout.as_mut().expect("its output");
    BufReader::new(stdout).read_line(&mut first).expect("what it serves");
    let started: Value = serde_json::from_str(&first).expect("one JSON document");
    let address = started["address"].as_str().expect("an address");
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("an answer");
    let id =
        reply.lines().find_map(|line| line.strip_prefix("x-request-id: ")).expect("its number");
    child.kill().expect("its end");
    let mut text = String::new();
    child.stderr.take().expect("its errors").read_to_string(&mut text).expect("text");
    child.wait().expect("its end");
    let events = json_lines(&text);
    let answered = events.iter().find(|event| event.to_string().contains(id));
    let answered = answered.unwrap_or_else(|| panic!("request {id}: {text}"));
    assert_eq!(answered["path"], "/healthz");
}
