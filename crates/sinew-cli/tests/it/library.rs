//! Library mode: the agent lists a core of skills, by its own settings; sinew brings the others. And what
//! the list costs.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::support::{command, json as cli_json, sinew};

/// An agent, a folder of its skills, its settings, and what the user wrote there.
const AGENTS: &[(&str, &str, &str, &str)] = &[
    (
        "claude-code",
        "home/.claude/skills",
        "home/.claude/settings.json",
        "{\n  \"model\": \"opus\",\n  \"skillOverrides\": { \"mine\": \"off\" }\n}\n",
    ),
    (
        "codex",
        "home/.agents/skills",
        "home/.codex/config.toml",
        "model = \"gpt-5\" # large\n\n[[skills.config]]\npath = \"/x/SKILL.md\"\nenabled = true\n\n[tui]\nx = 1\n",
    ),
    (
        "gemini",
        "home/.gemini/skills",
        "home/.gemini/settings.json",
        "{\n  \"skills\": { \"disabled\": [\"mine\"] }\n}\n",
    ),
    (
        "opencode",
        "home/.config/opencode/skills",
        "home/.config/opencode/opencode.json",
        "{\n  // rules\n  \"permission\": { \"skill\": { \"mine\": \"ask\" } }\n}\n",
    ),
    (
        "openclaw",
        "home/.openclaw/skills",
        "home/.openclaw/openclaw.json",
        "{\n  // limits\n  skills: { limits: { maxSkillsInPrompt: 20 } },\n}\n",
    ),
];

fn text(machine: &TestMachine, path: &str) -> String {
    fs::read_to_string(machine.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Five skills in the agent's own folder, one of them pinned, one decided about by the user.
fn machine(folder: &str, settings: &str, before: &str) -> TestMachine {
    let mut machine = TestMachine::new()
        .file(settings, before)
        .file("home/.sinew/config.json5", "{skills: {prompt: {pin: ['pinned']}}}");
    for name in ["pinned", "mine", "tides", "soup", "letters"] {
        machine = machine.skill(&format!("{folder}/{name}"), name);
    }
    machine
}

/// Sends an event to the hook, and does what it left for later.
fn session_start(machine: &TestMachine, agent: &str) {
    let mut hook = command(machine, &["hook", "session-start", "--agent", agent]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("sinew runs");
    let event = json!({"session_id": "s", "cwd": machine.path("work"), "source": "startup"});
    let mut input = child.stdin.take().expect("a pipe");
    write!(input, "{event}").expect("sent");
    drop(input);
    child.wait().expect("its end");
    sinew(machine, &["hook", "settle"]);
}

#[test]
fn an_agent_lists_a_core_and_gets_its_list_back() {
    for (agent, folder, settings, before) in AGENTS {
        let machine = machine(folder, settings, before);
        let dry = sinew(&machine, &["connect", agent, "--library", "--dry-run"]);
        assert!(dry.contains("nothing was written"), "{agent}: {dry}");
        assert_eq!(text(&machine, settings), *before, "{agent}");
        let done = sinew(&machine, &["connect", agent, "--library"]);
        assert!(done.ends_with("exit 0"), "{agent}: {done}");
        let after = text(&machine, settings);
        if *agent == "openclaw" {
            assert!(after.contains("maxSkillsInPrompt") && !after.contains("20"), "{after}");
        } else {
            for name in ["tides", "soup", "letters"] {
                assert!(after.contains(name), "{agent}, {name}: {after}");
            }
            assert!(!after.contains("pinned"), "{agent}: {after}");
        }
        assert!(!after.contains("mine\": \"user") && !after.contains("mine\": \"deny"), "{after}");
        let again = sinew(&machine, &["connect", agent, "--library"]);
        assert!(again.contains("unchanged"), "{agent}: {again}");
        let listed = sinew(&machine, &["connect", "--list"]);
        assert!(!listed.contains("changed:"), "{agent}: {listed}");
        let gone = sinew(&machine, &["disconnect", agent]);
        assert!(gone.ends_with("exit 0"), "{agent}: {gone}");
        assert_eq!(text(&machine, settings), *before, "{agent}");
    }
}

/// Where the agent wrote its file anew, only our values go, and what they replaced comes back.
#[test]
fn undo_is_exact_in_a_file_that_changed_since() {
    for (agent, folder, settings, before) in AGENTS {
        let machine = machine(folder, settings, before);
        sinew(&machine, &["connect", agent, "--library"]);
        let comment = if *agent == "codex" { "# later\n" } else { "// later\n" };
        machine.write(settings, format!("{}{comment}", text(&machine, settings)));
        let gone = sinew(&machine, &["disconnect", agent]);
        assert!(!gone.contains("changed since"), "{agent}: {gone}");
        let plain = |text: &str| text.split_whitespace().collect::<String>().replace(',', "");
        let after = text(&machine, settings);
        assert_eq!(plain(&after), plain(&format!("{before}{comment}")), "{agent}");
    }
}

#[test]
fn a_skill_that_comes_later_follows() {
    for (agent, folder, settings, before) in &AGENTS[..3] {
        let machine = machine(folder, settings, before);
        sinew(&machine, &["connect", agent, "--library"]);
        let machine = machine.skill(&format!("{folder}/harbours"), "harbours");
        fs::remove_dir_all(machine.path(&format!("{folder}/soup"))).expect("removed");
        session_start(&machine, agent);
        let after = text(&machine, settings);
        assert!(after.contains("harbours"), "{agent}: {after}");
        assert!(!after.contains("soup"), "{agent}: {after}");
        sinew(&machine, &["disconnect", agent]);
        assert_eq!(text(&machine, settings), *before, "{agent}");
    }
}

/// The core is what is pinned and what was used most.
#[test]
fn what_is_used_most_stays_in_the_list() {
    let (agent, folder, settings, before) = AGENTS[0];
    let machine = machine(folder, settings, before);
    for _ in 0..3 {
        let use_of_it = ["--region", "cooking", "--skill", "soup", "--version", "1"];
        let all: Vec<&str> =
            ["report", "--result", "ok"].iter().chain(&use_of_it).copied().collect();
        let told = sinew(&machine, &all);
        assert!(told.ends_with("exit 0"), "{told}");
    }
    sinew(&machine, &["connect", agent, "--library"]);
    let after = text(&machine, settings);
    assert!(after.contains("tides") && after.contains("letters"), "{after}");
    assert!(!after.contains("soup") && !after.contains("pinned"), "{after}");
}

/// Claude Code goes by the names of folders.
#[test]
fn a_skill_is_named_as_its_agent_names_it() {
    let machine = TestMachine::new().skill("home/.claude/skills/the-folder", "the-name");
    sinew(&machine, &["connect", "claude-code", "--library"]);
    let after = text(&machine, "home/.claude/settings.json");
    assert!(after.contains("the-folder") && !after.contains("the-name"), "{after}");
}

/// The table in the book says what the program does.
#[test]
fn the_table_of_agents_is_true() {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/README.md");
    let book = fs::read_to_string(book).expect("the page");
    let trials = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/does-it-work.md");
    let trials = fs::read_to_string(trials).expect("the page");
    let agents = cli_json(&TestMachine::new(), &["connect", "--list"]);
    for agent in agents.as_array().expect("rows") {
        let title = agent["title"].as_str().expect("a title");
        let row = book.lines().find(|line| line.starts_with(&format!("| [{title}](")));
        let row = row.unwrap_or_else(|| panic!("{title} has no row"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let hooks = match agent["hooks"].as_str() {
            Some("commands") => "hooks",
            Some(way @ ("plugin" | "skill")) => way,
            // Hooks that add only to the beginning of a session bring nothing with a message.
            _ => "the model asks",
        };
        let yes = |field: &str| if agent[field] == true { "yes" } else { "no" };
        assert_eq!(&cells[2..5], [hooks, yes("library"), yes("projects")], "{title}");
        // None of them is on this machine; of some it is not even asked.
        let name = agent["agent"].as_str().expect("a name");
        let tried = sinew(&TestMachine::new(), &["doctor", "--agent", name]);
        let can_be_tried =
            if tried.contains("cannot be started for a trial") { "no" } else { "yes" };
        assert_eq!(cells[5], can_be_tried, "{title}: {tried}");
        let told = trials.lines().any(|line| line.starts_with(&format!("| {title} | `")));
        assert_eq!(told, can_be_tried == "yes", "{title} on the page about trials");
    }
}

#[test]
fn an_agent_without_such_a_setting_says_so() {
    let machine = TestMachine::new();
    let refused = sinew(&machine, &["connect", "cursor", "--library"]);
    assert!(refused.contains("no setting that leaves skills out"), "{refused}");
    assert!(refused.ends_with("exit 2"), "{refused}");
    assert!(!machine.path("home/.cursor/mcp.json").exists());
}

#[test]
fn the_cost_of_the_list_is_shown_before_and_after() {
    let (agent, folder, settings, before) = AGENTS[0];
    let machine = machine(folder, settings, before);
    let costs = cli_json(&machine, &["context", "--agent", agent]);
    let cost = &costs[0];
    assert_eq!(cost["agent"], agent, "{costs}");
    assert_eq!(cost["library"], false);
    assert_eq!((&cost["all"]["skills"], &cost["core"]["skills"]), (&json!(5), &json!(1)));
    let characters = |which: &str| cost[which]["characters"].as_u64().expect("a number");
    assert!(characters("core") * 4 < characters("all"), "{costs}");
    assert_eq!(cost["costliest"].as_array().map(Vec::len), Some(5));
    sinew(&machine, &["connect", agent, "--library"]);
    let after: Value = cli_json(&machine, &["context", "--agent", agent]);
    assert_eq!(after[0]["library"], true);
    let shown = sinew(&machine, &["context"]);
    assert!(shown.contains("Claude Code (library mode)"), "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{shown}");
}
