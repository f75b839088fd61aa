//! Limits: what is too large or has an invalid name is refused before anything is written.

use sinew_store::{
    ExpectedVersion, FoldSnapshot, JsonText, KeyRange, MAX_BODY, MAX_ID, MAX_KEY, MAX_NAME,
    MAX_SNAPSHOT, MAX_STEPS, NewStreamRecord, RecordSeq, StoreError, StoreOp,
};

use crate::support::{all, json, record};

fn text_of(bytes: usize) -> JsonText {
    json(&format!("\"{}\"", "x".repeat(bytes - 2)))
}

on_both! {
    fn a_body_up_to_the_cap_is_kept(world) {
        let store = world.open();
        for bytes in [1_000_000, MAX_BODY] {
            let body = text_of(bytes);
            let large = NewStreamRecord { body: body.clone(), ..record(&bytes.to_string()) };
            store.append("log", &[large]).unwrap();
            store.put("c", "k", ExpectedVersion::Any, body.clone()).unwrap();
            assert_eq!(all(&*store, "log").last().unwrap().body, body);
            assert_eq!(store.get("c", "k").unwrap().unwrap().body, body);
        }
    }

    fn what_is_too_large_is_refused_by_name(world) {
        let store = world.open();
        let too_large = text_of(MAX_BODY + 1);
        let name = |length: usize| "n".repeat(length);
        let snapshot = |tag: &str, bytes: usize| StoreOp::PutSnapshot {
            name: "s".to_owned(),
            snapshot: FoldSnapshot { through: RecordSeq(1), tag: tag.to_owned(), body: vec![0; bytes] },
        };
        for (op, message) in [
            (
                StoreOp::append("log", [NewStreamRecord { body: too_large.clone(), ..record("a") }]),
                "the record body has 4194305 bytes, at most 4194304 are allowed",
            ),
            (
                StoreOp::put("c", "k", ExpectedVersion::Any, too_large),
                "the document body has 4194305 bytes, at most 4194304 are allowed",
            ),
            (
                StoreOp::append(&name(MAX_NAME + 1), [record("a")]),
                "the stream name has 65 bytes, at most 64 are allowed",
            ),
            (
                StoreOp::append("log", [record(&name(MAX_ID + 1))]),
                "the record id has 129 bytes, at most 128 are allowed",
            ),
            (
                StoreOp::delete("c", &name(MAX_KEY + 1), ExpectedVersion::Any),
                "the document key has 1025 bytes, at most 1024 are allowed",
            ),
            (
                snapshot("v1", MAX_SNAPSHOT + 1),
                "the snapshot has 67108865 bytes, at most 67108864 are allowed",
            ),
            (snapshot("", 1), "the snapshot tag cannot be stored: it is empty"),
            (
                StoreOp::put("c", "a\0b", ExpectedVersion::Any, json("1")),
                "the document key cannot be stored: it contains a control character",
            ),
            (StoreOp::append("", [record("a")]), "the stream name cannot be stored: it is empty"),
        ] {
            // Together with a valid step, which must not be applied either.
            let good = StoreOp::put("c", "good", ExpectedVersion::Any, json("1"));
            let error = store.transact(&[good, op]).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let many: Vec<StoreOp> = (0..=MAX_STEPS).map(|_| StoreOp::append("log", [])).collect();
        let error = store.transact(&many).unwrap_err();
        assert_eq!(error.to_string(), "the transaction has 100001 steps, at most 100000 are allowed");
        assert_eq!(store.len("log").unwrap(), 0);
        assert!(store.list("c", KeyRange::ALL, 9).unwrap().is_empty());
        let longest = StoreOp::put(&name(MAX_NAME), &name(MAX_KEY), ExpectedVersion::Absent, json("1"));
        store.transact(&[longest, StoreOp::append(&name(MAX_NAME), [record(&name(MAX_ID))])]).unwrap();
    }

    /// Names that the database does not know give empty answers, not errors.
    fn odd_names_in_questions_find_nothing(world) {
        let store = world.open();
        for name in ["", "\0", "\u{fffd}", "'; DROP TABLE sinew_records; --", &"x".repeat(100_000)] {
            assert_eq!(store.len(name).unwrap(), 0, "{name:?}");
            assert_eq!(store.read(name, RecordSeq::START, 9).unwrap(), []);
            assert_eq!(store.get(name, name).unwrap(), None);
            assert_eq!(store.list(name, KeyRange::with_prefix(name).after(name), 9).unwrap(), []);
            assert_eq!(store.snapshot(name).unwrap(), None);
        }
    }
}

#[test]
fn text_that_is_no_json_is_no_body() {
    for text in ["", "{", "nope", "{} {}", "\u{feff}1", "{'a': 1}", &"[".repeat(100_000)] {
        let error = JsonText::parse(text).unwrap_err();
        assert!(matches!(error, StoreError::NotJson { .. }), "{text:?}");
    }
    let error = json("[1]").read::<String>().unwrap_err();
    assert!(error.to_string().starts_with("a body is not the JSON that was expected: "));
}
