//! Transactions: all steps or none, each seeing those before it.

use std::thread;

use sinew_store::{
    ExpectedVersion, FoldSnapshot, KeyRange, RecordSeq, SnapshotWrite, StoreError, StoreOp,
    StoreOpResult,
};

use crate::support::{all, append, ids, json, record};

on_both! {
    fn a_transition_and_its_event_are_one(world) {
        let store = world.open();
        let snapshot = FoldSnapshot { through: RecordSeq(2), tag: "v1".to_owned(), body: vec![1] };
        let done = store.transact(&[
            StoreOp::put("runs", "r1", ExpectedVersion::Absent, json("\"search\"")),
            StoreOp::append("audit", [record("r1.1"), record("r1.2")]),
            StoreOp::PutSnapshot { name: "audit".to_owned(), snapshot },
            StoreOp::delete("runs", "r0", ExpectedVersion::Any),
            StoreOp::DropSnapshot { name: "other".to_owned() },
        ]);
        let version = store.get("runs", "r1").unwrap().unwrap().version;
        assert_eq!(done.unwrap(), [
            StoreOpResult::Put(version),
            StoreOpResult::Appended(vec![RecordSeq(1), RecordSeq(2)]),
            StoreOpResult::Snapshot(SnapshotWrite::New),
            StoreOpResult::Deleted,
            StoreOpResult::SnapshotDropped,
        ]);
        assert_eq!(store.transact(&[]).unwrap(), []);
    }

    fn a_conflict_undoes_every_step(world) {
        let store = world.open();
        store.put("runs", "r1", ExpectedVersion::Absent, json("1")).unwrap();
        store.append("log", &[record("a")]).unwrap();
        let answer = store.transact(&[
            append("b"),
            StoreOp::append("new stream", [record("c")]),
            StoreOp::put("runs", "r2", ExpectedVersion::Absent, json("2")),
            StoreOp::delete("runs", "r1", ExpectedVersion::Any),
            StoreOp::put("runs", "r3", ExpectedVersion::Version(sinew_store::DocumentVersion(77)), json("3")),
        ]);
        assert!(matches!(answer, Err(StoreError::Conflict { key, .. }) if key == "r3"));
        assert_eq!(ids(&all(&*store, "log")), ["a"]);
        assert_eq!(store.len("new stream").unwrap(), 0);
        assert_eq!(store.list("runs", KeyRange::ALL, 9).unwrap().len(), 1);
        assert_eq!(store.append("log", &[record("d")]).unwrap(), [RecordSeq(2)]);
    }

    fn a_step_sees_those_before_it(world) {
        let store = world.open();
        let done = store.transact(&[
            append("a"),
            append("b"),
            append("a"),
            StoreOp::put("c", "k", ExpectedVersion::Absent, json("1")),
            StoreOp::delete("c", "k", ExpectedVersion::Any),
            StoreOp::put("c", "k", ExpectedVersion::Absent, json("2")),
        ]).unwrap();
        assert_eq!(done[..3], [1, 2, 1].map(|n| StoreOpResult::Appended(vec![RecordSeq(n)])));
        assert_eq!(store.get("c", "k").unwrap().unwrap().body, json("2"));
        assert_eq!(all(&*store, "log").len(), 2);
    }

    /// Transactions in opposite orders would deadlock if they locked step by step.
    fn opposite_orders_do_not_lock_each_other_out(world) {
        thread::scope(|scope| {
            for writer in 0..8 {
                let store = world.open();
                scope.spawn(move || {
                    for number in 0..12 {
                        let id = format!("{writer}.{number}");
                        let mut steps = vec![
                            StoreOp::append("one", [record(&id)]),
                            StoreOp::append("two", [record(&id)]),
                            StoreOp::put("c", "x", ExpectedVersion::Any, json("1")),
                            StoreOp::put("c", "y", ExpectedVersion::Any, json("1")),
                            StoreOp::PutSnapshot { name: "s".to_owned(), snapshot: FoldSnapshot {
                                through: RecordSeq(number), tag: id.clone(), body: Vec::new(),
                            } },
                        ];
                        if writer % 2 == 0 {
                            steps.reverse();
                        }
                        store.transact(&steps).unwrap();
                    }
                });
            }
        });
        let store = world.open();
        assert_eq!(all(&*store, "one").len(), 96);
        assert_eq!(ids(&all(&*store, "one")), ids(&all(&*store, "two")));
    }
}
