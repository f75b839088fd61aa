//! Whose folders a host's profile reads: the workspace of the agent that is meant, what a checkout or an
//! install of the host brings, and the machines that the host is connected to.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use crate::serving::ServingProgram;
use crate::support::{command, sinew};

/// Longer than any of these needs on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command without bundled skills of the test's own.
fn host(machine: &TestMachine, profile: &str, args: &[&str]) -> Command {
    let all: Vec<&str> =
        ["--profile", profile, "list", "--all", "--json"].iter().chain(args).copied().collect();
    let mut command = command(machine, &all);
    command.env_remove("SINEW_BUNDLED_SKILLS_DIR");
    command
}

/// Each skill that is listed, with the end of its source, in order.
fn listed(mut command: Command) -> String {
    let output = command.output().expect("sinew runs");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let entries = answer["skills"].as_array().or(answer.as_array()).expect("a list").clone();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<String> = entries
        .iter()
        .filter(|entry| !text(entry, "filePath").contains("/home/.sinew/bundled/"))
        .map(|entry| format!("{} {}", text(entry, "name"), text(entry, "source")))
        .collect();
    all.sort();
    all.join(", ")
}

/// OpenClaw works for its only agent, or for the one that is marked, whatever it is called; agents beside
/// others have folders of their own.
#[test]
fn openclaws_agent_decides_whose_workspace_is_read() {
    let skills = [
        (".openclaw/workspace", "usual"),
        (".openclaw/workspace-d", "of-d"),
        ("wsc", "of-c"),
        ("shared", "common"),
        ("shared/d", "common-of-d"),
    ];
    let check = |config: &str, args: &[&str], wanted: &str| {
        let mut machine = TestMachine::new().file("home/.openclaw/openclaw.json", config);
        for (folder, name) in skills {
            machine = machine.skill(&format!("home/{folder}/skills/{name}"), name);
        }
        let wanted = format!("{wanted} openclaw-workspace");
        assert_eq!(listed(host(&machine, "openclaw", args)), wanted, "{config} {args:?}");
    };
    let c = "c: {workspace: '~/wsc'}";
    let shared = "defaults: {workspace: '~/shared'}";
    let several = format!("ownership: 'explicit', entries: {{{c}, d: {{}}}}");
    check("{}", &[], "usual");
    check(&format!("{{agents: {{entries: {{{c}}}}}}}"), &[], "of-c");
    check("{agents: {entries: {c: {}}}}", &[], "usual");
    check(&format!("{{agents: {{entries: {{c: {{}}}}, {shared}}}}}"), &[], "common");
    check(
        "{agents: {list: [{id: 'd'}, {id: 'c', default: true, workspace: '~/wsc'}]}}",
        &[],
        "of-c",
    );
    check(&format!("{{agents: {{{several}}}}}"), &["--agent", "c"], "of-c");
    check(&format!("{{agents: {{{several}}}}}"), &["--agent", "d"], "of-d");
    check(&format!("{{agents: {{{several}, {shared}}}}}"), &["--agent", "d"], "common-of-d");
}

/// The list of the only agent holds without its name.
#[test]
fn the_list_of_openclaws_only_agent_holds() {
    let machine = TestMachine::new()
        .file("home/.openclaw/openclaw.json", "{agents: {entries: {c: {skills: ['mine']}}}}")
        .skill("home/.openclaw/workspace/skills/mine", "mine")
        .skill("home/.openclaw/workspace/skills/other", "other");
    let output = host(&machine, "openclaw", &[]).output().expect("sinew runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let entries = answer["skills"].as_array().or(answer.as_array()).expect("a list").clone();
    let state = |name: &str| {
        let found = entries.iter().find(|entry| entry["name"] == name);
        found.expect("the skill")["state"].clone()
    };
    assert_eq!((state("mine"), state("other")), (json!("ready"), json!("excluded")));
}

const POCKET: &str = "{\"name\":\"openpocket\",\"version\":\"1.0.0\"}";

/// What a checkout carries is found from inside it, whichever workspace is configured.
#[test]
fn openpockets_checkout_and_workspaces_are_read() {
    let machine = TestMachine::new()
        .file("work/package.json", POCKET)
        .skill("work/skills/carried", "carried")
        .skill("home/ws/skills/mine", "mine")
        .skill("home/wsb/skills/other", "other");
    std::fs::create_dir_all(machine.path("work/src/deep")).expect("a folder");
    let inside = |args: &[&str]| {
        let mut command = host(&machine, "openpocket", args);
        command.current_dir(machine.path("work/src/deep"));
        listed(command)
    };
    assert_eq!(inside(&[]), "carried bundled");
    machine.write(
        "home/.openpocket/config.json",
        r#"{"workspaceDir": "~/ws", "agents": {"entries": {"b": {"workspaceDir": "~/wsb"}}}}"#,
    );
    assert_eq!(inside(&[]), "carried bundled, mine workspace");
    assert_eq!(inside(&["--agent", "b"]), "carried bundled, other workspace");
    let mut outside = host(&machine, "openpocket", &[]);
    outside.current_dir(machine.path("home"));
    assert_eq!(listed(outside), "mine workspace", "the checkout is not meant elsewhere");
}

#[cfg(unix)]
#[test]
fn an_installed_openpocket_brings_its_skills() {
    let package = "pkg/lib/node_modules/openpocket";
    let machine = TestMachine::new()
        .file(&format!("{package}/package.json"), POCKET)
        .file(&format!("{package}/cli.mjs"), "#!/usr/bin/env node\n")
        .skill(&format!("{package}/skills/carried"), "carried")
        .file("home/.openpocket/config.json", r#"{"workspaceDir": "~/ws"}"#)
        .skill("home/ws/skills/mine", "mine")
        .link("bin/openpocket", &format!("{package}/cli.mjs"));
    machine.chmod(&format!("{package}/cli.mjs"), 0o755);
    assert_eq!(listed(host(&machine, "openpocket", &[])), "carried bundled, mine workspace");
}

/// What a host says instead of a list is passed on; a list that differs is shown, and is a no.
#[cfg(unix)]
#[test]
fn a_comparison_shows_refusals_and_differences() {
    let compare = |script: &str| {
        let machine = TestMachine::new()
            .script("openclaw", script)
            .skill("home/.openclaw/workspace/skills/ours", "ours");
        let mut command = command(&machine, &["doctor", "--compare", "openclaw"]);
        let output = command.output().expect("sinew runs");
        crate::support::shown(&machine, &output)
    };
    let refused =
        compare(r#"echo '{"ok":false,"error":{"message":"Pass --agent <id>."}}'; exit 1"#);
    assert!(refused.contains("did not list its skills: Pass --agent <id>."), "{refused}");
    assert!(!refused.contains("exit 0"), "{refused}");
    let broken =
        compare("echo 'starting' >&2; echo 'Error: the state folder is locked' >&2; exit 1");
    assert!(broken.contains("Error: the state folder is locked"), "{broken}");
    let theirs = compare(r#"echo '{"skills":[{"name":"theirs","eligible":true}]}'"#);
    assert!(theirs.contains("it lists 1 skills, 1 ready; sinew 1, 1 ready"), "{theirs}");
    assert!(theirs.contains("differs, and nothing says why"), "{theirs}");
    assert!(theirs.contains("ready there, absent here"), "{theirs}");
    assert!(theirs.contains("absent there, ready here"), "{theirs}");
    assert!(theirs.contains("0 the same, 0 explained, 2 unexplained"), "{theirs}");
    assert!(theirs.ends_with("exit 1"), "{theirs}");
}

/// Which plugin brought a skill is said to people, not only in JSON.
#[test]
fn the_plugin_that_brought_a_skill_is_shown() {
    let plugin = "home/.cursor/plugins/cache/mp/kit/1a2b";
    let machine = TestMachine::new()
        .file(
            &format!("{plugin}/.cursor-plugin/plugin.json"),
            r#"{"name": "kit", "version": "1.2.0"}"#,
        )
        .skill(&format!("{plugin}/skills/style"), "style");
    let said = "kit 1.2.0 of mp, on in cursor: it is installed";
    let info = sinew(&machine, &["info", "kit:style"]);
    assert!(info.contains("plugin") && info.contains(said), "{info}");
    let why = sinew(&machine, &["why", "kit:style"]);
    assert!(why.contains(&format!("it came with the plugin {said}")), "{why}");
}

/// Rules of Cursor are found by a message like skills.
#[test]
fn a_rule_is_routed() {
    let machine = TestMachine::new().file(
        "work/.cursor/rules/api.mdc",
        "---\ndescription: How endpoints of the billing API are named\nalwaysApply: false\n---\nUse nouns.\n",
    );
    let found = sinew(&machine, &["find", "how are endpoints of the billing API named?"]);
    assert!(found.contains("api"), "{found}");
    let found = sinew(&machine, &["--profile", "cursor", "list"]);
    assert!(found.contains("api"), "{found}");
}

/// A skill for a Mac with a program.
fn mac_machine() -> TestMachine {
    TestMachine::new().workspace_skill(
        "mac-notes",
        "metadata: {openclaw: {os: [darwin], requires: {bins: [no-such-memo]}}}",
    )
}

/// Who runs the commands of a skill that another machine makes ready is said wherever it is shown.
#[test]
fn a_connected_machine_is_named_to_people_and_to_the_model() {
    let machine = mac_machine().file(
        "home/.sinew/config.json5",
        "{skills: {remotes: {studio: {platform: 'darwin', bins: ['no-such-memo']}}}}",
    );
    let info = sinew(&machine, &["info", "mac-notes"]);
    assert!(info.contains("found on studio, a machine that the host is connected to"), "{info}");
    let why = sinew(&machine, &["why", "mac-notes"]);
    assert!(why.contains("is on studio, a connected machine"), "{why}");
    let prompt = sinew(&machine, &["prompt"]);
    let note = "run on a connected machine, not here: studio (mac-notes).";
    assert!(prompt.contains(note), "{prompt}");
    machine.write("home/.sinew/config.json5", "{}");
    let prompt = sinew(&machine, &["prompt"]);
    assert!(!prompt.contains("studio"), "{prompt}");
}

/// What a running server says of a skill, and through which machine it is ready.
fn through(server: &ServingProgram) -> (String, Option<String>) {
    let (status, body) = server.request("GET", "/api/v1/skills/mac-notes", "", &Value::Null);
    assert_eq!(status, 200, "{body}");
    let skill: Value = serde_json::from_str(&body).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&skill["state"]).unwrap_or_default(), text(&skill["viaMachine"]))
}

#[test]
fn a_machine_that_a_host_tells_of_counts_for_its_time() {
    let machine = mac_machine();
    let server = ServingProgram::start(&machine);
    let waits = ("needs-setup".to_owned(), None);
    let ready = ("ready".to_owned(), Some("studio".to_owned()));
    let tell = |ttl: u64| {
        let body = json!({"platform": "darwin", "bins": ["no-such-memo"], "ttl": ttl});
        let (status, answer) = server.request("PUT", "/api/v1/remotes/studio", "", &body);
        assert_eq!(status, 200, "{answer}");
    };
    assert_eq!(through(&server), waits);
    tell(3_600);
    assert_eq!(through(&server), ready, "at once");
    assert!(sinew(&machine, &["why", "mac-notes"]).contains("on studio"));
    let (status, _) = server.request("DELETE", "/api/v1/remotes/studio", "", &json!({}));
    assert_eq!((status, through(&server)), (200, waits.clone()));
    tell(1);
    let began = Instant::now();
    while through(&server) != waits {
        assert!(began.elapsed() < PATIENCE, "its time is never over");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (_, left) = server.request("GET", "/api/v1/remotes", "", &Value::Null);
    assert!(!left.contains("studio"), "{left}");
}
