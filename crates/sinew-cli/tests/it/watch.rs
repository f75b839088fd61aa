//! `sinew watch` in a real process.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sinew_testkit::Machine;

use crate::support::command;

#[test]
fn changes_are_printed_as_they_happen() {
    let machine = Machine::new().skill("work/skills/a", "a");
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
    child.kill().expect("sinew ends");
    child.wait().expect("sinew ended");
    reader.join().expect("the reader ends");
}

#[cfg(target_os = "linux")]
#[test]
fn a_thousand_watched_skills_need_few_file_descriptors() {
    let mut machine = Machine::new();
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
