//! `POST /api/v1/route` over 1,000 skills: goal 3,000 requests a second at a p99 of at most 20 ms with the
//! static model. The encoder is reported beside it. Clients and server share the machine.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::mcp::{DEEDS, THINGS, machine};

/// Connections that ask at the same time.
const CLIENTS: usize = 8;
/// How long is measured.
const LASTS: Duration = Duration::from_secs(8);
/// How long the encoder may take to compute the skill vectors before its answers are measured.
const PATIENCE: Duration = Duration::from_secs(900);

pub(crate) fn run() {
    println!("POST /api/v1/route over 1,000 skills, {CLIENTS} connections");
    measure("static model", "{route: {model: 'static'}}", " (goal 3000, p99 20 ms)");
    measure("with the encoder", "{}", "");
}

fn measure(name: &str, config: &str, goal: &str) {
    let machine = machine().file("home/.sinew/config.json5", config);
    let server = Server::start(&machine);
    let begun = Instant::now();
    while server.connect().route("compare receipts")["degraded"] != json!([])
        && begun.elapsed() < PATIENCE
    {
        thread::sleep(Duration::from_secs(1));
    }
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let mut connection = server.connect();
            thread::spawn(move || {
                let mut times = Vec::new();
                let mut round = client;
                while start.elapsed() < LASTS {
                    let (deed, thing) = (DEEDS[round % 20], THINGS[round % 25]);
                    let asked = Instant::now();
                    connection.route(&format!("please {deed} my {thing} from last week"));
                    times.push(asked.elapsed());
                    round += 1;
                }
                times
            })
        })
        .collect();
    let mut times: Vec<Duration> =
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect();
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "  {name:<17} {rate:.0} requests/s{goal}, p50 {:.2?}, p95 {:.2?}, p99 {:.2?}",
        at(50),
        at(95),
        at(99)
    );
}

/// A `sinew serve`.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(machine: &TestMachine) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .env_clear()
            .env("HOME", machine.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
            .current_dir(machine.path("work"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        let token = fs::read_to_string(machine.path("home/.sinew/token")).expect("a token");
        let address = said["address"].as_str().expect("an address").to_owned();
        Self { child, address, token: token.trim().to_owned() }
    }

    fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let head = format!(
            "POST /api/v1/route HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
            self.address, self.token
        );
        Connection { stream: BufReader::new(stream), head }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that is kept open.
struct Connection {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Connection {
    fn route(&mut self, message: &str) -> Value {
        let body = json!({"message": message}).to_string();
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.get_mut().write_all(request.as_bytes()).expect("sent");
        let mut length = 0;
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a status");
        assert!(line.contains(" 200 "), "{line}");
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a header");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).expect("a body");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}
