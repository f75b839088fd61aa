//! Plugins for agents without commands as hooks: the files that the program carries, and what they do in
//! the real OpenClaw and opencode, against a model on loopback.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use sinew_testkit::{AgentModel, NpmPackages, TestMachine};

use crate::agents::PLUGIN_HOSTS;
use crate::hook::settle;
use crate::support::{json, sinew};

const SKILL: &str = "---\nname: photo-resizer\ndescription: Resize photos and pictures for the web; use when \
                     smaller images are wanted.\n---\n# Resize\n\nHalve it with the blue-harbour method.\n";
/// OpenClaw's hooks read OpenClaw's own file, which knows nothing of a slow machine.
const HOOK_CONFIG: &str = "home/hooks.json5";
const MESSAGE: &str = "please resize this photo for the web";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program carries what `integrations/` holds. `SINEW_UPDATE=1` copies it.
#[test]
fn the_program_carries_the_plugins() {
    for file in [
        "openclaw/package.json",
        "openclaw/openclaw.plugin.json",
        "openclaw/index.js",
        "opencode/sinew.js",
        "openpocket/SKILL.md",
    ] {
        let ours = workspace().join("integrations").join(file);
        let carried = workspace().join("crates/sinew-connect/data").join(file);
        if std::env::var_os("SINEW_UPDATE").is_some() {
            fs::copy(&ours, &carried).expect("a copy");
        }
        let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        assert!(text(&ours) == text(&carried), "{file}: SINEW_UPDATE=1 copies it");
    }
}

#[test]
fn plugins_are_put_in_place_and_taken_away() {
    let config = "// mine\n{\n  plugins: { allow: ['other'] },\n}\n";
    let machine = TestMachine::new().file("home/.openclaw/openclaw.json", config);
    let done = sinew(&machine, &["connect", "openclaw"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let folder = machine.path("home/.sinew/integrations/openclaw");
    for file in ["index.js", "package.json", "openclaw.plugin.json"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let written = fs::read_to_string(machine.path("home/.openclaw/openclaw.json")).expect("a file");
    for word in ["allowConversationAccess", "integrations/openclaw", "--profile", "\"sinew\""] {
        assert!(written.contains(word), "{word}: {written}");
    }
    assert!(sinew(&machine, &["connect", "openclaw"]).contains("unchanged"));
    sinew(&machine, &["disconnect", "openclaw"]);
    let after = fs::read_to_string(machine.path("home/.openclaw/openclaw.json")).expect("a file");
    assert_eq!(after, config);
    assert!(!machine.path("home/.sinew/integrations").exists(), "our folders go, too");

    let machine = TestMachine::new();
    sinew(&machine, &["connect", "opencode"]);
    let plugin = machine.path("home/.config/opencode/plugins/sinew.js");
    let text = fs::read_to_string(&plugin).expect("a plugin");
    assert!(text.contains("const PROGRAM = \"/"), "it names the program: {text}");
    // What the user changed is the user's.
    fs::write(&plugin, format!("{text}// mine\n")).expect("written");
    let kept = sinew(&machine, &["disconnect", "opencode"]);
    assert!(kept.contains("changed since") && plugin.is_file(), "{kept}");
}

/// A model that reads a file, with what the agent calls that, and the packages.
fn world(tool: &str, input: Value) -> Option<(NpmPackages, AgentModel)> {
    let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)?;
    Some((packages, AgentModel::calling_tool(tool, input)))
}

/// The turn's tool calls and its end arrived: the skill counts as brought and as read.
fn check_usage(machine: &TestMachine, agent: &str) {
    settle(machine);
    let usage = json(machine, &["usage"]);
    let row = &usage["rows"][0];
    assert_eq!(row["name"], "photo-resizer", "{agent}: {usage}");
    for count in ["brought", "read"] {
        assert!(row[count].as_u64() >= Some(1), "{agent}: {count}: {usage}");
    }
    let by_agent = json(machine, &["usage", "--by", "agent"]);
    assert_eq!(by_agent["rows"][0]["name"], agent, "{by_agent}");
}

fn run(packages: &NpmPackages, machine: &TestMachine, program: &str, args: &[&str]) -> Output {
    let mut agent = packages.command(program);
    agent.args(args).env_clear().env("PATH", packages.path()).env("HOME", machine.path("home"));
    if machine.path(HOOK_CONFIG).is_file() {
        agent.env("SINEW_CONFIG", machine.path(HOOK_CONFIG));
    }
    agent.env("NODE_COMPILE_CACHE", packages.compile_cache());
    agent.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    agent.current_dir(machine.path("work")).stdin(Stdio::null());
    agent.output().expect("the agent runs")
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// The request that carries the message.
fn request(model: &AgentModel) -> Value {
    let requests = model.requests();
    let with_message = requests.into_iter().filter(|request| request.to_string().contains(MESSAGE));
    let longest = with_message.max_by_key(|request| request.to_string().len());
    longest.expect("the message in a request")
}

fn openclaw_config(model: &AgentModel) -> String {
    format!(
        "{{\n  // a model on this machine\n  models: {{ providers: {{ loop: {{ baseUrl: '{}', apiKey: 'none', api: \
         'anthropic-messages', models: [{{ id: 'm', name: 'm', reasoning: false, input: ['text'], cost: {{ \
         input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }}, contextWindow: 128000, maxTokens: 4000 }}] }} }} \
         }},\n  agents: {{ defaults: {{ model: {{ primary: 'loop/m' }} }} }},\n}}\n",
        model.address()
    )
}

/// What OpenClaw's own doctor finds, without changing anything.
fn findings(packages: &NpmPackages, machine: &TestMachine) -> Value {
    let looked = run(packages, machine, "openclaw", &["doctor", "--lint", "--json"]);
    let report: Value = serde_json::from_slice(&looked.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(&looked)));
    report["findings"].clone()
}

#[test]
fn openclaw_brings_the_skill_and_not_the_list() {
    let skill = "home/.openclaw/workspace/skills/photo-resizer/SKILL.md";
    let machine = TestMachine::new();
    let file = machine.path(skill);
    let Some((packages, model)) = world("read", json!({"path": file})) else { return };
    let path = "home/.openclaw/openclaw.json";
    let before = openclaw_config(&model);
    let machine = machine
        .file(path, &before)
        .file(HOOK_CONFIG, "{hook: {deadlineMs: 10000}}")
        .file(skill, SKILL);
    let found = findings(&packages, &machine);
    let done = sinew(&machine, &["connect", "openclaw", "--library"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let connected = fs::read_to_string(machine.path(path)).expect("its file");

    let valid = run(&packages, &machine, "openclaw", &["config", "validate"]);
    assert!(valid.status.success(), "{}", said(&valid));
    assert_eq!(findings(&packages, &machine), found, "its doctor finds nothing more than before");
    let args = ["agent", "--local", "--agent", "main", "--message", MESSAGE];
    let turn = run(&packages, &machine, "openclaw", &args);
    assert!(turn.status.success(), "{}", said(&turn));
    let request = request(&model);
    let messages = request["messages"].to_string();
    assert!(messages.contains("blue-harbour"), "the skill is not in the message: {messages}");
    let system = request["system"].to_string();
    assert!(!system.contains("photo-resizer"), "the list is in the prompt");
    assert!(!system.contains("<name>"), "the list is in the prompt");
    let why = sinew(&machine, &["why", "--last"]);
    assert!(why.contains("openclaw"), "{why}");
    check_usage(&machine, "openclaw");

    let after = fs::read_to_string(machine.path(path)).expect("its file");
    assert_eq!(after, connected, "OpenClaw left its file alone");
    sinew(&machine, &["disconnect", "openclaw"]);
    assert_eq!(fs::read_to_string(machine.path(path)).expect("its file"), before);
}

/// The package that npm makes of the plugin is installed and loaded by the real OpenClaw, and the commands
/// of its page are the ones that do it.
#[test]
fn the_package_of_the_plugin_is_installed_by_openclaw() {
    let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS);
    let Some(packages) = packages else { return };
    let machine = TestMachine::new();
    let folder = workspace().join("integrations/openclaw");
    let mut pack = packages.command("npm");
    if !packages.program("npm").is_file() {
        pack = std::process::Command::new("npm");
    }
    let packed = pack
        .args(["pack", "--pack-destination"])
        .arg(machine.path("work"))
        .arg(&folder)
        .env("HOME", machine.path("home"))
        .output()
        .expect("npm runs");
    assert!(packed.status.success(), "{}", said(&packed));
    let made = fs::read_dir(machine.path("work")).expect("a folder").flatten();
    let made: Vec<String> =
        made.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    let archive = made.iter().find(|name| name.ends_with(".tgz")).expect("a package");
    assert!(archive.starts_with("sinew-openclaw-"), "{archive}");
    let file = machine.path(&format!("work/{archive}")).display().to_string();
    let args = ["plugins", "install", &file, "--force", "--accept-capabilities"];
    let installed = run(&packages, &machine, "openclaw", &args);
    assert!(installed.status.success(), "{}", said(&installed));
    let listed = run(&packages, &machine, "openclaw", &["plugins", "list", "--json"]);
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let answer: Value = serde_json::from_str(&text[text.find('{').expect("JSON")..])
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    let plugins = answer["plugins"].as_array().expect("a list");
    let ours = plugins.iter().find(|plugin| plugin["id"] == "sinew").expect("ours");
    assert_eq!((&ours["status"], &ours["enabled"]), (&json!("loaded"), &json!(true)), "{ours}");
    let page = fs::read_to_string(folder.join("README.md")).expect("its page");
    for line in page.lines().filter(|line| line.starts_with("openclaw plugins install")) {
        assert!(line.contains("--accept-capabilities"), "{line}");
    }
}

#[test]
fn opencode_brings_the_skill() {
    let machine = TestMachine::new();
    let file = machine.path("work/skills/photo-resizer/SKILL.md");
    let Some((packages, model)) = world("read", json!({"filePath": file})) else { return };
    let config = json!({
        "model": "loop/m", "small_model": "loop/m", "autoupdate": false, "share": "disabled",
        "provider": {"loop": {"npm": "@ai-sdk/anthropic", "name": "loop", "models": {"m": {"name": "m"}},
            "options": {"baseURL": format!("{}/v1", model.address()), "apiKey": "none"}}},
    });
    let machine = machine
        .file("work/skills/photo-resizer/SKILL.md", SKILL)
        .file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}")
        .file("home/.config/opencode/opencode.json", format!("{config:#}\n"));
    let done = sinew(&machine, &["connect", "opencode", "--hooks"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let turn = run(&packages, &machine, "opencode", &["run", MESSAGE]);
    assert!(turn.status.success(), "{}", said(&turn));
    let messages = request(&model)["messages"].to_string();
    assert!(messages.contains("photo-resizer"), "the skill is not in the message: {messages}");
    check_usage(&machine, "opencode");
    sinew(&machine, &["disconnect", "opencode"]);
    assert!(!machine.path("home/.config/opencode/plugins").exists());
}
