//! The official inspector's command line against `sinew mcp` over standard streams.

use std::process::Output;

use serde_json::{Value, json};
use sinew_testkit::{NpmPackages, TestMachine};

use super::conformance::machine;
use super::node::{protocol_tools, said};
use super::tools::with_workshop;

const SINEW: &str = env!("CARGO_BIN_EXE_sinew");

/// Runs the inspector over a server that is started by these words.
fn inspect(node: &NpmPackages, machine: &TestMachine, server: &[&str], args: &[&str]) -> Output {
    let mut command = node.command("mcp-inspector");
    // The inspector hands few variables on, so the server sets its own.
    let bundled = format!("SINEW_BUNDLED_SKILLS_DIR={}", machine.path("bundled").display());
    command
        .args(["--cli", "env", &bundled])
        .args(server)
        .args(args)
        .args(["--format", "json", "-q"])
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"));
    command.output().expect("the inspector runs")
}

/// The result of a method.
fn result(node: &NpmPackages, machine: &TestMachine, args: &[&str]) -> Value {
    let output = inspect(node, machine, &[SINEW, "mcp"], args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", said(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one document");
    answer["result"].clone()
}

fn call(node: &NpmPackages, machine: &TestMachine, tool: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    let args =
        ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments.as_str()];
    result(node, machine, &args)["structuredContent"].clone()
}

#[test]
fn the_inspector_lists_and_calls_tools() {
    let Some(node) = protocol_tools() else { return };
    let machine = with_workshop(machine());
    for era in ["legacy", "modern"] {
        let args = ["--method", "tools/list", "--strict", "--protocol-era", era];
        let tools = result(&node, &machine, &args)["tools"].clone();
        let names: Vec<&str> = tools
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        for name in ["find_skill", "read_skill", "skill_workshop"] {
            assert!(names.contains(&name), "{era}: {names:?}");
        }
    }
    let found = call(&node, &machine, "find_skill", &json!({"message": "alpha", "limit": 2}));
    assert_eq!(found["matches"][0]["name"], "alpha", "{found}");
    let args = ["--method", "tools/call", "--tool-name", "read_skill", "--tool-arg", "name=alpha"];
    let read = result(&node, &machine, &args);
    let about = read["content"][1]["text"].as_str().unwrap_or_default();
    assert!(about.contains("references/39.md"), "{read}");
    let status = call(&node, &machine, "skill_workshop", &json!({"action": "status"}));
    assert_eq!(status["pending"], 0, "{status}");
}

#[test]
fn digests_are_verified_and_altered_bytes_are_noticed() {
    let Some(node) = protocol_tools() else { return };
    let machine = machine();
    let args =
        |era| ["--method", "skills/list", "--verify", "--require-digests", "--protocol-era", era];
    for era in ["legacy", "modern"] {
        let output = inspect(&node, &machine, &[SINEW, "mcp"], &args(era));
        assert_eq!(output.status.code(), Some(0), "{era}: {}", said(&output));
    }
    let proxy = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/altered.mjs");
    let output = inspect(&node, &machine, &["node", proxy, SINEW, "mcp"], &args("modern"));
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
}

#[test]
fn the_inspector_reads_prompts_and_folders() {
    let Some(node) = protocol_tools() else { return };
    let machine = machine();
    let prompts =
        result(&node, &machine, &["--method", "prompts/list", "--protocol-era", "modern"]);
    assert_eq!(prompts["prompts"].as_array().map(Vec::len), Some(7), "five skills and two of ours");
    let folder = ["--method", "resources/directory/read", "--uri", "skill://alpha/references"];
    let children = result(&node, &machine, &folder);
    assert_eq!(children["resources"].as_array().map(Vec::len), Some(39));
}
