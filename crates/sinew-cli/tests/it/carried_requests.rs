//! Skills about an API: their blocks are run in `bash` with every program replaced by one that only writes
//! down what it was given. No key may be among the arguments of any, and the key of a request must arrive
//! where the skill says: on the standard input of `curl`.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use sinew_testkit::TestMachine;

use crate::library_commands::{CheckKind, SkillBody, bodies};

/// A key that stands nowhere by chance.
const KEY: &str = "k-4711-of-the-test";

/// Programs that the bodies call; each is replaced.
const PROGRAMS: &[&str] = &[
    "curl", "jq", "ffmpeg", "base64", "tr", "date", "sleep", "wc", "mkdir", "basename", "head",
    "cat",
];

/// Writes down its arguments and its input, one file for each call.
const RECORDER: &str = "name=${0##*/}
file=$(/bin/mktemp \"$RECORDS/$name.XXXXXXXX\")
{ for word in \"$@\"; do printf 'arg %s\\n' \"$word\"; done; /bin/cat; } > \"$file\"
printf '{\"items\": []}\\n'";

/// Variables that hold a key for this skill, as its front matter names them.
fn key_variables(skill: &str) -> Vec<String> {
    let path = format!("{}/{skill}/SKILL.md", crate::library_commands::LIBRARY);
    let text = fs::read_to_string(path).expect("a skill");
    let name = regex::Regex::new(r"\b[A-Z][A-Z_]*(KEY|TOKEN)\b").expect("an expression");
    let mut names: Vec<String> = name.find_iter(&text).map(|one| one.as_str().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// What every program of a skill's blocks was given: its name, and arguments with the input.
fn recorded(body: &SkillBody) -> Vec<(String, String)> {
    let mut machine = TestMachine::new().file("records/.keep", "").file("work/photo.jpg", "x");
    for program in PROGRAMS {
        machine = machine.script(program, RECORDER);
    }
    machine = machine.file("work/prompts.txt", "a fox\n").file("work/tmp/.keep", "");
    let temporary = machine.path("work/tmp");
    let script = body.blocks.join("\n").replace("/tmp/", &format!("{}/", temporary.display()));
    let mut bash = Command::new("/bin/bash");
    bash.args(["-c", &script])
        .env_clear()
        .env("PATH", machine.path("bin"))
        .env("RECORDS", machine.path("records"))
        .env("HOME", machine.path("home"))
        .current_dir(machine.path("work"))
        .stdin(Stdio::null());
    for name in key_variables(&body.name) {
        bash.env(name, KEY);
    }
    let output = bash.output().expect("bash runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for fault in ["syntax error", "command not found", "unexpected EOF"] {
        assert!(!told.contains(fault), "{}: {told}", body.name);
    }
    let entries = fs::read_dir(machine.path("records")).expect("records");
    let files = entries.map(|entry| entry.expect("a record").path());
    let names = files.filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = String::from_utf8_lossy(&fs::read(&path).ok()?).into_owned();
        (!name.starts_with('.')).then_some((name, text))
    });
    names.collect()
}

#[test]
fn no_request_of_a_carried_skill_shows_its_key() {
    let mut asked = 0;
    for body in bodies().iter().filter(|body| body.kind == CheckKind::Sent) {
        let calls = recorded(body);
        let requests = calls.iter().filter(|(program, _)| program == "curl").count();
        assert!(requests > 0, "{} asked for nothing", body.name);
        for (program, given) in &calls {
            let shown = given.lines().find(|line| line.starts_with("arg ") && line.contains(KEY));
            assert_eq!(shown, None, "{}: an argument of {program}", body.name);
        }
        let with_key = calls.iter().filter(|(program, given)| {
            program == "curl"
                && given.lines().any(|line| line.starts_with("header = ") && line.contains(KEY))
        });
        let with_key = with_key.count();
        let needs_key = !key_variables(&body.name).is_empty();
        assert_eq!(with_key > 0, needs_key, "{}: {with_key} of {requests} requests", body.name);
        asked += requests;
    }
    assert!(asked >= 40, "{asked} requests");
}
