//! `sinew serve` on a free port, and requests to it with the token that every program has.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;
use sinew_testkit::TestMachine;

use crate::support::command;

/// A server that ends with the test.
pub(crate) struct ServingProgram {
    child: Child,
    address: String,
    token: String,
}

impl ServingProgram {
    /// Starts it on this machine.
    pub(crate) fn start(machine: &TestMachine) -> Self {
        let mut child = command(machine, &["--json", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut line).expect("a line");
        let serving: Value = serde_json::from_str(&line).expect("JSON");
        let token = std::fs::read_to_string(machine.path("home/.sinew/token")).expect("a token");
        let address = serving["address"].as_str().expect("an address").to_owned();
        Self { child, address, token: token.trim().to_owned() }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The token that it asks for.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The status and the body of an answer; `headers` are further ones, a line each.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &Value,
    ) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{headers}\r\n{body}",
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
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or_default(), body.to_owned())
    }
}

impl Drop for ServingProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
