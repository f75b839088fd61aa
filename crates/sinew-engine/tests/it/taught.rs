//! What was taught comes back when it matters, through the path that a user's agent takes: hook events,
//! a captured correction, a proposal, a person's yes, and the hook of the next message.
//!
//! The whole bench is `SINEW_LONG=1 cargo nextest run -p sinew-engine taught --no-capture`; without it a
//! fifth of the corrections is taught.

use std::time::Instant;

use serde_json::{Value, json};
use sinew_engine::hook::HookEvent;
use sinew_engine::{Engine, EngineOptions};
use sinew_settings::Actor;
use sinew_settings::config::ModelChoice;
use sinew_testkit::{TestMachine, shared_rows};
use sinew_workshop::{ApplyConsent, Proposal};

const PERSON: Actor = Actor::Person { name: None };

/// Real skills around the learned ones.
const CATALOG: usize = 300;

fn hook(engine: &Engine, event: &Value) -> Option<Value> {
    let bytes = event.to_string().into_bytes();
    let event = HookEvent::read("claude-code", "auto", &bytes, Instant::now()).expect("an event");
    engine.hooks().answer(&event).expect("an answer").output
}

fn say(engine: &Engine, session: &str, text: &str) -> String {
    let id = format!("{session}-{}", text.len());
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt_id": id,
        "prompt": text});
    let answer = hook(engine, &event);
    let text = answer.as_ref().map(|answer| &answer["hookSpecificOutput"]["additionalContext"]);
    text.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn stop(engine: &Engine, session: &str, said: &str) {
    let event = json!({"hook_event_name": "Stop", "session_id": session,
        "last_assistant_message": said});
    hook(engine, &event);
}

/// Asks, is answered, corrects: the proposal that comes of it.
fn teach(
    engine: &Engine,
    session: &str,
    asked: &str,
    done: &str,
    correction: &str,
) -> Option<Proposal> {
    let before: Vec<String> = proposals(engine).into_iter().map(|proposal| proposal.id).collect();
    say(engine, session, asked);
    stop(engine, session, done);
    say(engine, session, correction);
    stop(engine, session, "Understood.");
    proposals(engine).into_iter().find(|proposal| !before.contains(&proposal.id))
}

fn proposals(engine: &Engine) -> Vec<Proposal> {
    engine.workshop().proposals().expect("proposals")
}

fn apply(engine: &Engine, proposal: &Proposal) -> bool {
    let consent = ApplyConsent { accept_stolen: true, ..ApplyConsent::default() };
    engine.workshop().with(|shop| shop.apply(&proposal.id, &PERSON, &consent)).is_ok()
}

/// The skill that comes first with what a hook added, if any does.
fn first_brought(added: &str) -> Option<String> {
    let at = added.find("<name>")? + "<name>".len();
    let end = added[at..].find("</name>")?;
    Some(added[at..at + end].to_owned())
}

/// Every skill that a hook added the text of, or named.
fn all_brought(added: &str) -> Vec<String> {
    let names = added.split("<name>").skip(1).filter_map(|rest| rest.split_once("</name>"));
    names.map(|(name, _)| name.to_owned()).collect()
}

fn machine(skills: &[Value]) -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{hook: {deadlineMs: 60000}}");
    for row in skills {
        let (Some(name), Some(text)) = (row["name"].as_str(), row["text"].as_str()) else {
            continue;
        };
        machine = machine.file(&format!("home/.claude/skills/{name}/SKILL.md"), text);
    }
    let nothing = machine.path("nothing").to_string_lossy().into_owned();
    machine.var("SINEW_BUNDLED_SKILLS_DIR", &nothing)
}

fn open(machine: &TestMachine) -> Engine {
    Engine::open(machine.environment(), EngineOptions::default()).expect("an engine")
}

/// Whether a skill can have a folder of this name.
fn has_plain_name(row: &Value) -> bool {
    let name = row["name"].as_str().unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// How often what was taught came back, and came where it should not.
#[derive(Debug, Default)]
struct TaughtScore {
    taught: usize,
    captured: usize,
    later: usize,
    served: usize,
    others: usize,
    /// Of the others, those that brought the very skill that must stay quiet.
    wrong: usize,
    /// Those that brought any learned skill, in any place: some of them are for another rule.
    any: usize,
}

#[allow(clippy::print_stderr, reason = "a bench prints its figures")]
fn measure(rows: &[Value]) -> Option<TaughtScore> {
    let skills = shared_rows("data/skills.jsonl.gz")?;
    let mut skills: Vec<Value> = skills.into_iter().filter(has_plain_name).collect();
    skills.sort_by_cached_key(|row| row["name"].as_str().unwrap_or_default().to_owned());
    skills.dedup_by_key(|row| row["name"].as_str().unwrap_or_default().to_owned());
    let step = (skills.len() / CATALOG).max(1);
    let some: Vec<Value> = skills.into_iter().step_by(step).take(CATALOG).collect();
    assert_eq!(some.len(), CATALOG);
    let machine = machine(&some);
    let engine = open(&machine);
    let verbose = std::env::var_os("SINEW_VERBOSE").is_some();
    let snapshot = engine.snapshot();
    engine.routing().fill_vectors(&snapshot, ModelChoice::Default, &|_| {}).expect("vectors");
    let mut score = TaughtScore::default();
    let mut homes: Vec<Option<String>> = Vec::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for (at, row) in rows.iter().enumerate() {
        score.taught += 1;
        let (asked, done, said) =
            (text(&row["before"]), text(&row["assistant"]), text(&row["correction"]));
        let made = teach(&engine, &format!("teach-{at}"), &asked, &done, &said);
        let made = made.filter(|made| apply(&engine, made));
        score.captured += usize::from(made.is_some());
        if verbose {
            let home = made.as_ref().map(|made| made.skill_name.as_str());
            eprintln!("{} {home:?} <- {asked} | {said}", text(&row["id"]));
        }
        homes.push(made.map(|made| made.skill_name));
    }
    // What was taught is read while the agent waits for nothing; messages come later.
    let is_learned = |name: &String| homes.iter().flatten().any(|home| home == name);
    for (at, (row, home)) in rows.iter().zip(&homes).enumerate() {
        for (kind, is_later) in [("later", true), ("not", false)] {
            for (number, message) in row[kind].as_array().into_iter().flatten().enumerate() {
                let session = format!("{kind}-{at}-{number}");
                let added = say(&engine, &session, &text(message));
                let brought = first_brought(&added);
                let all = all_brought(&added);
                let is_home = home.is_some() && brought == *home;
                if is_later {
                    score.later += 1;
                    score.served += usize::from(is_home);
                } else {
                    score.others += 1;
                    score.wrong +=
                        usize::from(home.as_ref().is_some_and(|home| all.contains(home)));
                    score.any += usize::from(all.iter().any(is_learned));
                }
                if verbose && is_home != is_later {
                    eprintln!("{kind} {} {home:?} got {brought:?}: {message}", text(&row["id"]));
                }
            }
        }
    }
    eprintln!("{score:?}");
    Some(score)
}

/// Every row of a table, or every so many of them: the whole bench takes minutes.
fn some_rows(rows: Vec<Value>, each: usize) -> Vec<Value> {
    let is_long = std::env::var_os("SINEW_LONG").is_some();
    rows.into_iter().step_by(if is_long { 1 } else { each }).collect()
}

/// What a table must reach, in percent: by a part of its rows, and by all of them.
fn check(rows: &[Value], [some, all]: [usize; 2]) {
    let Some(score) = measure(rows) else { return };
    let is_long = std::env::var_os("SINEW_LONG").is_some();
    // Of ten other messages one is ten in a hundred.
    let (served, wrong) = if is_long { (all, 5) } else { (some, 10) };
    assert!(score.captured * 100 >= score.taught * if is_long { 80 } else { 75 }, "{score:?}");
    assert!(score.served * 100 >= score.later * served, "{score:?}");
    assert!(score.wrong * 100 <= score.others * wrong, "{score:?}");
    assert!(score.any * 100 <= score.others * 25, "{score:?}");
}

/// The bench `taught`: 80 corrections, 240 later messages, 160 others, among 300 real skills.
#[test]
fn taught_rules_come_back_by_other_words() {
    let Some(rows) = shared_rows("data/taught-dev.jsonl") else { return };
    check(&some_rows(rows, 10), [65, 80]);
}

/// Sixty corrections in ten languages that nothing was fitted to, neither a table nor a share: what was
/// reached, so that it gets no worse. The goal of eighty in a hundred is not reached here.
#[test]
fn rules_that_nothing_was_fitted_to_come_back() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../sinew-workshop/tests/data/taught.jsonl");
    let text = std::fs::read_to_string(path).expect("the table is in the repository");
    let rows = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    check(&some_rows(rows, 10), [11, 22]);
}

/// A table of our own: a line is what was asked, what the agent did, the correction, three later messages
/// and two that must not bring it.
fn own_rows(table: &str) -> Vec<Value> {
    let rows = table.lines().enumerate().map(|(at, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        json!({"id": format!("own{at}"), "before": cells[0], "assistant": cells[1],
            "correction": cells[2], "later": cells[3..6], "not": cells[6..8]})
    });
    some_rows(rows.collect(), 8)
}

/// Forty of our own, in nine languages.
#[test]
fn our_own_rules_come_back() {
    check(&own_rows(include_str!("../data/taught-own.tsv")), [60, 75]);
}

/// Thirty that were written before the classifier was trained and are in none of its data.
#[test]
fn rules_that_no_training_saw_come_back() {
    check(&own_rows(include_str!("../data/taught-fresh.tsv")), [25, 40]);
}

/// After a hundred corrections every file passes the strictest rules: one title, no rule twice.
#[test]
fn files_stay_clean_however_much_is_taught() {
    let machine = machine(&[]);
    let engine = open(&machine);
    let asked =
        ["commit this", "book a hotel in Ghent", "reply to the customer", "make the invoice"];
    for number in 0..if std::env::var_os("SINEW_LONG").is_some() { 100 } else { 12 } {
        let rule = match number % 3 {
            0 => "from now on always ask me before you do that".to_owned(),
            1 => format!("from now on never do it without the reference number R{number}"),
            _ => format!("from now on put the word kite{number} into the title, please"),
        };
        let made = teach(&engine, &format!("s{number}"), asked[number % 4], "Done.", &rule);
        if let Some(made) = made {
            assert!(apply(&engine, &made), "{rule}");
        }
    }
    let folder = machine.path("work/skills");
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).expect("skills").flatten() {
        let text = std::fs::read_to_string(entry.path().join("SKILL.md")).expect("a file");
        files += 1;
        assert_eq!(text.lines().filter(|line| line.starts_with("# ")).count(), 1, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("## Rules")).count(), 1, "{text}");
        let mut rules: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        let all = rules.len();
        rules.sort_unstable();
        rules.dedup();
        assert_eq!(rules.len(), all, "{text}");
    }
    assert!((1..=8).contains(&files), "{files} files");
    assert!(!folder.join("learned-workflows").exists());
}

/// A rule that was brought and has to be said again has failed, and that is told; a correction of
/// something else says nothing of it.
#[test]
fn a_rule_that_has_to_be_said_again_has_failed() {
    let machine = machine(&[]);
    let engine = open(&machine);
    let rule = "no, always run the tests before you commit";
    let made = teach(&engine, "a", "commit the css change", "Committed.", rule);
    assert!(apply(&engine, &made.expect("a proposal")));
    let told = |session: &str, correction: &str| {
        let added = say(&engine, session, "check in the header fix");
        assert_eq!(first_brought(&added).as_deref(), Some("our-git"));
        stop(&engine, session, "Checked in.");
        say(&engine, session, correction);
        stop(&engine, session, "Understood.");
        format!("{:?}", engine.hooks().explain_last().expect("a decision"))
    };
    let failed = "the user corrected the same again";
    let again = told("b", rule);
    assert!(again.contains(failed), "{again}");
    let other = told("c", "from now on never write a commit message in capitals");
    assert!(!other.contains(failed), "{other}");
    let fine = told("d", "thanks, that looks good");
    assert!(!fine.contains(failed), "{fine}");
}

/// What no table knows is found, too: the same request again strengthens its rule, in one skill, and other
/// words for it bring the rule.
#[test]
fn what_no_table_knows_is_one_skill_and_comes_back() {
    let machine = machine(&[]);
    let engine = open(&machine);
    let rule = "from now on put the date on every glaze sample";
    let made = teach(&engine, "a", "sort my ceramic glaze samples", "Sorted.", rule);
    let made = made.expect("a proposal");
    assert!(apply(&engine, &made));
    let again = teach(&engine, "b", "sort my ceramic glaze samples", "Sorted.", rule);
    let again = again.expect("a proposal");
    assert_eq!(again.skill_name, made.skill_name);
    assert!(apply(&engine, &again));
    let path = machine.path("work/skills").join(&made.skill_name).join("SKILL.md");
    let file = std::fs::read_to_string(path).expect("a file");
    assert!(file.contains("(said 2 times, last on "), "{file}");
    let home = Some(made.skill_name.as_str());
    let brought = |session, said| first_brought(&say(&engine, session, said));
    assert_eq!(brought("c", "sort my ceramic glaze samples").as_deref(), home);
    assert_eq!(brought("d", "put the ceramic glaze samples in order").as_deref(), home);
    assert_eq!(brought("e", "what time is it in Lima?"), None);
}

/// What the rule is about decides where it lives: the same kind of task, in other words, is one skill.
#[test]
fn a_correction_finds_its_home_and_its_next_message() {
    let machine = machine(&[]);
    let engine = open(&machine);
    let no = "no, always run the tests before you commit";
    let made = teach(&engine, "a", "commit the css change", "Committed.", no).expect("a proposal");
    assert_eq!(made.skill_name, "our-git", "{made:?}");
    assert_eq!(made.status.as_str(), "pending", "nothing is written without a person");
    assert!(
        made.change_line().starts_with("+ always run the tests before you commit (you said it on ")
    );
    assert!(apply(&engine, &made));
    assert_eq!(
        first_brought(&say(&engine, "b", "check in the header fix")).as_deref(),
        Some("our-git")
    );
    assert_eq!(first_brought(&say(&engine, "c", "who wrote the last commit?")), None);
    let again = teach(&engine, "d", "push it", "Pushed.", no).expect("a proposal");
    assert!(apply(&engine, &again));
    let file =
        std::fs::read_to_string(machine.path("work/skills/our-git/SKILL.md")).expect("a file");
    assert!(file.contains("(said 2 times, last on "), "{file}");
}
