//! A remote embedding model: real HTTP on loopback, in the shapes of OpenAI and Ollama.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use sinew_testkit::TestMachine;

use crate::support::{command, json, sinew};

#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Good,
    Slow,
    Failing,
    OtherLength,
    Rubbish,
}

/// A server that gives each text a vector made of its letters.
fn server(manner: Manner) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, manner));
        }
    });
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, manner: Manner) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let (mut length, mut authorised) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        authorised |= line == "authorization: bearer k3y";
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if manner == Manner::Slow {
        thread::sleep(Duration::from_secs(20));
    }
    let request: serde_json::Value = serde_json::from_slice(&body).ok()?;
    let dims = if manner == Manner::OtherLength { 7 } else { 26 };
    let vectors: Vec<Vec<f32>> = request["input"]
        .as_array()?
        .iter()
        .map(|text| letters(text.as_str().unwrap_or(""), dims))
        .collect();
    let (status, answer) = match manner {
        Manner::Failing => ("503 Service Unavailable", "{\"error\":\"loading\"}".to_owned()),
        Manner::Rubbish => ("200 OK", "<html>".to_owned()),
        _ if !authorised => ("401 Unauthorized", "{}".to_owned()),
        _ if first.contains("/v1/embeddings") => {
            let data: Vec<_> = vectors.iter().enumerate().map(|(index, embedding)| serde_json::json!({"object": "embedding", "index": index, "embedding": embedding})).collect();
            ("200 OK", serde_json::json!({"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}).to_string())
        }
        _ => ("200 OK", serde_json::json!({"model": "m", "embeddings": vectors}).to_string()),
    };
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}", answer.len()).ok()
}

fn letters(text: &str, dims: usize) -> Vec<f32> {
    let mut vector = vec![0.01; dims];
    for byte in text.bytes().filter(u8::is_ascii_alphabetic) {
        vector[usize::from(byte.to_ascii_lowercase() - b'a') % dims] += 1.0;
    }
    vector
}

fn machine(url: &str, dialect: &str) -> TestMachine {
    TestMachine::new()
        .skill("work/skills/pictures", "pictures")
        .skill("work/skills/soup", "soup")
        .file("home/.sinew/config.json5", format!("{{route: {{model: 'remote', remote: {{url: '{url}', model: 'm', dims: 26, dialect: '{dialect}', apiKey: 'k3y', timeoutMs: 1500}}}}}}"))
}

#[test]
fn both_dialects_answer_and_without_a_calibration_nothing_is_a_match() {
    for dialect in ["openai", "ollama"] {
        let machine = machine(&server(Manner::Good), dialect);
        assert_eq!(json(&machine, &["index", "rebuild"])["pending"], 0);
        let result = json(&machine, &["find", "about pictures please"]);
        assert_eq!(result["matches"][0]["name"], "pictures", "{result}");
        assert!(result["model"].as_str().expect("a name").contains("remote:m:26"), "{result}");
        assert_ne!(result["decision"], "match");
        let kinds: Vec<&str> = result["degraded"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|d| d["kind"].as_str())
            .collect();
        assert_eq!(kinds, ["missing-calibration"]);
    }
}

#[test]
fn a_remote_that_fails_is_named_and_the_answer_still_comes() {
    let check = |url: &str| {
        let shown = sinew(&machine(url, "openai"), &["find", "about pictures please"]);
        assert!(shown.contains("pictures") && shown.contains("not indexed by meaning"), "{shown}");
        assert!(!shown.contains("k3y"), "{shown}");
    };
    for manner in [Manner::Failing, Manner::OtherLength, Manner::Rubbish] {
        check(&server(manner));
    }
    // No server listens there.
    check("http://127.0.0.1:9");
}

#[test]
fn a_message_does_not_wait_longer_than_its_deadline() {
    let machine = machine(&server(Manner::Good), "openai");
    assert_eq!(json(&machine, &["index", "rebuild"])["pending"], 0);
    machine.write("home/.sinew/config.json5", format!("{{route: {{model: 'remote', remote: {{url: '{}', model: 'm', dims: 26, apiKey: 'k3y', timeoutMs: 200}}}}}}", server(Manner::Slow)));
    let result = json(&machine, &["find", "about pictures please"]);
    assert_eq!(result["matches"][0]["name"], "pictures");
    assert!(
        result["degraded"][0]["message"].as_str().expect("why").contains("no answer within 200 ms"),
        "{result}"
    );
}

/// Sends a message to Claude Code's hook: what is added, and how long the answer took.
fn hooked(machine: &TestMachine, message: &str) -> (String, Duration) {
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": message,
        "cwd": machine.path("work"),
    });
    let mut hook = command(machine, &["hook", "auto", "--agent", "claude-code"]);
    let began = Instant::now();
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sinew runs");
    let mut input = child.stdin.take().expect("its input");
    write!(input, "{event}").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("its end");
    (String::from_utf8_lossy(&output.stdout).into_owned(), began.elapsed())
}

/// A hook asks the remote model as `find` does; one that is late or fails costs its signal and never
/// the message, and the record of the message names it without the key.
#[test]
fn a_hook_keeps_its_deadline_whatever_the_remote_does() {
    let machine = machine(&server(Manner::Good), "openai");
    let settings = |url: &str| {
        format!(
            "{{hook: {{deadlineMs: 4000}}, route: {{model: 'remote', remote: {{url: '{url}', model: 'm', dims: 26, apiKey: 'k3y', timeoutMs: 60000}}}}}}"
        )
    };
    assert_eq!(json(&machine, &["index", "rebuild"])["pending"], 0);
    machine.write("home/.sinew/config.json5", settings(&server(Manner::Good)));
    let (added, _) = hooked(&machine, "about pictures please");
    assert!(added.contains("pictures"), "{added}");
    let why = sinew(&machine, &["why", "--last"]);
    assert!(!why.contains("no answer") && !why.contains("k3y"), "{why}");
    for (manner, said) in [
        (Manner::Slow, "no answer within"),
        (Manner::Failing, "503"),
        (Manner::Rubbish, "cannot be read"),
    ] {
        machine.write("home/.sinew/config.json5", settings(&server(manner)));
        let (added, took) = hooked(&machine, "about pictures please");
        assert!(took < Duration::from_secs(8), "{said}: {took:?}");
        assert!(added.contains("pictures"), "{said}: words still rank: {added}");
        let why = sinew(&machine, &["why", "--last"]);
        assert!(why.contains(said), "{said}: {why}");
        assert!(!why.contains("k3y"), "{why}");
    }
}

#[test]
fn a_remote_without_an_address_is_a_missing_model() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .file("home/.sinew/config.json5", "{route: {model: 'remote'}}");
    let shown = sinew(&machine, &["find", "about a"]);
    assert!(shown.contains("route.remote needs url, model and dims"), "{shown}");
}
