//! The description against the server, by a program that tries what people do not: `schemathesis`.
//!
//! It is installed into a folder below `target/` where Python and the package index can be reached;
//! elsewhere the test says that it did not run.

use std::fs;

use sinew_listener::ServerOptions;
use sinew_testkit::PythonPackages;

use crate::support::Server;

/// The version whose checks were read.
const VERSION: &str = "schemathesis==4.32.5";

#[test]
fn every_request_gets_an_answer_that_was_described() {
    let target = env!("CARGO_TARGET_TMPDIR");
    let Some(python) = PythonPackages::get(target, "schemathesis", &[VERSION]) else { return };
    let server = Server::new();
    let bound = sinew_listener::HttpServer::bind(ServerOptions::loopback(0)).expect("an address");
    let running = bound.mount(sinew_web::part(&server.app)).start().expect("a server");
    let machine_home = server.machine.path("home");
    let description = format!("{}/api/v1/openapi.json", running.origin());
    let cases = if std::env::var_os("SINEW_LONG").is_some() { 2_000 } else { 300 };
    let operations = 30;
    let report = server.machine.path("report.txt");
    let output = python
        .command("schemathesis")
        .current_dir(server.machine.root())
        .env("HOME", machine_home)
        .env("NO_COLOR", "1")
        .args(["run", &description])
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        .args(["--max-examples", &cases_each(cases, operations).to_string()])
        .args(["--phases", "examples,coverage,fuzzing"])
        // A stream does not end, so a client that waits for its end would hang.
        .args(["--exclude-path", "/api/v1/events"])
        // It would ask registries on the net.
        .args(["--exclude-path-regex", "^/api/v1/registry/(search|install|update)$"])
        .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,unsupported_method"])
        .args(["--seed", "20250601", "--request-timeout", "30", "--no-color"])
        .output()
        .expect("schemathesis runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    fs::write(&report, &said).expect("a report");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let tried = generated(&said).unwrap_or_else(|| panic!("no count in {said}"));
    assert!(tried >= cases, "{tried} of {cases} cases:\n{said}");
}

/// How many cases a report says were tried: `Test cases:`, and `1234 generated, …` below it.
fn generated(report: &str) -> Option<usize> {
    let mut lines = report.lines().skip_while(|line| line.trim() != "Test cases:");
    let line = lines.nth(1)?;
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}

/// So many tries of each operation that all of them together are enough.
fn cases_each(cases: usize, operations: usize) -> usize {
    cases.div_ceil(operations)
}
