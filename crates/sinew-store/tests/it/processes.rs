//! Many processes, one database, nothing lost.

use std::process::Stdio;

use sinew_store::{ExpectedVersion, JsonText, StoreError};

use crate::support::{World, all, child, parents_store, record};

const PROCESSES: usize = 16;
const RECORDS: usize = 500;
const INCREMENTS: usize = 20;

/// What each process does: append records one by one, and now and then increment a shared number.
#[test]
#[ignore = "started by the tests below"]
fn writer() {
    let Some(store) = parents_store() else { return };
    let name = std::env::var("SINEW_CHILD_NAME").unwrap();
    for number in 0..RECORDS {
        store.append("log", &[record(&format!("{name}.{number}"))]).unwrap();
        if number % (RECORDS / INCREMENTS) == 0 {
            increment(&*store);
        }
    }
}

fn increment(store: &dyn sinew_store::Store) {
    loop {
        let (expect, number) = match store.get("counters", "n").unwrap() {
            Some(found) => {
                (ExpectedVersion::Version(found.version), found.body.read::<usize>().unwrap())
            }
            None => (ExpectedVersion::Absent, 0),
        };
        match store.put("counters", "n", expect, JsonText::of(&(number + 1)).unwrap()) {
            Ok(_) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

on_both! {
    fn sixteen_processes_lose_nothing(world) {
        // The database does not exist yet, so they also race to create it.
        let children: Vec<_> = (0..PROCESSES)
            .map(|name| {
                let mut child = child("processes::writer", world);
                child.env("SINEW_CHILD_NAME", name.to_string());
                child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        check(world);
    }
}

fn check(world: &World) {
    let store = world.open();
    store.check().unwrap();
    let records = all(&*store, "log");
    assert_eq!(records.len(), PROCESSES * RECORDS);
    for name in 0..PROCESSES {
        let prefix = format!("{name}.");
        let own: Vec<&str> =
            records.iter().filter_map(|record| record.id.strip_prefix(&prefix)).collect();
        let expected: Vec<String> = (0..RECORDS).map(|number| number.to_string()).collect();
        assert_eq!(own, expected, "the records of {name}, in the order of writing");
    }
    let total: usize = store.get("counters", "n").unwrap().unwrap().body.read().unwrap();
    assert_eq!(total, PROCESSES * INCREMENTS);
}
