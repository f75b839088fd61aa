//! `sinew watch` in a real process.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sinew_testkit::TestMachine;

use crate::support::command;

#[test]
fn changes_are_printed_as_they_happen() {
    let machine = TestMachine::new().skill("work/skills/a", "a");
    let mut child =
        command(&machine, &["watch", "--json"]).stdout(Stdio::piped()).spawn().expect("sinew runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (sender, events) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let event: serde_json::Value =
                serde_json::from_str(&line).expect("one document per line");
            if sender.send(event).is_err() {
                break;
            }
        }
    });
    let next = || events.recv_timeout(Duration::from_secs(30)).expect("an event");
    let started = next();
    assert_eq!((&started["event"], &started["skills"]), (&"started".into(), &1.into()));
    machine.write("work/skills/b/SKILL.md", "---\nname: b\ndescription: New\n---\n");
    assert_eq!(next()["added"], serde_json::json!(["b"]));
    machine.write("work/skills/a/SKILL.md", "---\nname: a\ndescription: Edited\n---\n");
    assert_eq!(next()["changed"], serde_json::json!(["a"]));
    std::fs::remove_dir_all(machine.path("work/skills/b")).expect("b goes");
    assert_eq!(next()["removed"], serde_json::json!(["b"]));
    machine.write("home/.sinew/config.json5", "{skills: {entries: {a: {enabled: false}}}}");
    let settings = next();
    assert_eq!(settings["changed"], serde_json::json!(["a"]));
    assert_eq!(settings["cause"], "settings");
    child.kill().expect("sinew ends");
    child.wait().expect("sinew ended");
    reader.join().expect("the reader ends");
}

#[test]
fn skills_are_seen_however_they_come_about() {
    let machine = TestMachine::new().skill("work/build/ws/skills/a", "a");
    let workspace = machine.path("work/build/ws").to_string_lossy().into_owned();
    let mut child = command(&machine, &["watch", "--json", "--workspace", &workspace])
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (sender, events) = mpsc::channel();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let wait_for = |what: &str| loop {
        let line = events.recv_timeout(Duration::from_secs(30)).expect(what);
        if line.contains(what) {
            break;
        }
    };
    let pause = || thread::sleep(Duration::from_millis(900));
    wait_for("started");
    let root = machine.path("work/build/ws/skills");
    let text = |name: &str, what: &str| format!("---\nname: {name}\ndescription: {what}\n---\n");
    // A folder first, its file much later: how people make a skill.
    std::fs::create_dir(root.join("slow")).expect("a folder");
    pause();
    std::fs::write(root.join("slow/SKILL.md"), text("slow", "New")).expect("a file");
    wait_for("\"added\":[\"slow\"]");
    // A folder that is replaced, and then edited.
    std::fs::remove_dir_all(root.join("a")).expect("a goes");
    std::fs::create_dir(root.join("a")).expect("a comes back");
    std::fs::write(root.join("a/SKILL.md"), text("a", "Replaced")).expect("a file");
    wait_for("\"a\"");
    pause();
    std::fs::write(root.join("a/SKILL.md"), text("a", "Edited once more")).expect("a file");
    wait_for("\"changed\":[\"a\"]");
    // An agent that was not on the machine before.
    machine.write("home/.claude/skills/late/SKILL.md", text("late", "From another agent"));
    wait_for("late");
    child.kill().expect("sinew ends");
    child.wait().expect("sinew ended");
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_watched_skills_need_few_file_descriptors() {
    let mut machine = TestMachine::new();
    for number in 0..1_000 {
        machine = machine.skill(&format!("work/skills/s{number}"), &format!("s{number}"));
    }
    let mut child =
        command(&machine, &["watch", "--json"]).stdout(Stdio::piped()).spawn().expect("sinew runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let started = lines.next().expect("a line").expect("text");
    assert!(started.contains("1000"), "{started}");
    let open =
        std::fs::read_dir(format!("/proc/{}/fd", child.id())).expect("its descriptors").count();
    child.kill().expect("sinew ends");
    child.wait().expect("sinew ended");
    assert!(open <= 64, "{open} descriptors");
}
