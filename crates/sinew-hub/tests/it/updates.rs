//! Updates, pins, removal: what changes, what needs approval, and what never changes.

use sinew_hub::UpdateStatus;
use sinew_hub::reference::RequestedVersion;
use sinew_settings::{Environment, FixedClock};
use sinew_testkit::{ModerationFlag, skill_text};

use crate::installs::THIEF;
use crate::support::{Person, World, refused};

fn world_with_tides() -> World {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("tides").expect("installed");
    world
}

#[test]
fn a_newer_version_is_shown_asked_about_and_put_in_place() {
    let world = world_with_tides();
    assert_eq!(world.update("tides").unwrap().status, UpdateStatus::Current);
    let text = skill_text("tides", "Tells the tides") + "\nAsk https://api.tides.example.org/v1\n";
    world.clawhub.publish("ada", "tides", "1.1.0", &[("SKILL.md", &text), ("more.md", "x")]);
    let dry = world.update_with("tides", &mut Person::absent(), |how| how.dry_run = true).unwrap();
    assert_eq!((dry.status, dry.to.as_str()), (UpdateStatus::Available, "1.1.0"));
    let diff = dry.diff.unwrap();
    assert_eq!(
        (diff.added.as_slice(), diff.changed.as_slice()),
        (&["more.md".to_owned()][..], &["SKILL.md".to_owned()][..])
    );
    assert!(diff.gained.iter().any(|gained| gained.contains("api.tides.example.org")), "{diff:?}");
    assert!(diff.text.contains("+Ask https://"), "{}", diff.text);
    assert_eq!(
        refused(world.update_with("tides", &mut Person::absent(), |_| {})).0,
        "needs-approval"
    );
    assert!(!world.path("skills/tides/more.md").exists());
    let mut person = Person::yes();
    let done = world.update_with("tides", &mut person, |_| {}).unwrap();
    assert_eq!(done.status, UpdateStatus::Updated);
    assert_eq!(person.proposals[0].digest, done.digest);
    assert!(world.path("skills/tides/more.md").is_file());
    assert_eq!(world.lock()["skills"]["tides"]["approval"]["digest"], done.digest);
    assert_eq!(world.clawhub_lock()["skills"]["tides"]["version"], "1.1.0");
}

#[test]
fn a_safe_update_needs_no_approval_if_the_configuration_says_so() {
    let world = World::new().config("{hub: {updates: 'auto-safe'}}");
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("tides").unwrap();
    world.clawhub.publish_simple("ada", "tides", "1.1.0");
    let mut absent = Person::absent();
    assert_eq!(
        world.update_with("tides", &mut absent, |_| {}).unwrap().status,
        UpdateStatus::Updated
    );
    assert!(absent.proposals.is_empty());
    assert_eq!(world.lock()["skills"]["tides"]["approval"]["method"], "policy");
    // More capabilities than before need approval again.
    let text = skill_text("tides", "Tells the tides") + "\ncurl https://api.tides.example.org\n";
    world.clawhub.publish("ada", "tides", "1.2.0", &[("SKILL.md", &text)]);
    assert_eq!(refused(world.update_with("tides", &mut absent, |_| {})).0, "needs-approval");
}

#[test]
fn the_same_version_with_other_bytes_is_an_alarm() {
    let world = world_with_tides();
    let before = std::fs::read(world.path("skills/tides/SKILL.md")).unwrap();
    let text = skill_text("tides", "Something else");
    world.clawhub.publish("ada", "tides", "1.0.0", &[("SKILL.md", &text)]);
    let (word, message) = refused(world.update("tides"));
    assert_eq!(word, "integrity-mismatch");
    assert!(message.contains("SKILL.md"), "{message}");
    assert_eq!(std::fs::read(world.path("skills/tides/SKILL.md")).unwrap(), before);
}

#[test]
fn a_rug_pull_leaves_the_old_version() {
    let world = world_with_tides();
    let before = world.lock();
    let text = skill_text("tides", "Tells the tides");
    world.clawhub.publish("ada", "tides", "2.0.0", &[("SKILL.md", &text), ("run.sh", THIEF)]);
    assert_eq!(refused(world.update("tides")).0, "blocked-guard");
    assert_eq!(world.lock()["skills"], before["skills"]);
    assert!(!world.path("skills/tides/run.sh").exists());
    // Another owner takes over the same name.
    world.clawhub.remove("ada", "tides");
    world.clawhub.publish_simple("eve", "tides", "3.0.0");
    assert_eq!(refused(world.update("tides")).0, "gone");
    let taken = world.install_with("tides", &mut Person::absent(), |ask| ask.overwrite = true);
    assert_eq!(refused(taken).0, "owner-changed");
}

#[test]
fn local_changes_are_kept_or_copied() {
    let world = world_with_tides();
    world.machine.write("work/skills/tides/notes.md", "mine");
    world.clawhub.publish_simple("ada", "tides", "1.1.0");
    assert_eq!(refused(world.update("tides")).0, "local-changes");
    assert!(world.path("skills/tides/notes.md").is_file());
    let done = world.update_with("tides", &mut Person::yes(), |how| how.overwrite = true).unwrap();
    let copy = std::fs::read(done.backup.unwrap()).unwrap();
    let copy = sinew_hub::tree::SkillTree::from_archive(&copy, 0).unwrap();
    assert_eq!(copy.get("notes.md").unwrap().bytes, b"mine");
    assert!(!world.path("skills/tides/notes.md").exists());
}

#[test]
fn a_tree_that_another_tool_brought_up_to_date_is_known() {
    let world = world_with_tides();
    world.clawhub.publish_simple("ada", "tides", "1.1.0");
    // As the upstream client leaves it: the new files, and its own note.
    let text = skill_text("tides", "About tides, version 1.1.0");
    world.machine.write("work/skills/tides/SKILL.md", text);
    std::fs::remove_file(world.path("skills/tides/_meta.json")).unwrap();
    let rows = world.hub().installed(&world.workdir()).unwrap();
    assert_eq!(rows[0].status, "modified");
    let done = world.update("tides").unwrap();
    assert_eq!((done.status, done.to.as_str()), (UpdateStatus::Updated, "1.1.0"));
    assert_eq!(world.hub().installed(&world.workdir()).unwrap()[0].status, "ok");
}

#[test]
fn an_older_version_needs_to_be_named() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "2.0.0");
    world.install("tides").unwrap();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    assert_eq!(world.update("tides").unwrap().status, UpdateStatus::Current);
    let how = |how: &mut sinew_hub::UpdateRequest| {
        how.wanted = RequestedVersion::Version("1.0.0".to_owned());
    };
    let done = world.update_with("tides", &mut Person::yes(), how).unwrap();
    assert_eq!((done.status, done.to.as_str()), (UpdateStatus::Updated, "1.0.0"));
}

#[test]
fn what_turned_malicious_is_held_back_and_stays_on_disk() {
    let world = world_with_tides();
    world.clawhub.flag("ada", "tides", ModerationFlag::Malicious);
    assert_eq!(refused(world.update("tides")).0, "blocked-upstream");
    let row = &world.hub().installed(&world.workdir()).unwrap()[0];
    assert_eq!(row.status, "quarantined");
    assert!(world.path("skills/tides/SKILL.md").is_file());
    let lock = world.workdir().lock(&world.environment()).unwrap();
    assert!(sinew_hub::hold_reason(&lock, "tides", &world.path("skills/tides"), None).is_some());
}

#[test]
fn bulk_verdicts_are_written_down() {
    let world = World::new();
    for slug in ["clean", "flagged", "bad", "gone"] {
        world.clawhub.publish_simple("ada", slug, "1.0.0");
        world.install(slug).unwrap();
    }
    world.clawhub.flag("ada", "flagged", ModerationFlag::Suspicious);
    world.clawhub.flag("ada", "bad", ModerationFlag::Malicious);
    world.clawhub.remove("ada", "gone");
    assert!(world.hub().check_upstream(&[], &world.workdir()).unwrap().is_empty());
    let status = |key: &str| {
        let rows = world.hub().installed(&world.workdir()).unwrap();
        rows.into_iter().find(|row| row.key == key).unwrap().status
    };
    assert_eq!(
        ["clean", "flagged", "bad", "gone"].map(status),
        ["ok", "ok", "quarantined", "upstream-gone"]
    );
    let posts = world.clawhub.requests();
    assert_eq!(posts.iter().filter(|request| request.method == "POST").count(), 1);
    assert_eq!(world.lock()["skills"]["flagged"]["upstream"]["verdict"], "suspicious");
}

/// A long-running server asks again once a day, and no sooner.
#[test]
fn verdicts_are_asked_for_again_after_a_day() {
    const HOUR: u64 = 60 * 60 * 1000;
    let world = world_with_tides();
    let asked = || {
        let all = world.clawhub.requests();
        all.iter().filter(|request| request.method == "POST").count()
    };
    world.clawhub.flag("ada", "tides", ModerationFlag::Malicious);
    for (hours, questions, status) in
        [(1, 0, "ok"), (23, 0, "ok"), (24, 1, "quarantined"), (24, 1, "quarantined")]
    {
        let env = world.environment();
        let now = env.clock.now_ms() + hours * HOUR;
        let env = Environment { clock: std::sync::Arc::new(FixedClock(now)), ..env };
        let config = sinew_settings::Config::default();
        let (hub, _) = sinew_hub::Hub::open(env, &config, &Default::default()).unwrap();
        assert!(hub.refresh_verdicts(&world.workdir()).unwrap().is_empty());
        assert_eq!(asked(), questions, "after {hours} hours");
        assert_eq!(hub.installed(&world.workdir()).unwrap()[0].status, status);
    }
}

#[test]
fn a_pinned_skill_refuses_everything_and_says_why() {
    let world = world_with_tides();
    world.clawhub.publish_simple("ada", "tides", "1.1.0");
    world.pin("tides", Some(Some("we like it".to_owned())));
    assert_eq!(world.clawhub_lock()["skills"]["tides"]["pinned"], true);
    let (word, message) = refused(world.update("tides"));
    assert_eq!((word, message.contains("we like it")), ("pinned", true));
    assert_eq!(refused(world.uninstall("tides")).0, "pinned");
    let over = world.install_with("tides", &mut Person::yes(), |ask| ask.overwrite = true);
    assert_eq!(refused(over).0, "pinned");
    world.pin("tides", None);
    assert!(world.clawhub_lock()["skills"]["tides"].get("pinned").is_none());
    world.update("tides").unwrap();
}

#[test]
fn removal_leaves_nothing_and_makes_no_request() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("@ada/tides").unwrap();
    let asked = world.clawhub.requests().len();
    world.uninstall("tides").unwrap();
    assert_eq!(world.clawhub.requests().len(), asked);
    assert_eq!(world.files(), [".clawhub/lock.json", ".sinew/lock.json"]);
    assert!(!world.path("skills/@ada").exists());
    assert_eq!(world.lock()["skills"], serde_json::json!({}));
    assert_eq!(world.clawhub_lock()["skills"], serde_json::json!({}));
    assert_eq!(refused(world.uninstall("tides")).0, "not-found");
}
