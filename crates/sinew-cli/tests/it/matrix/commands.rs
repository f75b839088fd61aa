//! Commands: a person at a terminal, and an agent that runs them in a pipe.

use sinew_testkit::{ClawHubDouble, GitHubDouble, TestMachine};

use super::{MatrixRows, machine};
use crate::support::{command, json, sinew, typed, typed_with};

/// What is typed to try each command that acts. `$` words stand for things that exist, `+` for a blank
/// inside an argument.
const ROWS: &[(&str, &str)] = &[
    ("report", "report --region writing --skill notes --version 1 --result ok"),
    ("install", "install ./new/tides --yes"),
    ("update", "update $CHANGED"),
    ("pin", "pin $INSTALLED"),
    ("pin", "pin --remove $INSTALLED"),
    ("restore", "restore"),
    ("sync", "sync --file new/skills.toml --yes"),
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
    ("acquire", "acquire manage+my+to-do+list"),
    ("cortex blacklist", "cortex blacklist add noisy"),
    ("cortex read-only", "cortex read-only noisy@sha256:00"),
    ("cortex reset", "cortex reset --region writing --yes"),
    ("cortex prune", "cortex prune"),
    ("cortex rebuild", "cortex rebuild"),
    ("cortex import", "cortex import ./cortex.json"),
    ("workshop suggest", "workshop suggest --skill standup --description standup --body -x"),
    ("workshop revise", "workshop revise $PROPOSAL --body -y"),
    ("workshop reject", "workshop reject $PROPOSAL"),
    ("workshop apply", "workshop apply $PROPOSAL"),
    ("workshop restore", "workshop restore $PROPOSAL --ack x --reason fine"),
    ("workshop undo", "workshop undo $WRITTEN"),
    ("workshop promote", "workshop promote $DRAFT"),
    ("workshop split", "workshop split mixed"),
    ("workshop tend", "workshop tend"),
    ("workshop write-support-file", "workshop write-support-file notes references/a.md --body x"),
    ("workshop capture", "workshop capture --text no,+always+run+the+tests+before+you+commit"),
    ("workshop import", "workshop import ./openclaw.json"),
    ("workshop review", "workshop review"),
    ("skills load", "skills load --all"),
    ("skills migrate", "skills migrate"),
    ("config import", "config import openclaw"),
    ("config set", "config set route.top 7"),
    ("config unset", "config unset route.top"),
    ("config edit", "config edit"),
    ("bundled eject", "bundled eject sinew"),
    ("eval calibrate", "eval calibrate --model words"),
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
    "sbom",
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
    let (clawhub, github) = (ClawHubDouble::new(), GitHubDouble::new());
    let about = "Manage todo lists, tasks and reminders";
    let text = format!("---\nname: todo\ndescription: {about}\n---\n1. List the open tasks\n");
    clawhub.publish("kim", "todo", "1.0.0", &[("SKILL.md", &text)]);
    clawhub.describe("kim", "todo", about);
    let vars = [
        ("SINEW_REGISTRY", clawhub.address().to_owned()),
        ("SINEW_GITHUB_API_BASE_URL", github.address().to_owned()),
        ("SINEW_GITHUB_CODELOAD_BASE_URL", github.address().to_owned()),
        ("SKILLS_API_URL", github.address().to_owned()),
        ("EDITOR", "true".to_owned()),
    ];
    let mut rows = MatrixRows::new();
    for (name, typed_args) in ROWS {
        assert!(known.iter().any(|known| known == name), "there is no command {name}");
        let at_terminal = in_terminal(&terminal, &filled(&terminal, typed_args), &vars);
        let in_pipe = in_pipe(&pipe, &filled(&pipe, typed_args), &vars);
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
    if text.contains("$CHANGED") {
        installed(machine, "ebb");
        machine.write("work/new/ebb/SKILL.md", "---\nname: ebb\ndescription: Ebb.\n---\nOther.\n");
        text = text.replace("$CHANGED", "ebb");
    }
    if text.contains("$INSTALLED") {
        if !machine.path("work/skills/neap").exists() {
            installed(machine, "neap");
        }
        text = text.replace("$INSTALLED", "neap");
    }
    if text == "restore" {
        installed(machine, "slack-water");
        let folder = machine.path("work/skills/slack-water");
        std::fs::remove_dir_all(folder).expect("the installed folder");
    }
    if text.contains("$DRAFT") {
        let told = sinew(machine, &["learn", "./run.jsonl"]);
        let waiting = json(machine, &["workshop", "list"]).to_string();
        let name = waiting.split("\"skillName\":\"").nth(1).and_then(|rest| rest.split('"').next());
        text = text.replace("$DRAFT", name.unwrap_or_else(|| panic!("{told}\n{waiting}")));
    }
    text.split(' ').map(|word| word.replace('+', " ")).collect()
}

/// A skill of a folder, with a person's yes.
fn installed(machine: &TestMachine, name: &str) {
    let text = format!("---\nname: {name}\ndescription: {name}.\n---\nText.\n");
    machine.write(&format!("work/new/{name}/SKILL.md"), text);
    let told = typed(machine, &["install", &format!("./new/{name}")], "y\n");
    assert!(told.ends_with("exit 0"), "{told}");
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
fn in_terminal(machine: &TestMachine, args: &[String], vars: &[(&str, String)]) -> String {
    let args: Vec<&str> = words(args).into_iter().filter(|arg| *arg != "--yes").collect();
    // The review of proposals has a key of its own for leaving.
    let keys = if args.contains(&"review") { "q" } else { "n\nn\nn\n" };
    let told = typed_with(machine, &args, keys, vars);
    match told.rsplit("exit ").next() {
        Some("0") => "allowed".to_owned(),
        Some("3") => "asked".to_owned(),
        Some(code) => format!("exit {code}"),
        None => told,
    }
}

fn in_pipe(machine: &TestMachine, args: &[String], vars: &[(&str, String)]) -> String {
    let vars = vars.iter().map(|(name, value)| (name, value));
    let output = command(machine, &words(args)).envs(vars).output().expect("sinew runs");
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => "allowed".to_owned(),
        Some(3) if told.contains("sinew approve ") => "asked".to_owned(),
        Some(3) => "refused".to_owned(),
        code => format!("exit {}", code.unwrap_or(-1)),
    }
}
