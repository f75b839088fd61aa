//! `sinew demo` from the first screen to the last, and ended before.

use std::fs;

use sinew_testkit::TestMachine;

use crate::support::{command, shown};

fn machine() -> TestMachine {
    let machine = TestMachine::new();
    fs::create_dir_all(machine.path("tmp")).expect("a folder");
    machine
}

fn nothing_is_left(machine: &TestMachine) {
    let left = fs::read_dir(machine.path("tmp")).expect("a folder").count();
    assert_eq!(left, 0, "the demo cleans up after itself");
    let home = fs::read_dir(machine.path("home")).expect("a home").count();
    assert_eq!(home, 0, "and touches nothing else");
}

#[test]
fn a_day_is_shown_and_nothing_is_left() {
    let machine = machine();
    let mut demo = command(&machine, &["demo"]);
    let shown =
        shown(&machine, &demo.env("TMPDIR", machine.path("tmp")).output().expect("it runs"));
    assert!(shown.ends_with("exit 0"), "{shown}");
    for part in ["match: photo-shrink", "fetch-exec", "@demo/tide-tables", "our-recordings"] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!shown.contains(['\t', '\u{1b}']), "a transcript is plain text:\n{shown}");
    assert!(shown.contains("1 of 7 · ") && shown.contains("7 of 7 · "), "{shown}");
    nothing_is_left(&machine);
}

/// What stands between two titles fits a screen, and each waits for its key.
#[cfg(unix)]
#[test]
fn a_terminal_shows_one_screen_at_a_time() {
    use crate::support::typed_with;

    let machine = machine();
    let tmp = ("TMPDIR", machine.path("tmp").to_string_lossy().into_owned());
    let shown = typed_with(&machine, &["demo"], "       ", &[tmp]);
    assert!(shown.ends_with("exit 0"), "{shown}");
    let screens: Vec<&str> = shown.split("[any key ").collect();
    assert_eq!(screens.len(), 8, "{shown}");
    for screen in screens {
        let lines = screen.lines().count();
        assert!(lines <= 40, "{lines} lines on one screen:\n{screen}");
    }
    nothing_is_left(&machine);
}

#[cfg(unix)]
#[test]
fn a_key_ends_it_early_and_nothing_is_left() {
    use crate::support::typed_with;

    let machine = machine();
    let tmp = ("TMPDIR", machine.path("tmp").to_string_lossy().into_owned());
    let shown = typed_with(&machine, &["demo"], "q", &[tmp]);
    assert!(shown.contains("1 of 7 · ") && !shown.contains("2 of 7 · "), "{shown}");
    assert!(shown.ends_with("exit 0"), "{shown}");
    nothing_is_left(&machine);
}

/// Ctrl-C as a key, which it is while the demo waits: on the first screen and on a later one.
#[cfg(unix)]
#[test]
fn ctrl_c_at_a_screen_ends_it_and_nothing_is_left() {
    use crate::support::typed_with;

    for (keys, last, next) in
        [("\u{3}", "1 of 7 · ", "2 of 7 · "), ("  \u{3}", "3 of 7 · ", "4 of 7 · ")]
    {
        let machine = machine();
        let tmp = ("TMPDIR", machine.path("tmp").to_string_lossy().into_owned());
        let shown = typed_with(&machine, &["demo"], keys, &[tmp]);
        assert!(shown.contains(last) && !shown.contains(next), "{shown}");
        assert!(shown.contains("the demo's machine was removed"), "{shown}");
        nothing_is_left(&machine);
    }
}

/// Ctrl-C between two commands, as a signal.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_either() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    let machine = machine();
    let mut demo = command(&machine, &["demo"])
        .env("TMPDIR", machine.path("tmp"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(demo.stdout.take().expect("its output")).lines();
    let title = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("1 of 7"));
    assert!(title.is_some(), "it begins");
    let told = Command::new("/bin/sh").args(["-c", &format!("kill -INT {}", demo.id())]).status();
    assert!(told.is_ok_and(|status| status.success()), "the signal is sent");
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(demo.wait().expect("its end").code(), Some(130), "{rest:#?}");
    assert!(!rest.iter().any(|line| line.starts_with("7 of 7")), "{rest:#?}");
    nothing_is_left(&machine);
}
