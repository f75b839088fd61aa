//! `eval calibrate`: what a person's own messages make of the keys, and of a model that nobody calibrated.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use serde_json::{Value, json};
use sinew_engine::{Engine, EngineOptions, EvalData, RouteCalibration, RouteRequest};
use sinew_route::{DegradedKind, RouteDecision};
use sinew_settings::config::ModelChoice;
use sinew_settings::{Actor, ErrorCode};
use sinew_testkit::TestMachine;

/// The length of the server's vectors.
const DIMS: usize = 64;

fn open(machine: &TestMachine) -> Engine {
    Engine::open(machine.environment(), EngineOptions::default()).expect("an engine")
}

fn machine(config: &str) -> TestMachine {
    let mut machine = TestMachine::new().file("home/.sinew/config.json5", config);
    for (name, about) in [
        ("soup", "Recipes for soups and stews, with shopping lists"),
        ("ledger", "Keep the books in plain text: invoices, expenses and yearly accounts"),
        ("letters", "Write formal letters and complaints, ready to print"),
    ] {
        let text = format!("---\nname: {name}\ndescription: {about}\n---\n# {name}\n");
        machine = machine.file(&format!("work/skills/{name}/SKILL.md"), text);
    }
    let rows = [
        ("a recipe for a stew with lentils", "soup"),
        ("book the expenses of this week", "ledger"),
        ("write a complaint to the railway", "letters"),
    ];
    let rows = rows.map(|(query, skill)| json!({"query": query, "expected": [skill]}).to_string());
    machine.file("work/evals/route.jsonl", rows.join("\n"))
}

fn person() -> Actor {
    Actor::Person { name: None, via: None }
}

fn fitted(engine: &Engine, choice: ModelChoice) -> RouteCalibration {
    engine.quality().fit_calibration(EvalData::default(), choice, &|_, _| {}).expect("fitted")
}

#[test]
fn keys_are_fitted_to_own_messages_and_written_by_a_person_alone() {
    let machine = machine("{route: {model: 'static', threshold: 0.99}}");
    let engine = open(&machine);
    let mut fitted = fitted(&engine, ModelChoice::Default);
    assert_eq!((fitted.messages, fitted.fitted_scale), (3, false));
    assert!(fitted.carried >= 300);
    assert!(fitted.keys.threshold < 0.99, "{fitted:?}");
    assert!(fitted.worth.matched > fitted.worth_before.matched, "{fitted:?}");
    let program = engine.quality().keep_calibration(&mut fitted, &Actor::System);
    assert_eq!(program.map_err(|error| error.code), Err(ErrorCode::NeedsPerson));
    assert!(fitted.written.is_empty());
    engine.quality().keep_calibration(&mut fitted, &person()).expect("written");
    let held = open(&machine).settings().config_value("route.threshold").expect("a key");
    assert_eq!(held.value, json!(fitted.keys.threshold));
}

/// Vectors by the words of a text: enough to rank by.
fn vector(text: &str) -> Vec<f32> {
    let mut out = vec![0.01; DIMS];
    for word in
        text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3)
    {
        let stem = &word[..word.char_indices().nth(4).map_or(word.len(), |(at, _)| at)];
        let slot = stem.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
        out[slot % DIMS] += 1.0;
    }
    out
}

fn respond(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).ok()?;
    let texts = asked["input"].as_array()?.iter().filter_map(Value::as_str);
    let vectors: Vec<Value> = texts
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text)}))
        .collect();
    let answer = json!({"data": vectors}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + &answer).as_bytes()).ok()
}

#[test]
fn a_remote_model_can_say_match_once_it_is_calibrated() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || respond(stream));
        }
    });
    let config = format!(
        "{{route: {{model: 'remote', threshold: 0.5, margin: 0.1, remote: {{url: '{url}', model: 'm', dims: {DIMS}, timeoutMs: 20000}}}}}}"
    );
    let machine = machine(&config);
    let engine = open(&machine);
    let message = RouteRequest::new("keep the books: invoices, expenses and yearly accounts");
    engine
        .routing()
        .fill_vectors(&engine.snapshot(), ModelChoice::Default, &|_| {})
        .expect("filled");
    let before = engine.route(&message);
    let uncalibrated = |kind: DegradedKind| kind == DegradedKind::MissingCalibration;
    assert!(before.degraded.iter().any(|one| uncalibrated(one.kind)), "{before:?}");
    assert_ne!(before.decision, RouteDecision::Match);
    let mut fitted = fitted(&engine, ModelChoice::Default);
    assert!(fitted.fitted_scale, "{fitted:?}");
    engine.quality().keep_calibration(&mut fitted, &person()).expect("written");
    let after = open(&machine).route(&message);
    assert!(after.degraded.is_empty(), "{after:?}");
    assert_eq!(after.matches[0].name, "ledger");
    assert_eq!(after.decision, RouteDecision::Match, "{after:?}");
}
