//! The lock and the files of other tools beside it: nothing is lost, nothing is guessed.

use sinew_hub::{RestoreStrictness, TreeStatus};
use sinew_testkit::skill_text;

use crate::support::{World, json, refused};

#[test]
fn a_frozen_restore_reproduces_every_digest_or_changes_nothing() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    let text = skill_text("winds", "Tells the winds");
    world.github.commit("ada/winds", "main", &[("SKILL.md", &text), ("run.md", "x")]);
    world.install("tides").unwrap();
    world.install("ada/winds").unwrap();
    // A fresh clone has the lock and no skills.
    std::fs::remove_dir_all(world.path("skills")).unwrap();
    let before = world.lock();
    let done = world.restore(RestoreStrictness::Frozen).unwrap();
    assert_eq!(done.iter().map(|d| d.status).collect::<Vec<_>>(), ["restored", "restored"]);
    for key in ["tides", "winds"] {
        assert_eq!(world.lock()["skills"][key]["treeSha256"], before["skills"][key]["treeSha256"]);
    }
    assert!(
        world
            .hub()
            .verify(&[], &world.workdir())
            .unwrap()
            .iter()
            .all(sinew_hub::SkillVerification::is_ok)
    );
    // One digest changed: it fails, and the disk stays as it is.
    std::fs::remove_dir_all(world.path("skills")).unwrap();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let right = before["skills"]["winds"]["treeSha256"].as_str().unwrap();
    let path = world.path(".sinew/lock.json");
    let changed = std::fs::read_to_string(&path).unwrap().replace(right, &wrong);
    std::fs::write(&path, changed).unwrap();
    assert_eq!(refused(world.restore(RestoreStrictness::Frozen)).0, "integrity-mismatch");
    assert!(!world.path("skills/tides").exists() && !world.path("skills/winds").exists());
}

#[test]
fn a_damaged_lock_is_put_aside_and_no_skill_is_touched() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.install("tides").unwrap();
    world.machine.write("work/.sinew/lock.json", "{ torn");
    let error = world.hub().installed(&world.workdir()).unwrap_err();
    assert_eq!(error.code.as_str(), "lock");
    let aside: Vec<String> =
        world.files().into_iter().filter(|path| path.contains("lock.json.corrupt-")).collect();
    assert_eq!(aside.len(), 1);
    assert_eq!(std::fs::read(world.path(&aside[0])).unwrap(), b"{ torn");
    assert!(world.path("skills/tides/SKILL.md").is_file());
    // Its skills are read in again, and are not approved.
    let imported = world.import();
    assert_eq!((imported[0].key.as_str(), imported[0].status), ("tides", "imported"));
    assert_eq!(world.hub().installed(&world.workdir()).unwrap()[0].status, "quarantined");
    assert_eq!(refused(world.restore(RestoreStrictness::Frozen)).0, "needs-approval");
}

#[test]
fn what_others_wrote_into_the_locks_survives() {
    let world = World::new();
    for slug in ["tides", "winds"] {
        world.clawhub.publish_simple("ada", slug, "1.0.0");
    }
    let theirs = r#"{
  "version": 1,
  "extra": {"b": 1, "a": [1, 2.50]},
  "skills": {
    "other": {"version": "3.0.0", "installedAt": 5, "trustState": {"z": 1, "a": "é"}},
    "tides": {"version": "0.9.0", "installedAt": 7, "verification": {"x": [1]}}
  }
}
"#;
    world.machine.write("work/.clawhub/lock.json", theirs);
    world.install("winds").unwrap();
    world.install("tides").unwrap();
    let text = std::fs::read_to_string(world.path(".clawhub/lock.json")).unwrap();
    let before: serde_json::Value = serde_json::from_str(theirs).unwrap();
    let after: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(after["skills"]["other"], before["skills"]["other"]);
    assert_eq!(after["extra"].to_string(), before["extra"].to_string());
    assert_eq!(after["skills"]["tides"]["verification"], before["skills"]["tides"]["verification"]);
    assert_eq!(after["skills"]["tides"]["installedAt"], 7);
    assert_eq!(after["skills"]["tides"]["version"], "1.0.0");
    // The same for sinew's own lock.
    let mut lock = world.lock();
    lock["note"] = "mine".into();
    lock["skills"]["tides"]["team"] = serde_json::json!({"owner": "us"});
    lock["skills"]["strange"] = serde_json::json!({"version": 7});
    world.machine.write("work/.sinew/lock.json", lock.to_string());
    world.pin("winds", Some(None));
    let now = world.lock();
    assert_eq!(now["note"], "mine");
    assert_eq!(now["skills"]["tides"]["team"], lock["skills"]["tides"]["team"]);
    assert_eq!(now["skills"]["strange"], lock["skills"]["strange"]);
}

#[test]
fn a_lock_of_a_newer_sinew_is_read_and_never_written() {
    let world = World::new();
    world.clawhub.publish_simple("ada", "tides", "1.0.0");
    world.machine.write("work/.sinew/lock.json", r#"{"version": 2, "skills": {}}"#);
    assert!(world.hub().installed(&world.workdir()).unwrap().is_empty());
    assert_eq!(refused(world.install("tides")).0, "lock");
    assert_eq!(json(&world.path(".sinew/lock.json"))["version"], 2);
}

#[test]
fn verify_sees_content_and_nothing_else() {
    let world = World::new();
    let text = skill_text("tides", "Tells the tides");
    world.clawhub.publish(
        "ada",
        "tides",
        "1.0.0",
        &[("SKILL.md", &text), ("a.md", "one"), ("b.md", "two")],
    );
    world.install("tides").unwrap();
    let status = || {
        let verified = world.hub().verify(&[], &world.workdir()).unwrap().remove(0);
        (verified.status, verified.modified, verified.missing, verified.extra)
    };
    let file = |name: &str| world.path(&format!("skills/tides/{name}"));
    let none = Vec::new;
    let handle = std::fs::File::options().write(true).open(file("a.md")).unwrap();
    handle.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(status(), (TreeStatus::Ok, none(), none(), none()));
    std::fs::write(file("empty.md"), "").unwrap();
    assert_eq!(status(), (TreeStatus::Extra, none(), none(), vec!["empty.md".to_owned()]));
    std::fs::remove_file(file("empty.md")).unwrap();
    let (a, b) = (std::fs::read(file("a.md")).unwrap(), std::fs::read(file("b.md")).unwrap());
    std::fs::write(file("a.md"), &b).unwrap();
    std::fs::write(file("b.md"), &a).unwrap();
    assert_eq!(
        status(),
        (TreeStatus::Modified, vec!["a.md".into(), "b.md".into()], none(), none())
    );
    std::fs::write(file("a.md"), &a).unwrap();
    std::fs::write(file("b.md"), &b).unwrap();
    std::fs::rename(file("b.md"), file("c.md")).unwrap();
    assert_eq!(status(), (TreeStatus::Missing, none(), vec!["b.md".into()], vec!["c.md".into()]));
    std::fs::remove_dir_all(world.path("skills/tides")).unwrap();
    assert_eq!(status(), (TreeStatus::Missing, none(), none(), none()));
}

#[test]
fn installs_of_the_upstream_client_are_seen_as_its_own() {
    let world = World::new();
    world.machine.write("work/skills/tides/SKILL.md", skill_text("tides", "Tells the tides"));
    world.machine.write("work/skills/mine/SKILL.md", skill_text("mine", "My own"));
    world.machine.write(
        "work/.clawhub/lock.json",
        r#"{"version": 1, "skills": {"tides": {"version": "1.0.0", "installedAt": 1}}}"#,
    );
    let rows = world.hub().installed(&world.workdir()).unwrap();
    let rows: Vec<(&str, &str, Option<&str>)> =
        rows.iter().map(|row| (row.key.as_str(), row.status, row.note.as_deref())).collect();
    assert_eq!(
        rows,
        [("mine", "extraneous", None), ("tides", "extraneous", Some("installed by clawhub"))]
    );
    let imported = world.import();
    assert_eq!(imported.iter().map(|d| d.key.as_str()).collect::<Vec<_>>(), ["tides"]);
}
