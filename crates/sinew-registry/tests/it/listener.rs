//! What applies to every part: host names, origins, caps, and a graceful stop.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use sinew_listener::{HttpServer, ServerOptions};
use sinew_registry::TokenRole;

use super::support::Team;

/// Sends bytes as they are; the status that came back.
fn raw(address: SocketAddr, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).expect("the server answers");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn other_names_and_other_sites_are_refused() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let address = team.running.address();
    let (own, port) = (address.to_string(), address.port());
    let local = format!("localhost:{port}");
    let bearer = format!("authorization: Bearer {token}\r\n");
    let cases = [
        // host, origin, method, content type, status
        (own.as_str(), "", "GET", "", 200),
        (&local, "", "GET", "", 200),
        (&own.to_uppercase(), "", "GET", "", 200),
        ("evil.example", "", "GET", "", 421),
        ("127.0.0.1", "", "GET", "", 421),
        (&format!("127.0.0.1.:{port}"), "", "GET", "", 421),
        (&format!("evil.example:{port}"), "", "GET", "", 421),
        (&format!("{own}@evil.example"), "", "GET", "", 421),
        (&own, &format!("http://{own}"), "GET", "", 200),
        (&own, &format!("http://{local}"), "GET", "", 200),
        (&own, "http://evil.example", "GET", "", 403),
        (&own, "null", "GET", "", 403),
        (&own, &format!("https://{own}"), "GET", "", 403),
        (&own, "http://127.0.0.1", "GET", "", 403),
        (&own, "http://evil.example", "POST", "application/json", 403),
        // A form that a page may send without a preflight request is refused.
        (&own, "", "POST", "text/plain", 415),
        (&own, "", "POST", "application/x-www-form-urlencoded", 415),
        (&own, "", "POST", "application/json", 200),
    ];
    assert_eq!(team.publish_text(&token, "demo-skill", "1.0.0", "hello").status, 200);
    for (host, origin, method, kind, status) in cases {
        let path = if method == "GET" {
            "/registry/api/v1/whoami"
        } else {
            "/registry/api/v1/stars/demo-skill"
        };
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n{bearer}connection: close\r\n");
        if !origin.is_empty() {
            request.push_str(&format!("origin: {origin}\r\n"));
        }
        if !kind.is_empty() {
            request.push_str(&format!("content-type: {kind}\r\ncontent-length: 2\r\n"));
        }
        request.push_str("\r\n");
        if !kind.is_empty() {
            request.push_str("{}");
        }
        assert_eq!(raw(address, &request), status, "{request}");
    }
    for head in ["", "host: a\r\nhost: b\r\n", &format!("host: {own}\r\nhost: evil\r\n")] {
        let request = format!("GET /healthz HTTP/1.1\r\n{head}connection: close\r\n\r\n");
        assert!(matches!(raw(address, &request), 400 | 421), "{request}");
    }
    // No header lets other pages read, because reading is not public.
    assert_eq!(team.get("/api/v1/whoami", &token).header("access-control-allow-origin"), None);
}

#[test]
fn a_caller_without_a_token_reads_what_is_public_and_only_that() {
    let team = Team::public();
    let token = team.token(TokenRole::Publish, "alice");
    assert_eq!(team.publish_text(&token, "demo-skill", "1.0.0", "hello").status, 200);
    let elsewhere = [("origin", "https://other.example")];
    let read = team.send("GET", "/api/v1/skills/demo-skill", "", &elsewhere, b"");
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, Some("*")));
    let star = team.send("POST", "/api/v1/stars/demo-skill", &token, &elsewhere, b"{}");
    assert_eq!(star.status, 403);
    let json = [("content-type", "application/json")];
    let star = team.send("POST", "/api/v1/stars/demo-skill", "", &json, b"{}");
    star.refused(401, "API token is missing");
}

#[test]
fn health_needs_no_token_and_readiness_says_why_not() {
    let team = Team::new();
    assert_eq!(team.get("!/healthz", "").text(), "ok\n");
    assert_eq!(team.get("!/readyz", "").text(), "ready\n");
    let part = sinew_listener::ServerPart::new("broken", axum::Router::new())
        .ready(|| Err("the disk is gone".to_owned()));
    let server = HttpServer::bind(ServerOptions::loopback(0)).expect("a port").mount(part);
    let running = server.start().expect("a server");
    let host = running.address();
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    assert_eq!(raw(host, &request), 503);
}

#[test]
fn bodies_have_caps_and_answers_have_headers() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    let json = [("content-type", "application/json")];
    let large = vec![b' '; sinew_listener::MAX_BODY + 1];
    let reply = team.send("POST", "/api/v1/skills/-/upload-url", &token, &json, &large);
    assert_eq!(reply.status, 413);
    let reply = team.get("/api/v1/whoami", &token);
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("content-type", "application/json"),
        ("x-ratelimit-limit", "12000000"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    assert_eq!(team.get("/api/v1/nothing", &token).status, 404);
    assert_eq!(team.get("/../../etc/passwd", &token).status, 404);
}

#[test]
fn clients_that_say_nothing_do_not_keep_others_waiting() {
    let team = Team::new();
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(team.running.address()).expect("a connection");
            stream.write_all(b"GET /healthz HTT").expect("half a request");
            stream
        })
        .collect();
    assert_eq!(team.get("!/healthz", "").status, 200);
    drop(silent);
}
