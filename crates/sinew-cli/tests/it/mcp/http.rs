//! The same over HTTP: who may call, and from where.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use sinew_engine::approval::ConsentAct;
use sinew_testkit::TestMachine;

use super::approvals::waiting;
use super::client::{SESSION, STATELESS};
use crate::support::command;

/// `sinew mcp --http` on a free port.
pub(super) struct Served {
    child: Child,
    pub(super) url: String,
    address: String,
}

impl Served {
    pub(super) fn start(machine: &TestMachine) -> Self {
        let mut child = command(machine, &["mcp", "--http", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let mut url = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut url).expect("an address");
        let url = url.trim().to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { child, url, address }
    }

    /// The status and the body of an answer to a POST with these headers.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
        let mut head = String::from("POST /mcp HTTP/1.1\r\nConnection: close\r\n");
        if !host {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("Content-Type: application/json\r\n");
        head.push_str("Accept: application/json, text/event-stream\r\n");
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes()).expect("sent");
        // A server that has read enough may close the connection before the end.
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_default(), answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": SESSION, "capabilities": {},
            "clientInfo": {"name": "tester", "version": "1"},
        },
    })
    .to_string()
}

fn token(machine: &TestMachine) -> String {
    let path = machine.path("home/.sinew/token");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).expect("a token").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "for its owner alone");
    }
    std::fs::read_to_string(path).expect("a token").trim().to_owned()
}

#[test]
fn calls_need_the_token_the_name_and_the_origin() {
    let machine = TestMachine::new().workspace_skill("mail", "");
    let served = Served::start(&machine);
    let bearer = format!("Bearer {}", token(&machine));
    let auth = ("Authorization", bearer.as_str());
    let check = |headers: &[(&str, &str)], expected: &[u16]| {
        let (status, answer) = served.post(headers, &hello());
        assert!(expected.contains(&status), "{headers:?}: {answer}");
    };
    check(&[auth], &[200]);
    check(&[], &[401]);
    check(&[("Authorization", "Bearer wrong")], &[401]);
    check(&[("Authorization", &bearer[..bearer.len() - 1])], &[401]);
    check(&[auth, ("Host", "evil.example")], &[400, 403, 421]);
    check(&[auth, ("Host", "127.0.0.1.evil.example")], &[400, 403, 421]);
    check(&[auth, ("Origin", "http://evil.example")], &[403]);
    check(&[auth, ("Origin", "null")], &[403]);
    check(&[auth, ("Origin", &format!("http://{}", served.address))], &[200]);
    let oversized = format!("{{\"x\": \"{}\"}}", "y".repeat(2 << 20));
    assert_eq!(served.post(&[auth], &oversized).0, 413);
    assert_eq!(served.post(&[auth], &hello()).0, 200, "and it goes on");
}

#[test]
fn a_listener_on_this_machine_can_do_without_a_token() {
    let machine = TestMachine::new()
        .workspace_skill("mail", "")
        .file("home/.sinew/config.json5", "{mcp: {require_token: false}}");
    let served = Served::start(&machine);
    assert_eq!(served.post(&[], &hello()).0, 200);
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "list_skills", "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let headers = [
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "list_skills"),
    ];
    let (status, answer) = served.post(&headers, &call.to_string());
    assert_eq!(status, 200, "{answer}");
    let frame = answer.lines().find_map(|line| {
        let line = line.trim_start_matches("data:").trim();
        serde_json::from_str::<Value>(line).ok().filter(|frame| frame["id"] == 1)
    });
    let frame = frame.unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(frame["result"]["structuredContent"]["skills"][0]["name"], "mail");
}

/// A caller that has the token can announce that it asks its person, and then answer by itself.
#[test]
fn a_caller_over_http_cannot_answer_for_a_person() {
    let machine = TestMachine::new();
    let id = waiting(&machine, ConsentAct::Install, 0);
    let served = Served::start(&machine);
    let bearer = format!("Bearer {}", token(&machine));
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "approve",
            "arguments": {"action": "decide", "id": id, "decision": "approve", "quote": "yes"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            },
        },
    });
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", STATELESS),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "approve"),
    ];
    let (status, answer) = served.post(&headers, &call.to_string());
    assert_eq!(status, 200, "{answer}");
    assert!(!answer.contains("input_required"), "it is not asked: {answer}");
    assert!(answer.contains("not-approved"), "a relayed yes installs nothing: {answer}");
}

/// The same in a session, where the server could send its question into the stream of the call.
#[test]
fn a_session_over_http_cannot_answer_for_a_person_either() {
    let machine = TestMachine::new();
    let id = waiting(&machine, ConsentAct::Install, 0);
    let served = Served::start(&machine);
    let bearer = format!("Bearer {}", token(&machine));
    let auth = ("Authorization", bearer.as_str());
    let mut hello: Value = serde_json::from_str(&hello()).expect("JSON");
    hello["params"]["capabilities"] = json!({"elicitation": {"form": {}}});
    let (status, answer) = served.post(&[auth], &hello.to_string());
    assert_eq!(status, 200, "{answer}");
    let session = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
    });
    let session = session.unwrap_or_else(|| panic!("no session: {answer}"));
    let headers = [auth, ("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", SESSION)];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&headers, &ready.to_string()).0, 202);
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {
            "name": "approve",
            "arguments": {"action": "decide", "id": id, "decision": "approve", "quote": "yes"},
        },
    });
    let (status, answer) = served.post(&headers, &call.to_string());
    assert_eq!(status, 200, "{answer}");
    assert!(!answer.contains("elicitation/create"), "it is not asked: {answer}");
    assert!(answer.contains("not-approved"), "a relayed yes installs nothing: {answer}");
}
