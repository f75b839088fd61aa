//! What agents wait for: `find_skill` over standard streams with 1,000 skills, goal p50 ≤ 10 ms with the
//! static model. The encoder is reported beside it.
//!
//! `cargo bench -p sinew-cli --bench surfaces`

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

const SKILLS: usize = 1_000;
const ROUNDS: usize = 301;
const GOAL: Duration = Duration::from_millis(10);
/// How long the encoder may take to compute the skill vectors before its answers are measured.
const PATIENCE: Duration = Duration::from_secs(900);

/// Words that skills are about, and what is done with them.
pub(crate) const THINGS: [&str; 25] = [
    "invoices",
    "photos",
    "calendars",
    "servers",
    "databases",
    "recipes",
    "podcasts",
    "contracts",
    "spreadsheets",
    "tickets",
    "maps",
    "passwords",
    "backups",
    "logs",
    "slides",
    "playlists",
    "mails",
    "receipts",
    "translations",
    "diagrams",
    "tests",
    "containers",
    "sensors",
    "books",
    "flights",
];
pub(crate) const DEEDS: [&str; 20] = [
    "merge",
    "rename",
    "archive",
    "compare",
    "validate",
    "summarise",
    "schedule",
    "convert",
    "search",
    "encrypt",
    "plot",
    "export",
    "clean",
    "annotate",
    "publish",
    "split",
    "monitor",
    "restore",
    "rank",
    "label",
];
const WAYS: [&str; 2] = ["by hand", "in bulk"];

pub(crate) fn run() {
    println!("find_skill over standard streams, {SKILLS} skills, {ROUNDS} messages");
    measure("static model", "{route: {model: 'static'}}", Some(GOAL));
    measure("with the encoder", "{}", None);
}

fn measure(name: &str, config: &str, goal: Option<Duration>) {
    let machine = machine().file("home/.sinew/config.json5", config);
    let mut server = Server::start(&machine);
    let begun = Instant::now();
    server.find("compare receipts");
    let first = begun.elapsed();
    // Vectors are computed behind the first answers.
    while server.find("compare receipts")["degraded"] != json!([]) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_secs(1));
    }
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let message = format!(
                "please {} my {} from last week",
                DEEDS[round % DEEDS.len()],
                THINGS[round % THINGS.len()]
            );
            let start = Instant::now();
            server.find(&message);
            start.elapsed()
        })
        .collect();
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let goal = goal.map(|goal| format!(" (goal {goal:.0?})")).unwrap_or_default();
    println!(
        "  {name:<17} p50 {:.2?}{goal}, p95 {:.2?}, p99 {:.2?}; first answer {first:.2?}",
        at(50),
        at(95),
        at(99)
    );
}

pub(crate) fn machine() -> TestMachine {
    let mut machine = TestMachine::new();
    for at in 0..SKILLS {
        let (deed, thing) = (DEEDS[at % 20], THINGS[at / 20 % 25]);
        let way = WAYS[at / 500];
        let name = format!("{deed}-{thing}-{}", at / 500);
        let body = format!("# {name}\n\n1. Look at the {thing}\n2. {deed} them {way}\n").repeat(5);
        let text = format!(
            "---\nname: {name}\ndescription: Helps to {deed} {thing} {way}. Use when {thing} pile up.\n---\n{body}"
        );
        machine = machine.file(&format!("work/skills/{name}/SKILL.md"), text);
    }
    machine
}

/// A session with `sinew mcp`.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start(machine: &TestMachine) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .arg("mcp")
            .env_clear()
            .env("HOME", machine.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
            .current_dir(machine.path("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Self { child, to, from, id: 0 };
        let who = json!({"name": "bench", "version": "1"});
        server.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who}),
        );
        server
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let frame = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.to, "{frame}").expect("sent");
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.from.read_line(&mut line).expect("an answer"), 0, "sinew ended");
            let frame: Value = serde_json::from_str(&line).expect("a frame");
            if frame["id"] == self.id {
                return frame["result"].clone();
            }
        }
    }

    fn find(&mut self, message: &str) -> Value {
        let call = json!({"name": "find_skill", "arguments": {"message": message}});
        self.ask("tools/call", call)["structuredContent"].clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
