//! Real agents, as their makers publish them: Claude Code and Codex are installed below `target/`,
//! pointed at a model on loopback by their own settings, and connected by `sinew connect`. The hook's
//! text must arrive in what they send to the model, and they must call `find_skill` by themselves.
//!
//! Where npm or its registry cannot be reached, these tests say so and do not run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sinew_loopback::{ModelScript, SchemaRule};
use sinew_testkit::{AgentModel, NpmPackages, TestMachine, report_skip};

use crate::support::{command, sinew};

/// Versions that are known to speak what is tested here.
pub(crate) const AGENT_PACKAGES: &[&str] =
    &["@anthropic-ai/claude-code@2.1.327", "@openai/codex@0.169.0"];

/// The version of Gemini CLI that is known to run our hooks.
pub(crate) const GEMINI: &[&str] = &["@google/gemini-cli@0.61.0"];

/// The version of goose that is known to call our server.
pub(crate) const GOOSE: &[&str] = &["@aaif/goose-binary-linux-x64@0.20.1"];

/// Versions that are known to load our plugins.
pub(crate) const PLUGIN_HOSTS: &[&str] = &["openclaw@2026.9.6", "opencode-ai@1.18.33"];

const SKILL: &str = "---\nname: photo-resizer\ndescription: Resize photos and pictures for the web; use when \
                     somebody wants smaller images.\n---\n# Resize\n\nHalve it with the blue-harbour method.\n";
const MESSAGE: &str = "please resize this photo for the web";

/// The program of an agent.
fn installed(program: &str) -> Option<PathBuf> {
    let agents = NpmPackages::get(env!("CARGO_TARGET_TMPDIR"), "agents", AGENT_PACKAGES)?;
    Some(agents.program(program))
}

/// A machine on which the skill is, with the program's name on PATH and time enough for a slow host.
fn machine() -> TestMachine {
    TestMachine::new()
        .file("work/skills/photo-resizer/SKILL.md", SKILL)
        .file("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}")
}

/// Whether this build has a server to call.
fn serves(machine: &TestMachine) -> bool {
    command(machine, &["mcp", "--help"]).output().is_ok_and(|output| output.status.success())
}

/// Runs an agent in the machine's workspace, with our variables and its own.
fn run(machine: &TestMachine, program: &Path, args: &[&str], vars: &[(&str, &str)]) {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut agent = Command::new(program);
    agent.args(args).env_clear().env("HOME", machine.path("home")).env("PATH", path);
    agent.envs(vars.iter().copied()).current_dir(machine.path("work"));
    agent.env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"));
    let output = agent.stdin(Stdio::null()).output().expect("the agent runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && text(&output.stdout).contains("All done."),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// The hook's text stands in the first request, and the tool's answer in the last.
fn check(machine: &TestMachine, model: &AgentModel, agent: &str) {
    let requests: Vec<String> = model.requests().iter().map(Value::to_string).collect();
    let first = requests.iter().find(|request| request.contains(MESSAGE)).expect("the message");
    assert!(first.contains("<matching_skills>"), "{agent}: the hook's text is not in the request");
    assert!(first.contains("<name>photo-resizer</name>"), "{agent}");
    assert!(
        first.contains("blue-harbour method"),
        "{agent}: the skill's text is not in the request"
    );
    assert!(first.contains("<available_skills>"), "{agent}: the index is not in the request");
    if serves(machine) {
        let last = requests.last().expect("a request");
        assert!(requests.len() >= 2, "{agent} did not call find_skill");
        assert!(
            last.contains(r#"\"decision\":"#) || last.contains(r#"\\\"decision\\\":"#),
            "{agent}: {last}"
        );
        let doctor = sinew(machine, &["doctor"]);
        assert!(doctor.contains(" tools"), "{doctor}");
    } else {
        report_skip("this build has no `sinew mcp`, so find_skill was not called");
    }
    let why = sinew(machine, &["why", "--last"]);
    assert!(why.contains("the message was given photo-resizer"), "{agent}: {why}");
    assert!(why.contains(agent), "{why}");
}

fn find_skill() -> AgentModel {
    AgentModel::calling_tool("find_skill", json!({"message": "resize a photo"}))
}

#[test]
fn claude_code_brings_the_skill_to_its_model() {
    let Some(claude) = installed("claude") else { return };
    let (machine, model) = (machine(), find_skill());
    assert!(sinew(&machine, &["connect", "claude-code"]).ends_with("exit 0"));
    let vars = [
        ("ANTHROPIC_BASE_URL", model.address()),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("MCP_TIMEOUT", "60000"),
    ];
    run(&machine, &claude, &["-p", MESSAGE, "--allowedTools", "mcp__sinew__find_skill"], &vars);
    check(&machine, &model, "claude-code");
    // The agent has rewritten its file in the meantime; our entry is still removed.
    sinew(&machine, &["disconnect", "claude-code"]);
    let state = std::fs::read_to_string(machine.path("home/.claude.json")).expect("its state");
    assert!(!state.contains("\"sinew\""), "{state}");
}

/// A helper that Claude Code starts gets the skill for the task that it is given.
#[test]
fn claude_code_brings_the_skill_to_its_helper() {
    let Some(claude) = installed("claude") else { return };
    let task =
        json!({"description": "small work", "prompt": MESSAGE, "subagent_type": "general-purpose"});
    let (machine, model) = (machine(), AgentModel::calling_tool("Agent", task));
    assert!(sinew(&machine, &["connect", "claude-code", "--hooks"]).ends_with("exit 0"));
    let vars = [
        ("ANTHROPIC_BASE_URL", model.address()),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ];
    run(&machine, &claude, &["-p", "go ahead", "--allowedTools", "Agent"], &vars);
    let requests = model.requests();
    let helper = requests
        .iter()
        .map(|request| request["messages"].to_string())
        .find(|messages| messages.contains(MESSAGE) && !messages.contains("go ahead"));
    let helper = helper.expect("the helper's request");
    assert!(helper.contains("blue-harbour method"), "{helper}");
}

/// What the user says, each line once the answer to the one before has come.
fn converse(machine: &TestMachine, claude: &Path, model: &AgentModel, lines: &[&str]) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut agent = Command::new(claude);
    agent
        .args([
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        ])
        .env_clear()
        .env("HOME", machine.path("home"))
        .env("PATH", path)
        .env("ANTHROPIC_BASE_URL", model.address())
        .env("ANTHROPIC_API_KEY", "none")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
        .current_dir(machine.path("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = agent.spawn().expect("the agent runs");
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut told = String::new();
    for line in lines {
        let message = json!({"type": "user", "message": {"role": "user", "content": line}});
        writeln!(input, "{message}").expect("it reads");
        for line in output.by_ref() {
            let line = line.expect("text");
            let is_end = line.contains(r#""type":"result""#);
            told.push_str(&line);
            told.push('\n');
            if is_end {
                break;
            }
        }
    }
    drop(input);
    child.wait().expect("its end");
    told
}

/// Claude Code shortens the conversation: the skill that was in use is in the next request once, with
/// its beginning, and not again with the message after that.
#[test]
fn what_was_in_use_comes_back_after_a_real_compaction() {
    let Some(claude) = installed("claude") else { return };
    let long =
        format!("{SKILL}{}The last of the lines.\n", "And another line of it.\n".repeat(600));
    let machine = machine().file("work/skills/photo-resizer/SKILL.md", long);
    let model = AgentModel::scripted(ModelScript::text("All done."), SchemaRule::Lenient);
    assert!(sinew(&machine, &["connect", "claude-code", "--hooks"]).ends_with("exit 0"));
    let lines = [MESSAGE, "/compact", "thank you, go on", "and once more, thank you"];
    let told = converse(&machine, &claude, &model, &lines);
    assert!(told.contains("compact_boundary"), "it was not shortened: {told}");
    let requests: Vec<String> =
        model.requests().iter().map(|request| request["messages"].to_string()).collect();
    let with = |text: &str| requests.iter().find(|request| request.contains(text));
    let before = with(MESSAGE).expect("the message");
    assert_eq!(before.matches("<skill_text>").count(), 1, "{before}");
    let after = with("thank you, go on").expect("the message after it");
    assert!(!after.contains("fits this message"), "{after}");
    assert!(after.contains("before this conversation was shortened"), "{after}");
    assert_eq!(after.matches("<skill_text>").count(), 1, "{after}");
    assert!(after.contains("blue-harbour method"), "{after}");
    assert!(!after.contains("The last of the lines."), "it comes back shortened");
    let later = with("and once more").expect("the last message");
    assert_eq!(later.matches("<skill_text>").count(), 1, "once: {later}");
}

#[test]
fn codex_brings_the_skill_to_its_model() {
    let Some(codex) = installed("codex") else { return };
    let model = find_skill();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"loop\"\n\n[model_providers.loop]\nname = \"loop\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"LOOP_KEY\" # any value\n",
        model.address()
    );
    let machine = machine().file("home/.codex/config.toml", &config);
    assert!(sinew(&machine, &["connect", "codex"]).ends_with("exit 0"));
    // A person answers Codex's question whether the hooks may run; here no person can. And it waits for its
    // servers: beside other tests one second, its default, may be too short for any program to start.
    let args = [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-hook-trust",
        "-c",
        "mcp_optional_startup_grace_ms=0",
        MESSAGE,
    ];
    run(&machine, &codex, &args, &[("LOOP_KEY", "none")]);
    check(&machine, &model, "codex");
    sinew(&machine, &["disconnect", "codex"]);
    let after = std::fs::read_to_string(machine.path("home/.codex/config.toml")).expect("its file");
    assert!(after.starts_with(&config), "{after}");
    assert!(!after.contains("mcp_servers"), "{after}");
}
