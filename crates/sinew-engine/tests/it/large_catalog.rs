//! A catalog that is too large to be looked at for every question: what an earlier process left behind
//! answers, and what differs meanwhile is said.

use sinew_engine::{Engine, EngineOptions, RouteAnswer, RouteRequest};
use sinew_testkit::TestMachine;

/// From so many skills on, these tests call a catalog large.
const LARGE: usize = 5;

fn open(machine: &TestMachine) -> Engine {
    let mut env = machine.environment();
    // What is kept belongs to a program; this one is as good as any.
    env.exe = std::env::current_exe().ok();
    Engine::open(env, EngineOptions::default()).expect("an engine").large_from(LARGE)
}

fn skill(name: &str, description: &str, more: &str) -> (String, String) {
    let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n");
    (format!("work/skills/{name}/SKILL.md"), text)
}

fn machine() -> TestMachine {
    let mut machine =
        TestMachine::new().file("home/.sinew/config.json5", "{route: {model: 'static'}}");
    for (name, description, more) in [
        ("soup", "Recipes for soups and stews, with shopping lists.", ""),
        ("ledger", "Keep the books in plain text: invoices, expenses and accounts.", ""),
        ("letters", "Write formal letters and complaints, ready to print.", ""),
        ("garden", "Plan beds, sowing and harvest through the year.", ""),
        ("bicycle", "Repair a bicycle: brakes, chains and flat tyres.", ""),
        ("photos", "Sort photos by date and place.", ""),
        (
            "weather",
            "Forecasts for any place, rain and wind warnings",
            "metadata: {openclaw: {requires: {bins: [wx]}}}\n",
        ),
        (
            "tides",
            "Tide tables of every harbour",
            "metadata: {openclaw: {requires: {env: [TIDES_KEY]}}}\n",
        ),
    ] {
        let (path, text) = skill(name, description, more);
        machine = machine.file(&path, text);
    }
    // Files that are a moment old could change without their time showing it.
    machine.after_long_time()
}

/// What a process in the background does.
fn look_at_everything(machine: &TestMachine) {
    let engine = open(machine);
    let snapshot = engine.snapshot();
    engine.routing().keep_for_questions(&snapshot);
}

/// An answer without the time that it took.
fn answer(engine: &Engine, message: &str) -> RouteAnswer {
    let request = RouteRequest::new(message);
    let mut answer = engine.routing().route(&engine.snapshot_for(&request), &request);
    answer.took = Default::default();
    answer
}

fn is_excerpt(engine: &Engine, message: &str) -> bool {
    engine.snapshot_for(&RouteRequest::new(message)).whole().is_some()
}

#[test]
fn a_question_gets_the_answer_that_a_look_at_everything_gives() {
    let machine = machine();
    let whole = open(&machine);
    let messages = [
        "invoices and expenses of last year",
        "use the ledger skill",
        "$weather for tomorrow in Bergen",
        "/soup with carrots",
        "the tide table of Brest",
        "something that no skill knows: quaternions",
    ];
    let expected: Vec<RouteAnswer> = messages
        .iter()
        .map(|message| {
            let mut answer = whole.routing().route(&whole.snapshot(), &RouteRequest::new(*message));
            answer.took = Default::default();
            answer
        })
        .collect();
    assert!(!is_excerpt(&open(&machine), messages[0]), "nothing was left behind yet");
    look_at_everything(&machine);
    for (message, expected) in messages.iter().zip(expected) {
        let engine = open(&machine);
        assert!(is_excerpt(&engine, message), "{message}");
        assert_eq!(answer(&open(&machine), message), expected, "{message}");
        let snapshot = engine.snapshot_for(&RouteRequest::new(*message));
        assert!(!engine.routing().work_is_due(&snapshot), "{message}");
        assert!(snapshot.holds("photos") && !snapshot.holds("nothing"));
    }
}

#[test]
fn a_skill_that_changed_takes_no_part_until_it_is_read_again() {
    let machine = machine();
    look_at_everything(&machine);
    let message = "invoices and expenses of last year";
    assert!(answer(&open(&machine), message).matches.iter().any(|one| one.name == "ledger"));
    let (path, text) = skill("ledger", "Something else altogether: invoices for pirates.", "");
    machine.write(&path, text);
    let engine = open(&machine);
    let stale = answer(&engine, message);
    assert!(stale.matches.iter().all(|one| one.name != "ledger"), "{stale:?}");
    let notice = stale.notice.expect("a word about it");
    assert!(notice.contains("ledger") && notice.contains("background"), "{notice}");
    assert!(engine.routing().work_is_due(&engine.snapshot_for(&RouteRequest::new(message))));
    look_at_everything(&machine);
    let fresh = answer(&open(&machine), message);
    let ledger = fresh.matches.iter().find(|one| one.name == "ledger").expect("read again");
    assert!(ledger.description.contains("pirates") && fresh.notice.is_none(), "{fresh:?}");
}

#[test]
fn skills_that_came_or_went_are_said_and_come_with_the_next_look() {
    let machine = machine();
    look_at_everything(&machine);
    let (path, text) = skill("sailing", "Knots, sails and harbour manoeuvres.", "");
    machine.write(&path, text);
    let engine = open(&machine);
    let early = answer(&engine, "which knots for sailing");
    assert!(early.notice.as_ref().is_some_and(|said| said.contains("added")), "{early:?}");
    assert!(engine.routing().work_is_due(&engine.snapshot_for(&RouteRequest::new("knots"))));
    look_at_everything(&machine);
    let later = answer(&open(&machine), "which knots for sailing");
    assert!(later.matches.iter().any(|one| one.name == "sailing"), "{later:?}");
}

#[test]
fn what_was_left_behind_counts_only_under_the_same_circumstances() {
    let machine = machine();
    look_at_everything(&machine);
    let message = "tide table";
    assert!(is_excerpt(&open(&machine), message));
    let with_key = |name: &str| {
        let mut env = machine.environment();
        env.exe = std::env::current_exe().ok();
        env.vars.insert(name.to_owned(), "1".to_owned());
        let engine = Engine::open(env, EngineOptions::default()).expect("an engine");
        is_excerpt(&engine.large_from(LARGE), message)
    };
    assert!(with_key("UNRELATED"), "a variable that no skill asks for");
    assert!(!with_key("TIDES_KEY"), "a variable that a skill asks for");
    let mut env = machine.environment();
    env.exe = std::env::current_exe().ok();
    let options =
        EngineOptions { agent: Some("claude-code".to_owned()), ..EngineOptions::default() };
    let hook = Engine::open(env, options).expect("an engine").large_from(LARGE);
    assert!(is_excerpt(&hook, message), "an agent without a list of its own");
    let off = "{route: {model: 'static'}, skills: {entries: {soup: {enabled: false}}}}";
    machine.write("home/.sinew/config.json5", off);
    assert!(!is_excerpt(&open(&machine), message), "another configuration");
}

/// A skill whose record is damaged counts as changed; with everything damaged, every file is read.
fn is_sound(answer: &RouteAnswer) {
    let is_there = answer.matches.iter().any(|one| one.name == "ledger");
    assert!(is_there || answer.notice.is_some(), "{answer:?}");
}

#[test]
fn damaged_bytes_are_looked_past() {
    let machine = machine();
    look_at_everything(&machine);
    let cache = machine.path("home/.sinew/cache");
    let kept = std::fs::read_dir(&cache)
        .expect("a folder")
        .flatten()
        .find(|file| file.file_name().to_string_lossy().starts_with("assembled-"));
    let kept = kept.expect("a file").path();
    let whole = std::fs::read(&kept).expect("readable");
    for cut in [0, 7, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&kept, &whole[..cut]).expect("writable");
        is_sound(&answer(&open(&machine), "invoices and expenses of last year"));
    }
    let mut flipped = whole.clone();
    for at in (0..whole.len()).step_by(97) {
        flipped[at] ^= 0x40;
    }
    std::fs::write(&kept, flipped).expect("writable");
    is_sound(&answer(&open(&machine), "invoices and expenses of last year"));
    look_at_everything(&machine);
    assert_eq!(std::fs::read(&kept).expect("readable").len(), whole.len(), "written again");
}
