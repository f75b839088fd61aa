//! `sinew sync` on the command line: what is printed, what is written, and what is left alone.

use std::fs;

use sinew_testkit::{TestMachine, report_skip, skill_text};

use crate::support::{sinew, unattended};

fn machine() -> TestMachine {
    unattended().file("work/local/tides/SKILL.md", skill_text("tides", "Knows the tides")).file(
        "work/skills.toml",
        "[sync]\nagents = [\"claude-code\"]\n[skills]\ntides = \"./local/tides\"\n",
    )
}

#[test]
fn a_manifest_is_carried_out_shown_before_and_taken_back() {
    let machine = machine();
    let planned = sinew(&machine, &["sync", "--dry-run"]);
    assert!(planned.contains("tides") && planned.contains("would-install"), "{planned}");
    assert!(!machine.path("work/skills").exists(), "a look ahead changes nothing");
    let done = sinew(&machine, &["sync", "--yes"]);
    assert!(done.contains("installed") && done.ends_with("exit 0"), "{done}");
    let linked = machine.path("work/.claude/skills/tides/SKILL.md");
    assert!(fs::read_to_string(linked).expect("a link").contains("Knows the tides"));
    let again = sinew(&machine, &["sync"]);
    assert!(again.contains("current") && again.ends_with("exit 0"), "{again}");
    machine.write("work/skills.toml", "[skills]\n");
    sinew(&machine, &["sync", "--yes"]);
    assert!(!machine.path("work/skills/tides").exists());
    assert!(!machine.path("work/.claude/skills/tides").is_symlink());
}

#[test]
fn a_look_ahead_sends_nothing_to_the_repository() {
    let machine =
        unattended().file("home/.sinew/skills/mine/SKILL.md", skill_text("mine", "My own"));
    let remote = machine.path("remote.git").to_string_lossy().into_owned();
    let git = |args: &[&str]| std::process::Command::new("git").args(args).output();
    if !git(&["init", "--quiet", "--bare", &remote]).is_ok_and(|made| made.status.success()) {
        report_skip("git is not installed");
        return;
    }
    let path = "/usr/local/bin:/usr/bin:/bin";
    let run = |args: &[&str]| {
        let mut command = crate::support::command(&machine, args);
        crate::support::shown(&machine, &command.env("PATH", path).output().expect("sinew runs"))
    };
    let planned = run(&["sync", "--push", "--remote", &remote, "--dry-run"]);
    assert!(planned.contains("skills/mine") && planned.contains("would-send"), "{planned}");
    let heads = git(&["-C", &remote, "for-each-ref"]).expect("git runs");
    assert!(heads.stdout.is_empty(), "something was sent");
    let sent = run(&["sync", "--push", "--remote", &remote]);
    assert!(sent.contains("sent") && sent.ends_with("exit 0"), "{sent}");
    let heads = git(&["-C", &remote, "for-each-ref"]).expect("git runs");
    assert!(!heads.stdout.is_empty());
}

#[test]
fn a_manifest_that_cannot_be_read_is_not_written_anew() {
    let machine =
        machine().file("work/agents.toml", "[[skills]]\nname = \"x\"\nsource = \"a/b\"\n");
    let latin = b"[skills]\n# f\xfcr mich\ntides = \"./local/tides\"\n";
    machine.write("work/skills.toml", latin);
    let refused = sinew(&machine, &["sync", "--import"]);
    assert!(refused.contains("cannot read") && !refused.ends_with("exit 0"), "{refused}");
    assert_eq!(fs::read(machine.path("work/skills.toml")).expect("the file"), latin);
    machine.write("work/skills.toml", "[skills]\n# mine\ntides = \"./local/tides\"\n");
    let added = sinew(&machine, &["sync", "--import"]);
    assert!(added.ends_with("exit 0"), "{added}");
    let text = fs::read_to_string(machine.path("work/skills.toml")).expect("the file");
    assert!(text.contains("# mine") && text.contains("x = ") && text.contains("tides"), "{text}");
}
