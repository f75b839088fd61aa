//! What a skill does decides what it is asked about: by its text, by a person's word, by what was seen.

use sinew_cortex::acquire::UseReport;
use sinew_engine::approval::{ApprovalAnswer, ConsentAct};
use sinew_settings::{Actor, ErrorCode};

use super::stall::Stall;
use super::{Kim, TASK, YES, begin, end, weekly};
use crate::cortex::support::World;

/// The market's skills for the task with this text, after thirteen weekly successes.
fn proven(world: &World, body: &str) -> Stall {
    let stall = Stall::new(world);
    for slug in ["todoist-cli", "task-keeper"] {
        stall.change(slug, |goods| goods.body = body.to_owned());
    }
    weekly(world, &stall, 13);
    stall
}

fn person() -> Actor {
    Actor::Person { name: Some("kim".to_owned()), via: None }
}

/// Fetching and filtering is the original's own example of a skill that only reads.
#[test]
fn curl_and_jq_earn_a_reflex() {
    let world = World::new();
    let stall = proven(
        &world,
        "1. Ask for the tasks\n\n```bash\ncurl -s https://tasks.example.com/open | jq '.[].title'\n```",
    );
    let mut kim = Kim::answering([]).finishing([UseReport::success()]);
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!((end(&standing).as_str(), kim.waited), ("done(released)", vec![5_000]));
    assert!(kim.asked.is_empty(), "{:?}", kim.asked);
}

/// One step that writes, uses a secret and runs an unknown program does all three, and is always asked.
#[test]
fn a_word_for_a_secret_hides_neither_the_write_nor_the_command() {
    let world = World::new();
    let step = "Update the ticket with the API token: `desk-cli ticket close --all`";
    let stall = proven(&world, &format!("1. {step}"));
    let mut kim = Kim::answering([YES]);
    let standing = begin(&world.engine(), &stall, TASK, &mut kim);
    assert_eq!(kim.acts(), [ConsentAct::Install, ConsentAct::Plan]);
    let tags = &standing.run.candidates[0].staged.as_ref().expect("staged").side_effects;
    for tag in ["write:stated", "shell:desk-cli", "read:credentials"] {
        assert!(tags.iter().any(|known| known == tag), "{tag} in {tags:?}");
    }
    let approval = kim.event("needs_approval")["approval"]["evidence"]["steps"][0].clone();
    assert_eq!(approval["text"], step, "nothing of it is hidden");
    assert_eq!(approval["effects"], serde_json::json!(["write", "credentials", "shell"]));
}

/// A person's word counts for exactly these files, and an agent cannot give it.
#[test]
fn a_person_may_declare_a_skill_read_only() {
    let world = World::new();
    let stall = proven(&world, "1. Look with `desk-cli ticket list`");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let mut kim = Kim::default();
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!(end(&standing), "waits for install", "an unknown program is a shell");
    let slug = standing.run.candidates[0].slug.clone();
    engine.hub().acquisition(&stall).cancel(&standing.run.id, &mut kim).expect("an end");
    let agent = Actor::Agent { name: "claude".to_owned() };
    let refused = cortex.declare_read_only(&slug, None, &agent).expect_err("a refusal");
    assert_eq!(refused.code, ErrorCode::NeedsPerson);
    assert!(cortex.declare_read_only(&slug, None, &person()).expect("a word"));
    assert!(!cortex.declare_read_only(&slug, None, &person()).expect("the same again"));
    let mut kim = Kim::answering([]).finishing([UseReport::success()]);
    let standing = begin(&engine, &stall, TASK, &mut kim);
    assert_eq!((end(&standing).as_str(), kim.waited.clone()), ("done(released)", vec![5_000]));
    let notice = kim.event("notice")["text"].as_str().expect("a text").to_owned();
    assert!(notice.contains("(declared read-only)"), "{notice}");
    // Taken back, it is asked about again.
    assert!(cortex.revoke_read_only(&slug, None, &person()).expect("a word"));
    let mut kim = Kim::default();
    assert_eq!(end(&begin(&engine, &stall, TASK, &mut kim)), "waits for install");
}

/// What a run was seen to do counts for more than what a person said.
#[test]
fn a_use_that_was_seen_to_write_contradicts_the_word() {
    let world = World::new();
    let stall = proven(&world, "1. Look with `desk-cli ticket list`");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let memory = cortex.memory().expect("a memory");
    let candidates = memory.motor.values().flat_map(|region| &region.candidates);
    let slug = candidates.max_by_key(|used| used.success).expect("a candidate").slug.clone();
    cortex.declare_read_only(&slug, None, &person()).expect("a word");
    let wrote = UseReport { side_effects: vec!["write:git".to_owned()], ..UseReport::success() };
    let mut kim = Kim::answering([]).finishing([wrote]);
    assert_eq!(end(&begin(&engine, &stall, TASK, &mut kim)), "done(released)");
    let rows = cortex.read_only().expect("rows");
    assert_eq!(rows[0].contradicted, ["write:git"]);
    let mut kim = Kim::default();
    assert_eq!(end(&begin(&engine, &stall, TASK, &mut kim)), "waits for install");
}

/// Other files are other files: the word does not cover them.
#[test]
fn another_digest_ends_the_word() {
    let world = World::new();
    let stall = proven(&world, "1. Look with `desk-cli ticket list`");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    for slug in ["todoist-cli", "task-keeper"] {
        // One of them was never used.
        let _ = cortex.declare_read_only(slug, None, &person());
        stall.change(slug, |goods| goods.body.push_str("\nand so on"));
    }
    let mut kim = Kim::answering([ApprovalAnswer::No]);
    assert_eq!(end(&begin(&engine, &stall, TASK, &mut kim)), "aborted(declined)");
    assert_eq!(kim.acts(), [ConsentAct::Install]);
    // Not even a notice before the question: no reflex was in it.
    assert_eq!(kim.event("candidates")["mode"], "standard");
    assert!(!kim.story().contains(&"notice"), "{:?}", kim.story());
}
