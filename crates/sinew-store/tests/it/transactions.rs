//! Transactions: all steps or none, each seeing those before it.

use std::thread;

use sinew_store::{Done, Expect, Kept, Keys, Op, Seq, Snapshot, StoreError};

use crate::support::{all, append, ids, json, record};

on_both! {
    fn a_transition_and_its_event_are_one(world) {
        let store = world.open();
        let snapshot = Snapshot { through: Seq(2), tag: "v1".to_owned(), body: vec![1] };
        let done = store.transact(&[
            Op::put("runs", "r1", Expect::Absent, json("\"search\"")),
            Op::append("audit", [record("r1.1"), record("r1.2")]),
            Op::PutSnapshot { name: "audit".to_owned(), snapshot },
            Op::delete("runs", "r0", Expect::Any),
            Op::DropSnapshot { name: "other".to_owned() },
        ]);
        let version = store.get("runs", "r1").unwrap().unwrap().version;
        assert_eq!(done.unwrap(), [
            Done::Put(version),
            Done::Appended(vec![Seq(1), Seq(2)]),
            Done::Snapshot(Kept::New),
            Done::Deleted,
            Done::SnapshotDropped,
        ]);
        assert_eq!(store.transact(&[]).unwrap(), []);
    }

    fn a_conflict_undoes_every_step(world) {
        let store = world.open();
        store.put("runs", "r1", Expect::Absent, json("1")).unwrap();
        store.append("log", &[record("a")]).unwrap();
        let answer = store.transact(&[
            append("b"),
            Op::append("new stream", [record("c")]),
            Op::put("runs", "r2", Expect::Absent, json("2")),
            Op::delete("runs", "r1", Expect::Any),
            Op::put("runs", "r3", Expect::Version(sinew_store::Version(77)), json("3")),
        ]);
        assert!(matches!(answer, Err(StoreError::Conflict { key, .. }) if key == "r3"));
        assert_eq!(ids(&all(&*store, "log")), ["a"]);
        assert_eq!(store.len("new stream").unwrap(), 0);
        assert_eq!(store.list("runs", Keys::ALL, 9).unwrap().len(), 1);
        assert_eq!(store.append("log", &[record("d")]).unwrap(), [Seq(2)]);
    }

    fn a_step_sees_those_before_it(world) {
        let store = world.open();
        let done = store.transact(&[
            append("a"),
            append("b"),
            append("a"),
            Op::put("c", "k", Expect::Absent, json("1")),
            Op::delete("c", "k", Expect::Any),
            Op::put("c", "k", Expect::Absent, json("2")),
        ]).unwrap();
        assert_eq!(done[..3], [1, 2, 1].map(|n| Done::Appended(vec![Seq(n)])));
        assert_eq!(store.get("c", "k").unwrap().unwrap().body, json("2"));
        assert_eq!(all(&*store, "log").len(), 2);
    }

    /// Steps in opposite orders would wait for each other for ever if they locked as they go.
    fn opposite_orders_do_not_lock_each_other_out(world) {
        thread::scope(|scope| {
            for writer in 0..8 {
                let store = world.open();
                scope.spawn(move || {
                    for number in 0..12 {
                        let id = format!("{writer}.{number}");
                        let mut steps = vec![
                            Op::append("one", [record(&id)]),
                            Op::append("two", [record(&id)]),
                            Op::put("c", "x", Expect::Any, json("1")),
                            Op::put("c", "y", Expect::Any, json("1")),
                            Op::PutSnapshot { name: "s".to_owned(), snapshot: Snapshot {
                                through: Seq(number), tag: id.clone(), body: Vec::new(),
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
