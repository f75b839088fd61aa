//! Background work: files without a reference are removed, the others stay; counts survive.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use sinew_registry::TokenRole;
use sinew_store::{
    FoldSnapshot, KeyRange, RecordSeq, Store, StoreError, StoreLocation, StoreOp, StoreOpResult,
    StoredDocument, StreamRecord,
};

use super::support::Team;

#[test]
fn only_old_files_without_a_reference_go() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
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
fn counts_are_written_when_the_work_ends() {
    let team = Team::new();
    let token = team.token(TokenRole::Publish, "alice");
    team.publish_text(&token, "demo-skill", "1.0.0", "hello").json();
    let keeping = team.registry.start_upkeep().expect("a thread");
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

/// A store that counts how often a skill is read.
#[derive(Debug)]
struct Counting {
    store: Arc<dyn Store>,
    skills: Arc<AtomicUsize>,
}

impl Store for Counting {
    fn location(&self) -> &StoreLocation {
        self.store.location()
    }

    fn transact(&self, ops: &[StoreOp]) -> Result<Vec<StoreOpResult>, StoreError> {
        self.store.transact(ops)
    }

    fn read(
        &self,
        stream: &str,
        after: RecordSeq,
        limit: usize,
    ) -> Result<Vec<StreamRecord>, StoreError> {
        self.store.read(stream, after, limit)
    }

    fn len(&self, stream: &str) -> Result<u64, StoreError> {
        self.store.len(stream)
    }

    fn get(&self, collection: &str, key: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.skills.fetch_add(usize::from(collection == "registry.skills"), Ordering::Relaxed);
        self.store.get(collection, key)
    }

    fn list(
        &self,
        collection: &str,
        keys: KeyRange<'_>,
        limit: usize,
    ) -> Result<Vec<StoredDocument>, StoreError> {
        self.store.list(collection, keys, limit)
    }

    fn snapshot(&self, name: &str) -> Result<Option<FoldSnapshot>, StoreError> {
        self.store.snapshot(name)
    }

    fn check(&self) -> Result<(), StoreError> {
        self.store.check()
    }
}

#[test]
fn a_search_does_not_read_again_what_was_published_here() {
    let skills = Arc::new(AtomicUsize::new(0));
    let team =
        Team::over(|_| {}, |store| Arc::new(Counting { store, skills: Arc::clone(&skills) }));
    let token = team.token(TokenRole::Publish, "alice");
    let (_other, other) = team.another();
    for number in 0..5 {
        team.publish_text(&token, &format!("tool-number-{number}"), "1.0.0", "hello").json();
    }
    team.send("DELETE", "/api/v1/skills/tool-number-4", &token, &[], b"").json();
    // Until the index counts as old, and the trail is read.
    std::thread::sleep(Duration::from_millis(600));
    let read = skills.load(Ordering::Relaxed);
    let found = team.get("/api/v1/search?q=tool-number", &token).json();
    assert_eq!(found["results"].as_array().map(Vec::len), Some(4));
    assert_eq!(skills.load(Ordering::Relaxed), read, "nothing was read again");
    // Another server has to read all five.
    let agent: ureq::Agent = ureq::Agent::config_builder().build().into();
    let url = format!("{}/registry/api/v1/search?q=tool-number", other.origin());
    agent.get(&url).header("authorization", format!("Bearer {token}")).call().expect("an answer");
    assert_eq!(skills.load(Ordering::Relaxed), read + 5);
}
