//! Commands: a person at a terminal, and an agent that runs them in a pipe.

use sinew_testkit::TestMachine;

use super::{MatrixRows, machine};
use crate::support::{command, json, sinew, typed};

/// What is typed to try each command that acts; nothing for one that opens an editor, that measures for
/// a minute, or that talks to a registry, whose own token decides.
const ROWS: &[(&str, &str)] = &[
    ("report", "report --region writing --skill notes --version 1 --result ok"),
    ("install", "install ./new/tides --yes"),
    ("update", ""),
    ("pin", ""),
    ("restore", ""),
    ("uninstall", "uninstall tides --yes"),
    ("approve", "approve $APPROVAL"),
    ("learn", "learn ./run.jsonl"),
    ("exec", "exec notes -- show"),
    ("connect", "connect cursor"),
    ("disconnect", "disconnect cursor"),
    ("import", "import --copy"),
    ("deps", "deps forge --install --yes"),
    ("scan", "scan evil --accept shell-pipe-to-shell --digest $DIGEST --reason fine"),
    ("validate", "validate skills/notes --fix"),
    ("doctor", "doctor --fresh"),
    ("backup", "backup --restore"),
    ("acquire", ""),
    ("cortex blacklist", "cortex blacklist add noisy"),
    ("cortex reset", "cortex reset --region writing --yes"),
    ("cortex prune", "cortex prune"),
    ("cortex rebuild", "cortex rebuild"),
    ("cortex import", ""),
    ("workshop suggest", "workshop suggest --skill standup --description standup --body -x"),
    ("workshop revise", "workshop revise $PROPOSAL --body -y"),
    ("workshop reject", "workshop reject $PROPOSAL"),
    ("workshop apply", "workshop apply $PROPOSAL"),
    ("workshop restore", "workshop restore $PROPOSAL --ack x --reason fine"),
    ("workshop undo", "workshop undo $WRITTEN"),
    ("workshop promote", ""),
    ("workshop write-support-file", "workshop write-support-file notes references/a.md --body x"),
    ("workshop capture", ""),
    ("workshop import", ""),
    ("workshop review", ""),
    ("skills load", "skills load --all"),
    ("skills migrate", "skills migrate"),
    ("config import", "config import openclaw"),
    ("config set", "config set route.top 7"),
    ("config unset", "config unset route.top"),
    ("config edit", ""),
    ("bundled eject", "bundled eject sinew"),
    ("eval calibrate", ""),
    ("new", "new soups --from soup"),
    ("enable", "enable tea"),
    ("disable", "disable notes"),
    ("setup", "setup --yes"),
    ("service install", "service install"),
    ("service remove", "service remove"),
];

/// Commands that change nothing but what they keep for the next look.
const LOOKS: &[&str] = &[
    "status",
    "find",
    "open",
    "bundled list",
    "list",
    "info",
    "why",
    "check",
    "prompt",
    "read",
    "eval route",
    "eval triggers",
    "eval scan",
    "dedupe",
    "index",
    "usage",
    "context",
    "search",
    "installed",
    "verify",
    "commands",
    "hook",
    "mcp",
    "watch",
    "serve",
    "ui",
    "demo",
    "completions",
    "man",
    "docs",
    "registry",
    "cortex show",
    "cortex why",
    "cortex lessons",
    "cortex export",
    "cortex simulate",
    "workshop status",
    "workshop list",
    "workshop inspect",
    "workshop history",
    "workshop export",
    "workshop teaches",
    "skills list",
    "skills validate",
    "config show",
    "config get",
    "config path",
    "service status",
];

/// Groups, whose commands have rows of their own.
const GROUPS: &[&str] = &["bundled", "cortex", "workshop", "skills", "config", "service", "eval"];

/// The commands below one, as its help lists them.
fn listed(machine: &TestMachine, path: &[&str]) -> Vec<String> {
    let mut args = path.to_vec();
    args.push("--help");
    let help = sinew(machine, &args);
    // The program's own list stands in groups, each under its title.
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let lists = lines.take_while(|line| !["Options:", "Arguments:"].contains(line));
    let names = lists.filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

pub(super) fn tried() -> MatrixRows {
    let somewhere = machine();
    let mut known = Vec::new();
    for name in listed(&somewhere, &[]) {
        if GROUPS.contains(&name.as_str()) {
            let below = listed(&somewhere, &[&name]);
            known.extend(below.into_iter().map(|below| format!("{name} {below}")));
        } else {
            known.push(name);
        }
    }
    for name in &known {
        let has_row = LOOKS.contains(&name.as_str()) || ROWS.iter().any(|(row, _)| row == name);
        assert!(has_row, "the command {name} has no row");
    }
    let (terminal, pipe) = (machine(), machine());
    let mut rows = MatrixRows::new();
    for (name, typed_args) in ROWS {
        assert!(known.iter().any(|known| known == name), "there is no command {name}");
        if typed_args.is_empty() {
            continue;
        }
        let at_terminal = in_terminal(&terminal, &filled(&terminal, typed_args));
        let in_pipe = in_pipe(&pipe, &filled(&pipe, typed_args));
        rows.insert(
            (*typed_args).to_owned(),
            vec![("person at a terminal", at_terminal), ("agent in a pipe", in_pipe)],
        );
    }
    rows
}

/// The words of a command, with things that exist in the place of `$` words.
fn filled(machine: &TestMachine, text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    if text.contains("$APPROVAL") {
        let told = sinew(machine, &["install", "./new/tides", "--yes"]);
        let id = told.split("sinew approve ").nth(1).and_then(|rest| rest.get(..12));
        text = text.replace("$APPROVAL", id.unwrap_or("000000000000"));
    }
    if text.contains("$DIGEST") {
        let told = sinew(machine, &["scan", "evil"]);
        let digest = told.split("sha256:").nth(1).and_then(|rest| rest.get(..64)).unwrap_or("0");
        text = text.replace("$DIGEST", &format!("sha256:{digest}"));
    }
    if text.contains("$PROPOSAL") {
        // One skill for each command: what was applied before cannot be proposed again.
        let verb = text.split(' ').nth(1).unwrap_or_default().to_owned();
        text = text.replace("$PROPOSAL", &proposed(machine, &verb));
    }
    if text.contains("$WRITTEN") {
        let id = proposed(machine, "retro");
        let told = typed(machine, &["workshop", "apply", &id], "");
        assert!(told.ends_with("exit 0"), "{told}");
        text = text.replace("$WRITTEN", "retro");
    }
    text.split(' ').map(str::to_owned).collect()
}

/// What a person proposed, at a terminal.
fn proposed(machine: &TestMachine, skill: &str) -> String {
    let about = format!("Write the {skill} note of the day");
    let body = format!("- List what {skill} needs\n- Then {skill} it");
    let args = ["workshop", "suggest", "--skill", skill, "--description", &about, "--body", &body];
    let told = typed(machine, &args, "");
    assert!(told.ends_with("exit 0"), "{told}");
    let waiting = json(machine, &["workshop", "list"]).to_string();
    let id = waiting.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    id.unwrap_or_else(|| panic!("{waiting}")).to_owned()
}

fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// A person who says no, so that what is asked is told from what is done.
fn in_terminal(machine: &TestMachine, args: &[String]) -> String {
    let args: Vec<&str> = words(args).into_iter().filter(|arg| *arg != "--yes").collect();
    let told = typed(machine, &args, "n\nn\nn\n");
    match told.rsplit("exit ").next() {
        Some("0") => "allowed".to_owned(),
        Some("3") => "asked".to_owned(),
        Some(code) => format!("exit {code}"),
        None => told,
    }
}

fn in_pipe(machine: &TestMachine, args: &[String]) -> String {
    let output = command(machine, &words(args)).output().expect("sinew runs");
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => "allowed".to_owned(),
        Some(3) if told.contains("sinew approve ") => "asked".to_owned(),
        Some(3) => "refused".to_owned(),
        code => format!("exit {}", code.unwrap_or(-1)),
    }
}
