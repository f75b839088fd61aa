//! A listener without any of sinew's parts: host names, readiness, and a graceful stop.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sinew_listener::{ConnectionLimits, HttpServer, ServeError, ServerOptions};
use url::Url;

/// Sends bytes as they are; the status that came back.
fn raw(address: SocketAddr, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).expect("the server answers");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn a_server_that_other_machines_reach_needs_a_token() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let options =
        ServerOptions { listen: everywhere, public_url: None, has_token: false, per_second: None };
    assert!(matches!(HttpServer::bind(options.clone()), Err(ServeError::Unguarded { .. })));
    assert!(HttpServer::bind(ServerOptions { has_token: true, ..options }).is_ok());
}

#[test]
fn behind_a_proxy_it_answers_for_its_public_name() {
    let mut options = ServerOptions::loopback(0);
    options.public_url = Some(Url::parse("https://skills.example.org").expect("an address"));
    let server = HttpServer::bind(options).expect("a port");
    assert_eq!(server.origin(), "https://skills.example.org");
    let running = server.start().expect("a server");
    let ask = |host: &str| {
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        raw(running.address(), &request)
    };
    assert_eq!(ask("skills.example.org"), 200);
    assert_eq!(ask("skills.example.org:443"), 200);
    assert_eq!(ask("skills.example.org:80"), 421);
}

#[test]
fn a_stop_waits_for_requests_in_progress() {
    let slow = axum::Router::new().route(
        "/slow",
        axum::routing::get(|| async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            "done"
        }),
    );
    let part = sinew_listener::ServerPart::new("slow", slow);
    let running = HttpServer::bind(ServerOptions::loopback(0))
        .expect("a port")
        .mount(part)
        .start()
        .expect("a server");
    let address = running.address();
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET /slow HTTP/1.1\r\nhost: {address}\r\n\r\n").expect("a request");
    std::thread::sleep(std::time::Duration::from_millis(100));
    running.stop().expect("an end");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.ends_with("done"), "{answer}");
    assert!(TcpStream::connect(address).is_err(), "the port is closed");
}

/// Whether a connection is answered: one beyond the share of its address is hung up on.
fn is_answered(stream: &mut TcpStream, address: SocketAddr) -> bool {
    let _ = write!(stream, "GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).is_ok() && answer.ends_with(b"200")
}

#[test]
fn an_address_has_a_share_of_the_connections_and_silence_ends() {
    let limits = ConnectionLimits {
        from_loopback: 3,
        head: Duration::from_millis(300),
        ..ConnectionLimits::default()
    };
    let server = HttpServer::bind(ServerOptions::loopback(0)).expect("a port").limits(limits);
    let running = server.start().expect("a server");
    let address = running.address();
    let connect = || TcpStream::connect(address).expect("the system accepts");
    let mut silent = [connect(), connect(), connect()];
    assert!(!is_answered(&mut connect(), address), "its share is taken");
    for stream in &mut silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    // The places are given back where the silent ones end, a moment after their clients see it.
    while !is_answered(&mut connect(), address) {
        std::thread::sleep(Duration::from_millis(20));
    }
}
