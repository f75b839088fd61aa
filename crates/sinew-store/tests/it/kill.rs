//! Kills: what was acknowledged is stored, what was not is stored completely or not at all.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use sinew_store::{
    ExpectedVersion, FoldSnapshot, JsonText, NewStreamRecord, RecordSeq, Store, StoreOp,
};

use crate::support::{World, all, child, long, parents_store, record};

/// The process that gets killed. Each transaction appends a record, sets a document to its number
/// and offers a snapshot; then the number is printed.
#[test]
#[ignore = "started by the test below"]
fn writer() {
    let Some(store) = parents_store() else { return };
    for number in store.len("log").unwrap() + 1.. {
        let size = usize::try_from(number * 37 % 9_000).unwrap();
        store
            .transact(&[
                StoreOp::append("log", [numbered(number, size)]),
                StoreOp::put("state", "last", ExpectedVersion::Any, JsonText::of(&number).unwrap()),
                StoreOp::PutSnapshot {
                    name: "log".to_owned(),
                    snapshot: FoldSnapshot {
                        through: RecordSeq(number),
                        tag: "v1".to_owned(),
                        body: number.to_le_bytes().repeat(size / 8 + 1),
                    },
                },
            ])
            .unwrap();
        let mut out = std::io::stdout().lock();
        out.write_all(format!("saved {number}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

fn numbered(number: u64, size: usize) -> NewStreamRecord {
    let body = JsonText::of(&(number, "x".repeat(size))).unwrap();
    NewStreamRecord { body, ..record(&number.to_string()) }
}

/// When a writer is killed.
enum Moment {
    /// This long after its start: perhaps while it opens the database.
    AfterStart(Duration),
    /// This long after its first transaction.
    AfterFirst(Duration),
}

/// Starts a writer, kills it, and returns the last number that it had printed.
fn kill_a_writer(world: &World, moment: &Moment) -> u64 {
    let mut child =
        child("kill::writer", world).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (saved, savings) = channel();
    let reader = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // The test harness may have printed the start of the line.
            if let Some((_, number)) = line.split_once("saved ") {
                saved.send(number.parse().unwrap()).unwrap();
            }
        }
    });
    let mut last = 0;
    match moment {
        Moment::AfterStart(pause) => thread::sleep(*pause),
        Moment::AfterFirst(pause) => {
            last = savings.recv().expect("a first transaction");
            thread::sleep(*pause);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    savings.try_iter().last().unwrap_or(last)
}

fn assert_whole(store: &dyn Store, acknowledged: u64) -> u64 {
    store.check().unwrap();
    let records = all(store, "log");
    let last = records.len() as u64;
    assert!(last >= acknowledged, "{acknowledged} were acknowledged, {last} are there");
    for record in &records {
        let size = usize::try_from(record.seq.0 * 37 % 9_000).unwrap();
        assert_eq!(record.body, numbered(record.seq.0, size).body);
    }
    if last > 0 {
        let document = store.get("state", "last").unwrap().unwrap();
        assert_eq!(document.body.read::<u64>().unwrap(), last, "one transaction, one state");
        let snapshot = store.snapshot("log").unwrap().unwrap();
        assert_eq!(snapshot.through, RecordSeq(last));
        assert_eq!(snapshot.body[..8], last.to_le_bytes());
    }
    last
}

on_both! {
    fn a_kill_loses_nothing_that_was_acknowledged(world) {
        let rounds = if long() { 200 } else { 50 };
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut acknowledged = 0;
        for round in 0..rounds {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let moment = match round % 5 {
                0 => Moment::AfterStart(Duration::from_micros(random % 100_000)),
                _ => Moment::AfterFirst(Duration::from_micros(random % 30_000)),
            };
            acknowledged = acknowledged.max(kill_a_writer(world, &moment));
            // No process has the database open now: this is the recovery that a user would see.
            acknowledged = assert_whole(&*world.open(), acknowledged);
        }
        assert!(acknowledged > rounds / 2);
    }
}
