//! Bad input: a clear message with the next step, the rest still works, the exit code fits.

use insta::assert_snapshot;
use sinew_testkit::TestMachine;

use crate::support::sinew;

fn one() -> TestMachine {
    TestMachine::new().skill("work/skills/a", "a")
}

#[test]
fn a_missing_workspace() {
    let machine = TestMachine::new().skill("home/.agents/skills/p", "p");
    assert_snapshot!(sinew(&machine, &["list", "--workspace", "nowhere"]));
}

#[test]
fn an_unknown_profile() {
    assert_snapshot!(sinew(&one(), &["list", "--profile", "opnclaw"]));
}

#[test]
fn an_unknown_skill_file_or_command() {
    assert_snapshot!(sinew(&one(), &["info", "b"]));
    assert_snapshot!(sinew(&one(), &["read", "a", "../../../etc/passwd"]));
    assert_snapshot!(sinew(&one(), &["read", "/etc/passwd"]));
    let typo = sinew(&one(), &["lsit"]);
    assert!(typo.contains("'list'") && typo.ends_with("exit 2"), "{typo}");
}

#[test]
fn a_configuration_that_is_none() {
    let machine = one().file("home/.sinew/config.json5", "{skills: [");
    assert_snapshot!(sinew(&machine, &["list"]));
    assert_snapshot!(sinew(&one(), &["list", "--config", "nowhere.json5"]));
}

#[test]
fn a_very_large_file() {
    let machine = one();
    machine.write("work/skills/big/SKILL.md", "");
    let file = std::fs::File::create(machine.path("work/skills/big/SKILL.md")).expect("a file");
    file.set_len(300 * 1024 * 1024).expect("a sparse file");
    assert_snapshot!(sinew(&machine, &["list"]));
}

#[cfg(unix)]
#[test]
fn a_pipe_and_a_loop() {
    let machine = one().link("work/skills/loop", "work/skills").file("work/skills/p/note", "");
    let made =
        std::process::Command::new("mkfifo").arg(machine.path("work/skills/p/SKILL.md")).status();
    assert!(made.expect("mkfifo").success());
    assert_snapshot!(sinew(&machine, &["list"]));
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written() {
    let machine = one();
    let exe = machine.path("bin/sinew");
    std::fs::copy(env!("CARGO_BIN_EXE_sinew"), &exe).expect("a copy");
    // A file where the folder should be: also the superuser cannot write below it.
    machine.write("home/.sinew", "not a folder");
    let mut command = std::process::Command::new(exe);
    command
        .args(["list"])
        .env_clear()
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"));
    let shown = crate::support::shown(&machine, &command.output().expect("sinew runs"));
    assert!(shown.contains("ready\ta") && shown.ends_with("exit 0"), "{shown}");
}

#[cfg(unix)]
#[test]
fn a_fix_never_brings_in_what_a_link_leads_to() {
    let machine = TestMachine::new()
        .file("out/x.md", "---\nname: b\ndescription: Send mail: now\n---\n")
        .link("work/skills/b/SKILL.md", "out/x.md")
        .file("work/skills/p/note", "")
        .skill("work/skills/ok", "ok");
    let made =
        std::process::Command::new("mkfifo").arg(machine.path("work/skills/p/SKILL.md")).status();
    assert!(made.expect("mkfifo").success());
    assert_snapshot!(sinew(&machine, &["validate", "skills", "--fix"]));
    assert!(machine.path("work/skills/b/SKILL.md").is_symlink());
    assert!(!machine.path("work/skills/b/SKILL.md.bak").exists());
}

#[cfg(unix)]
#[test]
fn a_secret_stays_one_when_a_configuration_is_imported() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = TestMachine::new()
        .file(
            "home/.openclaw/openclaw.json",
            "{skills: {entries: {a: {apiKey: 'hunter2', env: {T: 'hunter3'}}}}}",
        )
        .file("home/.sinew/config.json5", "{skills: {load: {agents: false}}}");
    machine.chmod("home/.sinew/config.json5", 0o600);
    for args in [
        &["config", "import", "openclaw", "--dry-run"][..],
        &["config", "import", "openclaw", "--json"],
    ] {
        let shown = crate::support::typed(&machine, args, "");
        assert!(!shown.contains("hunter") && shown.ends_with("exit 0"), "{shown}");
    }
    let text = std::fs::read_to_string(machine.path("home/.sinew/config.json5")).expect("the file");
    assert!(text.contains("hunter2") && text.contains("\"agents\": false"), "{text}");
    for file in ["config.json5", "config.json5.bak"] {
        let mode = std::fs::metadata(machine.path("home/.sinew").join(file))
            .expect(file)
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn a_file_in_another_case_is_named_when_its_skill_is_asked_for() {
    let machine =
        TestMachine::new().file("work/skills/c/skill.md", "---\nname: c\ndescription: d\n---\n");
    let shown = sinew(&machine, &["why", "c"]);
    assert!(shown.contains("filename-case"), "{shown}");
}
