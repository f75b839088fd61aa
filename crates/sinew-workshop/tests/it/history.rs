//! Undo, going back, and what is left after a crash.

use serde_json::json;
use sinew_workshop::{UndoForce, UndoTarget, VersionCause, WorkshopError};

use crate::bench::{Bench, PERSON, append, replace};

fn undo(
    bench: &Bench,
    wish: UndoTarget,
    force: UndoForce,
) -> sinew_workshop::Result<sinew_workshop::UndoReport> {
    bench.shop(|shop| shop.undo(&wish, force, &PERSON))
}

fn skill(name: &str) -> UndoTarget {
    UndoTarget::Skill(name.to_owned())
}

#[test]
fn undo_restores_the_bytes_and_a_new_skill_goes_away() {
    let bench = Bench::new();
    let before = "---\nname: notes\ndescription: d\n---\n\n## Workflow\r\n\n- mine  \n\n\n";
    bench.write("skills/notes/SKILL.md", before);
    let made = bench.suggest(&append("notes", "- learned"), PERSON).expect("queued").proposal;
    bench.apply(&made.id).expect("written");
    let done = undo(&bench, UndoTarget::Id(made.id.clone()), UndoForce::No).expect("undone");
    assert_eq!(bench.skill("notes"), before);
    assert_eq!(done.status, "undone");
    let record = bench.shop(|shop| shop.inspect(&made.id)).expect("a record");
    assert_eq!(json!(record)["undone"], true);
    assert_eq!(record.status.as_str(), "rejected");

    let made = bench.write_skill("fresh", "- a");
    let done = undo(&bench, skill("fresh"), UndoForce::No).expect("undone");
    assert_eq!(done.restored, "absent");
    assert!(!bench.path("skills/fresh").exists());
    assert_eq!(bench.status_of(&made.id), "rejected");
    assert_eq!(
        undo(&bench, UndoTarget::Id(made.id), UndoForce::No).unwrap_err().to_string(),
        "proposal is rejected"
    );
}

#[test]
fn what_was_changed_by_hand_is_not_undone_unless_forced() {
    let bench = Bench::new();
    bench.write_skill("notes", "- a");
    let edited = bench.skill("notes") + "- by hand\n";
    bench.write("skills/notes/SKILL.md", &edited);
    let Err(WorkshopError::ChangedSince { diff, .. }) = undo(&bench, skill("notes"), UndoForce::No)
    else {
        panic!("refused")
    };
    assert!(diff.contains("+- by hand"), "{diff}");
    assert_eq!(bench.skill("notes"), edited);
    undo(&bench, skill("notes"), UndoForce::Yes).expect("forced");
    assert!(!bench.path("skills/notes").exists());
    let versions = bench.shop(|shop| shop.history("notes")).expect("history");
    let actions: Vec<VersionCause> = versions.iter().map(|version| version.action).collect();
    assert_eq!(actions, [VersionCause::Undo, VersionCause::Save, VersionCause::Apply]);
    let saved = versions[1].files[0].after.clone().expect("a hash");
    assert_eq!(bench.shop(|shop| shop.content(&saved)).expect("kept"), edited);
}

#[test]
fn undo_steps_back_and_an_undo_can_be_undone() {
    let bench = Bench::new();
    let first = bench.write_skill("notes", "## Workflow\n\n- one");
    let one = bench.skill("notes");
    let second = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&second.id).expect("written");
    let two = bench.skill("notes");
    undo(&bench, skill("notes"), UndoForce::No).expect("undone");
    assert_eq!(bench.skill("notes"), one);
    let undo_id = bench.shop(|shop| shop.history("notes")).expect("history")[0].id.clone();
    undo(&bench, UndoTarget::Id(undo_id.clone()), UndoForce::No).expect("undone again");
    assert_eq!(bench.skill("notes"), two);
    assert_eq!(bench.status_of(&second.id), "applied");
    assert!(undo(&bench, UndoTarget::Id(undo_id), UndoForce::No).is_err(), "once is enough");
    undo(&bench, skill("notes"), UndoForce::No).expect("undone");
    undo(&bench, skill("notes"), UndoForce::No).expect("undone");
    assert!(!bench.path("skills/notes").exists());
    assert_eq!(
        (bench.status_of(&first.id), bench.status_of(&second.id)),
        ("rejected".into(), "rejected".into())
    );
    let nothing = undo(&bench, skill("notes"), UndoForce::No).unwrap_err().to_string();
    assert_eq!(nothing, "nothing to undo for notes");
}

#[test]
fn a_write_below_a_later_one_is_not_undone_by_accident() {
    let bench = Bench::new();
    let first = bench.write_skill("notes", "## Workflow\n\n- one");
    let second = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&second.id).expect("written");
    let refused = undo(&bench, UndoTarget::Id(first.id), UndoForce::No);
    assert!(matches!(refused, Err(WorkshopError::ChangedSince { .. })));
}

#[test]
fn going_back_to_a_version_takes_everything_after_it_back() {
    let bench = Bench::new();
    bench.write_skill("notes", "## Workflow\n\n- one");
    let one = bench.skill("notes");
    let first = bench.shop(|shop| shop.history("notes")).expect("history")[0].id.clone();
    let two = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&two.id).expect("written");
    let three =
        bench.suggest(&replace("notes", "- one", "- uno"), PERSON).expect("queued").proposal;
    bench.apply(&three.id).expect("written");
    bench
        .shop(|shop| shop.write_support_file("notes", "references/a.md", "- a", &PERSON))
        .expect("written");
    let back = UndoTarget::BackTo { skill: "notes".to_owned(), version: first.clone() };
    undo(&bench, back, UndoForce::No).expect("back");
    assert_eq!(bench.skill("notes"), one);
    assert_eq!(bench.files(), ["skills/notes/SKILL.md"]);
    assert_eq!(
        (bench.status_of(&two.id), bench.status_of(&three.id)),
        ("rejected".into(), "rejected".into())
    );
    undo(&bench, skill("notes"), UndoForce::No).expect("a rollback can be undone");
    assert!(
        bench.skill("notes").contains("- uno")
            && bench.path("skills/notes/references/a.md").exists()
    );
    let unknown = UndoTarget::BackTo { skill: "notes".to_owned(), version: "nope".to_owned() };
    assert_eq!(
        undo(&bench, unknown, UndoForce::No).unwrap_err().to_string(),
        "there is no version nope"
    );
}

#[test]
fn history_is_newest_first_and_holds_both_sides() {
    let bench = Bench::new();
    let made = bench.write_skill("notes", "## Workflow\n\n- one");
    let next = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&next.id).expect("written");
    let versions = bench.shop(|shop| shop.history("notes")).expect("history");
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[1].proposal_id.as_deref(), Some(made.id.as_str()));
    assert_eq!(versions[0].files[0].before, versions[1].files[0].after);
    assert_eq!(
        versions[0].files[0].after.as_deref(),
        Some(sinew_skill::content_hash(bench.skill("notes").as_bytes()).as_str())
    );
    assert_eq!(versions[1].files[0].before, None);
}

#[test]
fn old_versions_go_by_age_and_the_last_twenty_stay() {
    let bench = Bench::new();
    bench.write_skill("notes", "## Workflow\n\n- 0");
    for number in 1..25 {
        let made = bench.suggest(&append("notes", &format!("- line {number}")), PERSON);
        bench.apply(&made.expect("queued").proposal.id).expect("written");
    }
    let count = || bench.shop(|shop| shop.history("notes")).expect("history").len();
    assert_eq!(count(), 25);
    bench.clock.pass(400 * 24 * 60 * 60 * 1000);
    let made = bench.suggest(&append("notes", "- last"), PERSON).expect("queued").proposal;
    bench.apply(&made.id).expect("written");
    assert_eq!(count(), 21, "twenty before this one stay");
    for _ in 0..8 {
        undo(&bench, skill("notes"), UndoForce::No).expect("what is kept can be undone");
    }
}

/// What a process that died between the steps of a write leaves behind is finished or undone by the
/// next one. The steps are cut here by hand; the engine's tests do it with a signal.
#[test]
fn a_write_that_was_cut_short_is_finished_or_undone() {
    use sinew_store::ExpectedVersion;
    let bench = Bench::new();
    let made = bench.write_skill("notes", "## Workflow\n\n- one");
    let hash = sinew_workshop::workspace_hash(&bench.workspace());
    let one = bench.skill("notes");
    let next = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&next.id).expect("written");
    let two = bench.skill("notes");
    let version = bench.shop(|shop| shop.history("notes")).expect("history")[0].clone();
    let state = bench.store.get("workshop.state", &hash).expect("a store").expect("a state");
    let mut with_intent: serde_json::Value = state.body.read().expect("JSON");
    let applied = json!(bench.shop(|shop| shop.inspect(&next.id)).expect("a record"));
    // The intent of the second write, as it is stored before the file is touched.
    with_intent["intent"] =
        json!({"version": version, "proposals": [applied.clone()], "events": []});
    let cut = |file: &str, status: &str| {
        bench.write("skills/notes/SKILL.md", file);
        bench.write("skills/notes/.sinew-abc.tmp", "half");
        let mut record = applied.clone();
        record["status"] = json!("pending");
        let json = |value: &serde_json::Value| sinew_store::JsonText::of(value).expect("JSON");
        let key = format!("{hash}/{}", next.id);
        bench
            .store
            .put("workshop.proposals", &key, ExpectedVersion::Any, json(&record))
            .expect("put");
        bench
            .store
            .put("workshop.state", &hash, ExpectedVersion::Any, json(&with_intent))
            .expect("put");
        assert_eq!(bench.status_of(&next.id), status);
        assert_eq!(bench.files(), ["skills/notes/SKILL.md"], "no litter");
    };
    cut(&two, "applied");
    assert_eq!(bench.skill("notes"), two);
    cut(&one, "pending");
    assert_eq!(bench.skill("notes"), one);
    assert_eq!(bench.status_of(&made.id), "applied");
}

/// The same life on a database that a team shares.
#[test]
fn the_same_on_postgresql() {
    let Some(postgres) = sinew_testkit::postgres() else { return };
    let store = sinew_store::open(&postgres.url(), &Default::default()).expect("a store");
    let bench = Bench::on(tempfile::tempdir().expect("a folder"), store);
    let made = bench.write_skill("notes", "## Workflow\n\n- one");
    let next = bench.suggest(&append("notes", "- two"), PERSON).expect("queued").proposal;
    bench.apply(&next.id).expect("written");
    undo(&bench, UndoTarget::Id(next.id.clone()), UndoForce::No).expect("undone");
    undo(&bench, skill("notes"), UndoForce::No).expect("undone");
    assert_eq!(bench.files(), [""; 0]);
    assert_eq!(
        (bench.status_of(&made.id), bench.status_of(&next.id)),
        ("rejected".into(), "rejected".into())
    );
    assert_eq!(bench.shop(|shop| shop.history("notes")).expect("history").len(), 4);
    assert!(bench.shop(|shop| shop.events()).expect("events").len() >= 6);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let bench = Bench::new();
    bench.write_skill("notes", "## Workflow\n\n- first");
    let ids: Vec<String> = (0..8)
        .map(|n| bench.suggest(&append("notes", &format!("- from {n}")), PERSON).expect("queued"))
        .map(|made| made.proposal.id)
        .collect();
    std::thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| bench.apply(id).expect("written"));
        }
    });
    let skill = bench.skill("notes");
    for n in 0..8 {
        assert!(skill.contains(&format!("- from {n}\n")), "{skill}");
    }
    assert_eq!(bench.files(), ["skills/notes/SKILL.md"]);
    assert_eq!(bench.shop(|shop| shop.history("notes")).expect("history").len(), 9);
}
