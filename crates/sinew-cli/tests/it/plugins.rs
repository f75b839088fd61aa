//! Plugins for agents without commands as hooks: the files that the program carries, and what they do in
//! the real OpenClaw and opencode, against a model on loopback.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use sinew_testkit::{AgentModel, NpmPackages, TestMachine};

use crate::agents::PLUGIN_HOSTS;
use crate::support::sinew;

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

/// A model that calls no tool, and the packages.
fn world() -> Option<(NpmPackages, AgentModel)> {
    let packages = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)?;
    Some((packages, AgentModel::calling_tool("no_such_tool", json!({}))))
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
    let Some((packages, model)) = world() else { return };
    let path = "home/.openclaw/openclaw.json";
    let before = openclaw_config(&model);
    let machine = TestMachine::new()
        .file(path, &before)
        .file(HOOK_CONFIG, "{hook: {deadlineMs: 10000}}")
        .file("home/.openclaw/workspace/skills/photo-resizer/SKILL.md", SKILL);
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

    let after = fs::read_to_string(machine.path(path)).expect("its file");
    assert_eq!(after, connected, "OpenClaw left its file alone");
    sinew(&machine, &["disconnect", "openclaw"]);
    assert_eq!(fs::read_to_string(machine.path(path)).expect("its file"), before);
}

#[test]
fn opencode_brings_the_skill() {
    let Some((packages, model)) = world() else { return };
    let config = json!({
        "model": "loop/m", "small_model": "loop/m", "autoupdate": false, "share": "disabled",
        "provider": {"loop": {"npm": "@ai-sdk/anthropic", "name": "loop", "models": {"m": {"name": "m"}},
            "options": {"baseURL": format!("{}/v1", model.address()), "apiKey": "none"}}},
    });
    let machine = TestMachine::new()
        .file("work/skills/photo-resizer/SKILL.md", SKILL)
        .file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}")
        .file("home/.config/opencode/opencode.json", format!("{config:#}\n"));
    let done = sinew(&machine, &["connect", "opencode", "--hooks"]);
    assert!(done.ends_with("exit 0"), "{done}");
    let turn = run(&packages, &machine, "opencode", &["run", MESSAGE]);
    assert!(turn.status.success(), "{}", said(&turn));
    let messages = request(&model)["messages"].to_string();
    assert!(messages.contains("photo-resizer"), "the skill is not in the message: {messages}");
    sinew(&machine, &["disconnect", "opencode"]);
    assert!(!machine.path("home/.config/opencode/plugins").exists());
}
