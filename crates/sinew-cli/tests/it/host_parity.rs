//! Whether sinew sees what real agents see: each is asked for its own list of skills on a machine with
//! skills in every place that it reads, and every difference has a reason.
//!
//! Where npm or its registry cannot be reached, these tests say so and do not run.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use sinew_testkit::{NpmPackages, TestMachine};

use crate::agents::{AGENT_PACKAGES, PLUGIN_HOSTS};
use crate::support::command;

const GEMINI: &[&str] = &["@google/gemini-cli@0.61.0"];
const COPILOT: &[&str] = &["@github/copilot@1.0.102"];
/// The OpenClaw of before skills in folders of folders, and of before most of its plugins.
const OLD_OPENCLAW: &[&str] = &["openclaw@2026.3.1"];

/// Skills of a person, a project of three levels, plugins of which one is off, links, groups, files that
/// are no skills.
fn mixed_machine() -> TestMachine {
    let mut machine = TestMachine::new()
        .file("work/.git/HEAD", "ref: refs/heads/main\n")
        .file("work/.git/config", "[core]\n\trepositoryformatversion = 0\n");
    for agent in
        [".claude", ".codex", ".gemini", ".agents", ".config/opencode", ".openclaw", ".copilot"]
    {
        let name = agent.trim_start_matches('.').replace('/', "-");
        machine = machine
            .skill(&format!("home/{agent}/skills/own-{name}"), &format!("own-{name}"))
            .file(
                &format!("home/{agent}/skills/twice/SKILL.md"),
                format!("---\nname: twice\ndescription: The copy of {name}\n---\n"),
            )
            .file(&format!("home/{agent}/skills/silent/SKILL.md"), "---\nname: silent\n---\nText\n")
            .file(&format!("home/{agent}/skills/bare/SKILL.md"), "# No front matter\n")
            .skill(&format!("home/{agent}/skills/group/in-{name}"), &format!("in-{name}"))
            .skill(&format!("home/{agent}/skills/folder-{name}"), &format!("called-{name}"));
    }
    for (level, name) in [("", "top"), ("a/", "mid"), ("a/b/", "low"), ("a/b/c/", "below")] {
        for agent in ["claude", "codex", "gemini", "agents", "opencode", "github"] {
            let folder = format!("work/{level}.{agent}/skills");
            machine = machine
                .skill(&format!("{folder}/{name}-{agent}"), &format!("{name}-{agent}"))
                .file(
                    &format!("{folder}/twice/SKILL.md"),
                    format!("---\nname: twice\ndescription: At {name}\n---\n"),
                );
        }
    }
    let needs = "---\nname: needs\ndescription: Needs much\nmetadata: {\"openclaw\":{\"requires\":{\"bins\":[\"no-such-program\"]}}}\n---\n";
    let mac = "---\nname: mac\ndescription: For a Mac\nmetadata: {\"openclaw\":{\"os\":[\"darwin\"]}}\n---\n";
    machine = machine
        .file("home/.agents/skills/needs/SKILL.md", needs)
        .file("home/.agents/skills/mac/SKILL.md", mac)
        .skill("elsewhere/linked", "linked");
    #[cfg(unix)]
    {
        machine = machine
            .link("home/.agents/skills/linked", "elsewhere/linked")
            .link("home/.claude/skills/linked", "elsewhere/linked");
    }
    machine
}

/// What `doctor --compare` says, with the agent on PATH before the machine's own programs.
fn compare(machine: &TestMachine, agent: &str, folder: &str, path: OsString) -> Value {
    compare_with(machine, agent, folder, path, &[])
}

fn compare_with(
    machine: &TestMachine,
    agent: &str,
    folder: &str,
    path: OsString,
    options: &[&str],
) -> Value {
    let mut sinew = command(machine, &["doctor", "--compare", agent, "--json"]);
    sinew.args(options);
    sinew
        .env("PATH", path)
        .env_remove("SINEW_BUNDLED_SKILLS_DIR")
        .current_dir(machine.path(folder));
    let output = sinew.output().expect("sinew runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{agent}: {error}\n{text}{}", String::from_utf8_lossy(&output.stderr))
    })
}

fn check(found: &Value, agent: &str, at_least: u64) {
    let rows = found["rows"].as_array().expect("rows");
    let unexplained: Vec<&Value> =
        rows.iter().filter(|row| row["verdict"] == "unexplained").collect();
    assert!(unexplained.is_empty(), "{agent}: {unexplained:#?}");
    let explained = rows.iter().filter(|row| row["verdict"] == "explained");
    assert!(explained.clone().all(|row| row["reason"].is_string()), "{agent}");
    assert!(found["hostTotal"].as_u64() >= Some(at_least), "{agent}: {found}");
    assert!(found["same"].as_u64() >= Some(at_least / 2), "{agent}: {found}");
}

fn write_claude_plugins(machine: &TestMachine) {
    let base = machine.path("home/.claude/plugins/cache/mp").to_string_lossy().into_owned();
    let one = |name: &str| {
        format!(
            "\"{name}@mp\":[{{\"scope\":\"user\",\"installPath\":\"{base}/{name}/1.0.0\",\"version\":\"1.0.0\",\"installedAt\":\"2026-01-01T00:00:00.000Z\",\"lastUpdated\":\"2026-01-01T00:00:00.000Z\"}}]"
        )
    };
    let installed = format!("{{\"version\":2,\"plugins\":{{{},{}}}}}", one("alpha"), one("beta"));
    machine.write("home/.claude/plugins/installed_plugins.json", installed);
    for name in ["alpha", "beta"] {
        let folder = format!("home/.claude/plugins/cache/mp/{name}/1.0.0");
        let manifest =
            format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\",\"description\":\"x\"}}");
        machine.write(&format!("{folder}/.claude-plugin/plugin.json"), manifest);
        let skill = format!("---\nname: of-{name}\ndescription: Of {name}\n---\n");
        machine.write(&format!("{folder}/skills/of-{name}/SKILL.md"), skill);
        let list = "{\"name\":\"mp\",\"owner\":{\"name\":\"o\"},\"plugins\":[{\"name\":\"alpha\",\"source\":\"./alpha\"},{\"name\":\"beta\",\"source\":\"./beta\"}]}".to_string();
        machine.write("market/.claude-plugin/marketplace.json", list);
        machine.write(
            &format!("market/{name}/.claude-plugin/plugin.json"),
            format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\",\"description\":\"x\"}}"),
        );
        let skill = format!("---\nname: of-{name}\ndescription: Of {name}\n---\n");
        machine.write(&format!("market/{name}/skills/of-{name}/SKILL.md"), skill);
    }
    let market = machine.path("market").to_string_lossy().into_owned();
    machine.write(
        "home/.claude/plugins/known_marketplaces.json",
        format!("{{\"mp\":{{\"source\":{{\"source\":\"directory\",\"path\":\"{market}\"}},\"installLocation\":\"{market}\",\"lastUpdated\":\"2026-01-01T00:00:00.000Z\"}}}}"),
    );
    machine.write(
        "home/.claude/settings.json",
        "{\"enabledPlugins\":{\"alpha@mp\":true,\"beta@mp\":false},\"skillOverrides\":{\"own-claude\":\"off\",\"folder-claude\":\"off\",\"linked\":\"off\"}}",
    );
    // The nearer file decides, also where it switches on.
    machine.write(
        "work/a/b/.claude/settings.local.json",
        "{\"skillOverrides\":{\"folder-claude\":\"on\",\"linked\":\"name-only\"}}",
    );
}

#[test]
fn claude_code_and_sinew_see_the_same_skills() {
    let Some(agents) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES)
    else {
        return;
    };
    let machine = mixed_machine();
    write_claude_plugins(&machine);
    let found = compare(&machine, "claude-code", "work/a/b", agents.path());
    check(&found, "claude-code", 8);
    assert!(found.to_string().contains("alpha:of-alpha"), "{found}");
}

#[test]
fn codex_and_sinew_see_the_same_skills() {
    let Some(agents) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES)
    else {
        return;
    };
    let machine = mixed_machine().file(
        "home/.codex/config.toml",
        "[plugins.\"alpha@mp\"]\nenabled = true\n[plugins.\"beta@mp\"]\nenabled = false\n[[skills.config]]\nname = \"own-agents\"\nenabled = false\n",
    );
    let file = machine.path("home/.codex/skills/own-codex/SKILL.md");
    let config = std::fs::read_to_string(machine.path("home/.codex/config.toml")).expect("it");
    let later = format!(
        "{config}[[skills.config]]\nname = \"own-codex\"\nenabled = false\n[[skills.config]]\npath = \"{}\"\nenabled = true\n",
        file.display()
    );
    machine.write("home/.codex/config.toml", later);
    for name in ["alpha", "beta"] {
        let folder = format!("home/.codex/plugins/cache/mp/{name}/1.0.0");
        machine.write(
            &format!("{folder}/.codex-plugin/plugin.json"),
            format!("{{\"name\":\"{name}\",\"version\":\"1.0.0\"}}"),
        );
        machine.write(
            &format!("{folder}/skills/of-{name}/SKILL.md"),
            format!("---\nname: of-{name}\ndescription: Of {name}\n---\n"),
        );
    }
    let found = compare(&machine, "codex", "work/a/b", agents.path());
    check(&found, "codex", 12);
}

#[test]
fn opencode_and_sinew_see_the_same_skills() {
    let Some(hosts) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)
    else {
        return;
    };
    let found = compare(&mixed_machine(), "opencode", "work/a/b", hosts.path());
    check(&found, "opencode", 15);
}

#[test]
fn openclaw_and_sinew_see_the_same_skills() {
    let Some(hosts) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)
    else {
        return;
    };
    let machine = mixed_machine()
        .file("home/.openclaw/openclaw.json", "{channels: {slack: {enabled: true}}}")
        .skill("home/.openclaw/workspace/skills/mine", "mine");
    let found = compare(&machine, "openclaw", "work", hosts.path());
    check(&found, "openclaw", 55);
    // A plugin of the user's, and another one in the slot of the memory.
    let own = "home/.openclaw/extensions/own";
    let schema = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let machine = machine
        .file(
            &format!("{own}/openclaw.plugin.json"),
            format!(r#"{{"id":"own","name":"own","skills":["skills"],"configSchema":{schema}}}"#),
        )
        .file(
            &format!("{own}/package.json"),
            r#"{"name":"own","version":"1.0.0","type":"module","main":"index.js","openclaw":{"extensions":["./index.js"]}}"#,
        )
        .file(
            &format!("{own}/index.js"),
            "export default { id: 'own', name: 'own', register() {} };\n",
        )
        .skill(&format!("{own}/skills/of-own"), "of-own");
    let slot = "slots: {memory: 'memory-wiki'}, entries: {'memory-wiki': {enabled: true}}";
    for (plugins, is_there) in [(slot, true), ("entries: {own: {enabled: false}}", false)] {
        machine.write("home/.openclaw/openclaw.json", format!("{{plugins: {{{plugins}}}}}"));
        let found = compare(&machine, "openclaw", "work", hosts.path());
        check(&found, "openclaw with a plugin", 55);
        let rows = found["rows"].as_array().expect("rows");
        let ours = rows.iter().any(|row| row["name"] == "of-own" && row["host"] == "ready");
        assert_eq!(ours, is_there, "{plugins}: {found:#}");
    }
}

/// Its only agent has another name than the usual one; one of several is asked about by name.
#[test]
fn openclaws_agents_and_sinew_see_the_same_skills() {
    let Some(hosts) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "plugin-hosts", PLUGIN_HOSTS)
    else {
        return;
    };
    for (config, options, mine) in [
        (
            "{agents: {entries: {c: {workspace: '~/wsc', skills: ['of-c', 'own-agents']}}}}",
            &[][..],
            "of-c",
        ),
        (
            "{agents: {ownership: 'explicit', entries: {c: {workspace: '~/wsc'}, d: {}}}}",
            &["--agent", "d"],
            "of-d",
        ),
    ] {
        let machine = mixed_machine()
            .file("home/.openclaw/openclaw.json", config)
            .skill("home/wsc/skills/of-c", "of-c")
            .skill("home/.openclaw/workspace-d/skills/of-d", "of-d")
            .skill("home/.openclaw/agents/c/agent/workshop-skills/grown", "grown");
        let found = compare_with(&machine, "openclaw", "work", hosts.path(), options);
        check(&found, "openclaw", 50);
        let rows = found["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["name"] == mine).expect("the workspace's skill");
        assert_eq!(row["verdict"], "same", "{row}");
    }
}

#[test]
fn gemini_and_sinew_see_the_same_skills() {
    let Some(gemini) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "gemini", GEMINI) else {
        return;
    };
    let machine = mixed_machine();
    let trusted = machine.path("work").canonicalize().expect("the workspace");
    machine.write(
        "home/.gemini/trustedFolders.json",
        format!("{{\"{}\":\"TRUST_FOLDER\"}}", Path::new(&trusted).display()),
    );
    for extension in ["kit", "off"] {
        let folder = format!("home/.gemini/extensions/{extension}");
        let manifest = format!("{{\"name\":\"{extension}\",\"version\":\"1.0.0\"}}");
        machine.write(&format!("{folder}/gemini-extension.json"), manifest);
        let skill = format!("---\nname: of-{extension}\ndescription: Of {extension}\n---\n");
        machine.write(&format!("{folder}/skills/of-{extension}/SKILL.md"), skill);
    }
    let nowhere = format!("!{}/*", Path::new(&trusted).display());
    let switched = serde_json::json!({"off": {"overrides": [nowhere]}});
    machine.write("home/.gemini/extensions/extension-enablement.json", switched.to_string());
    let found = compare(&machine, "gemini", "work/a/b", gemini.path());
    assert!(found.to_string().contains("of-kit"), "{found:#}");
    assert!(!found.to_string().contains("\"of-off\",\"host\":\"ready\""), "{found:#}");
    check(&found, "gemini", 6);
}

#[test]
fn an_older_openclaw_and_sinew_see_the_same_skills() {
    let Some(old) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "old-openclaw", OLD_OPENCLAW)
    else {
        return;
    };
    let machine = mixed_machine()
        .file("home/.openclaw/openclaw.json", "{channels: {slack: {enabled: true}}}")
        .skill("home/.openclaw/workspace/skills/mine", "mine");
    let found = compare(&machine, "openclaw", "work", old.path());
    check(&found, "openclaw 2026.3.1", 50);
}

/// A marketplace that is a folder here, with one plugin on and one off, a plugin that was copied, and a
/// skill that is switched off.
#[test]
fn copilot_and_sinew_see_the_same_skills() {
    let Some(copilot) = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "copilot", COPILOT) else {
        return;
    };
    let machine = mixed_machine();
    let market = machine.path("market").to_string_lossy().into_owned();
    let copied = machine.path("home/.copilot/installed-plugins/_direct/gamma");
    let list = r#"{"name":"mp","owner":{"name":"o"},"plugins":[{"name":"alpha","source":"./alpha"},{"name":"beta","source":"./beta"}]}"#;
    machine.write("market/.github/plugin/marketplace.json", list);
    for folder in ["market/alpha", "market/beta", "home/.copilot/installed-plugins/_direct/gamma"] {
        let name = folder.rsplit('/').next().expect("a name");
        machine.write(
            &format!("{folder}/plugin.json"),
            format!(r#"{{"name":"{name}","version":"1.0.0"}}"#),
        );
        let skill = format!("---\nname: of-{name}\ndescription: Of {name}\n---\n");
        machine.write(&format!("{folder}/skills/of-{name}/SKILL.md"), skill);
    }
    let settings = format!(
        r#"{{"extraKnownMarketplaces":{{"mp":{{"source":{{"source":"directory","path":"{market}"}}}}}},"enabledPlugins":{{"alpha@mp":true,"beta@mp":false}},"disabledSkills":["own-agents"]}}"#
    );
    machine.write("home/.copilot/settings.json", settings);
    let config = format!(
        r#"{{"installedPlugins":[{{"name":"gamma","marketplace":"","version":"1.0.0","installed_at":"2026-11-18T20:05:27Z","cache_path":"{}","enabled":true,"source":{{"source":"local","path":"{market}/alpha"}}}}]}}"#,
        copied.display()
    );
    machine.write("home/.copilot/config.json", config);
    let found = compare(&machine, "copilot", "work/a/b", copilot.path());
    check(&found, "copilot", 12);
    let told = found.to_string();
    assert!(told.contains("of-alpha") && told.contains("of-gamma"), "{found:#}");
    assert!(!told.contains("of-beta"), "{found:#}");
}
