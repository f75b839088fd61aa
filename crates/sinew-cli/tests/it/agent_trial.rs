//! `sinew doctor --agent`: the agent that is installed, tried against a model on loopback. Claude Code
//! and Codex come from npm; where they cannot be had, those tests say so and do not run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sinew_testkit::{NpmPackages, TestMachine};

use crate::agents::{AGENT_PACKAGES, GEMINI, GOOSE, PLUGIN_HOSTS};
use crate::support::{command, shown, sinew};

const SKILL: &str = "---\nname: photo-resizer\ndescription: Resize photos and pictures for the web; use when \
                     a user wants smaller images.\n---\n# Resize\n\nSet the width to 1200 pixels, and never \
                     enlarge a photo.\n";
const MESSAGE: &str = "please resize this photo for the web";

fn machine() -> TestMachine {
    TestMachine::new()
        .file("work/skills/photo-resizer/SKILL.md", SKILL)
        .file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}")
}

fn packages() -> Option<NpmPackages> {
    NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES)
}

/// `sinew doctor --agent` with the agents on PATH: its report, and the exit code.
fn tried(machine: &TestMachine, packages: &NpmPackages, agent: &str) -> (Value, Option<i32>) {
    let args = ["doctor", "--agent", agent, "--message", MESSAGE, "--json"];
    let output = command(machine, &args)
        .env("PATH", packages.path())
        .env("NODE_COMPILE_CACHE", packages.compile_cache())
        // The agent starts the server that its file names, on a machine that may be busy.
        .env("MCP_TIMEOUT", "60000")
        .output()
        .expect("sinew runs");
    let report = serde_json::from_slice(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    (report.unwrap_or_else(|error| panic!("{error}: {complaint}")), output.status.code())
}

/// Every file of a folder with its bytes; links stand for themselves.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    found.insert(path.display().to_string(), fs::read(&path).expect("a file"));
                }
                _ => {}
            }
        }
    }
    found
}

/// The user's files before and after: sinew may warm its own caches, and nothing else may change.
fn check_untouched(before: &BTreeMap<String, Vec<u8>>, machine: &TestMachine) {
    let own = machine.path("home/.sinew").display().to_string();
    let others = |files: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        let others = files.iter().filter(|(path, _)| !path.starts_with(&own));
        others.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    };
    let after = files(&machine.path("home"));
    let (before, now) = (others(before), others(&after));
    let changed: Vec<&String> = now
        .keys()
        .chain(before.keys())
        .filter(|path| before.get(*path) != now.get(*path))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    // Nothing was learned, and the next `why --last` is not about the trial.
    assert!(!after.keys().any(|path| path.contains(".sinew/hooks/")), "{:?}", after.keys());
}

fn detail<'r>(report: &'r Value, area: &str, name: &str) -> &'r Value {
    let probes = report["probes"].as_array().expect("probes");
    probes
        .iter()
        .find(|probe| probe["area"] == area && probe["name"] == name)
        .unwrap_or_else(|| panic!("no {area} {name}: {report:#}"))
}

#[test]
fn an_agent_that_is_not_there_or_cannot_be_tried_is_said() {
    let machine = machine();
    let missing = sinew(&machine, &["doctor", "--agent", "codex"]);
    assert!(missing.contains("Codex is not installed: `codex` is not on PATH"), "{missing}");
    assert!(missing.ends_with("exit 4"), "{missing}");
    let window = sinew(&machine, &["doctor", "--agent", "cursor"]);
    assert!(window.contains("Cursor cannot be started for a trial"), "{window}");
    assert!(window.ends_with("exit 2"), "{window}");
    let typo = sinew(&machine, &["doctor", "--agent", "claud"]);
    assert!(typo.contains("there is no agent `claud`") && typo.ends_with("exit 2"), "{typo}");
}

/// An agent of one's own configuration keeps the meaning that `--agent` has everywhere.
#[test]
fn a_configured_agent_is_not_tried() {
    let machine = machine().file(
        "home/.sinew/config.json5",
        "{agents: {entries: {codex: {skills: ['photo-resizer']}}}}",
    );
    let seen = sinew(&machine, &["doctor", "--agent", "codex"]);
    assert!(seen.contains("settings") && seen.ends_with("exit 0"), "{seen}");
}

#[cfg(unix)]
#[test]
fn an_agent_that_hangs_is_ended_and_one_that_asks_no_model_is_reported() {
    let machine = machine().script("codex", "sleep 300");
    let args = ["doctor", "--agent", "codex", "--time-limit", "1", "--message", MESSAGE];
    let path = format!("{}:/usr/bin:/bin", machine.path("bin").display());
    let run = || command(&machine, &args).env("PATH", &path).output().expect("sinew runs");
    let hung = shown(&machine, &run());
    assert!(hung.contains("it took too long and was ended"), "{hung}");
    assert!(hung.contains("no request with the message reached the model"), "{hung}");
    assert!(hung.ends_with("exit 1"), "{hung}");
    let machine = machine.script("codex", "echo not logged in >&2\nexit 3");
    let output = command(&machine, &args).env("PATH", &path).output().expect("sinew runs");
    let failed = shown(&machine, &output);
    assert!(failed.contains("exit code 3: not logged in"), "{failed}");
}

#[test]
fn claude_code_passes_on_what_was_promised() {
    let Some(packages) = packages() else { return };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "claude-code"]).ends_with("exit 0"));
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "claude-code");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!(report["skill"], "photo-resizer");
    let arrival = report["arrival"].as_str().expect("a word");
    assert!(["text", "pointer"].contains(&arrival), "{report:#}");
    let tools = &report["tools"];
    assert_eq!(tools["dropped"], json!([]), "{tools}");
    // Those that a model needs first are there; it searches for the others.
    let arrived = tools["arrived"].to_string();
    assert!(arrived.contains("find_skill") && arrived.contains("read_skill"), "{tools}");
    let count = |list: &str| tools[list].as_array().map_or(0, Vec::len);
    assert_eq!(count("promised"), count("arrived") + count("hidden"), "{tools}");
    assert!(tools["chars"].as_u64() > Some(500), "{tools}");
    assert!(report["hook_chars"].as_u64() > Some(0), "{report:#}");
    let prompt =
        report["hooks"].as_array().expect("hooks").iter().find(|h| h["event"] == "user-prompt");
    let prompt = prompt.expect("the hook of the message");
    assert!(prompt["arrived"] == true && prompt["ms"].is_u64(), "{prompt}");
    // Without a person the call is refused, unless connecting allowed it.
    let state = report["call"]["state"].as_str().expect("a word");
    assert!(["worked", "needs-permission"].contains(&state), "{report:#}");
    // The text says the same in 80 columns.
    let args = ["doctor", "--agent", "claude-code", "--message", MESSAGE];
    let output =
        command(&machine, &args).env("PATH", packages.path()).output().expect("sinew runs");
    let text = shown(&machine, &output);
    assert!(text.contains("what was connected arrives at the model"), "{text}");
    assert!(text.contains("photo-resizer"), "{text}");
}

/// Disconnected, the same agent shows what is missing.
#[test]
fn claude_code_without_sinew_gets_nothing_of_it() {
    let Some(packages) = packages() else { return };
    let machine = machine();
    let (report, _) = tried(&machine, &packages, "claude-code");
    assert_eq!(report["tools"]["arrived"], json!([]));
    assert_eq!(report["hook_chars"], 0);
    assert_eq!(detail(&report, "tools", "server")["detail"], "not connected");
    assert_eq!(report["works"], false, "{report:#}");
}

/// Codex keeps by the path of a file which hooks a person agreed to. Here is what such an agreement
/// leaves in its configuration, asked of Codex itself.
fn trust_hooks(machine: &TestMachine, packages: &NpmPackages) {
    let mut server = Command::new(packages.program("codex"))
        .arg("app-server")
        .env("HOME", machine.path("home"))
        .env("PATH", packages.path())
        .current_dir(machine.path("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("codex runs");
    let mut input = server.stdin.take().expect("its input");
    let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines();
    let mut answer = |id: u64, request: Value| -> Value {
        writeln!(input, "{request}").expect("it reads");
        loop {
            let line = lines.next().expect("an answer").expect("text");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    };
    let client = json!({"clientInfo": {"name": "test", "version": "1"},
                        "capabilities": {"experimentalApi": true}});
    answer(1, json!({"id": 1, "method": "initialize", "params": client}));
    let listed = answer(
        2,
        json!({"id": 2, "method": "hooks/list",
                                  "params": {"cwds": [machine.path("work")]}}),
    );
    let _ = server.kill();
    let _ = server.wait();
    let hooks = listed["data"][0]["hooks"].as_array().expect("hooks").clone();
    let file = machine.path("home/.codex/config.toml");
    let mut config = fs::read_to_string(&file).expect("its file");
    for hook in hooks {
        config +=
            &format!("\n[hooks.state.{}]\ntrusted_hash = {}\n", hook["key"], hook["currentHash"]);
    }
    fs::write(file, config).expect("its file");
}

#[test]
fn codex_runs_hooks_only_where_they_are_trusted_and_says_so() {
    let Some(packages) = packages() else { return };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "codex"]).ends_with("exit 0"));
    let (report, code) = tried(&machine, &packages, "codex");
    assert_eq!((code, &report["works"]), (Some(1), &json!(false)), "{report:#}");
    let called = detail(&report, "hooks", "called");
    assert_eq!(called["detail"], "none was called", "{report:#}");
    assert!(called["remedy"].as_str().is_some_and(|text| text.contains("trust")), "{called}");

    trust_hooks(&machine, &packages);
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "codex");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!(report["tools"]["dropped"], json!([]));
    assert_eq!(report["call"]["state"], "worked", "{report:#}");
    assert!(report["hook_chars"].as_u64() > Some(0), "{report:#}");
}

/// Gemini CLI is large, so it is asked where there is time.
#[test]
fn gemini_passes_on_what_was_promised() {
    if std::env::var_os("SINEW_LONG").is_none() {
        return;
    }
    let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "gemini", GEMINI);
    let Some(packages) = packages else { return };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "gemini"]).ends_with("exit 0"));
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "gemini");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!((&report["skill"], &report["arrival"]), (&json!("photo-resizer"), &json!("text")));
    assert_eq!(report["tools"]["dropped"], json!([]), "{report:#}");
    assert_eq!(report["call"]["state"], "worked", "{report:#}");
}

/// goose has no hook that adds to a message: its model asks, and the tools arrive.
#[test]
fn goose_passes_on_what_was_promised() {
    let Some(packages) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "goose", GOOSE) else {
        return;
    };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "goose"]).ends_with("exit 0"));
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "goose");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!(report["tools"]["dropped"], json!([]), "{report:#}");
    assert!(report["tools"]["arrived"].to_string().contains("find_skill"), "{report:#}");
    assert_eq!(report["call"]["state"], "worked", "{report:#}");
    assert_eq!(report["hook_chars"], 0, "{report:#}");
}

/// What a plugin promises is asked of the real program, with the skills that it has itself.
#[test]
fn openclaw_passes_on_what_its_plugin_promised() {
    let Some(packages) =
        NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)
    else {
        return;
    };
    let config = "{\n  // keys and channels are not lent\n  models: { providers: { own: { baseUrl:                   'http://127.0.0.1:9', apiKey: 'sk-secret', api: 'anthropic-messages', models: [] } } },\n  agents:                   { defaults: { model: { primary: 'own/m' } } },\n}\n";
    let machine = TestMachine::new()
        .file("home/.openclaw/openclaw.json", config)
        .file("home/.openclaw/workspace/skills/photo-resizer/SKILL.md", SKILL);
    assert!(sinew(&machine, &["connect", "openclaw", "--library"]).ends_with("exit 0"));
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "openclaw");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!((&report["skill"], &report["arrival"]), (&json!("photo-resizer"), &json!("text")));
    assert_eq!(report["host_listed"], 0, "library mode: {report:#}");
    assert!(report["hook_chars"].as_u64() > Some(0), "{report:#}");
}

#[test]
fn opencode_passes_on_what_its_plugin_promised() {
    let Some(packages) =
        NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)
    else {
        return;
    };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "opencode", "--mcp", "--hooks"]).ends_with("exit 0"));
    let before = files(&machine.path("home"));
    let (report, code) = tried(&machine, &packages, "opencode");
    check_untouched(&before, &machine);
    assert_eq!((code, &report["works"]), (Some(0), &json!(true)), "{report:#}");
    assert_eq!((&report["skill"], &report["arrival"]), (&json!("photo-resizer"), &json!("text")));
}

/// Library mode is a setting of the agent's own: the real program lists the core alone, and the text of a
/// skill that it no longer lists still arrives.
fn check_library_mode(agent: &str, folder: &str, options: &[&str], packages: &NpmPackages) {
    let pinned = "{hook: {deadlineMs: 10000}, skills: {prompt: {pin: ['harbour-notes']}}}";
    let mut machine = TestMachine::new()
        .file(&format!("{folder}/photo-resizer/SKILL.md"), SKILL)
        .file("home/.sinew/config.json5", pinned);
    for name in ["harbour-notes", "tide-tables", "leek-soup", "rail-letters"] {
        let about = format!("Everything about {name} that a harbour master has to know.");
        let text = format!("---\nname: {name}\ndescription: {about}\n---\n# It\n");
        machine = machine.file(&format!("{folder}/{name}/SKILL.md"), text);
    }
    let connect = |more: &[&str]| {
        let args: Vec<&str> =
            ["connect", agent].iter().chain(options).chain(more).copied().collect();
        let done = sinew(&machine, &args);
        assert!(done.ends_with("exit 0"), "{agent}: {done}");
    };
    connect(&[]);
    if agent == "codex" {
        trust_hooks(&machine, packages);
    }
    let (before, _) = tried(&machine, packages, agent);
    connect(&["--library"]);
    let (after, code) = tried(&machine, packages, agent);
    assert_eq!((code, &after["works"]), (Some(0), &json!(true)), "{agent}: {after:#}");
    let listed = |report: &Value| report["host_listed"].as_u64().expect("a number");
    assert!(listed(&before) >= 5, "{agent}: {before:#}");
    assert_eq!(listed(&before) - listed(&after), 4, "{agent}: all but the pinned one: {after:#}");
    assert_eq!((&after["skill"], &after["arrival"]), (&json!("photo-resizer"), &json!("text")));
}

#[test]
fn codex_obeys_library_mode() {
    let Some(packages) = packages() else { return };
    check_library_mode("codex", "home/.agents/skills", &[], &packages);
}

#[test]
fn opencode_obeys_library_mode() {
    let hosts = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS);
    let Some(packages) = hosts else { return };
    let folder = "home/.config/opencode/skills";
    check_library_mode("opencode", folder, &["--mcp", "--hooks"], &packages);
}

/// Gemini CLI is large, so it is asked where there is time.
#[test]
fn gemini_obeys_library_mode() {
    if std::env::var_os("SINEW_LONG").is_none() {
        return;
    }
    let gemini = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "gemini", GEMINI);
    let Some(packages) = gemini else { return };
    check_library_mode("gemini", "home/.gemini/skills", &[], &packages);
}

/// What connecting allows is called without a person.
#[test]
fn claude_code_calls_what_connecting_allowed() {
    let Some(packages) = packages() else { return };
    let machine = machine();
    assert!(sinew(&machine, &["connect", "claude-code", "--allow-read"]).ends_with("exit 0"));
    let (report, _) = tried(&machine, &packages, "claude-code");
    assert_eq!(report["call"]["state"], "worked", "{report:#}");
    let chars = report["call"]["chars"].as_u64();
    assert!(chars.is_some_and(|chars| chars <= 1_400), "{report:#}");
}
