//! Migrations: from the first schema to the current one, and never backwards.

use std::sync::Barrier;
use std::thread;

use sinew_store::{ExpectedVersion, KeyRange, RecordSeq, StoreError};

use crate::support::{World, all, ids, json, record};

/// A database as the first schema left it, with data in all its tables.
fn first_schema(world: &World) {
    if world.is_file() {
        std::fs::create_dir_all(world.file().parent().unwrap()).unwrap();
        world.execute(include_str!("../data/schema-1.sqlite.sql"));
    } else {
        world.execute(include_str!("../data/schema-1.postgres.sql"));
    }
}

on_both! {
    fn what_the_first_schema_kept_is_still_there(world) {
        first_schema(world);
        let store = world.open();
        store.check().unwrap();
        let outcomes = all(&*store, "outcomes");
        assert_eq!(ids(&outcomes), ["01HF0000000000000000000001", "01HF0000000000000000000002"]);
        assert_eq!(outcomes[1].ts, 1_700_000_001_000);
        assert_eq!(outcomes[1].kind, "outcome");
        assert_eq!(outcomes[1].body, json(r#"{"slug": "weather", "detail": "東京 'q'"}"#));
        assert_eq!(ids(&all(&*store, "audit")), ["r1.1"]);

        let runs = store.list("runs", KeyRange::ALL, 9).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].key.as_str(), runs[0].version.0), ("r1", 1));
        assert_eq!((runs[1].key.as_str(), runs[1].version.0), ("r2", 3));
        let snapshot = store.snapshot("cortex").unwrap().unwrap();
        assert_eq!((snapshot.through, snapshot.tag.as_str()), (RecordSeq(2), "v1"));
        assert_eq!(snapshot.body, [0, 1, 255]);

        // And it continues where it was.
        assert_eq!(store.append("outcomes", &[record("x")]).unwrap(), [RecordSeq(3)]);
        assert_eq!(store.append("outcomes", &[record("01HF0000000000000000000001")]).unwrap(), [RecordSeq(1)]);
        assert_eq!(store.append("new", &[record("x")]).unwrap(), [RecordSeq(1)]);
        let version = store.put("runs", "r1", ExpectedVersion::Version(runs[0].version), json("{}")).unwrap();
        assert!(version.0 > 3, "a version is never given twice");
    }

    fn a_database_of_a_newer_sinew_is_refused_and_left_alone(world) {
        world.open().append("log", &[record("a")]).unwrap();
        world.execute("INSERT INTO sinew_migrations (version, checksum) VALUES (3, 'of tomorrow')");
        let error = world.try_open().unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 3, known: 2, .. }), "{error}");
        assert!(error.hint().unwrap().starts_with("update sinew"));
        world.execute("DELETE FROM sinew_migrations WHERE version = 3");
        assert_eq!(ids(&all(&*world.open(), "log")), ["a"]);
    }

    fn a_changed_schema_is_noticed(world) {
        drop(world.open());
        world.execute("UPDATE sinew_migrations SET checksum = 'other'");
        let error = world.try_open().unwrap_err();
        assert!(matches!(error, StoreError::Altered { version: 1, .. }), "{error}");
    }

    fn all_who_open_a_new_database_at_once_succeed(world) {
        for _ in 0..5 {
            let gate = Barrier::new(8);
            thread::scope(|scope| {
                for name in 0..8 {
                    let gate = &gate;
                    scope.spawn(move || {
                        gate.wait();
                        world.open().append("log", &[record(&name.to_string())]).unwrap();
                    });
                }
            });
            assert_eq!(all(&*world.open(), "log").len(), 8);
            world.wipe();
        }
    }
}
