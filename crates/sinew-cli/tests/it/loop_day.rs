//! Three days with a skill that is missing: looked for once with one yes, used, closed by the agent's
//! hooks, released, and remembered. The registry and GitHub are doubles on loopback, the events are those
//! of Claude Code.

use serde_json::{Value, json};

use crate::acquire::{TASK, World};
use crate::hook::{hook, prompt, settle, stop, tool};

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
    let mut step = tool("t2", "Bash", json!({"command": "todo-list --open"}));
    step.as_object_mut().expect("an object").extend(went.as_object().cloned().unwrap_or_default());
    hook(machine, AGENT, step);
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
