//! The whole server on a real socket: host names, origins, sizes and time limits.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sinew_listener::{RunningServer, ServerOptions};

use crate::support::Server;

fn start(server: &Server) -> RunningServer {
    let bound = sinew_listener::HttpServer::bind(ServerOptions::loopback(0)).expect("an address");
    bound.mount(sinew_web::part(&server.app)).start().expect("a server")
}

/// Sends bytes as they are and reads what comes back.
fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("patience");
    // A server that refuses early may close before everything is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[test]
fn names_and_origins_of_others_are_refused() {
    let server = Server::new();
    let running = start(&server);
    let (at, token) = (running.address(), &server.token);
    let ask = |host: &str, more: &str| {
        let request = format!(
            "GET /api/v1/version HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{more}\r\n"
        );
        status(&raw(at, &request))
    };
    assert_eq!(ask(&at.to_string(), ""), 200);
    assert_eq!(ask(&format!("localhost:{}", at.port()), ""), 200);
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example"] {
        assert_eq!(ask(host, ""), 421, "{host}: a name that was bound to this address");
    }
    let own = format!("Origin: http://{at}\r\n");
    assert_eq!(ask(&at.to_string(), &own), 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let origin = format!("Origin: {origin}\r\n");
        assert_eq!(ask(&at.to_string(), &origin), 403, "{origin}");
    }
}

/// A page of another site sends the cookie and nothing else that it knows.
#[test]
fn forms_of_other_sites_are_refused() {
    let server = Server::new();
    let running = start(&server);
    let at = running.address();
    let code = server.app.access().sign_in_code().expect("a code");
    let door = raw(
        at,
        &format!("GET /auth?once={code} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"),
    );
    let cookie = door.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let cookie = cookie.split(';').next().expect("its value");
    let post = |origin: &str| {
        let body = "slug=x";
        raw(
            at,
            &format!(
                "POST /cortex/blacklist HTTP/1.1\r\nHost: {at}\r\nCookie: {cookie}\r\n{origin}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            ),
        )
    };
    assert_eq!(status(&post("Origin: http://evil.example\r\n")), 403);
    assert_eq!(status(&post("")), 403);
    assert_eq!(status(&post(&format!("Origin: http://{at}\r\n"))), 403, "our word is missing");
}

#[test]
fn a_body_that_is_too_large_is_not_read() {
    let server = Server::new();
    let running = start(&server);
    let (at, token) = (running.address(), &server.token);
    let body = format!("{{\"text\": \"{}\"}}", "x".repeat((1 << 20) + 100));
    let answer = raw(
        at,
        &format!(
            "POST /api/v1/scan HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ),
    );
    assert_eq!(status(&answer), 413, "{answer}");
    assert!(answer.contains("application/problem+json"), "{answer}");
}

/// A slow client does not hold up the others, and is not waited for without end.
#[test]
fn a_slow_client_waits_alone() {
    let server = Server::new();
    let running = start(&server);
    let (at, token) = (running.address(), &server.token);
    let slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(at).expect("a connection");
            let part = format!("POST /api/v1/route HTTP/1.1\r\nHost: {at}\r\nContent-Le");
            stream.write_all(part.as_bytes()).expect("a part of a head");
            stream
        })
        .collect();
    let request = format!(
        "GET /api/v1/version HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(status(&raw(at, &request)), 200);
    drop(slow);
}

/// A client that stops in the middle of a head or a body is cut off.
#[test]
fn a_client_that_never_ends_is_cut_off() {
    let server = Server::new();
    let running = start(&server);
    let (at, token) = (running.address(), &server.token);
    let head = format!("POST /api/v1/route HTTP/1.1\r\nHost: {at}\r\n");
    let body = format!(
        "{head}Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    let begun: Vec<TcpStream> = [head, body]
        .iter()
        .map(|part| {
            let mut stream = TcpStream::connect(at).expect("a connection");
            stream.write_all(part.as_bytes()).expect("a part of a request");
            stream
        })
        .collect();
    for mut stream in begun {
        // Longer than any limit of the server: a connection that is kept fails here.
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an end");
        assert!(!answer.contains(" 200 "), "{answer}");
    }
}

#[test]
fn it_is_alive_at_once_and_ready_when_the_catalog_is_read() {
    let server = Server::new();
    let running = start(&server);
    let at = running.address();
    let get = |path: &str| {
        raw(at, &format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n"))
    };
    server.app.watch();
    assert_eq!(status(&get("/healthz")), 200);
    let first = get("/readyz");
    assert!([200, 503].contains(&status(&first)), "{first}");
    if status(&first) == 503 {
        assert!(first.contains("the catalog is being read"), "{first}");
    }
    let mut waited = 0;
    while status(&get("/readyz")) != 200 {
        waited += 1;
        assert!(waited < 400, "never ready");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn answers_say_how_they_may_be_used() {
    let server = Server::new();
    let running = start(&server);
    let (at, token) = (running.address(), &server.token);
    let answer = raw(at, &format!(
        "GET /api/v1/version HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    ))
    .to_lowercase();
    for header in [
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "content-security-policy: default-src 'none'",
    ] {
        assert!(answer.contains(header), "{header} in {answer}");
    }
}

/// Where others can reach the server, one client has its share of each second.
#[test]
fn a_client_from_elsewhere_that_comes_too_fast_is_told_to_wait() {
    let server = Server::new();
    let serve = |listen: [u8; 4]| {
        let listen = SocketAddr::from((listen, 0));
        let options = ServerOptions {
            listen,
            has_token: true,
            per_second: Some(3),
            ..ServerOptions::loopback(0)
        };
        let bound = sinew_listener::HttpServer::bind(options).expect("an address");
        bound.mount(sinew_web::part(&server.app)).start().expect("a server")
    };
    let answers = |running: &RunningServer| {
        let at = SocketAddr::from(([127, 0, 0, 1], running.address().port()));
        let token = &server.token;
        let ask = |more: &str| {
            format!(
                "GET /api/v1/version HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {token}\r\n{more}\r\n"
            )
        };
        // All at once: however slow the machine, they arrive faster than three a second.
        raw(at, &format!("{}{}", ask("").repeat(49), ask("Connection: close\r\n")))
    };
    let count =
        |answers: &str, status: u16| answers.matches(&format!("HTTP/1.1 {status} ")).count();
    let elsewhere = answers(&serve([0, 0, 0, 0]));
    assert!(count(&elsewhere, 200) >= 3 && count(&elsewhere, 429) > 0, "{elsewhere}");
    assert!(elsewhere.to_lowercase().contains("retry-after: 1"), "{elsewhere}");
    assert!(elsewhere.contains("application/problem+json"), "{elsewhere}");
    let here = answers(&serve([127, 0, 0, 1]));
    assert_eq!((count(&here, 200), count(&here, 429)), (50, 0));
}
