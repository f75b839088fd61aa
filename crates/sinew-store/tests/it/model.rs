//! Any sequence of changes, compared with a model in memory.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sinew_store::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, KeyRange, RecordSeq, SnapshotWrite, Store,
    StoreOp, StoreOpResult,
};

use crate::support::{World, json, long, record};

/// The content of a store, modelled as simply as possible.
#[derive(Default, Clone)]
struct Model {
    streams: BTreeMap<String, Vec<String>>,
    documents: BTreeMap<(String, String), (DocumentVersion, String)>,
    snapshots: BTreeMap<String, FoldSnapshot>,
}

/// A step whose expectation is not a version yet: versions are known only when it runs.
#[derive(Debug, Clone)]
enum Step {
    Append(String, Vec<String>),
    Put(String, String, Wanted, u8),
    Delete(String, String, Wanted),
    Snapshot(String, u64, String),
    Drop(String),
}

#[derive(Debug, Clone, Copy)]
enum Wanted {
    Any,
    Absent,
    Current,
    Stale,
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let name = "[ab]";
    let key = "[ab]/?[ab]?";
    let wanted = prop_oneof![
        4 => Just(Wanted::Current),
        2 => Just(Wanted::Any),
        2 => Just(Wanted::Absent),
        1 => Just(Wanted::Stale),
    ];
    let step = prop_oneof![
        4 => (name, prop::collection::vec("[a-f]{1,2}", 0..4)).prop_map(|(s, ids)| Step::Append(s, ids)),
        4 => (name, key, wanted.clone(), any::<u8>()).prop_map(|(c, k, w, b)| Step::Put(c, k, w, b)),
        2 => (name, key, wanted).prop_map(|(c, k, w)| Step::Delete(c, k, w)),
        2 => (name, 0..5_u64, "[ab]").prop_map(|(n, through, tag)| Step::Snapshot(n, through, tag)),
        1 => name.prop_map(Step::Drop),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..4), 1..24)
}

impl Model {
    fn version(&self, collection: &str, key: &str) -> Option<DocumentVersion> {
        self.documents.get(&(collection.to_owned(), key.to_owned())).map(|(version, _)| *version)
    }

    fn op(&self, step: &Step) -> StoreOp {
        let expect = |collection: &str, key: &str, wanted| match wanted {
            Wanted::Any => ExpectedVersion::Any,
            Wanted::Absent => ExpectedVersion::Absent,
            Wanted::Stale => ExpectedVersion::Version(DocumentVersion(u64::MAX >> 1)),
            Wanted::Current => self
                .version(collection, key)
                .map_or(ExpectedVersion::Absent, ExpectedVersion::Version),
        };
        match step {
            Step::Append(stream, ids) => {
                StoreOp::append(stream, ids.iter().map(|id| record(id)).collect::<Vec<_>>())
            }
            Step::Put(c, k, wanted, body) => {
                StoreOp::put(c, k, expect(c, k, *wanted), json(&body.to_string()))
            }
            Step::Delete(c, k, wanted) => StoreOp::delete(c, k, expect(c, k, *wanted)),
            Step::Snapshot(name, through, tag) => StoreOp::PutSnapshot {
                name: name.clone(),
                snapshot: FoldSnapshot {
                    through: RecordSeq(*through),
                    tag: tag.clone(),
                    body: Vec::new(),
                },
            },
            Step::Drop(name) => StoreOp::DropSnapshot { name: name.clone() },
        }
    }

    /// Applies the same step, or returns that the store must have refused it.
    fn apply(&mut self, op: &StoreOp, done: Option<&StoreOpResult>) -> bool {
        match op {
            StoreOp::Append { stream, records } => {
                if records.is_empty() {
                    return matches!(done, None | Some(StoreOpResult::Appended(_)));
                }
                let log = self.streams.entry(stream.clone()).or_default();
                let places = records.iter().map(|record| {
                    let found = log.iter().position(|id| *id == record.id);
                    let index = found.unwrap_or_else(|| {
                        log.push(record.id.clone());
                        log.len() - 1
                    });
                    RecordSeq(index as u64 + 1)
                });
                let places = StoreOpResult::Appended(places.collect());
                done.is_none_or(|done| *done == places)
            }
            StoreOp::Put { collection, key, expect, body } => {
                let slot = (collection.clone(), key.clone());
                let found = self.documents.get(&slot).map(|(version, _)| *version);
                if !allows(*expect, found) {
                    return false;
                }
                // Within a refused transaction versions are not known; any will do.
                let version = match done {
                    Some(StoreOpResult::Put(version)) => *version,
                    _ => DocumentVersion(u64::MAX >> 2),
                };
                let fresh = self.documents.values().all(|(old, _)| *old < version);
                self.documents.insert(slot, (version, body.as_str().to_owned()));
                fresh || done.is_none()
            }
            StoreOp::Delete { collection, key, expect } => {
                let slot = (collection.clone(), key.clone());
                let found = self.documents.get(&slot).map(|(version, _)| *version);
                if allows(*expect, found) {
                    self.documents.remove(&slot);
                    return true;
                }
                false
            }
            StoreOp::PutSnapshot { name, snapshot } => {
                let result = match self.snapshots.get(name) {
                    Some(old) if old.tag == snapshot.tag && old.through >= snapshot.through => {
                        SnapshotWrite::Old
                    }
                    _ => SnapshotWrite::New,
                };
                if result == SnapshotWrite::New {
                    self.snapshots.insert(name.clone(), snapshot.clone());
                }
                done.is_none_or(|done| *done == StoreOpResult::Snapshot(result))
            }
            StoreOp::DropSnapshot { name } => {
                self.snapshots.remove(name);
                true
            }
        }
    }

    fn assert_equal(&self, store: &dyn Store) {
        for name in ["a", "b"] {
            let ids: Vec<String> = store
                .read(name, RecordSeq::START, 999)
                .unwrap()
                .into_iter()
                .map(|r| r.id)
                .collect();
            assert_eq!(&ids, self.streams.get(name).unwrap_or(&Vec::new()));
            assert_eq!(store.len(name).unwrap(), ids.len() as u64);
            assert_eq!(store.snapshot(name).unwrap().as_ref(), self.snapshots.get(name));
            for prefix in ["", "a", "a/"] {
                let listed: Vec<_> = store
                    .list(name, KeyRange::with_prefix(prefix), 999)
                    .unwrap()
                    .into_iter()
                    .map(|d| (d.key, d.version, d.body.as_str().to_owned()))
                    .collect();
                let expected: Vec<_> = self
                    .documents
                    .iter()
                    .filter(|((c, k), _)| c == name && k.starts_with(prefix))
                    .map(|((_, k), (version, body))| (k.clone(), *version, body.clone()))
                    .collect();
                assert_eq!(listed, expected, "{name} {prefix}");
            }
        }
    }
}

fn allows(expect: ExpectedVersion, found: Option<DocumentVersion>) -> bool {
    match expect {
        ExpectedVersion::Any => true,
        ExpectedVersion::Absent => found.is_none(),
        ExpectedVersion::Version(version) => found == Some(version),
    }
}

fn check(world: &World, transactions: &[Vec<Step>]) {
    let store = world.open();
    let mut model = Model::default();
    for steps in transactions {
        let ops: Vec<StoreOp> = steps.iter().map(|step| model.op(step)).collect();
        let mut after = model.clone();
        match store.transact(&ops) {
            Ok(done) => {
                for (op, done) in ops.iter().zip(&done) {
                    assert!(after.apply(op, Some(done)), "{op:?} → {done:?}");
                }
                model = after;
            }
            Err(_) => {
                let refused = ops.iter().any(|op| !after.apply(op, None));
                assert!(refused, "refused without a reason: {ops:?}");
            }
        }
        model.assert_equal(&*store);
    }
    drop(store);
    let store = world.open();
    model.assert_equal(&*store);
    store.check().unwrap();
}

/// Each case has its own database, so there are fewer cases than in other properties.
fn check_many(world: impl Fn() -> World) {
    let cases = if long() { 400 } else { 40 };
    // The file is named for the counter-examples, which are kept beside it.
    let config = Config { cases, source_file: Some(file!()), ..Config::default() };
    let checked = TestRunner::new(config).run(&steps(), |transactions| {
        check(&world(), &transactions);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn sqlite_does_what_the_model_does() {
    check_many(World::sqlite);
}

#[test]
fn postgres_does_what_the_model_does() {
    if World::postgres().is_some() {
        check_many(|| World::postgres().unwrap());
    }
}
