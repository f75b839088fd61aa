//! Running `sinew` on a machine of its own.

use std::process::{Command, Output, Stdio};

use sinew_testkit::TestMachine;

/// What a run printed and how it ended, with the machine's folder as `$ROOT`.
pub(crate) fn sinew(machine: &TestMachine, args: &[&str]) -> String {
    let output = command(machine, args).output().expect("sinew runs");
    shown(machine, &output)
}

/// What lets commands of a machine agree without a terminal to everything that a configuration can.
pub(crate) const UNATTENDED: &str =
    "{approvals: {unattended: ['install', 'risk', 'dependency', 'uninstall', 'proposal']}}";

/// A machine whose commands may agree without a terminal, for tests of what comes after a yes.
pub(crate) fn unattended() -> TestMachine {
    TestMachine::new().file("home/.sinew/config.json5", UNATTENDED)
}

/// The command, ready to run in the machine's workspace.
pub(crate) fn command(machine: &TestMachine, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command
        .args(args)
        .env_clear()
        .env("HOME", machine.path("home"))
        .env("PATH", machine.path("bin"))
        .env("SINEW_BUNDLED_SKILLS_DIR", machine.path("bundled"))
        .current_dir(machine.path("work"))
        .stdin(Stdio::null());
    command
}

/// Standard output, then what went to standard error, then the exit code.
pub(crate) fn shown(machine: &TestMachine, output: &Output) -> String {
    let text = |bytes: &[u8]| machine.without_root(&String::from_utf8_lossy(bytes));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let err: String = err.lines().map(|line| format!("err| {line}\n")).collect();
    format!("{out}{err}exit {code}")
}

/// A new terminal: our side of it, and what opens the side of a program.
#[cfg(unix)]
pub(crate) fn terminal() -> (std::fs::File, impl Fn() -> std::fs::File) {
    use std::fs::File;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal");
    unlockpt(&ours).expect("a terminal");
    let path = ptsname(&ours, Vec::new()).expect("its name");
    let path = path.to_str().expect("its name").to_owned();
    let theirs = move || File::options().read(true).write(true).open(&path).expect("the terminal");
    (File::from(ours), theirs)
}

/// Reads what a terminal shows until its last program is gone.
#[cfg(unix)]
pub(crate) fn all_that_shows(mut terminal: std::fs::File) -> std::thread::JoinHandle<Vec<u8>> {
    use std::io::Read as _;

    std::thread::spawn(move || {
        let (mut seen, mut chunk) = (Vec::new(), [0; 4096]);
        // The end of a terminal is an error.
        while let Ok(count @ 1..) = terminal.read(&mut chunk) {
            seen.extend(&chunk[..count]);
        }
        seen
    })
}

/// What a person sees who runs a command in a terminal of their own and presses these keys once
/// something was asked; with the exit code.
#[cfg(unix)]
pub(crate) fn typed(machine: &TestMachine, args: &[&str], keys: &str) -> String {
    typed_with(machine, args, keys, &[])
}

/// The same with further variables.
#[cfg(unix)]
pub(crate) fn typed_with(
    machine: &TestMachine,
    args: &[&str],
    keys: &str,
    vars: &[(&str, String)],
) -> String {
    use std::io::Write as _;

    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

    let (ours, theirs) = terminal();
    // What is typed shows where the program shows it, and not wherever it happens to come.
    let quiet = theirs();
    let mut modes = tcgetattr(&quiet).expect("a terminal");
    // Nor does Ctrl-C reach a program that does not read keys yet: it is a key like the others.
    modes.local_modes -= LocalModes::ECHO | LocalModes::ISIG;
    tcsetattr(&quiet, OptionalActions::Now, &modes).expect("a terminal");
    let mut child = command(machine, args)
        .env("TERM", "dumb")
        .envs(vars.iter().map(|(name, value)| (name, value)))
        .env("NO_COLOR", "1")
        .stdin(theirs())
        .stdout(theirs())
        .stderr(theirs())
        .spawn()
        .expect("sinew runs");
    let mut writer = ours.try_clone().expect("the terminal");
    let reader = all_that_shows(ours);
    for key in keys.chars() {
        // Keys that come before a question are for the question, too: the terminal keeps them.
        writer.write_all(key.to_string().as_bytes()).expect("a key");
    }
    let status = child.wait().expect("its end");
    drop((writer, quiet));
    let seen = reader.join().expect("the reader");
    let text = machine.without_root(&String::from_utf8_lossy(&seen)).replace('\r', "");
    format!("{text}exit {}", status.code().unwrap_or(-1))
}

/// A JSON answer.
pub(crate) fn json(machine: &TestMachine, args: &[&str]) -> serde_json::Value {
    let output = command(machine, args).arg("--json").output().expect("sinew runs");
    serde_json::from_slice(&output.stdout).expect("one JSON document on standard output")
}

/// A machine with one skill of each fate.
pub(crate) fn busy_machine() -> TestMachine {
    TestMachine::new()
        .skill("bundled/tides", "tides")
        .skill("work/skills/notes", "notes")
        .skill("home/.agents/skills/notes", "notes")
        .workspace_skill(
            "forge",
            "metadata: {openclaw: {requires: {bins: [forge]}, install: [{kind: brew, formula: forge, bins: [forge]}]}}",
        )
        .file("work/skills/torn/SKILL.md", "---\nname: torn\n")
        .file(
            "home/.sinew/config.json5",
            "{skills: {entries: {tides: {enabled: false}}, limits: {maxSkillsInPrmpt: 3}}} // mine",
        )
}

/// A machine whose project, in this folder, holds the samples of `sinew demo`.
pub(crate) fn sample_machine(project: &str) -> TestMachine {
    const SAMPLES: &[(&str, &str)] = &[
        ("photo-shrink.md", "skills/photo-shrink/SKILL.md"),
        ("standup-notes.md", "skills/standup-notes/SKILL.md"),
        ("invoice-chaser.md", "skills/invoice-chaser/SKILL.md"),
        ("forge-deploy.md", "skills/forge-deploy/SKILL.md"),
        ("coupon-finder.md", "skills/coupon-finder/SKILL.md"),
        ("tide-tables.md", "drafts/tide-tables/SKILL.md"),
        ("harbours.csv", "drafts/tide-tables/tables/harbours.csv"),
        ("run.jsonl", "run.jsonl"),
    ];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/commands/demo/samples");
    let machine = TestMachine::new();
    for (sample, path) in SAMPLES {
        let text = std::fs::read(format!("{folder}/{sample}")).expect("a sample");
        machine.write(&format!("{project}/{path}"), text);
    }
    machine
}
