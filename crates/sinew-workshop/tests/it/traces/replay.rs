//! Replay scripts: what was recorded is data, whatever it looks like.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use proptest::prelude::*;
use serde_json::json;
use sinew_testkit::{GenericTrace, generic_trace};
use tempfile::TempDir;

use super::learn;
use super::samples::samples;
use crate::bench::Bench;

/// Texts that would do something in a shell that took them for more than text.
const HOSTILE: &[&str] = &[
    "$(touch canary)",
    "`touch canary`",
    "\"; touch canary; \"",
    "'; touch canary; '",
    "a'b",
    "a\"b",
    "line one\ntouch canary\n",
    "EOF\ntouch canary\nEOF",
    "SCRIPT\ntouch canary",
    "$IFS;touch${IFS}canary",
    "\\'; touch canary #",
    "${x:-$(touch canary)}",
    "%s $(touch canary)",
    "--yes; touch canary",
    "'\u{2019}$(touch canary)\u{2019}'",
    "\u{ff04}(touch canary)",
    "x && touch canary || true",
    "~/canary > canary",
    "<<EOF\n$(touch canary)\nEOF",
    "!! canary",
    "*?[a-z]{a,b}",
    "-n",
    "",
];

/// A folder to run a script in: stubs for the device, and nothing else of the machine's.
pub(super) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(super) fn new() -> Self {
        let sandbox = Self { folder: tempfile::tempdir().expect("a folder") };
        // The device's shell gets what adb was given, as one text, and so another round of quoting.
        sandbox.program(
            "adb",
            "shift 2\n[ \"$1\" = exec-out ] && exec cat \"$STUBS/screen.xml\"\n[ \"$1\" = shell ] || exit 9\nshift\nPATH=\"$STUBS/device:$PATH\" sh -c \"$*\"",
        );
        for name in ["input", "cmd", "monkey"] {
            let log = "for word in \"$@\"; do printf '%s\\0' \"$word\"; done >>\"$STUBS/log\"";
            sandbox.program(
                &format!("device/{name}"),
                &format!("{log}\nprintf '\\n\\0' >>\"$STUBS/log\""),
            );
        }
        fs::create_dir(sandbox.path("work")).expect("a folder");
        sandbox
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the device shows.
    pub(super) fn screen(&self, xml: &str) {
        fs::write(self.path("screen.xml"), xml).expect("a screen");
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    pub(super) fn run(&self, script: &str, args: &[&str], vars: &[(&str, &str)]) -> Output {
        let path = self.path("replay.sh");
        fs::write(&path, script).expect("a script");
        let system = std::env::var("PATH").unwrap_or_default();
        Command::new("bash")
            .arg(&path)
            .args(args)
            .env_clear()
            .env("PATH", format!("{}:{system}", self.folder.path().display()))
            .env("STUBS", self.folder.path())
            .env("HOME", self.path("work"))
            .env("SINEW_P_WORKDIR", self.path("work"))
            .envs(vars.iter().copied())
            .current_dir(self.path("work"))
            .stdin(std::process::Stdio::null())
            .output()
            .expect("bash runs")
    }

    /// What the device's programs were called with.
    pub(super) fn calls(&self) -> Vec<Vec<String>> {
        let log = fs::read(self.path("log")).unwrap_or_default();
        let words = String::from_utf8_lossy(&log).into_owned();
        let mut calls = vec![Vec::new()];
        for word in words.split('\0') {
            match word {
                "\n" => calls.push(Vec::new()),
                word => calls.last_mut().expect("one").push(word.to_owned()),
            }
        }
        calls.retain(|call| call.iter().any(|word| !word.is_empty()));
        calls
    }

    /// The canary is alive as long as no file of that name is anywhere.
    fn assert_untouched(&self, text: &str) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                assert!(!entry.file_name().to_string_lossy().contains("canary"), "{text:?}");
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
    }
}

fn script(run: &GenericTrace) -> String {
    let learned = learn(&Bench::new(), &run.lines()).remove(0);
    let reason = learned.reason.clone();
    let draft = learned.draft.unwrap_or_else(|| panic!("{reason:?}"));
    draft.script.expect("a script")
}

fn typing(text: &str) -> GenericTrace {
    generic_trace("Fill in the form")
        .step(json!({"type": "tap", "x": 1, "y": 2}))
        .step(json!({"type": "type", "text": text}))
}

fn bash_accepts(script: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sh");
    fs::write(&path, script).expect("a script");
    let checked = Command::new("bash").arg("-n").arg(&path).output().expect("bash runs");
    assert!(checked.status.success(), "{}\n{script}", String::from_utf8_lossy(&checked.stderr));
    shellcheck_accepts(&path, script);
}

fn shellcheck_accepts(path: &Path, script: &str) {
    match Command::new("shellcheck").arg("--norc").arg(path).output() {
        Ok(checked) => {
            let said = String::from_utf8_lossy(&checked.stdout);
            assert!(checked.status.success(), "{said}\n{script}");
        }
        Err(_) => sinew_testkit::report_skip("shellcheck is not installed"),
    }
}

#[test]
fn every_script_of_a_sample_is_accepted_by_bash_and_shellcheck() {
    for (name, text, _) in samples() {
        let draft = learn(&Bench::new(), &text).remove(0).draft.expect("a draft");
        let script = draft.script.unwrap_or_else(|| panic!("{name} has a script"));
        bash_accepts(&script);
    }
}

/// What arrives on the device for a text, by the rule of the script.
fn arrives(text: &str) -> Vec<Vec<String>> {
    let call = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let is_plain = text.chars().all(|c| c == '\n' || (' '..='~').contains(&c));
    match is_plain && !text.contains("%s") {
        true => vec![call(&["text", &text.replace([' ', '\n'], "%s")])],
        false => {
            vec![call(&["clipboard", "set", "text", text]), call(&["keyevent", "KEYCODE_PASTE"])]
        }
    }
}

#[test]
fn hostile_text_reaches_the_device_as_one_argument_and_does_nothing() {
    // Typed text is no part of a script: the value comes from outside, and is quoted there.
    let script = script(&typing("anything at all"));
    bash_accepts(&script);
    for text in HOSTILE.iter().filter(|text| !text.is_empty()) {
        let sandbox = Sandbox::new();
        let dry = sandbox.run(&script, &["--dry-run"], &[("SINEW_P_TEXT", text)]);
        assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));
        assert_eq!(sandbox.calls(), Vec::<Vec<String>>::new(), "a dry run does nothing");
        let ran = sandbox.run(&script, &["stub"], &[("SINEW_P_TEXT", text)]);
        assert!(ran.status.success(), "{text:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let calls = sandbox.calls();
        assert_eq!(calls[1..], arrives(text), "{text:?}");
        sandbox.assert_untouched(text);
    }
}

#[test]
fn hostile_text_that_is_a_default_is_quoted() {
    for text in HOSTILE.iter().filter(|text| text.trim().len() > 2) {
        let run = generic_trace(&format!("Type {text} into the form"))
            .step(json!({"type": "tap", "x": 1, "y": 2}))
            .step(json!({"type": "type", "text": text}));
        let learned = learn(&Bench::new(), &run.lines()).remove(0);
        let Some(script) = learned.draft.and_then(|draft| draft.script) else { continue };
        bash_accepts(&script);
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&script, &["stub"], &[]);
        assert!(ran.status.success(), "{text:?}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(sandbox.calls()[1..], arrives(text), "{text:?}");
        sandbox.assert_untouched(text);
    }
}

/// Recorded commands, packages, keys and targets that are no such things.
#[test]
fn hostile_fields_never_run_in_a_dry_run_and_bash_accepts_the_script() {
    for text in HOSTILE {
        let run = generic_trace("Do it")
            .step(json!({"type": "tap", "x": text, "y": 1}))
            .step(json!({"type": "launch_app", "packageName": text}))
            .step(json!({"type": "keyevent", "keycode": text}))
            .step(json!({"type": "swipe", "x1": 1, "y1": 1, "x2": 2, "y2": 2, "durationMs": text}))
            .step(json!({"type": "shell", "command": text}))
            .step(json!({"type": "exec", "command": text}))
            .step(json!({"type": "run_script", "script": text}))
            .step(json!({"type": text}))
            .step(json!({"type": "wait", "durationMs": 1}));
        let learned = learn(&Bench::new(), &run.lines()).remove(0);
        let Some(script) = learned.draft.and_then(|draft| draft.script) else { continue };
        bash_accepts(&script);
        let sandbox = Sandbox::new();
        let dry = sandbox.run(&script, &["--dry-run"], &[]);
        assert!(dry.status.success(), "{text:?}: {}", String::from_utf8_lossy(&dry.stderr));
        sandbox.assert_untouched(text);
        assert_eq!(sandbox.calls(), Vec::<Vec<String>>::new());
    }
}

#[test]
fn an_embedded_script_is_the_same_to_the_byte() {
    let guessed = "SINEW_0123456789abcdef";
    for end in ["", "\n", "\n\n"] {
        let body = format!("cat \"$0\"\nexit 0\nSCRIPT\n{guessed}\nit's `x` $(y) \\n{end}");
        let run = generic_trace("Run it").step(json!({"type": "run_script", "script": body}));
        let script = script(&run);
        bash_accepts(&script);
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&script, &["--yes"], &[]);
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        let (_, printed) = out.split_once('\n').expect("the step, then what it prints");
        assert_eq!(printed, body, "{}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_package_that_is_none_becomes_a_comment() {
    let run = generic_trace("Start it")
        .step(json!({"type": "launch_app", "packageName": "com.x; reboot"}))
        .step(json!({"type": "tap", "x": 1, "y": 2}));
    let script = script(&run);
    assert!(!script.contains("reboot"), "{script}");
    assert!(script.contains("# not replayed: the package name is none"));
}

#[test]
fn a_password_is_asked_for_without_echo_and_never_shown() {
    let run = generic_trace("Sign in").step_with(
        json!({"type": "type", "text": "hunter2-hunter2"}),
        "Typed into password field",
        json!({}),
    );
    let learned = learn(&Bench::new(), &run.lines()).remove(0);
    let draft = learned.draft.expect("a draft");
    assert!(draft.body.contains("`{{password}}`") && draft.body.contains("secret"));
    let script = draft.script.expect("a script");
    assert!(script.contains("need PASSWORD secret\n") && script.contains("read -r -s"));
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&script, &["stub"], &[("SINEW_P_PASSWORD", "s3cret")]);
    let shown = format!("{ran:?}");
    assert!(ran.status.success() && !shown.contains("s3cret"), "{shown}");
    assert_eq!(sandbox.calls(), [["text", "s3cret"]]);
    // Without a value and without a terminal it stops.
    let stopped = sandbox.run(&script, &["stub"], &[]);
    assert!(!stopped.status.success());
    assert!(String::from_utf8_lossy(&stopped.stderr).contains("set SINEW_P_PASSWORD"));
}

#[test]
fn commands_need_a_yes_and_dangerous_ones_a_person() {
    let script = script(&generic_trace("Make a file").exec("echo made >made.txt").exec("ls -l"));
    let sandbox = Sandbox::new();
    let refused = sandbox.run(&script, &[], &[]);
    assert!(!refused.status.success() && !sandbox.path("work/made.txt").exists());
    let ran = sandbox.run(&script, &["--yes"], &[]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(fs::read(sandbox.path("work/made.txt")).expect("made"), b"made\n");

    let script = self::script(&generic_trace("Clean up").exec("rm -rf ~/").exec("ls -l"));
    assert!(script.contains("run_command 1 danger"), "{script}");
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("work/kept.txt"), "x").expect("a file");
    assert!(!sandbox.run(&script, &["--yes"], &[]).status.success());
    assert!(sandbox.path("work/kept.txt").exists());
}

#[test]
fn a_secret_of_a_command_comes_from_outside() {
    let token = format!("ghp_{}", "FAKEfake".repeat(5));
    let run = generic_trace("Push").exec(&format!(
        "printf '%s|' \"$A_TOKEN\" >out; A_TOKEN={token}; printf '%s' 'Bearer {token}' >>out"
    ));
    let script = script(&run);
    assert!(!script.contains(&token));
    bash_accepts(&script);
    let sandbox = Sandbox::new();
    let vars = [("SINEW_P_A_TOKEN", "from 'outside' $(x)"), ("SINEW_P_TOKEN_1", "a 'b' `c`")];
    let ran = sandbox.run(&script, &["--yes"], &vars);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let out = fs::read_to_string(sandbox.path("work/out")).expect("written");
    assert_eq!(out, "|Bearer a 'b' `c`");
}

#[test]
fn personal_data_needs_an_acknowledgement() {
    let run = generic_trace("Copy the key").exec("cat ~/.ssh/id_ed25519.pub").exec("ls -l");
    let script = script(&run);
    let sandbox = Sandbox::new();
    let refused = sandbox.run(&script, &["--yes"], &[]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("SINEW_ACK_HUMAN_AUTH"));
    assert!(sandbox.run(&script, &["--dry-run"], &[]).status.success());
}

#[test]
fn invisible_characters_and_controls_make_a_comment() {
    for (command, why) in [
        ("ls \u{202e}fdp.exe", "invisible"),
        ("ls \u{200b}x", "invisible"),
        ("printf '\u{1b}[2J'", "control"),
    ] {
        let script = script(&generic_trace("Look").exec(command).exec("ls"));
        assert!(script.contains(why), "{script}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is recorded, bash takes the script for one, and a dry run changes nothing.
    #[test]
    fn no_command_breaks_out_of_its_quotes(
        command in "[ -~\\n]{1,60}",
        typed in "[ -~]{1,30}",
    ) {
        let run = generic_trace("Do it")
            .exec(&command)
            .step(json!({"type": "type", "text": typed}))
            .step(json!({"type": "run_script", "script": command}));
        let learned = learn(&Bench::new(), &run.lines()).remove(0);
        let script = learned.draft.and_then(|draft| draft.script);
        if let Some(script) = script {
            let sandbox = Sandbox::new();
            let before = fs::read_dir(sandbox.path("work")).expect("a folder").count();
            let dry = sandbox.run(&script, &["--dry-run"], &[]);
            prop_assert!(dry.status.success(), "{}", String::from_utf8_lossy(&dry.stderr));
            let after = fs::read_dir(sandbox.path("work")).expect("a folder").count();
            prop_assert_eq!(before, after);
        }
    }
}
