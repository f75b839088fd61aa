//! The registry under load: 10,000 skills, 64 connections, one search after the other.
//!
//! `cargo bench -p sinew-registry --bench hub` fills a registry, asks it for ten seconds, and prints
//! searches per second and how long the slow ones took; then `wrk` does the same, where it is
//! installed. Both sides run on this machine.

use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use sinew_listener::{HttpServer, ServerOptions};
use sinew_registry::{ListenerReach, NewToken, RegistrySettings, TeamRegistry, TokenRole};
use sinew_settings::{Clock, Config, Environment};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const SKILLS: usize = 10_000;
const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(10);

/// Words that skills are made of, and that people ask for.
const THINGS: &[&str] = &[
    "weather",
    "calendar",
    "invoice",
    "photo",
    "video",
    "mail",
    "ticket",
    "database",
    "server",
    "report",
    "contract",
    "recipe",
    "travel",
    "budget",
    "meeting",
    "backup",
    "podcast",
    "garden",
    "music",
    "translation",
];
const DEEDS: &[&str] = &[
    "search",
    "merge",
    "summary",
    "export",
    "import",
    "sync",
    "alert",
    "cleanup",
    "review",
    "planner",
    "reader",
    "writer",
    "tracker",
    "converter",
    "monitor",
];

#[derive(Debug)]
struct Wall;

impl Clock for Wall {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

#[allow(clippy::print_stdout)]
fn main() {
    // `cargo test` runs benches once, to see that they start; this one takes a minute.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let shared = Path::new("/dev/shm");
    let folder = match shared.is_dir() {
        true => tempfile::tempdir_in(shared),
        false => tempfile::tempdir(),
    }
    .expect("a folder");
    let env = Environment {
        home: folder.path().to_owned(),
        cwd: folder.path().to_owned(),
        vars: Default::default(),
        os: "linux".to_owned(),
        exe: None,
        clock: Arc::new(Wall),
    };
    let database = folder.path().join("registry.db");
    let store =
        sinew_store::open(database.to_str().expect("text"), &sinew_store::StoreOptions::default())
            .expect("a store");
    let settings = RegistrySettings::read(&Config::default(), &env).expect("settings");
    let registry =
        TeamRegistry::open(&env, store, settings, ListenerReach::Loopback).expect("a registry");
    let wanted = NewToken {
        label: "bench".to_owned(),
        handle: "bench".to_owned(),
        owners: Vec::new(),
        role: TokenRole::Admin,
        expires_at: None,
    };
    let (secret, _) = registry.tokens().create(wanted, Wall.now_ms()).expect("a token");
    let server =
        HttpServer::bind(ServerOptions::loopback(0)).expect("a port").mount(registry.part());
    let running = server.start().expect("a server");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("tokio");

    let began = Instant::now();
    runtime.block_on(fill(running.address(), secret.reveal())).expect("publications");
    println!("published {SKILLS} skills in {:.1?}", began.elapsed());
    let first = runtime.block_on(first_search(running.address(), secret.reveal()));
    println!("the first search after that took {:.2?}", first.expect("an answer"));
    for connections in [1, CONNECTIONS] {
        let measured = runtime.block_on(measure(running.address(), secret.reveal(), connections));
        println!("{}", measured.expect("answers"));
    }
    println!("{}", wrk(folder.path(), running.address(), secret.reveal()));
}

/// The same questions by `wrk`, a client that needs far less of the two cores than ours.
fn wrk(folder: &Path, address: SocketAddr, token: &str) -> String {
    let list = |words: &[&str]| words.iter().map(|word| format!("'{word}',")).collect::<String>();
    let script = format!(
        "local things, deeds, at = {{{}}}, {{{}}}, 0\n\
         wrk.headers['authorization'] = 'Bearer {token}'\n\
         function request()\n\
         at = at + 1\n\
         local thing, deed = things[at % #things + 1], deeds[math.floor(at / 7) % #deeds + 1]\n\
         return wrk.format(nil, '/registry/api/v1/search?limit=25&q=' .. thing .. '+' .. deed)\n\
         end\n",
        list(THINGS),
        list(DEEDS),
    );
    let path = folder.join("searches.lua");
    std::fs::write(&path, script).expect("a script");
    let ran = Command::new("wrk")
        .args(["--threads", "1", "--latency"])
        .args(["--connections", &CONNECTIONS.to_string()])
        .args(["--duration", &format!("{}s", TIME.as_secs())])
        .arg("--script")
        .arg(path)
        .arg(format!("http://{address}/"))
        .output();
    match ran {
        Ok(said) => String::from_utf8_lossy(&said.stdout).into_owned(),
        Err(error) => format!("SKIPPED: wrk does not run: {error}"),
    }
}

async fn fill(address: SocketAddr, token: &str) -> io::Result<()> {
    const WRITERS: usize = 8;
    let next = AtomicUsize::new(0);
    let writer = || async {
        let mut stream = TcpStream::connect(address).await?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= SKILLS {
                return io::Result::Ok(());
            }
            let (head, body) = publication(address, token, number);
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body.as_bytes()).await?;
            let (status, answer) = answer(&mut stream).await?;
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
        }
    };
    let writers: [_; WRITERS] = std::array::from_fn(|_| writer());
    for done in futures_util::future::join_all(writers).await {
        done?;
    }
    Ok(())
}

fn publication(address: SocketAddr, token: &str, number: usize) -> (String, String) {
    let thing = THINGS[number % THINGS.len()];
    let deed = DEEDS[number / THINGS.len() % DEEDS.len()];
    let slug = format!("{thing}-{deed}-{number}");
    let payload = json!({
        "slug": slug, "displayName": format!("{thing} {deed}"), "version": "1.0.0",
        "changelog": "", "acceptLicenseTerms": true, "tags": ["latest"], "files": [],
    });
    let text = format!(
        "---\nname: {slug}\ndescription: Helps with the {deed} of every {thing} that number {number} \
         of the team has to look after\n---\n# Use\n\nAsk for it.\n"
    );
    let body = format!(
        "--XX\r\ncontent-disposition: form-data; name=\"payload\"\r\n\r\n{payload}\r\n--XX\r\n\
         content-disposition: form-data; name=\"files\"; filename=\"SKILL.md\"\r\n\r\n{text}\r\n--XX--\r\n"
    );
    let head = format!(
        "POST /registry/api/v1/skills HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         content-type: multipart/form-data; boundary=XX\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head, body)
}

/// How long the first search waits for what was published before.
async fn first_search(address: SocketAddr, token: &str) -> io::Result<Duration> {
    let began = Instant::now();
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /registry/api/v1/search?q=weather&limit=25 HTTP/1.1\r\nhost: {address}\r\n\
         authorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let (status, _) = answer(&mut stream).await?;
    assert_eq!(status, 200);
    Ok(began.elapsed())
}

async fn measure(address: SocketAddr, token: &str, connections: usize) -> io::Result<String> {
    let end = Instant::now() + TIME;
    let client = |number: usize| async move {
        let mut stream = TcpStream::connect(address).await?;
        let mut times: Vec<Duration> = Vec::new();
        for at in number.. {
            if Instant::now() >= end {
                break;
            }
            let (thing, deed) = (THINGS[at % THINGS.len()], DEEDS[at / 7 % DEEDS.len()]);
            let request = format!(
                "GET /registry/api/v1/search?q={thing}+{deed}&limit=25 HTTP/1.1\r\nhost: {address}\r\n\
                 authorization: Bearer {token}\r\n\r\n"
            );
            let began = Instant::now();
            stream.write_all(request.as_bytes()).await?;
            let (status, _) = answer(&mut stream).await?;
            times.push(began.elapsed());
            assert_eq!(status, 200);
        }
        io::Result::Ok(times)
    };
    let all = futures_util::future::join_all((0..connections).map(client)).await;
    let mut times: Vec<Duration> = Vec::new();
    for some in all {
        times.extend(some?);
    }
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    let mut text = String::new();
    let _ = write!(
        text,
        "{connections:>3} connections: {:>6.0} searches/s over {SKILLS} skills, p50 {:.2?}, p99 {:.2?}, slowest {:.2?}",
        times.len() as f64 / TIME.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
    );
    Ok(text)
}

/// One answer of a connection that stays open.
async fn answer(stream: &mut TcpStream) -> io::Result<(u16, Vec<u8>)> {
    let mut bytes = Vec::with_capacity(32 << 10);
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        while bytes.len() < end + 4 + length {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        return Ok((status, bytes.split_off(end + 4)));
    }
}
