//! Streams: records stay, in the order in which they were appended.

use std::sync::Barrier;
use std::thread;

use sinew_store::{MAX_PAGE_BYTES, NewStreamRecord, RecordSeq, StreamTail};

use crate::support::{all, ids, json, record};

on_both! {
    fn records_come_back_as_they_were_given(world) {
        let store = world.open();
        let odd = NewStreamRecord {
            id: "01J9ZW7Q8X".to_owned(),
            ts: -1,
            kind: "Überraschung".to_owned(),
            body: json(r#"{"b": 1, "a": "\u0000 ' \" 水 \ud83d\ude00", "b": 2.50}"#),
        };
        assert_eq!(store.append("log", std::slice::from_ref(&odd)).unwrap(), [RecordSeq(1)]);
        for store in [store, world.open()] {
            let read = &store.read("log", RecordSeq::START, 10).unwrap()[0];
            let NewStreamRecord { id, ts, kind, body } = &odd;
            assert_eq!((&read.id, &read.ts, &read.kind, &read.body), (id, ts, kind, body));
        }
    }

    fn an_unknown_stream_is_empty(world) {
        let store = world.open();
        assert_eq!(store.len("log").unwrap(), 0);
        assert_eq!(store.read("log", RecordSeq::START, 10).unwrap(), []);
        assert_eq!(store.append("log", &[]).unwrap(), []);
        assert_eq!(store.len("log").unwrap(), 0);
    }

    fn streams_count_for_themselves(world) {
        let store = world.open();
        store.append("a", &[record("x"), record("y")]).unwrap();
        assert_eq!(store.append("b", &[record("x")]).unwrap(), [RecordSeq(1)]);
        assert_eq!(store.append("a", &[record("z")]).unwrap(), [RecordSeq(3)]);
        assert_eq!(ids(&all(&*store, "a")), ["x", "y", "z"]);
        assert_eq!(ids(&all(&*store, "b")), ["x"]);
    }

    fn a_retry_adds_nothing_and_tells_the_old_place(world) {
        let store = world.open();
        store.append("log", &[record("a"), record("b")]).unwrap();
        let mixed = [record("b"), record("c"), record("a"), record("c")];
        assert_eq!(store.append("log", &mixed).unwrap(), [RecordSeq(2), RecordSeq(3), RecordSeq(1), RecordSeq(3)]);
        let mut other = record("a");
        other.body = json("0");
        assert_eq!(store.append("log", &[other]).unwrap(), [RecordSeq(1)]);
        assert_eq!(ids(&all(&*store, "log")), ["a", "b", "c"]);
        assert_eq!(store.read("log", RecordSeq::START, 1).unwrap()[0].body, record("a").body);
    }

    fn reading_goes_on_behind_a_place(world) {
        let store = world.open();
        store.append("log", &["a", "b", "c", "d"].map(record)).unwrap();
        assert_eq!(ids(&store.read("log", RecordSeq(1), 2).unwrap()), ["b", "c"]);
        assert_eq!(ids(&store.read("log", RecordSeq(3), 9).unwrap()), ["d"]);
        for after in [4, 5, 1 << 41, u64::MAX] {
            assert_eq!(store.read("log", RecordSeq(after), 9).unwrap(), [], "{after}");
        }
        assert_eq!(store.read("log", RecordSeq::START, 0).unwrap(), []);
    }

    /// Clocks jump; the store keeps time stamps as given, in the order of writing.
    fn time_stamps_are_stored_and_never_judged(world) {
        let store = world.open();
        let stamps = [4_000_000_000_000, 0, i64::MIN, i64::MAX, 1_700_000_000_000];
        for (number, ts) in stamps.into_iter().enumerate() {
            store.append("log", &[NewStreamRecord { ts, ..record(&number.to_string()) }]).unwrap();
        }
        let read: Vec<i64> = all(&*store, "log").iter().map(|record| record.ts).collect();
        assert_eq!(read, stamps);
    }

    fn a_tail_turns_the_pages(world) {
        let store = world.open();
        let records: Vec<_> = (0..4_500).map(|n| record(&n.to_string())).collect();
        store.append("log", &records).unwrap();
        let tail = StreamTail::new(&*store, "log", RecordSeq(10));
        let ids: Vec<String> = tail.map(|record| record.unwrap().id).collect();
        assert_eq!(ids, (10..4_500).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    fn a_page_of_large_bodies_is_short(world) {
        let store = world.open();
        let body = json(&format!("\"{}\"", "x".repeat(1_000_000)));
        for n in 0..20 {
            let large = NewStreamRecord { body: body.clone(), ..record(&n.to_string()) };
            store.append("log", &[large]).unwrap();
        }
        let page = store.read("log", RecordSeq::START, 1_000).unwrap();
        assert_eq!(page.len(), MAX_PAGE_BYTES / 1_000_000 + 1);
        assert_eq!(all(&*store, "log").len(), 20);
        assert!(all(&*store, "log").iter().all(|record| record.body == body));
    }

    /// A reader that follows the stream sees each record once, whichever process wrote it.
    fn a_follower_misses_nothing(world) {
        const WRITERS: usize = 6;
        const EACH: usize = 60;
        let gate = Barrier::new(WRITERS + 1);
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (gate, store) = (&gate, world.open());
                scope.spawn(move || {
                    gate.wait();
                    for number in 0..EACH {
                        store.append("log", &[record(&format!("{writer}.{number}"))]).unwrap();
                    }
                });
            }
            let store = world.open();
            gate.wait();
            let mut seen = Vec::new();
            while seen.len() < WRITERS * EACH {
                let after = RecordSeq(seen.len() as u64);
                for record in store.read("log", after, 7).unwrap() {
                    assert_eq!(record.seq, RecordSeq(seen.len() as u64 + 1));
                    seen.push(record.id);
                }
            }
            for writer in 0..WRITERS {
                let own: Vec<_> =
                    seen.iter().filter(|id| id.starts_with(&format!("{writer}."))).collect();
                assert_eq!(own, (0..EACH).map(|n| format!("{writer}.{n}")).collect::<Vec<_>>().iter().collect::<Vec<_>>());
            }
        });
        world.open().check().unwrap();
    }

    /// One store serves many threads; their changes are saved in groups.
    fn threads_share_a_store(world) {
        let store = world.open();
        thread::scope(|scope| {
            for writer in 0..16 {
                let store = &store;
                scope.spawn(move || {
                    for number in 0..20 {
                        store.append("log", &[record(&format!("{writer}.{number}"))]).unwrap();
                    }
                });
            }
        });
        assert_eq!(all(&*store, "log").len(), 320);
    }
}
