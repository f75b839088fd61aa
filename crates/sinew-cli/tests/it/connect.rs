//! `sinew connect` and `disconnect` on configurations as people have them: comments, unknown keys,
//! servers of others. Numbers are those of the acceptance cases.

use std::fs;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use sinew_testkit::TestMachine;

use crate::serving::ServingProgram;
use crate::support::{command, json, shown, sinew};

/// An agent, its file, and what the user wrote into it.
const SAMPLES: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        "home/.claude.json",
        "{\n  \"numStartups\": 12,\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"files\": { \"command\": \"files\", \"args\": [\"--all\"] }\n  },\n  \"projects\": {}\n}\n",
    ),
    (
        "codex",
        "home/.codex/config.toml",
        "# mine\nmodel = \"gpt-5\" # the large one\n\n[mcp_servers.docs]\ncommand = \"docs\" # keep this\n\n[mcp_servers.docs.env]\nA = \"1\"\n\n[tui]\nnotifications = true\n",
    ),
    (
        "openclaw",
        "home/.openclaw/openclaw.json",
        "// JSON5, by hand\n{\n  agents: { defaults: { workspace: '~/ws' } }, // where I work\n  mcp: {\n    servers: {\n      docs: { command: 'docs', args: [] },\n    },\n  },\n  gateway: { port: 0x4a7f, },\n}\n",
    ),
    (
        "cursor",
        "home/.cursor/mcp.json",
        "{\"mcpServers\":{\"docs\":{\"url\":\"https://docs.example/mcp\"}},\"future\":[1,2]}",
    ),
    (
        "gemini",
        "home/.gemini/settings.json",
        "{\r\n\t\"theme\": \"GitHub\",\r\n\t\"hooks\": {\r\n\t\t\"BeforeAgent\": [\r\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"date\" }] }\r\n\t\t]\r\n\t},\r\n\t\"unknown\": null\r\n}\r\n",
    ),
    (
        "vscode",
        "home/.config/Code/User/mcp.json",
        "{\n    // servers I trust\n    \"servers\": {\n        \"docs\": {\n            \"type\": \"http\",\n            \"url\": \"https://docs.example\", // public\n        },\n    },\n    \"inputs\": [],\n}\n",
    ),
    (
        "goose",
        "home/.config/goose/config.yaml",
        "# goose\nGOOSE_PROVIDER: anthropic\nextensions:\n    developer: # builtin\n        bundled: true\n        enabled: true\n        type: builtin\n\nslash_commands: []\n",
    ),
    (
        "opencode",
        "home/.config/opencode/opencode.jsonc",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  /* my model */\n  \"model\": \"x/y\"\n}\n",
    ),
];

fn text(machine: &TestMachine, path: &str) -> String {
    fs::read_to_string(machine.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Lines with which the second text differs from the first.
fn changed_lines(before: &str, after: &str) -> (usize, usize) {
    let count = |a: &str, b: &str| a.lines().filter(|line| !b.lines().any(|l| l == *line)).count();
    (count(before, after), count(after, before))
}

/// OpenPocket gets a skill, and a place on the list of programs where it keeps one.
#[test]
fn openpocket_gets_a_skill_and_leave_to_run_it() {
    let path = "home/.openpocket/config.json";
    let skill = "home/.openpocket/skills/sinew/SKILL.md";
    for (before, listed) in [
        (
            "{\n  \"workspaceDir\": \"~/ws\",\n  \"codingTools\": { \"allowedCommands\": [\"git\"] }\n}\n",
            true,
        ),
        ("{\n  \"workspaceDir\": \"~/ws\"\n}\n", false),
    ] {
        let machine = TestMachine::new().file(path, before);
        let done = sinew(&machine, &["connect", "openpocket"]);
        assert!(done.ends_with("exit 0"), "{done}");
        assert!(text(&machine, skill).contains("name: sinew"), "{done}");
        let after: Value = serde_json::from_str(&text(&machine, path)).expect("JSON");
        let allowed = &after["codingTools"]["allowedCommands"];
        let wanted = match listed {
            true => serde_json::json!(["git", "sinew"]),
            // A list that is not there forbids nothing.
            false => Value::Null,
        };
        assert_eq!(allowed, &wanted, "{after}");
        let again = sinew(&machine, &["connect", "openpocket"]);
        assert!(again.contains("unchanged"), "{again}");
        sinew(&machine, &["disconnect", "openpocket"]);
        assert_eq!(text(&machine, path), before);
        assert!(!machine.path(skill).exists());
    }
}

/// Over every agent: the change is small, the second run changes nothing, and taking it
/// out gives the bytes back.
#[test]
fn every_agent_is_connected_and_disconnected_again() {
    for (agent, path, before) in SAMPLES {
        let machine = TestMachine::new().file(path, before);
        let dry = sinew(&machine, &["connect", agent, "--dry-run"]);
        assert!(dry.contains("+++ ") && dry.ends_with("exit 0"), "{agent}: {dry}");
        assert_eq!(text(&machine, path), *before, "{agent}: a dry run writes nothing");
        assert!(!machine.path("home/.sinew/connections.jsonl").exists());

        let done = json(&machine, &["connect", agent]);
        assert_eq!(done["written"], true, "{agent}: {done}");
        let after = text(&machine, path);
        let (lost, _) = changed_lines(before, &after);
        let on_one_line = before.lines().count() == 1;
        assert!(lost <= 2 || on_one_line, "{agent} loses {lost} lines:\n{after}");
        for word in
            ["docs", "//", "/*", "# keep", "# mine", "# builtin", "files", "unknown", "date"]
        {
            assert_eq!(
                before.matches(word).count(),
                after.matches(word).count().min(before.matches(word).count()),
                "{agent}: {word}"
            );
        }
        assert_eq!(before.contains("\r\n"), after.contains("\r\n"), "{agent}");
        assert!(!after.replace("\r\n", "").contains('\r'), "{agent}");

        let again = sinew(&machine, &["connect", agent]);
        assert!(again.contains("unchanged"), "{agent}: {again}");
        assert_eq!(text(&machine, path), after, "{agent}");

        let listed = json(&machine, &["connect", "--list"]);
        let row = listed.as_array().expect("rows").iter().find(|row| row["agent"] == *agent);
        let files = row.expect("a row")["files"].as_array().expect("files");
        assert!(
            files.iter().all(|file| file["changed"] == serde_json::json!([])),
            "{agent}: {listed}"
        );

        let out = json(&machine, &["disconnect", agent]);
        assert!(
            out["files"].as_array().expect("files").iter().all(|file| file["restored"] == true)
        );
        assert_eq!(text(&machine, path), *before, "{agent}: byte for byte");
        let left = fs::read_dir(machine.path(path).parent().expect("a folder")).expect("a folder");
        let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().contains("sinew-")), "{left:?}");
        let gone = sinew(&machine, &["disconnect", agent]);
        assert!(gone.contains("is not connected") && gone.ends_with("exit 1"), "{gone}");
    }
}

/// What another program writes meanwhile stays, and ours goes.
#[test]
fn what_others_write_meanwhile_stays() {
    for (agent, path, before) in SAMPLES {
        let machine = TestMachine::new().file(path, before);
        sinew(&machine, &["connect", agent]);
        let connected = text(&machine, path);
        // A line that any of the formats takes for a comment, or one more key.
        let (from, to) = match *agent {
            "codex" => ("model = \"gpt-5\"", "model = \"gpt-6\""),
            "goose" => ("anthropic", "openai"),
            "claude-code" => ("12", "13"),
            "openclaw" => ("~/ws", "~/elsewhere"),
            "cursor" => ("[1,2]", "[1,2,3]"),
            "gemini" => ("GitHub", "Light"),
            "vscode" => ("public", "open"),
            _ => ("x/y", "y/z"),
        };
        machine.write(path, connected.replace(from, to));
        let out = json(&machine, &["disconnect", agent]);
        let file = out["files"].as_array().expect("files").iter().find(|file| {
            file["file"].as_str().expect("a path").ends_with(path.trim_start_matches("home/"))
        });
        assert_eq!(file.expect("the file")["restored"], false, "{agent}: {out}");
        assert_eq!(
            file.expect("the file")["changed_by_user"],
            serde_json::json!([]),
            "{agent}: {out}"
        );
        let after = text(&machine, path);
        assert!(!after.contains("sinew"), "{agent}:\n{after}");
        let wanted = before.replace(from, to);
        let plain = |text: &str| text.split_whitespace().collect::<String>().replace(',', "");
        assert_eq!(plain(&after), plain(&wanted), "{agent}");
    }
}

#[test]
fn an_entry_of_somebody_else_is_left_alone() {
    let machine = TestMachine::new().file(
        "home/.codex/config.toml",
        "[mcp_servers.sinew] # my own build\ncommand = \"other\"\n",
    );
    let refused = sinew(&machine, &["connect", "codex", "--mcp"]);
    assert_snapshot!(refused);
    assert!(text(&machine, "home/.codex/config.toml").contains("other"));
    let forced = sinew(&machine, &["connect", "codex", "--mcp", "--force"]);
    assert!(forced.ends_with("exit 0"), "{forced}");
    assert!(!text(&machine, "home/.codex/config.toml").contains("other"));
    sinew(&machine, &["disconnect", "codex"]);
    assert!(text(&machine, "home/.codex/config.toml").contains("my own build"));
}

#[test]
fn a_file_that_cannot_be_read_is_not_touched() {
    let broken: &[(&str, &str, &str, &str)] = &[
        ("cursor", "home/.cursor/mcp.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 2, column 9"),
        ("codex", "home/.codex/config.toml", "a = 1\nb = = 2\n", "line 2, column 5"),
        ("goose", "home/.config/goose/config.yaml", "a: 1\nb: [1, 2\nc: 3\n", "line "),
        ("openclaw", "home/.openclaw/openclaw.json", "{ mcp: { servers: } }", "line 1, column"),
        ("gemini", "home/.gemini/settings.json", "[1, 2]", "is not the map or list"),
        ("cursor", "home/.cursor/mcp.json", "{\"mcpServers\": []}", "is not the map or list"),
        (
            "goose",
            "home/.config/goose/config.yaml",
            "extensions: {a: {}}\n",
            "is not the map or list",
        ),
    ];
    for (agent, path, content, place) in broken {
        let machine = TestMachine::new().file(path, content);
        let shown = sinew(&machine, &["connect", agent, "--mcp"]);
        assert!(shown.ends_with("exit 4"), "{agent}: {shown}");
        assert!(shown.contains(place) && shown.contains("nothing was written"), "{agent}: {shown}");
        assert_eq!(text(&machine, path), *content);
        let folder = machine.path(path).parent().expect("a folder").to_owned();
        assert_eq!(fs::read_dir(folder).expect("a folder").count(), 1, "{agent}: no backup");
    }
}

#[test]
fn an_entry_that_the_user_changed_stays() {
    let (agent, path, before) = SAMPLES[0];
    let machine = TestMachine::new().file(path, before);
    sinew(&machine, &["connect", agent, "--mcp"]);
    let edited = text(&machine, path).replace("\"mcp\"", "\"mcp\", \"--profile\", \"codex\"");
    machine.write(path, &edited);
    let listed = json(&machine, &["connect", "--list"]);
    assert_eq!(listed[0]["files"][0]["changed"][0], "mcpServers.sinew", "{listed}");
    let doctor = sinew(&machine, &["doctor"]);
    assert!(doctor.contains("changed since it was written: mcpServers.sinew"), "{doctor}");
    let out = json(&machine, &["disconnect", agent]);
    assert_eq!(out["files"][0]["changed_by_user"][0], "mcpServers.sinew", "{out}");
    assert_eq!(text(&machine, path), edited);
}

#[test]
fn files_are_made_where_there_are_none_and_removed_again() {
    for (agent, path, _) in SAMPLES {
        let machine = TestMachine::new();
        let made = sinew(&machine, &["connect", agent, "--mcp"]);
        assert!(made.ends_with("exit 0"), "{agent}: {made}");
        let path = if *agent == "opencode" { "home/.config/opencode/opencode.json" } else { path };
        let written = text(&machine, path);
        assert!(written.contains("mcp") && written.ends_with('\n'), "{agent}: {written}");
        sinew(&machine, &["disconnect", agent]);
        assert!(!machine.path(path).exists(), "{agent}");
    }
}

#[test]
fn a_project_has_its_own_files_and_names_the_program() {
    let machine = TestMachine::new();
    let shown = sinew(&machine, &["connect", "claude-code", "--scope", "project"]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    let servers: Value = serde_json::from_str(&text(&machine, "work/.mcp.json")).expect("JSON");
    assert_eq!(servers["mcpServers"]["sinew"]["command"], "sinew");
    let settings = text(&machine, "work/.claude/settings.json");
    assert!(settings.contains("\"sinew hook auto --agent claude-code\""), "{settings}");
    assert!(
        !settings.contains(machine.root().to_str().expect("a path")),
        "nothing of this machine"
    );
    let goose = sinew(&machine, &["connect", "goose", "--scope", "project"]);
    assert!(goose.contains("no project configuration") && goose.ends_with("exit 2"), "{goose}");
}

/// What others get with the next commit is not changed in passing.
#[test]
fn a_file_that_git_tracks_needs_a_yes() {
    let machine = TestMachine::new().file("work/.mcp.json", "{}\n");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-C"]).arg(machine.path("work")).args(args).env("HOME", machine.path("home"));
        git.output().is_ok_and(|output| output.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["add", ".mcp.json"])) {
        return sinew_testkit::report_skip("there is no git here");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let run = |args: &[&str]| {
        let output = command(&machine, args).env("PATH", &path).output().expect("sinew runs");
        shown(&machine, &output)
    };
    let refused = run(&["connect", "claude-code", "--mcp", "--scope", "project"]);
    assert!(refused.contains("tracked by git") && refused.ends_with("exit 3"), "{refused}");
    assert_eq!(text(&machine, "work/.mcp.json"), "{}\n");
    let done = run(&["connect", "claude-code", "--mcp", "--scope", "project", "--yes"]);
    assert!(done.ends_with("exit 0"), "{done}");
}

#[test]
fn a_server_behind_an_address_needs_no_secret_in_the_file() {
    for (agent, path, before) in SAMPLES {
        let machine = TestMachine::new().file(path, before);
        let args = ["connect", agent, "--mcp", "--http", "http://127.0.0.1:7411/mcp"];
        let mut run = command(&machine, &args);
        let output = run.env("SINEW_TOKEN", "marker-4711").output().expect("sinew runs");
        assert!(output.status.success(), "{}", shown(&machine, &output));
        let written = text(&machine, path);
        assert!(written.contains("http://127.0.0.1:7411/mcp"), "{agent}: {written}");
        assert!(!written.contains("marker-4711"), "{agent}");
        sinew(&machine, &["disconnect", agent]);
        assert_eq!(text(&machine, path), *before, "{agent}");
    }
    let machine = TestMachine::new();
    for bad in ["ftp://x", "http://user:secret@host/", "nonsense", "http:// x"] {
        let shown = sinew(&machine, &["connect", "cursor", "--http", bad]);
        assert!(shown.ends_with("exit 2"), "{bad}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_at_home_only() {
    let machine = TestMachine::new().file("home/dotfiles/mcp.json", "{}\n");
    let machine = machine.link("home/.cursor/mcp.json", "home/dotfiles/mcp.json");
    assert!(sinew(&machine, &["connect", "cursor"]).ends_with("exit 0"));
    assert!(machine.path("home/.cursor/mcp.json").is_symlink());
    assert!(text(&machine, "home/dotfiles/mcp.json").contains("sinew"));
    sinew(&machine, &["disconnect", "cursor"]);
    assert_eq!(text(&machine, "home/dotfiles/mcp.json"), "{}\n");

    let machine = TestMachine::new().file("elsewhere/mcp.json", "{}\n");
    let machine = machine.link("home/.cursor/mcp.json", "elsewhere/mcp.json");
    let refused = sinew(&machine, &["connect", "cursor"]);
    assert!(refused.contains("not below your home") && refused.ends_with("exit 3"), "{refused}");
    assert_eq!(text(&machine, "elsewhere/mcp.json"), "{}\n");
}

#[cfg(unix)]
#[test]
fn the_mode_of_a_file_and_of_its_backup_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let (agent, path, before) = SAMPLES[0];
    let machine = TestMachine::new().file(path, before);
    machine.chmod(path, 0o640);
    sinew(&machine, &["connect", agent, "--mcp"]);
    let entries = fs::read_dir(machine.path("home")).expect("home").flatten();
    let files =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".claude.json"));
    let modes: Vec<u32> =
        files.map(|file| file.metadata().expect("facts").permissions().mode() & 0o777).collect();
    assert_eq!(modes, [0o640, 0o640]);
}

/// Installed skills go to the agent's folder as links with a mark, and only marked ones leave again.
#[test]
fn installed_skills_are_published_and_withdrawn() {
    let machine = TestMachine::new()
        .skill("home/.sinew/skills/tides", "tides")
        .skill("home/.sinew/skills/notes", "notes")
        .skill("home/.claude/skills/notes", "notes");
    let done = json(&machine, &["connect", "claude-code", "--skills"]);
    assert_eq!(done["skills"]["added"], serde_json::json!(["tides"]), "{done}");
    assert_eq!(done["skills"]["taken"], serde_json::json!(["notes"]), "{done}");
    assert!(machine.path("home/.claude/skills/tides/SKILL.md").is_file());
    assert!(machine.path("home/.claude/skills/tides/.sinew-origin.json").is_file());
    sinew(&machine, &["disconnect", "claude-code"]);
    assert!(!machine.path("home/.claude/skills/tides").exists());
    assert!(machine.path("home/.claude/skills/notes/SKILL.md").is_file());
    assert!(
        machine.path("home/.sinew/skills/tides/SKILL.md").is_file(),
        "what links lead to stays"
    );

    let (agent, path, before) = SAMPLES[2];
    let machine = TestMachine::new().file(path, before);
    sinew(&machine, &["connect", agent, "--skills"]);
    assert!(text(&machine, path).contains("/.sinew/skills"), "{}", text(&machine, path));
    sinew(&machine, &["disconnect", agent]);
    assert_eq!(text(&machine, path), before);
}

/// `doctor` starts what is configured and asks it for its tools.
#[cfg(unix)]
#[test]
fn doctor_proves_a_connection() {
    let plain = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    let choice = r#"{"name":"b","inputSchema":{"type":"object","oneOf":[]}}"#;
    let said = "`sinew mcp` offers 1 tools, and agents drop b";
    for (tools, said) in [([plain, plain], "`sinew mcp` offers 2 tools"), ([plain, choice], said)] {
        let tools = tools.join(",");
        let answers = format!(
            r#"read hello
echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-06-18"}}}}'
read ready; read tools
echo '{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tools}]}}}}'"#
        );
        let machine = TestMachine::new().script("sinew", &answers).script("mute", "exit 0");
        sinew(&machine, &["connect", "claude-code", "--mcp", "--scope", "project"]);
        let doctor = sinew(&machine, &["doctor"]);
        assert!(doctor.contains(said), "{doctor}");
    }
    let machine = TestMachine::new().script("sinew", "exit 0");
    sinew(&machine, &["connect", "cursor", "--mcp", "--scope", "project"]);
    let doctor = sinew(&machine, &["doctor"]);
    assert!(doctor.contains("`sinew mcp` does not list its tools"), "{doctor}");
}

#[test]
fn an_unknown_agent_is_named_with_its_neighbours() {
    assert_snapshot!(sinew(&TestMachine::new(), &["connect", "clode-code"]));
    assert_snapshot!(sinew(&TestMachine::new(), &["connect", "goose", "--hooks"]));
}

/// Cursor's hooks stand by themselves, in a file with a version, and bring nothing with a message: they
/// are written where they are asked for.
#[test]
fn cursor_gets_hooks_in_its_own_form_where_they_are_asked_for() {
    let path = "home/.cursor/hooks.json";
    let mine =
        "{\n  \"version\": 1,\n  \"hooks\": { \"stop\": [{ \"command\": \"./mine.sh\" }] }\n}\n";
    for before in [Some(mine), None] {
        let machine = TestMachine::new();
        if let Some(before) = before {
            machine.write(path, before);
        }
        sinew(&machine, &["connect", "cursor"]);
        assert_eq!(fs::read_to_string(machine.path(path)).ok().as_deref(), before);
        let done = sinew(&machine, &["connect", "cursor", "--hooks"]);
        assert!(done.ends_with("exit 0"), "{done}");
        let written: Value = serde_json::from_str(&text(&machine, path)).expect("JSON");
        assert_eq!(written["version"], 1);
        let stops = written["hooks"]["stop"].as_array().expect("a list");
        let ours = stops.last().expect("an entry");
        let command = ours["command"].as_str().expect("a command");
        assert!(command.ends_with("hook auto --agent cursor"), "{written}");
        assert!(ours["hooks"].is_null() && ours["type"].is_null(), "{written}");
        assert_eq!(stops.len(), 1 + usize::from(before.is_some()), "{written}");
        assert!(written["hooks"]["sessionStart"].is_array(), "{written}");
        assert!(sinew(&machine, &["connect", "cursor", "--hooks"]).contains("unchanged"));
        sinew(&machine, &["disconnect", "cursor"]);
        assert_eq!(fs::read_to_string(machine.path(path)).ok().as_deref(), before);
    }
}

/// goose writes its file anew when it is configured: other quotes and order, no comments, empty fields
/// of its own. Our entry still says the same, so it is neither a conflict nor left behind.
#[test]
fn an_entry_that_its_agent_wrote_anew_is_still_ours() {
    let (agent, path, before) = SAMPLES[6];
    let machine = TestMachine::new().file(path, before);
    let done = json(&machine, &["connect", agent]);
    let program = text(&machine, path);
    let program = program.lines().find_map(|line| line.trim().strip_prefix("cmd: ")).expect("cmd");
    let anew = format!(
        "GOOSE_PROVIDER: anthropic\nextensions:\n  developer:\n    bundled: true\n    enabled: true\n    \
         type: builtin\n    env:\n      sinew: no\n  sinew:\n    enabled: true\n    type: stdio\n    \
         name: sinew\n    description: ''\n    cmd: {}\n    args:\n    - mcp\n    envs: {{}}\n    \
         env_keys: []\n    timeout: 300\n    bundled: null\n    available_tools: []\nslash_commands: []\n",
        program.trim_matches('"')
    );
    machine.write(path, &anew);
    let again = sinew(&machine, &["connect", agent]);
    assert!(again.contains("unchanged") && again.ends_with("exit 0"), "{again}\n{done}");
    let listed = sinew(&machine, &["connect", "--list"]);
    assert!(!listed.contains("changed:"), "{listed}");
    let gone = sinew(&machine, &["disconnect", agent]);
    assert!(!gone.contains("changed since"), "{gone}");
    let after = text(&machine, path);
    assert!(!after.contains("name: sinew") && after.contains("sinew: no"), "{after}");
    assert!(after.contains("developer:") && after.ends_with("slash_commands: []\n"), "{after}");
}

/// What an earlier version noted as lines of YAML is known, too.
#[test]
fn a_note_of_lines_is_read_as_an_entry() {
    let (agent, path, before) = SAMPLES[6];
    let machine = TestMachine::new().file(path, before);
    sinew(&machine, &["connect", agent]);
    let ledger = machine.path("home/.sinew/connections.jsonl");
    let noted = fs::read_to_string(&ledger).expect("a ledger");
    let mut line: Value = serde_json::from_str(noted.trim()).expect("JSON");
    let fields = line["written"][0]["value"].as_object().expect("fields").clone();
    let lines = fields.iter().map(|(name, value)| format!("  {name}: {value}"));
    let lines = format!("sinew:\n{}", lines.collect::<Vec<_>>().join("\n"));
    line["written"][0]["value"] = lines.into();
    fs::write(&ledger, format!("{line}\n")).expect("written");
    let with_comment = format!("{}# later\n", text(&machine, path));
    machine.write(path, &with_comment);
    sinew(&machine, &["disconnect", agent]);
    assert_eq!(text(&machine, path), format!("{before}# later\n"));
}

/// JSON and TOML that another program wrote anew: compared by value, too.
#[test]
fn a_file_in_another_order_holds_the_same_entry() {
    let machine = TestMachine::new();
    sinew(&machine, &["connect", "cursor", "--mcp"]);
    let path = "home/.cursor/mcp.json";
    let entry: Value = serde_json::from_str(&text(&machine, path)).expect("JSON");
    let command = &entry["mcpServers"]["sinew"]["command"];
    let anew = format!(
        "{{\"mcpServers\":{{\"sinew\":{{\"env\":{{}},\"args\":[\"mcp\"],\"command\":{command}}}}}}}"
    );
    machine.write(path, anew);
    assert!(sinew(&machine, &["connect", "cursor", "--mcp"]).contains("unchanged"));
    sinew(&machine, &["disconnect", "cursor"]);
    assert!(!text(&machine, path).contains("sinew"));
}

/// A program that moved is not a conflict: what stands there is what we wrote.
#[cfg(unix)]
#[test]
fn what_an_earlier_sinew_wrote_is_replaced_without_force() {
    let machine = TestMachine::new();
    sinew(&machine, &["connect", "claude-code"]);
    let elsewhere = machine.path("moved/sinew");
    fs::create_dir_all(machine.path("moved")).expect("a folder");
    fs::copy(env!("CARGO_BIN_EXE_sinew"), &elsewhere).expect("a copy");
    let mut moved = Command::new(&elsewhere);
    moved.args(["connect", "claude-code"]).env_clear().env("HOME", machine.path("home"));
    moved.env("PATH", machine.path("bin")).current_dir(machine.path("work"));
    let output = moved.output().expect("sinew runs");
    assert!(output.status.success(), "{}", shown(&machine, &output));
    assert!(text(&machine, "home/.claude.json").contains("moved/sinew"));
    let settings = text(&machine, "home/.claude/settings.json");
    assert_eq!(settings.matches("moved/sinew").count(), 9, "{settings}");
    assert_eq!(settings.matches("hook auto").count(), 9, "{settings}");
    sinew(&machine, &["disconnect", "claude-code"]);
    assert!(!machine.path("home/.claude.json").exists());
    assert!(!machine.path("home/.claude/settings.json").exists());
}

/// A window or a service does not have the shell's PATH.
#[cfg(unix)]
#[test]
fn agents_without_a_shell_get_the_whole_path() {
    let machine = TestMachine::new();
    let on_path = machine.path("bin/sinew");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sinew"), &on_path).expect("a link");
    for (agent, path, _) in SAMPLES {
        let path = if *agent == "opencode" { "home/.config/opencode/opencode.json" } else { path };
        sinew(&machine, &["connect", agent, "--mcp"]);
        let written = text(&machine, path);
        let is_whole = written.contains(on_path.to_str().expect("a path"));
        let wanted = ["cursor", "vscode", "openclaw", "goose"].contains(agent);
        assert_eq!(is_whole, wanted, "{agent}: {written}");
    }
    let shared = sinew(&machine, &["connect", "cursor", "--mcp", "--scope", "project"]);
    assert!(!text(&machine, "work/.cursor/mcp.json").contains("bin/sinew"), "{shared}");
}

/// Tools that only read can be allowed once and for all, visibly, and not for longer than wanted.
#[test]
fn reading_can_be_allowed_and_disallowed_again() {
    let path = "home/.claude/settings.json";
    let before = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"]\n  }\n}\n";
    let machine = TestMachine::new().file(path, before);
    let dry = sinew(&machine, &["connect", "claude-code", "--allow-read", "--dry-run"]);
    assert!(dry.contains("+      \"mcp__sinew__find_skill\""), "{dry}");
    let without = sinew(&machine, &["connect", "claude-code", "--mcp", "--dry-run"]);
    assert!(without.contains("--allow-read") && !without.contains("mcp__sinew"), "{without}");
    sinew(&machine, &["connect", "claude-code", "--allow-read"]);
    let allowed: Value = serde_json::from_str(&text(&machine, path)).expect("JSON");
    let rules = allowed["permissions"]["allow"].as_array().expect("rules");
    assert_eq!(rules[0], "Bash(ls)");
    assert!(rules.iter().all(|rule| !rule.as_str().is_some_and(|rule| rule.contains("approve"))));
    assert!(sinew(&machine, &["connect", "claude-code", "--allow-read"]).contains("unchanged"));
    sinew(&machine, &["disconnect", "claude-code"]);
    assert_eq!(text(&machine, path), before);
}

/// A person at a terminal is asked.
#[cfg(unix)]
#[test]
fn a_person_is_asked_whether_reading_is_allowed() {
    let machine = TestMachine::new();
    let asked = crate::support::typed(&machine, &["connect", "claude-code"], "y\r");
    assert!(asked.contains("only read without asking?") && asked.ends_with("exit 0"), "{asked}");
    assert!(text(&machine, "home/.claude/settings.json").contains("mcp__sinew__find_skill"));
    let machine = TestMachine::new();
    crate::support::typed(&machine, &["connect", "claude-code"], "n\r");
    assert!(!text(&machine, "home/.claude/settings.json").contains("mcp__sinew__"));
}

/// After connecting, the first message of the agent finds its vectors.
#[test]
fn connecting_computes_the_vectors() {
    let machine = TestMachine::new().skill("work/skills/tides", "tides");
    let indexes = || {
        let files = fs::read_dir(machine.path("home/.sinew/cache")).into_iter().flatten().flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("index-")).count()
    };
    assert_eq!(indexes(), 0);
    sinew(&machine, &["connect", "claude-code"]);
    assert_eq!(indexes(), 1);
    assert_eq!(json(&machine, &["index", "status"])["pending"], 0);
}

/// An address is asked, by `connect` and by `doctor`.
#[test]
fn a_server_behind_an_address_is_asked() {
    let machine = TestMachine::new();
    let nowhere = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/mcp", listener.local_addr().expect("an address"))
    };
    let shown = sinew(&machine, &["connect", "cursor", "--http", &nowhere]);
    assert!(shown.contains("does not answer") && shown.contains("`sinew serve`"), "{shown}");
    assert!(shown.ends_with("exit 0"), "{shown}");
    let doctor = sinew(&machine, &["doctor"]);
    assert!(doctor.contains("does not answer"), "{doctor}");
    if !command(&machine, &["serve", "--help"]).output().is_ok_and(|out| out.status.success()) {
        return sinew_testkit::report_skip("this build has no `sinew serve`");
    }
    let server = ServingProgram::start(&machine);
    let url = format!("http://{}/mcp", server.address());
    let check = |token: Option<&str>| {
        let mut run =
            command(&machine, &["connect", "cursor", "--http", &url, "--force", "--json"]);
        if let Some(token) = token {
            run.env("SINEW_TOKEN", token);
        }
        let output = run.output().expect("sinew runs");
        let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        plan["server"].clone()
    };
    let without = check(None);
    assert_eq!(without["works"], false, "{without}");
    assert!(
        without["detail"].as_str().is_some_and(|said| said.contains("SINEW_TOKEN")),
        "{without}"
    );
    let wrong = check(Some("wrong"));
    assert!(wrong["detail"].as_str().is_some_and(|said| said.contains("accept")), "{wrong}");
    let right = check(Some(server.token()));
    assert_eq!(right["works"], true, "{right}");
    assert!(right["detail"].as_str().is_some_and(|said| said.contains(" tools")), "{right}");
}
