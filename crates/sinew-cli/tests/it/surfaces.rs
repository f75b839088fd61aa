//! One message, one answer: the terminal, HTTP and MCP say the same.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::mcp::client::Client;
use crate::support::{command, json as cli_json};

/// Messages with a match, a short list, an unavailable skill, or none.
const MESSAGES: [&str; 12] = [
    "use the ledger skill",
    "these photos are too big to email, shrink them",
    "move my meeting to friday",
    "a soup for ten people",
    "invoice for the plumber",
    "write a complaint to the railway",
    "$weather for tomorrow in Bergen",
    "rain and wind in Bergen",
    "what is on today, and do I need an umbrella?",
    "thanks, that was great",
    "🙂🙂",
    "zxqv wmpf",
];

/// Skills of different trades; the one about the weather lacks its program. Words and static vectors
/// rank, so that no surface waits for vectors that another one has.
fn machine() -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{route: {model: 'static'}}");
    for (name, description, more) in [
        ("pictures", "Resize, crop and compress photos. Use when files are too large to send.", ""),
        ("calendar", "Read and change appointments and meetings.", ""),
        ("soup", "Recipes for soups and stews, with shopping lists.", ""),
        ("ledger", "Keep the books in plain text: invoices, expenses and yearly accounts.", ""),
        ("letters", "Write formal letters and complaints, ready to print.", ""),
        (
            "weather",
            "Forecasts for any place, rain and wind warnings",
            "metadata: {openclaw: {requires: {bins: [wx]}}}\n",
        ),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n");
        machine = machine.file(&format!("work/skills/{name}/SKILL.md"), text);
    }
    machine
}

/// `sinew serve` on a free port.
struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Served {
    fn start(machine: &TestMachine) -> Self {
        let mut child = command(machine, &["--json", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let serving: Value = serde_json::from_str(&line).expect("JSON");
        let token = std::fs::read_to_string(machine.path("home/.sinew/token")).expect("a token");
        Self {
            child,
            address: serving["address"].as_str().expect("an address").to_owned(),
            token: token.trim().to_owned(),
        }
    }

    fn route(&self, message: &str) -> Value {
        let body = json!({"message": message, "limit": 5}).to_string();
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        write!(
            stream,
            "POST /api/v1/route HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap_or_else(|_| panic!("JSON: {answer}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What every surface has to agree on.
fn essence(answer: &Value) -> Value {
    let of = |list: &Value, fields: &[&str]| -> Vec<Value> {
        let items = list.as_array().into_iter().flatten();
        items.map(|item| fields.iter().map(|field| item[field].clone()).collect()).collect()
    };
    json!({
        "decision": answer["decision"],
        "reason": answer["reason"],
        "offered": answer["offered"],
        "matches": of(&answer["matches"], &["name", "probability", "parts", "location"]),
        "unavailable": of(&answer["unavailable"], &["name", "missing", "command"]),
    })
}

#[test]
fn terminal_http_and_mcp_give_the_same_answer() {
    let machine = machine();
    let served = Served::start(&machine);
    let mut client = Client::session(&machine, json!({}));
    let (mut decisions, mut unavailable) = (Vec::new(), 0);
    for message in MESSAGES {
        let terminal = cli_json(&machine, &["find", "--top", "5", message]);
        let over_mcp = client.data("find_skill", json!({"message": message, "limit": 5}));
        assert_eq!(essence(&served.route(message)), essence(&terminal), "HTTP: {message}");
        assert_eq!(essence(&over_mcp), essence(&terminal), "MCP: {message}");
        decisions.push(terminal["decision"].as_str().expect("a decision").to_owned());
        unavailable += terminal["unavailable"].as_array().map_or(0, Vec::len);
    }
    for decision in ["match", "none"] {
        assert!(decisions.iter().any(|made| made == decision), "{decisions:?}");
    }
    assert!(unavailable > 0, "a message is about the weather");
    let text = client.call("find_skill", json!({"message": MESSAGES[6]}));
    let text = text["content"][0]["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("weather would fit, but cannot be used yet"), "{text}");
    assert!(
        text.contains("sinew why weather") && !text.contains("no installed skill fits"),
        "{text}"
    );
}
