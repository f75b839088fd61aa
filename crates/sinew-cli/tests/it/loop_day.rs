//! Three days with a skill that is missing: looked for once with one yes, used, closed by the agent's
//! hooks, released, and remembered. The registry and GitHub are doubles on loopback, the events are those
//! of Claude Code.

use serde_json::{Value, json};

use crate::acquire::{TASK, World};
use crate::hook::{hook, prompt, settle, stop, tool};
use crate::mcp::client::Client;
use crate::support::{command, typed_with};

const AGENT: &str = "claude-code";

fn session_end() -> Value {
    json!({"hook_event_name": "SessionEnd", "session_id": "s1", "reason": "exit"})
}

/// A run up to the use of its skill; gives the run and the skill.
fn brought(world: &World) -> (String, String) {
    let (events, code) = world.events(&["acquire", TASK]);
    assert_eq!(code, 3, "{events:#?}");
    let id = |events: &[Value]| {
        let asked = events.iter().rfind(|event| event["event"] == "needs_approval");
        asked.and_then(|event| event["approval"]["id"].as_str()).expect("an id").to_owned()
    };
    let run = events[0]["run"].as_str().expect("a run").to_owned();
    world.agree(&id(&events));
    let (events, _) = world.events(&["acquire", "--resume", &run]);
    let installed = events.iter().find(|event| event["event"] == "installed").expect("it is here");
    let slug = installed["slug"].as_str().expect("a slug").to_owned();
    world.agree(&id(&events));
    let (_, code) = world.events(&["acquire", "--resume", &run]);
    assert_eq!(code, 0);
    (run, slug)
}

/// What hooks tell of a session in which the agent reads the skill and runs a command after it.
fn used(world: &World, went: Value) {
    ran(world, "todo-list --open", went);
}

fn ran(world: &World, command: &str, went: Value) {
    opened(world);
    let mut step = tool("t2", "Bash", json!({"command": command}));
    step.as_object_mut().expect("an object").extend(went.as_object().cloned().unwrap_or_default());
    hook(&world.machine, AGENT, step);
}

/// The agent gets the task, and reads the skill.
fn opened(world: &World) {
    let machine = &world.machine;
    let skills = machine.path("work/skills");
    let folder = std::fs::read_dir(&skills).expect("skills").flatten().next().expect("one").path();
    // A registry's skills lie below their owner.
    let file = match folder.join("SKILL.md").is_file() {
        true => folder.join("SKILL.md"),
        false => {
            let below = std::fs::read_dir(&folder).expect("a folder").flatten().next();
            below.expect("a skill").path().join("SKILL.md")
        }
    };
    hook(machine, AGENT, prompt(TASK));
    hook(machine, AGENT, tool("t1", "Read", json!({"file_path": file})));
}

fn why(world: &World, about: &str) -> Value {
    world.json(&["cortex", "why", about, "--json"])
}

#[test]
fn the_first_day_ends_with_the_session_and_the_second_needs_no_search() {
    let world = World::new();
    world.machine.write("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}");
    // Nothing fits: a terminal says how one is got.
    let told = world.stderr(&["find", TASK]);
    assert!(told.contains("sinew acquire 'manage my to-do list'"), "{told}");
    let (run, slug) = brought(&world);
    let shown = world.stdout(&["doctor"]);
    assert!(shown.contains(&run) && shown.contains(&slug), "{shown}");
    let shown = world.stdout(&["installed"]);
    assert!(shown.contains("short-term"), "{shown}");
    used(&world, json!({}));
    hook(&world.machine, AGENT, stop());
    assert_ne!(world.locked(), [] as [&str; 0], "the same work may go on");
    hook(&world.machine, AGENT, session_end());
    settle(&world.machine);
    assert_eq!(world.locked(), [] as [&str; 0], "released");
    let told = why(&world, &run);
    assert_eq!(told["state"]["in"], "closed", "{told:#}");
    let record = &why(&world, &slug)["regions"];
    let record = record.as_object().and_then(|all| all.values().next()).expect("a region").clone();
    assert_eq!(record["runs"], json!({"success": 1, "fail": 0}), "{record:#}");
    // The second day: the hook and the terminal name it, and nothing is searched.
    let searches = world.searches();
    let mut again = prompt(TASK);
    again["session_id"] = json!("s2");
    let answer = hook(&world.machine, AGENT, again).expect("an answer").to_string();
    assert!(answer.contains(&format!("{slug} worked 1 of 1 times")), "{answer}");
    assert!(answer.contains("acquire_skill"), "{answer}");
    let told = world.stderr(&["find", TASK]);
    assert!(told.contains(&format!("{slug} worked 1 of 1 times")), "{told}");
    let (events, code) = world.events(&["acquire", TASK]);
    assert_eq!((code, world.searches()), (3, searches), "{events:#?}");
    // What has nothing to do with it recalls nothing.
    let mut other = prompt("how far away is the moon");
    other["session_id"] = json!("s3");
    assert_eq!(hook(&world.machine, AGENT, other), None);
}

#[test]
fn a_failing_step_or_the_users_word_is_the_outcome_of_the_run() {
    let world = World::new();
    world.machine.write("home/.sinew/config.json5", "{hook: {deadlineMs: 10000}}");
    let (run, slug) = brought(&world);
    used(&world, json!({}));
    hook(&world.machine, AGENT, stop());
    let mut word = prompt("no, that is wrong, it did not work");
    word["prompt_id"] = json!("p2");
    hook(&world.machine, AGENT, word);
    let mut second = stop();
    second["prompt_id"] = json!("p2");
    hook(&world.machine, AGENT, second);
    settle(&world.machine);
    assert_eq!(world.locked(), [] as [&str; 0], "what failed is gone");
    let told = why(&world, &run);
    assert_ne!(told["state"]["in"], "execute", "{told:#}");
    let record = &why(&world, &slug)["regions"];
    let record = record.as_object().and_then(|all| all.values().next()).expect("a region").clone();
    assert_eq!(record["runs"], json!({"success": 0, "fail": 1}), "{record:#}");
}

/// The session in which a skill was used is over.
fn over(world: &World) {
    hook(&world.machine, AGENT, stop());
    hook(&world.machine, AGENT, session_end());
    settle(&world.machine);
}

/// What a hook adds to a message that begins a session.
fn added(world: &World, session: &str, message: &str) -> String {
    let mut event = prompt(message);
    event["session_id"] = json!(session);
    let answer = hook(&world.machine, AGENT, event).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

fn patient() -> World {
    let world = World::new();
    world.machine.write(
        "home/.sinew/config.json5",
        "{hook: {deadlineMs: 10000}, approvals: {unattended: ['install']}}",
    );
    world
}

/// A person's word that a skill only reads, and what was seen against it.
#[cfg(unix)]
fn declared(world: &World, slug: &str) {
    let vars: Vec<(&str, String)> = world.vars().into_iter().collect();
    let seen = typed_with(&world.machine, &["cortex", "read-only", slug], "", &vars);
    assert!(seen.contains(slug) && seen.ends_with("exit 0"), "{seen}");
}

fn contradicted(world: &World) -> Value {
    world.json(&["cortex", "read-only", "--json"])[0]["contradicted"].clone()
}

/// What hooks saw a run do counts for more than what a person said of its skill, whether the session
/// ends the run or the agent reports it.
#[cfg(unix)]
#[test]
fn what_an_agent_was_seen_to_change_contradicts_the_word() {
    let world = patient();
    let (_, slug) = brought(&world);
    used(&world, json!({}));
    over(&world);
    declared(&world, &slug);
    assert_eq!(contradicted(&world), json!([]));
    brought(&world);
    ran(&world, "git push", json!({}));
    over(&world);
    assert_eq!(world.locked(), [] as [&str; 0], "the session ended the run");
    assert_eq!(contradicted(&world), json!(["write:git"]));
    // The agent tells how it went before its turn is over.
    let world = patient();
    let (_, slug) = brought(&world);
    used(&world, json!({}));
    over(&world);
    declared(&world, &slug);
    let (run, _) = brought(&world);
    ran(&world, "git push", json!({}));
    let told = world.json(&["report", &run, "--result", "ok", "--json"]);
    assert_eq!(told["state"], "done(released)", "{told}");
    assert_eq!(contradicted(&world), json!(["write:git"]));
}

/// Deleted upstream, with 404 or with 410: it is named no longer, the next one is offered, and it is not
/// asked for again.
#[test]
fn what_vanished_is_not_named_and_the_next_one_follows() {
    for withdraw in [World::remove, World::withdraw] {
        let world = patient();
        let (_, slug) = brought(&world);
        used(&world, json!({}));
        over(&world);
        assert!(added(&world, "s2", TASK).contains(&format!("{slug} worked 1 of 1")));
        withdraw(&world, &slug);
        let searches = world.searches();
        let (events, code) = world.events(&["acquire", TASK]);
        assert_eq!((code, world.searches() > searches), (3, true), "{events:#?}");
        let asked = events.iter().rfind(|event| event["event"] == "needs_approval");
        let other = asked.expect("a question")["approval"]["subject"]["name"].clone();
        assert_ne!(other, slug.as_str());
        let _ = world.events(&["acquire", "--cancel"]);
        let text = added(&world, "s3", TASK);
        assert!(!text.contains(&slug) && text.contains("acquire_skill can look"), "{text}");
        let told = world.stderr(&["find", TASK]);
        assert!(!told.contains(&slug) && told.contains("sinew acquire"), "{told}");
        let why = why(&world, &slug);
        let record = why["regions"].as_object().and_then(|all| all.values().next());
        assert_eq!(record.expect("a region")["filtered"], "vanished", "{why:#}");
    }
}

/// Thirteen weeks of success, as an agent would have reported them, and a yes to the bytes of today.
fn proven(world: &World, slug: &str) {
    let now = jiff::Timestamp::now();
    for week in (1..=13).rev() {
        let at = (now - jiff::SignedDuration::from_hours(7 * 24 * week)).to_string();
        let done = ["report", "--task", TASK, "--skill", slug, "--version", "1.2.0"];
        world.json(&[done.as_slice(), &["--result", "ok", "--at", &at, "--json"]].concat());
    }
    let (mut events, _) = world.events(&["acquire", TASK]);
    let run = events[0]["run"].as_str().expect("a run").to_owned();
    // To install, and to its plan where it is asked about.
    while let Some(asked) = events.iter().rfind(|event| event["event"] == "needs_approval") {
        world.agree(asked["approval"]["id"].as_str().expect("an id"));
        events = world.events(&["acquire", "--resume", &run]).0;
    }
    assert_ne!(world.locked(), [] as [&str; 0], "{events:#?}");
    world.stdout(&["report", &run, "--result", "ok"]);
    let _ = world.events(&["acquire", "--cancel", &run]);
    assert_eq!(world.locked(), [] as [&str; 0]);
}

fn cancel_within(world: &World, ms: u32) {
    let config = format!(
        "{{hook: {{deadlineMs: 10000}}, approvals: {{unattended: ['install']}}, \
         cortex: {{reflex: {{cancel_window_ms: {ms}}}}}}}"
    );
    world.machine.write("home/.sinew/config.json5", &config);
}

/// What only reads and has proved itself needs no question: the hook says so, `acquire_skill` shows the
/// notice, and a "cancel" in time leaves nothing.
#[test]
fn a_reflex_fires_from_a_hook_and_can_be_cancelled() {
    let world = patient();
    world.remove("task-keeper");
    proven(&world, "todoist-cli");
    cancel_within(&world, 60_000);
    let text = added(&world, "s5", TASK);
    assert!(text.contains("todoist-cli worked 14 of 14 times"), "{text}");
    assert!(text.contains("without a question"), "{text}");
    let mut client = Client::session_with(&world.machine, json!({}), &world.vars());
    let propose = json!({"action": "propose", "need": TASK});
    let noticed = client.data("acquire_skill", propose.clone());
    assert_eq!(noticed["status"], "notice", "{noticed}");
    assert!(noticed["notes"].to_string().contains("Say cancel to abort"), "{noticed}");
    let run = noticed["run"].clone();
    let early = client.error("acquire_skill", json!({"action": "install", "run": run}));
    assert_eq!(early["code"], "not-yet", "the person still has time: {early}");
    let closed = client.data("acquire_skill", json!({"action": "release", "run": run}));
    assert_eq!(closed["end"], "cancelled", "{closed}");
    assert_eq!(world.locked(), [] as [&str; 0]);
    // Nobody objects: it is there without a question, neither about itself nor about its plan.
    drop(client);
    cancel_within(&world, 1);
    let mut client = Client::session_with(&world.machine, json!({}), &world.vars());
    let run = client.data("acquire_skill", propose)["run"].clone();
    let ready = client.data("acquire_skill", json!({"action": "install", "run": run}));
    assert_eq!((&ready["status"], &ready["skill"]), (&json!("ready"), &json!("todoist-cli")));
    assert_ne!(world.locked(), [] as [&str; 0]);
}

/// One that writes has as good a record, and is asked about all the same.
#[test]
fn what_writes_is_asked_about_however_often_it_worked() {
    let world = patient();
    world.remove("task-keeper");
    let writes = "2. Run `todoist close --all` to close what is done\n";
    world.publish("todoist-cli", "1.2.0", "Manage todo lists, tasks and reminders", writes);
    proven(&world, "todoist-cli");
    let text = added(&world, "s5", TASK);
    assert!(text.contains("todoist-cli worked 14 of 14 times"), "{text}");
    assert!(text.contains("with one yes of the user"), "{text}");
    let mut client = Client::session_with(&world.machine, json!({}), &world.vars());
    let asked = client.data("acquire_skill", json!({"action": "propose", "need": TASK}));
    assert_eq!(asked["status"], "needs_approval", "{asked}");
}

/// Where nothing is remembered, a task is told once a session that a skill can be looked for; small talk
/// never, and nothing where acquisition is off.
#[test]
fn a_hook_says_once_that_a_skill_can_be_looked_for() {
    let world = patient();
    let text = added(&world, "s1", TASK);
    assert_eq!(text.lines().count(), 3, "one line in its frame: {text}");
    assert!(text.contains("acquire_skill can look for one in registries"), "{text}");
    let mut again = prompt(TASK);
    again["prompt_id"] = json!("p2");
    assert_eq!(hook(&world.machine, AGENT, again), None, "it was said");
    assert!(world.stdout(&["why", "--last"]).contains("no skill was added to the message"));
    for (session, message) in
        [("s2", "how far away is the moon"), ("s3", "thanks, that was perfect"), ("s4", "go on")]
    {
        assert_eq!(added(&world, session, message), "", "{message}");
    }
    let off = "{hook: {deadlineMs: 10000}, cortex: {enabled: false}}";
    world.machine.write("home/.sinew/config.json5", off);
    assert_eq!(added(&world, "s5", TASK), "");
    let told = command(&world.machine, &["find", TASK]).output().expect("sinew runs");
    assert!(!String::from_utf8_lossy(&told.stderr).contains("acquire"));
}

/// A skill that was read and left for other work stays for the session, and ends with it as unknown.
#[test]
fn what_was_only_read_ends_with_the_session() {
    let world = patient();
    let (run, slug) = brought(&world);
    opened(&world);
    hook(&world.machine, AGENT, stop());
    for number in ["p2", "p3"] {
        let mut other = prompt("what is the weather like");
        other["prompt_id"] = json!(number);
        hook(&world.machine, AGENT, other);
        let mut end = stop();
        end["prompt_id"] = json!(number);
        hook(&world.machine, AGENT, end);
    }
    assert_ne!(world.locked(), [] as [&str; 0], "the session goes on");
    hook(&world.machine, AGENT, session_end());
    settle(&world.machine);
    assert_eq!(world.locked(), [] as [&str; 0]);
    assert_eq!(why(&world, &run)["state"]["in"], "closed");
    let record = why(&world, &slug)["regions"].clone();
    assert!(
        record.as_object().is_none_or(serde_json::Map::is_empty),
        "nothing is learned: {record:#}"
    );
}

/// What a run taught about its skill's description stands word for word, from a terminal and over MCP:
/// formats and programs are no entities.
#[test]
fn a_point_about_a_run_keeps_its_technical_words() {
    const POINT: &str = "claims WebP export but only writes PNG";
    for over_mcp in [false, true] {
        let world = patient();
        let (run, slug) = brought(&world);
        if over_mcp {
            let mut client = Client::session_with(&world.machine, json!({}), &world.vars());
            let report = json!({"run": run, "outcome": "failure", "failure": "task_mismatch",
                                "point": POINT, "detail": "kim@example.org saw PNG files"});
            client.data("report_outcome", report);
        } else {
            let failed = ["report", run.as_str(), "--result", "fail", "--kind", "task_mismatch"];
            let said = ["--point", POINT, "--detail", "kim@example.org saw PNG files"];
            world.stdout(&[failed.as_slice(), said.as_slice()].concat());
        }
        let lessons = world.stdout(&["cortex", "lessons", "--json"]);
        assert!(lessons.contains(POINT) && lessons.contains(&slug), "{over_mcp}: {lessons}");
        let why = world.stdout(&["cortex", "why", &slug, "--json"]);
        assert!(!why.contains("kim@example.org") && !lessons.contains("kim@"), "{why}");
    }
}
