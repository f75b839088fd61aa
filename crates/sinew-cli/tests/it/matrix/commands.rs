//! Commands: a person at a terminal, and an agent that runs them in a pipe.

use std::path::Path;

use sinew_testkit::{ClawHubDouble, GitHubDouble, TestMachine};

use super::{MatrixRows, machine};
use crate::support::{command, json, sinew, typed, typed_with};

/// What is typed to try each command that acts. `$` words stand for things that exist, `+` for a blank
/// inside an argument.
const ROWS: &[(&str, &str)] = &[
    ("report", "report --region writing --skill notes --version 1 --result ok"),
    ("install", "install ./new/tides --yes"),
    ("install", "install ./afar --link"),
    ("update", "update $CHANGED"),
    ("pin", "pin $INSTALLED"),
    ("pin", "pin --remove $INSTALLED"),
    ("restore", "restore"),
    ("sync", "sync --file new/skills.toml --yes"),
    ("uninstall", "uninstall tides --yes"),
    ("approve", "approve $APPROVAL"),
    ("approve", "approve $APPROVAL --remember"),
    ("learn", "learn ./run.jsonl"),
    ("exec", "exec notes -- show"),
    ("connect", "connect cursor"),
    ("disconnect", "disconnect cursor"),
    ("import", "import --copy"),
    ("deps", "deps forge --install --yes"),
    ("scan", "scan evil --accept shell-pipe-to-shell --digest $DIGEST --reason fine"),
    ("validate", "validate skills/notes --fix"),
    ("scan", "scan packed --allow-binaries --digest $PACKED --reason fine"),
    ("doctor", "doctor --repair"),
    ("doctor", "doctor --fresh"),
    ("backup", "backup"),
    ("backup", "backup --restore"),
    ("acquire", "acquire manage+my+to-do+list"),
    ("cortex blacklist add", "cortex blacklist add noisy"),
    ("cortex blacklist remove", "cortex blacklist remove noisy"),
    ("cortex lessons", "cortex lessons --contradict $LESSON"),
    ("cortex lessons", "cortex lessons --forget $LESSON"),
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
    ("bundled eject", "bundled eject carried"),
    ("eval calibrate", "eval calibrate --model words"),
    ("new", "new soups --from soup"),
    ("enable", "enable tea"),
    ("disable", "disable notes"),
    ("setup", "setup --yes"),
    ("setup", "setup --undo"),
    ("registry logout", "registry logout"),
    ("registry token create", "registry token create --role read --name ci"),
    ("registry token revoke", "registry token revoke ci"),
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
    "scan rules",
    "dedupe",
    "index rebuild",
    "index status",
    "usage",
    "context",
    "search",
    "installed",
    "verify",
    "sbom",
    "commands resolve",
    "hook",
    "mcp",
    "watch",
    "serve",
    "ui",
    "demo",
    "completions",
    "man",
    "docs",
    "registry token list",
    "registry whoami",
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
    "skills list",
    "skills validate",
    "config show",
    "config get",
    "config path",
    "service status",
];

/// Commands that wait for requests, and are tried with them.
const SERVERS: &[&str] = &["hook", "mcp", "watch", "serve", "ui", "docs", "demo"];

/// Commands that act at a registry, which decides by the role of a token and not by who types; and the
/// test of each.
const AT_A_REGISTRY: &[(&str, &str, &str)] = &[
    (
        "registry token approve",
        "sinew-registry/tests/it/device.rs",
        "a_client_waits_until_its_login_is_approved",
    ),
    (
        "registry token deny",
        "sinew-registry/tests/it/device.rs",
        "a_client_waits_until_its_login_is_approved",
    ),
    (
        "registry login",
        "sinew-cli/tests/it/signatures.rs",
        "what_is_published_with_a_key_is_signed",
    ),
    (
        "registry publish",
        "sinew-cli/tests/it/signatures.rs",
        "what_is_published_with_a_key_is_signed",
    ),
    ("registry delete", "sinew-registry/tests/it/tokens.rs", "each_role_may_do_what_it_says"),
    ("registry undelete", "sinew-registry/tests/it/tokens.rs", "each_role_may_do_what_it_says"),
    ("registry star", "sinew-registry/tests/it/tokens.rs", "each_role_may_do_what_it_says"),
    ("registry unstar", "sinew-registry/tests/it/tokens.rs", "each_role_may_do_what_it_says"),
    (
        "registry mirror",
        "sinew-registry/tests/it/mirror.rs",
        "what_is_asked_for_is_fetched_once_and_kept",
    ),
];

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

/// Every command there is, also those below others; one that has some below may do something by itself.
fn every_command(machine: &TestMachine) -> (Vec<String>, Vec<String>) {
    let (mut known, mut last) = (Vec::new(), Vec::new());
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let below = listed(machine, &words);
        known.push(path.join(" "));
        if below.is_empty() {
            last.push(path.join(" "));
        }
        open.extend(below.into_iter().map(|name| [path.clone(), vec![name]].concat()));
    }
    (known, last)
}

/// A command without a row fails here, and one that is said to look shows that the program agrees: it
/// goes on where nothing may act.
fn check_names(machine: &TestMachine, known: &[String], last: &[String]) {
    let at_registry = |name: &str| AT_A_REGISTRY.iter().any(|(row, ..)| *row == name);
    let has_row = |name: &String| {
        let looks = LOOKS.contains(&name.as_str());
        looks || ROWS.iter().any(|(row, _)| row == name) || at_registry(name)
    };
    let missing: Vec<_> = last.iter().filter(|name| !has_row(name)).collect();
    assert!(missing.is_empty(), "commands without a row: {missing:?}");
    let named = LOOKS.iter().chain(ROWS.iter().map(|(name, _)| name));
    let gone: Vec<_> = named.filter(|name| !known.iter().any(|known| known == *name)).collect();
    assert!(gone.is_empty(), "there are no commands {gone:?}");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates");
    for (name, file, test) in AT_A_REGISTRY {
        let text = std::fs::read_to_string(crates.join(file)).expect(file);
        assert!(text.contains(&format!("fn {test}(")), "{name}: {file} has no {test}");
    }
    let sound = std::fs::read_to_string(machine.path("home/.sinew/config.json5")).expect("it");
    machine.write("home/.sinew/config.json5", "{");
    for name in LOOKS.iter().filter(|name| !SERVERS.contains(name)) {
        let args: Vec<&str> = name.split(' ').collect();
        let told = sinew(machine, &args);
        let mut lines = told.lines().filter(|line| line.starts_with("err| error: "));
        let acts = lines.any(|line| line.contains("nothing is changed until"));
        assert!(!acts, "{name} acts: {told}");
    }
    machine.write("home/.sinew/config.json5", sound);
}

pub(super) fn tried() -> MatrixRows {
    let somewhere = machine();
    let (known, last) = every_command(&somewhere);
    check_names(&somewhere, &known, &last);
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
    for (_, typed_args) in ROWS {
        let at_terminal = in_terminal(&terminal, &filled(&terminal, typed_args), &vars);
        let in_pipe = in_pipe(&pipe, &filled(&pipe, typed_args), &vars);
        rows.insert(
            (*typed_args).to_owned(),
            vec![("person at a terminal", at_terminal), ("agent in a pipe", in_pipe)],
        );
    }
    rows
}

/// Ways out of a closed gate, each of which says itself who may; and commands of OpenPocket, which read
/// that program's configuration and not this one.
const NOT_CLOSED: &[&str] = &[
    "config set",
    "config unset",
    "config edit",
    "config import",
    "backup",
    "doctor",
    "skills load",
    "skills migrate",
];

/// What acts says so and ends with 4 while the configuration cannot be read, and nothing changes.
pub(super) fn refused_while_closed() {
    let machine = machine();
    let config = machine.path("home/.sinew/config.json5");
    let sound = std::fs::read_to_string(&config).expect("its configuration");
    let vars = [("EDITOR", "true".to_owned())];
    let mut acted = Vec::new();
    for (_, typed_args) in ROWS.iter().filter(|(name, _)| !NOT_CLOSED.contains(name)) {
        machine.write("home/.sinew/config.json5", &sound);
        let args = filled(&machine, typed_args);
        machine.write("home/.sinew/config.json5", "{");
        let told = in_pipe(&machine, &args, &vars);
        if told != "exit 4" {
            acted.push(format!("{args:?} in a pipe: {told}"));
        }
        let told = typed_with(&machine, &words(&args), "n\nn\nn\n", &vars);
        // A terminal breaks lines.
        let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.contains("nothing is changed until") || !told.ends_with("exit 4") {
            acted.push(format!("{args:?} at a terminal: {told}"));
        }
    }
    assert!(acted.is_empty(), "{}", acted.join("\n"));
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
    if text.contains("$PACKED") {
        let digest = json(machine, &["scan", "packed"])["digest"].as_str().map(str::to_owned);
        text = text.replace("$PACKED", &digest.expect("a digest"));
    }
    if text.contains("$LESSON") {
        let failed = "report --region writing --skill notes --version 1 --result fail --kind dependency_missing --key qpdf --detail none";
        for _ in 0..2 {
            let told = sinew(machine, &failed.split(' ').collect::<Vec<_>>());
            assert!(told.ends_with("exit 0"), "{told}");
        }
        text = text.replace("$LESSON", "1");
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
        let waiting = json(machine, &["workshop", "list"]);
        let learned = waiting.as_array().into_iter().flatten().find(|one| one["kind"] != "update");
        let id = learned.and_then(|one| one["id"].as_str());
        let id = id.unwrap_or_else(|| panic!("{told}\n{waiting}"));
        let applied = typed(machine, &["workshop", "apply", id], "");
        assert!(applied.ends_with("exit 0"), "{applied}");
        text = text.replace("$DRAFT", id);
    }
    text.split(' ').map(|word| word.replace('+', " ")).collect()
}

/// A skill of a folder, with a person's yes.
pub(super) fn installed(machine: &TestMachine, name: &str) {
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
    // `approve` itself names the command that a person would type.
    let decides = args.first().is_some_and(|verb| verb == "approve");
    match output.status.code() {
        Some(0) => "allowed".to_owned(),
        Some(3) if told.contains("sinew approve ") && !decides => "asked".to_owned(),
        Some(3) => "refused".to_owned(),
        code => format!("exit {}", code.unwrap_or(-1)),
    }
}
