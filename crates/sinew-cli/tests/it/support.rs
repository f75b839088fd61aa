//! Running `sinew` on a machine of its own.

use std::process::{Command, Output, Stdio};

use sinew_testkit::Machine;

/// What a run printed and how it ended, with the machine's folder as `$ROOT`.
pub(crate) fn sinew(machine: &Machine, args: &[&str]) -> String {
    let output = command(machine, args).output().expect("sinew runs");
    shown(machine, &output)
}

/// The command, ready to run in the machine's workspace.
pub(crate) fn command(machine: &Machine, args: &[&str]) -> Command {
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
pub(crate) fn shown(machine: &Machine, output: &Output) -> String {
    let text = |bytes: &[u8]| machine.without_root(&String::from_utf8_lossy(bytes));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let err: String = err.lines().map(|line| format!("err| {line}\n")).collect();
    format!("{out}{err}exit {code}")
}

/// A JSON answer.
pub(crate) fn json(machine: &Machine, args: &[&str]) -> serde_json::Value {
    let output = command(machine, args).arg("--json").output().expect("sinew runs");
    serde_json::from_slice(&output.stdout).expect("one JSON document on standard output")
}

/// A machine with one skill of each fate.
pub(crate) fn busy_machine() -> Machine {
    Machine::new()
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
