//! Keeping up: what nothing refers to goes, everything else stays; counts survive.

use std::fs;
use std::time::{Duration, SystemTime};

use sinew_server::registry::Role;

use super::support::Team;

#[test]
fn only_old_files_without_a_reference_go() {
    let team = Team::new();
    let token = team.token(Role::Publish, "alice");
    team.publish_text(&token, "demo-skill", "1.0.0", "hello").json();
    team.upload(&token, "SKILL.md", b"never published");
    assert_eq!(team.registry.collect_garbage().expect("a look"), 0, "all of it is young");
    // The clock of the test stands in the past; files must look older than a day before it.
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let root = team.machine.path("home/.sinew/registry/blobs/sha256");
    for folder in fs::read_dir(root).expect("blobs") {
        for file in fs::read_dir(folder.expect("a folder").path()).expect("blobs") {
            let file = fs::File::options().write(true).open(file.expect("a blob").path());
            file.expect("a blob").set_modified(old).expect("a time");
        }
    }
    assert_eq!(team.registry.collect_garbage().expect("a look"), 0, "the ticket still counts");
    team.clock.pass(2 * 60 * 60);
    assert_eq!(team.registry.collect_garbage().expect("a look"), 1);
    assert_eq!(team.get("/api/v1/download?slug=demo-skill", &token).status, 200);
    let file = team.get("/api/v1/skills/demo-skill/file?path=SKILL.md", &token);
    assert_eq!(file.status, 200);
}

#[test]
fn what_was_counted_is_written_in_the_end() {
    let team = Team::new();
    let token = team.token(Role::Publish, "alice");
    team.publish_text(&token, "demo-skill", "1.0.0", "hello").json();
    let keeping = team.registry.keep().expect("a thread");
    for _ in 0..3 {
        assert_eq!(team.get("/api/v1/download?slug=demo-skill", &token).status, 200);
    }
    drop(keeping);
    let (other, _running) = team.another();
    drop(other);
    let stats = team.store.get("registry.stats", "demo-skill/alice").expect("a store");
    let stats: serde_json::Value = stats.expect("counts").body.read().expect("JSON");
    assert_eq!(stats["downloads"], 3);
}
