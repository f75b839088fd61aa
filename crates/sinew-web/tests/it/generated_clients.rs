//! The description as generators of clients read it: the rules of OpenAPI 3.1, a client in Python that
//! calls a running server, and types for TypeScript that compile.
//!
//! The generators are installed below `target/` where Python, npm and their indexes can be reached;
//! elsewhere the tests say that they did not run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use sinew_listener::ServerOptions;
use sinew_testkit::{NpmPackages, PythonPackages};

use crate::support::Server;

const PYTHON: &[&str] = &["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"];
const NPM: &[&str] = &["openapi-typescript@7.13.0", "typescript@5.9.3"];

/// What a Python program does with the client: it asks for the version, routes a message and reads a
/// refusal.
const PYTHON_PROGRAM: &str = r#"
import sys
from sinew_client import AuthenticatedClient
from sinew_client.api.route import routed
from sinew_client.api.server import version
from sinew_client.api.skills import snapshot
from sinew_client.models import RouteBody

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
about = version.sync(client=client)
assert about is not None, "a version"
answer = routed.sync(client=client, body=RouteBody(message="write release notes"))
assert answer.matches[0].name == "release-notes", answer
refused = routed.sync_detailed(client=client, body=RouteBody(message=""))
assert refused.status_code == 400, refused
skills = snapshot.sync(client=client)
print(answer.decision, len(skills.items))
"#;

/// What a TypeScript program says of the types: the compiler checks it.
const TYPESCRIPT_PROGRAM: &str = r#"
import type { components, paths } from "./sinew";

type Answer = components["schemas"]["RouteAnswer"];
type Responses = paths["/api/v1/route"]["post"]["responses"];
type Routed = Responses[200]["content"]["application/json"];
type Problem = Responses["4XX"]["content"]["application/problem+json"];

export function names(answer: Routed): string[] {
  const same: Answer = answer;
  return same.matches.map((found) => found.name);
}

export function hint(problem: Problem): string {
  return problem.hint ?? problem.detail;
}
"#;

fn said(output: &std::process::Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program runs");
    let said = said(&output);
    assert!(output.status.success(), "{command:?}:\n{said}");
    said
}

/// The description, fetched without a token, in a folder of its own.
fn description(server: &Server, origin: &str) -> std::path::PathBuf {
    let address = format!("{origin}/api/v1/openapi.json");
    let text = fetched(&address);
    let file = server.machine.path("openapi.json");
    fs::write(&file, text).expect("a file");
    file
}

/// A plain request, as a generator makes it.
fn fetched(address: &str) -> String {
    use std::io::{Read as _, Write as _};

    let rest = address.strip_prefix("http://").expect("an address");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = std::net::TcpStream::connect(host).expect("a server");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

#[test]
fn a_python_client_is_generated_from_a_valid_description_and_works() {
    let target = env!("CARGO_TARGET_TMPDIR");
    let Some(python) = PythonPackages::get(target, "openapi-python", PYTHON) else { return };
    let server = Server::new();
    let bound = sinew_listener::HttpServer::bind(ServerOptions::loopback(0)).expect("an address");
    let running = bound.mount(sinew_web::part(&server.app)).start().expect("a server");
    let file = description(&server, running.origin());
    let valid = run(python.command("openapi-spec-validator").arg(&file));
    assert!(valid.contains("OK"), "{valid}");
    let out = server.machine.path("client");
    let config = server.machine.path("generator.yml");
    fs::write(
        &config,
        "project_name_override: sinew-client\npackage_name_override: sinew_client\n",
    )
    .expect("a file");
    run(python
        .command("openapi-python-client")
        .args(["generate", "--meta", "none", "--path"])
        .arg(&file)
        .arg("--config")
        .arg(&config)
        .arg("--output-path")
        .arg(out.join("sinew_client")));
    let program = out.join("program.py");
    fs::write(&program, PYTHON_PROGRAM).expect("a program");
    let told = run(python
        .command("python")
        .arg(&program)
        .args([running.origin(), server.token.as_str()])
        .env("PYTHONPATH", &out));
    assert!(told.contains("match") || told.contains("shortlist"), "{told}");
}

#[test]
fn typescript_compiles_what_is_generated_for_it() {
    let Some(node) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "openapi-typescript", NPM)
    else {
        return;
    };
    let server = Server::new();
    let bound = sinew_listener::HttpServer::bind(ServerOptions::loopback(0)).expect("an address");
    let running = bound.mount(sinew_web::part(&server.app)).start().expect("a server");
    let file = description(&server, running.origin());
    let folder = server.machine.path("typescript");
    fs::create_dir_all(&folder).expect("a folder");
    let types: &Path = &folder.join("sinew.ts");
    run(node.command("openapi-typescript").arg(&file).arg("--output").arg(types));
    fs::write(folder.join("program.ts"), TYPESCRIPT_PROGRAM).expect("a program");
    run(node
        .command("tsc")
        .args(["--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler"])
        .args(["--module", "esnext"])
        .arg(folder.join("program.ts")));
}
