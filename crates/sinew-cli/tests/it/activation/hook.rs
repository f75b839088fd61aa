//! All messages through the hook's standard input, each in a session of its own.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};
use sinew_testkit::TestMachine;

use super::library::{self, BenchLibrary, WITH_SKILL, WITHOUT_SKILL};
use super::{ActivationFigures, is_long};
use crate::support::{command, sinew};

/// Terse messages whose skill the hook brings or names, so far: a ratchet.
const TERSE_TEXT: usize = 10;
const TERSE_NAMED: usize = 25;

/// What the hook adds to a message, and how long its process took.
fn added(machine: &TestMachine, number: usize, message: &str) -> (String, std::time::Duration) {
    let event = json!({"session_id": format!("s{number}"), "transcript_path": null,
        "cwd": machine.path("work"), "hook_event_name": "UserPromptSubmit", "prompt": message});
    let start = Instant::now();
    let mut child = command(machine, &["hook", "auto", "--agent", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sinew runs");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(event.to_string().as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let took = start.elapsed();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    (text.to_owned(), took)
}

fn measure(library: &BenchLibrary) -> ActivationFigures {
    let machine = library.machine("work/skills");
    // A cold cache is another bench's subject.
    let built = sinew(&machine, &["index", "rebuild"]);
    assert!(built.ends_with("exit 0"), "{built}");
    sinew(&machine, &["find", "warm up"]);
    let mut figures = ActivationFigures::default();
    for (number, message) in library.messages.iter().enumerate() {
        let (text, took) = added(&machine, number, &message.text);
        figures.times.push(took);
        figures.chars.push(text.chars().count());
        if message.skills.is_empty() {
            figures.without_skill += 1;
            figures.untouched += usize::from(text.is_empty());
        } else {
            let held = library.holds_text(&text, &message.skills);
            figures.with_skill += 1;
            figures.text += usize::from(held);
            let named = message.skills.iter().any(|name| text.contains(name.as_str()));
            figures.named += usize::from(named);
            if held {
                continue;
            }
        }
        if !text.is_empty() || !message.skills.is_empty() {
            let start: String = message.text.chars().take(60).collect();
            let got: String = text.replace('\n', " ").chars().take(160).collect();
            figures.misses.push(format!("{start:?} wants {:?}: {got}", message.skills));
        }
    }
    figures
}

#[test]
fn the_right_skill_comes_along_and_nothing_else_does() {
    let figures = measure(&library::own());
    figures.print("our 300 skills, hook");
    assert_eq!((figures.with_skill, figures.without_skill), (WITH_SKILL, WITHOUT_SKILL));
    assert!(figures.text * 10 >= WITH_SKILL * 9, "{figures:#?}");
    assert!(figures.untouched * 20 >= WITHOUT_SKILL * 19, "{figures:#?}");
}

/// A few words without context, such as "hand in travel costs": short lists are the rule here.
#[test]
fn terse_messages_get_their_skill_named() {
    let figures = measure(&library::terse());
    figures.print("our 300 skills, hook, terse messages");
    assert!(figures.text >= TERSE_TEXT && figures.named >= TERSE_NAMED, "{figures:#?}");
    assert!(figures.untouched * 20 >= WITHOUT_SKILL * 19, "{figures:#?}");
}

/// Other people's skills, to be read as figures: most of their answers are short lists.
#[test]
fn real_skills_are_measured() {
    if !is_long() {
        return;
    }
    let Some(library) = library::real() else { return };
    let figures = measure(&library);
    figures.print("300 real skills, hook");
    assert_eq!((figures.with_skill, figures.without_skill), (WITH_SKILL, WITHOUT_SKILL));
}
