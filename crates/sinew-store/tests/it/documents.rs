//! Documents: compare-and-set, and listing in the order of keys.

use std::thread;

use sinew_store::{
    DocumentVersion, ExpectedVersion, JsonText, KeyRange, StoreError, StoredDocument,
};

use crate::support::json;

fn keys(documents: &[StoredDocument]) -> Vec<&str> {
    documents.iter().map(|document| document.key.as_str()).collect()
}

fn conflict(answer: Result<impl std::fmt::Debug, StoreError>) -> Option<DocumentVersion> {
    match answer.unwrap_err() {
        StoreError::Conflict { found, .. } => found,
        other => panic!("{other}"),
    }
}

on_both! {
    fn a_document_comes_back_as_it_was_put(world) {
        let store = world.open();
        let body = json(r#"{"z": 1, "a": [true, null, "水\u0000"], "n": 1.0}"#);
        let version = store.put("runs", "r/1 ü", ExpectedVersion::Absent, body.clone()).unwrap();
        let expected = StoredDocument { key: "r/1 ü".to_owned(), version, body };
        assert_eq!(store.get("runs", "r/1 ü").unwrap(), Some(expected.clone()));
        assert_eq!(world.open().get("runs", "r/1 ü").unwrap(), Some(expected));
        assert_eq!(store.get("runs", "r/2").unwrap(), None);
        assert_eq!(store.get("other", "r/1 ü").unwrap(), None);
    }

    fn a_change_needs_the_version_that_was_read(world) {
        let store = world.open();
        let first = store.put("c", "k", ExpectedVersion::Absent, json("1")).unwrap();
        assert_eq!(conflict(store.put("c", "k", ExpectedVersion::Absent, json("2"))), Some(first));
        let second = store.put("c", "k", ExpectedVersion::Version(first), json("2")).unwrap();
        assert!(second > first);
        assert_eq!(conflict(store.put("c", "k", ExpectedVersion::Version(first), json("3"))), Some(second));
        assert_eq!(conflict(store.put("c", "x", ExpectedVersion::Version(first), json("3"))), None);
        let third = store.put("c", "k", ExpectedVersion::Any, json("3")).unwrap();
        assert_eq!(store.get("c", "k").unwrap().unwrap().version, third);
        assert_eq!(store.get("c", "k").unwrap().unwrap().body, json("3"));
        assert_eq!(store.get("c", "x").unwrap(), None);
    }

    fn a_document_made_again_is_not_the_old_one(world) {
        let store = world.open();
        let old = store.put("c", "k", ExpectedVersion::Absent, json("1")).unwrap();
        assert_eq!(conflict(store.delete("c", "k", ExpectedVersion::Absent)), Some(old));
        store.delete("c", "k", ExpectedVersion::Version(old)).unwrap();
        assert_eq!(store.get("c", "k").unwrap(), None);
        assert_eq!(conflict(store.delete("c", "k", ExpectedVersion::Version(old))), None);
        store.delete("c", "k", ExpectedVersion::Any).unwrap();
        let new = store.put("c", "k", ExpectedVersion::Absent, json("1")).unwrap();
        assert_ne!(old, new);
        assert_eq!(conflict(store.put("c", "k", ExpectedVersion::Version(old), json("2"))), Some(new));
    }

    fn lists_are_in_the_order_of_bytes(world) {
        let store = world.open();
        let names = ["b", "a/2", "B", "a/10", "a", "a/1", "a0", "é", "a/ü", "a/\u{10ffff}x", "~"];
        for name in names {
            store.put("c", name, ExpectedVersion::Absent, json("0")).unwrap();
        }
        store.put("d", "a/3", ExpectedVersion::Absent, json("0")).unwrap();
        let mut sorted = names;
        sorted.sort_unstable();
        assert_eq!(keys(&store.list("c", KeyRange::ALL, 100).unwrap()), sorted);
        let under = ["a/1", "a/10", "a/2", "a/ü", "a/\u{10ffff}x"];
        assert_eq!(keys(&store.list("c", KeyRange::with_prefix("a/"), 100).unwrap()), under);
        assert_eq!(keys(&store.list("c", KeyRange::with_prefix("a/"), 2).unwrap()), under[..2]);
        assert_eq!(keys(&store.list("c", KeyRange::with_prefix("a/").after("a/10"), 2).unwrap()), under[2..4]);
        assert_eq!(keys(&store.list("c", KeyRange::ALL.after("~"), 9).unwrap()), ["é"]);
        assert!(store.list("c", KeyRange::with_prefix("a/x"), 9).unwrap().is_empty());
        assert!(store.list("none", KeyRange::ALL, 9).unwrap().is_empty());
    }

    /// Sixteen writers add one, five hundred times in all; no update is lost.
    fn no_update_is_lost(world) {
        world.open().put("c", "n", ExpectedVersion::Absent, JsonText::of(&0).unwrap()).unwrap();
        thread::scope(|scope| {
            for writer in 0..16 {
                // Some share a store, some have their own, like threads and processes.
                let shared = world.open();
                scope.spawn(move || {
                    let mut done = 0;
                    while done < 10 + writer {
                        let document = shared.get("c", "n").unwrap().unwrap();
                        let next = JsonText::of(&(document.body.read::<u32>().unwrap() + 1)).unwrap();
                        match shared.put("c", "n", ExpectedVersion::Version(document.version), next) {
                            Ok(_) => done += 1,
                            Err(StoreError::Conflict { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                });
            }
        });
        let total: u32 = world.open().get("c", "n").unwrap().unwrap().body.read().unwrap();
        assert_eq!(total, (0..16).map(|writer| 10 + writer).sum::<u32>());
    }
}
