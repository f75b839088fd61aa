//! A server under mixed load for a long time, part of it hostile: every answer to an honest client is an
//! answer, and its memory stays what it was. Ten minutes with `SINEW_LONG=1`, else a few seconds that
//! show that the load works.

#![cfg(target_os = "linux")]

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::serving::ServingProgram;

const SKILLS: usize = 300;
const CLIENTS: usize = 4;
const ATTACKERS: usize = 2;
/// Connections that an attacker keeps open without a word.
const HELD: usize = 60;
/// What a process takes in while it meets everything for the first time is not a leak: memory is
/// compared from here on.
const WARM_UP: f64 = 0.2;
/// How much the last part of the time may take more than the first.
const GROWTH: f64 = 1.05;
/// A few seconds are too short to tell a leak from a heap that is still settling.
const GROWTH_OF_SECONDS: f64 = 1.5;

/// Resident memory in kilobytes.
fn memory(served: &ServingProgram) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.pid()));
    let status = status.expect("a running server");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// One request of the mixture, the how-manieth it may be.
fn request(served: &ServingProgram, at: usize) -> (&'static str, u16) {
    let message =
        format!("please write the release notes of number {at} and greet team {}", at % 97);
    let ask = |method: &str, path: &str, headers: &str, body: &Value| {
        served.request(method, path, headers, body).0
    };
    let api =
        |method: &str, path: &str, body: Value| ask(method, &format!("/api/v1{path}"), "", &body);
    match at % 12 {
        0..=3 => ("route", api("POST", "/route", json!({"message": message}))),
        4 => ("skills", api("GET", "/skills?limit=100", Value::Null)),
        5 => ("skill", api("GET", &format!("/skills/skill-{}", at % SKILLS), Value::Null)),
        6 => ("prompt", api("GET", "/prompt?message=release+notes", Value::Null)),
        // What is reported is kept, and takes its room: few reports, so that growth means a leak.
        7 if at % 120 != 7 => ("skills", api("GET", "/skills?limit=100", Value::Null)),
        7 => {
            let outcome = json!({
                "skill": format!("skill-{}", at % 20), "version": "1", "region": "notes-write",
                "outcome": "success",
            });
            ("outcome", api("POST", "/outcomes", outcome))
        }
        8 => ("scan", api("POST", "/scan", json!({"text": format!("# {message}\n\nRun `ls`\n")}))),
        9 => ("cortex", api("GET", "/cortex", Value::Null)),
        10 => ("metrics", ask("GET", "/metrics", "", &Value::Null)),
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
            ("mcp", ask("POST", "/mcp", &more, &call))
        }
    }
}

/// One act of a client that means no good. Connections that it keeps are added to `held`.
fn attack(served: &ServingProgram, at: usize, held: &mut VecDeque<TcpStream>) {
    let host = served.address();
    let token = format!("Authorization: Bearer {}", served.token());
    let send = |text: &[u8]| {
        let mut stream = TcpStream::connect(host).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        // A server that hangs up on an attacker does what it should.
        let _ = stream.write_all(text);
        Some(stream)
    };
    let read = |stream: Option<TcpStream>| {
        let mut answer = Vec::new();
        let _ = stream.map(|mut stream| stream.read_to_end(&mut answer));
    };
    let head = |line: &str, more: &str| {
        format!("{line} HTTP/1.1\r\nHost: {host}\r\n{token}\r\nConnection: close\r\n{more}\r\n")
    };
    match at % 10 {
        // A session that is begun and left behind.
        0 | 1 => {
            let begin = json!({
                "jsonrpc": "2.0", "id": at, "method": "initialize", "params": {
                    "protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "attacker", "version": "1"},
                },
            });
            let more = "Accept: application/json, text/event-stream\r\n";
            served.request("POST", "/mcp", more, &begin);
        }
        // Silence, and half a head.
        2 => held.extend(send(b"")),
        3 => held.extend(send(format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-A: ").as_bytes())),
        // A stream of events that is never read.
        4 => held.extend(send(head("GET /api/v1/events", "").as_bytes())),
        // A body that is announced and does not come, and one that is too large.
        5 => held.extend(send(head("POST /api/v1/route", "Content-Length: 500\r\n").as_bytes())),
        6 => {
            let mut large = head("POST /api/v1/scan", "Content-Length: 50000000\r\n").into_bytes();
            large.extend(vec![b'x'; 2 << 20]);
            read(send(&large));
        }
        7 => read(send(&vec![(at % 251) as u8; 3_000])),
        8 => read(send(
            head(&format!("GET /..%2f..%2fetc/{at}"), "Accept: text/html\r\n").as_bytes(),
        )),
        // A wrong token, by a client that leaves before the answer.
        _ => drop(send(
            format!(
                "GET /api/v1/skills HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {at}\r\n\r\n"
            )
            .as_bytes(),
        )),
    }
    while held.len() > HELD {
        held.pop_front();
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
    let served = ServingProgram::start(&machine);
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
        for _ in 0..ATTACKERS {
            scope.spawn(|| {
                let mut held = VecDeque::new();
                for at in 0.. {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    attack(&served, at, &mut held);
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
        }
        let mut touched = 0;
        while began.elapsed() < time {
            std::thread::sleep(time / 200);
            samples.push((began.elapsed().as_secs_f64() / time.as_secs_f64(), memory(&served)));
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
