//! A server under mixed load for a long time: every answer is an answer, and its memory stays what it
//! was. Ten minutes with `SINEW_LONG=1`, else a few seconds that show that the load works.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_engine::{Engine, EngineOptions};
use sinew_testkit::TestMachine;

use crate::support::command;

const SKILLS: usize = 300;
const CLIENTS: usize = 4;
/// What a process takes in while it meets everything for the first time is not a leak: memory is
/// compared from here on.
const WARM_UP: f64 = 0.2;
/// How much the last part of the time may take more than the first.
const GROWTH: f64 = 1.05;
/// A few seconds are too short to tell a leak from a heap that is still settling.
const GROWTH_OF_SECONDS: f64 = 1.5;

/// `sinew serve` on a free port.
struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    fn start(machine: &TestMachine) -> Self {
        let engine =
            Engine::open(machine.environment(), EngineOptions::default()).expect("an engine");
        let token = engine.settings().access_token().expect("a token");
        let mut child = command(machine, &["--json", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let address = told["address"].as_str().expect("an address").to_owned();
        Self { child, address, token }
    }

    /// The status of an answer.
    fn ask(&self, method: &str, path: &str, more: &str, body: &Value) -> u16 {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        let mut answer = Vec::new();
        let asked = TcpStream::connect(&self.address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            stream.write_all(request.as_bytes())?;
            stream.read_to_end(&mut answer)
        });
        asked.expect("an answer");
        let head = String::from_utf8_lossy(&answer[..answer.len().min(64)]).into_owned();
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
    }

    /// Resident memory in kilobytes.
    fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("a running server");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory");
        line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request of the mixture, the how-manieth it may be.
fn request(served: &Served, at: usize) -> (&'static str, u16) {
    let message =
        format!("please write the release notes of number {at} and greet team {}", at % 97);
    let api = |method: &str, path: &str, body: Value| {
        served.ask(method, &format!("/api/v1{path}"), "", &body)
    };
    match at % 12 {
        0..=3 => ("route", api("POST", "/route", json!({"message": message}))),
        4 => ("skills", api("GET", "/skills?limit=100", Value::Null)),
        5 => ("skill", api("GET", &format!("/skills/skill-{}", at % SKILLS), Value::Null)),
        6 => ("prompt", api("GET", "/prompt?message=release+notes", Value::Null)),
        7 => {
            let outcome = json!({
                "skill": format!("skill-{}", at % 20), "version": "1", "region": "notes-write",
                "outcome": "success",
            });
            ("outcome", api("POST", "/outcomes", outcome))
        }
        8 => ("scan", api("POST", "/scan", json!({"text": format!("# {message}\n\nRun `ls`\n")}))),
        9 => ("cortex", api("GET", "/cortex", Value::Null)),
        10 => ("metrics", served.ask("GET", "/metrics", "", &Value::Null)),
        _ => {
            let version = "2026-07-28";
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let call = json!({
                "jsonrpc": "2.0", "id": at, "method": "tools/call",
                "params": {"name": "find_skill", "arguments": {"message": message}, "_meta": meta},
            });
            let more = format!(
                "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n\
                 Mcp-Method: tools/call\r\nMcp-Name: find_skill\r\n"
            );
            ("mcp", served.ask("POST", "/mcp", &more, &call))
        }
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[test]
fn under_mixed_load_memory_stays_what_it_was() {
    let long = std::env::var_os("SINEW_LONG").is_some_and(|long| long == "1");
    let time = Duration::from_secs(if long { 600 } else { 8 });
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{route: {model: 'static'}}");
    for number in 0..SKILLS {
        let text = format!(
            "---\nname: skill-{number}\ndescription: Writes notes of kind {number} for team {}\n---\n# Do\n",
            number % 7
        );
        machine = machine.file(&format!("work/skills/skill-{number}/SKILL.md"), text);
    }
    let served = Served::start(&machine);
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let began = Instant::now();
    let mut samples = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (what, status) = request(&served, at);
                    if !matches!(status, 200 | 201) {
                        wrong.lock().expect("a list").push(format!("{what}: {status}"));
                    }
                }
            });
        }
        let mut touched = 0;
        while began.elapsed() < time {
            std::thread::sleep(time / 200);
            samples.push((began.elapsed().as_secs_f64() / time.as_secs_f64(), served.memory()));
            // The user edits a skill now and then, and the catalog follows.
            if samples.len() % 20 == 0 {
                touched += 1;
                let path =
                    machine.path(&format!("work/skills/skill-{}/SKILL.md", touched % SKILLS));
                let text = std::fs::read_to_string(&path).expect("a skill");
                std::fs::write(&path, format!("{text}\nEdited {touched} times.\n"))
                    .expect("an edit");
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let wrong = wrong.into_inner().expect("a list");
    assert!(wrong.is_empty(), "{} of {next:?}: {:?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    let between = |from: f64, to: f64| {
        let part = samples.iter().filter(|(at, _)| (from..to).contains(at));
        median(part.map(|(_, memory)| *memory).collect())
    };
    let (early, late) = (between(WARM_UP, WARM_UP + 0.2), between(0.8, 1.1));
    let growth = if long { GROWTH } else { GROWTH_OF_SECONDS };
    let told = format!("{early} kB, then {late} kB, after {next:?} requests in {time:?}");
    let _ = writeln!(std::io::stderr(), "{told}");
    assert!(late <= early * growth, "{told}");
}
