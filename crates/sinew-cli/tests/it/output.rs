//! What reaches a terminal or a pipe.

use sinew_testkit::TestMachine;

use crate::support::{command, sinew};

/// Every control character there is, and the sequences that terminals obey.
fn hostile() -> String {
    let mut text: String = (1..=0x9f_u32)
        .filter_map(char::from_u32)
        .filter(|c| c.is_control() && *c != '\n' && *c != '\r')
        .collect();
    text.push_str("\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2J\u{202e}");
    text
}

#[test]
fn no_escape_from_a_skill_reaches_the_output() {
    let quoted = serde_json::to_string(&format!("x {} y", hostile())).expect("JSON");
    let yaml = quoted.replace("\\b", "\\x08").replace("\\f", "\\x0c");
    // YAML forbids raw C1 controls and DEL; written as escapes they pass.
    let yaml: String = yaml
        .chars()
        .map(|c| if c.is_control() { format!("\\x{:02x}", c as u32) } else { c.to_string() })
        .collect();
    let machine = TestMachine::new().file(
        "work/skills/evil/SKILL.md",
        format!("---\nname: evil\ndescription: {yaml}\nhomepage: {yaml}\n---\n"),
    );
    for args in [
        &["list"][..],
        &["list", "--all", "-v"],
        &["list", "--json"],
        &["info", "evil"],
        &["info", "evil", "--json"],
        &["why", "evil"],
        &["check"],
        &["check", "--json"],
        &["commands"],
        &["commands", "--json"],
        &["prompt"],
        &["prompt", "--json"],
        &["doctor"],
        &["validate"],
        &["skills", "list"],
    ] {
        let output = command(&machine, args).output().expect("sinew runs");
        for bytes in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(bytes.clone()).expect("UTF-8");
            let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(bad, None, "{args:?}: {text:?}");
            assert!(!text.contains("\\u001b"), "{args:?} carries an escape in JSON");
        }
    }
}

#[cfg(unix)]
#[test]
fn no_escape_in_a_file_name_reaches_the_output() {
    let machine = TestMachine::new()
        .file("work/skills/\u{1b}]0;pwned\u{7}x/skill.md", "---\nname: x\ndescription: d\n---\n");
    for args in [&["list"][..], &["doctor"], &["check"], &["validate"]] {
        let shown = sinew(&machine, args);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{args:?}: {shown:?}");
    }
}

#[test]
fn a_pipe_gets_every_byte_of_a_file() {
    let text = "---\nname: a\ndescription: d\n---\nstart\n\u{1b}] lone\nend\n";
    let machine = TestMachine::new().file("work/skills/a/SKILL.md", text);
    let output = command(&machine, &["read", "a"]).output().expect("sinew runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), text);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    assert!(!sinew(&machine, &["list"]).contains('\u{1b}'));
    assert!(sinew(&machine, &["list", "--color", "always"]).contains('\u{1b}'));
    let quiet =
        command(&machine, &["list"]).env("NO_COLOR", "1").env("CLICOLOR_FORCE", "0").output();
    assert!(!quiet.expect("sinew runs").stdout.contains(&0x1b));
}

#[test]
fn data_goes_to_standard_output_and_everything_else_to_standard_error() {
    let machine = TestMachine::new()
        .skill("work/skills/a", "a")
        .file("home/.sinew/config.json5", "{skills: {load: {watch: 7}}}");
    let output = command(&machine, &["list", "--json"]).output().expect("sinew runs");
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
    let output = command(&machine, &["list"]).output().expect("sinew runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("skills.load.watch"));
}

#[cfg(unix)]
#[test]
fn a_pipe_that_closes_early_is_no_error() {
    let mut machine = TestMachine::new();
    for number in 0..300 {
        machine = machine.skill(&format!("work/skills/s{number}"), &format!("s{number}"));
    }
    let shell = format!("'{}' list --json | head -c 10", env!("CARGO_BIN_EXE_sinew"));
    let output = std::process::Command::new("/bin/bash")
        .args(["-o", "pipefail", "-c", &shell])
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"))
        .output()
        .expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The program asks its terminal how wide it is; the rules themselves are checked on every screen
/// beside the commands.
#[cfg(unix)]
#[test]
fn answers_fit_the_terminal_they_are_written_to() {
    use rustix::termios::{Winsize, tcsetwinsize};

    use crate::support::{all_that_shows, sample_machine, terminal};

    let machine = sample_machine("work");
    for (args, columns) in [(&["why", "coupon-finder"][..], 60_u16), (&["list"], 72), (&["-h"], 60)]
    {
        let (ours, theirs) = terminal();
        let open = theirs();
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&open, size).expect("a size");
        let mut child = command(&machine, args)
            .env("NO_COLOR", "1")
            .stdout(theirs())
            .stderr(theirs())
            .spawn()
            .expect("sinew runs");
        let reader = all_that_shows(ours);
        child.wait().expect("its end");
        drop(open);
        let seen = String::from_utf8(reader.join().expect("the reader")).expect("text");
        assert!(seen.lines().count() > 3, "{args:?}: {seen}");
        for line in seen.lines() {
            let wide = line.trim_end_matches('\r').chars().count();
            assert!(wide <= usize::from(columns), "{args:?}: {line}");
        }
    }
}
