//! What a record costs: time, compared with a plain flush of the same bytes in the same run, and
//! space.
//!
//! PostgreSQL is measured if `SINEW_TEST_POSTGRES` names a server.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use divan::Bencher;
use sinew_store::{
    ExpectedVersion, FoldSnapshot, JsonText, NewStreamRecord, RecordSeq, Store, StoreOp,
    StoreOptions, StreamTail,
};
use tempfile::TempDir;

/// The usual length of an outcome's body.
const BODY: usize = 250;

fn main() {
    print_room();
    divan::main();
}

/// A record with an id like a ULID: time first, then random, 26 characters.
fn record() -> NewStreamRecord {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    NewStreamRecord {
        id: format!("{:010X}{chance:016X}", 0x18_c3f0_0000 + number * 7),
        ts: 1_700_000_000_000 + i64::try_from(number).unwrap() * 1_000,
        kind: "outcome".to_owned(),
        body: JsonText::of(&"x".repeat(BODY - 2)).unwrap(),
    }
}

fn sqlite() -> (TempDir, Arc<dyn Store>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sinew.db");
    let store = sinew_store::open(path.to_str().unwrap(), &StoreOptions::default()).unwrap();
    (folder, store)
}

/// Bytes of the file per record, appended one by one as outcomes are.
fn print_room() {
    const RECORDS: u64 = 20_000;
    let (folder, store) = sqlite();
    let path = folder.path().join("sinew.db");
    let size = || fs::metadata(&path).unwrap().len();
    store.append("outcomes", &[record()]).unwrap();
    for _ in 0..RECORDS / 100 {
        let ops: Vec<StoreOp> = (0..100).map(|_| StoreOp::append("outcomes", [record()])).collect();
        store.transact(&ops).unwrap();
    }
    drop(store);
    let per_record = size() as f64 / RECORDS as f64;
    println!("room: {per_record:.1} bytes per record of {BODY} bytes");
}

/// The minimum: the time the disk takes to store the same bytes.
#[divan::bench]
fn baseline_write_and_flush(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    let mut options = OpenOptions::new();
    let mut file: File =
        options.create(true).append(true).open(folder.path().join("plain.log")).unwrap();
    bencher.with_inputs(record).bench_local_values(|record| {
        file.write_all(record.body.as_str().as_bytes()).unwrap();
        file.sync_data().unwrap();
    });
}

#[divan::bench]
fn append_sqlite(bencher: Bencher<'_, '_>) {
    let (_folder, store) = sqlite();
    bencher.with_inputs(record).bench_values(|record| store.append("outcomes", &[record]).unwrap());
}

/// Eight concurrent callers, which share the flushes.
#[divan::bench(threads = [8])]
fn append_sqlite_together(bencher: Bencher<'_, '_>) {
    let (_folder, store) = sqlite();
    bencher.with_inputs(record).bench_values(|record| store.append("outcomes", &[record]).unwrap());
}

/// A step of a run: a document, an event, and a fold's state of 50 kB.
#[divan::bench]
fn transition_sqlite(bencher: Bencher<'_, '_>) {
    let (_folder, store) = sqlite();
    bencher.with_inputs(record).bench_values(|record| transition(&*store, record));
}

#[divan::bench]
fn append_postgres(bencher: Bencher<'_, '_>) {
    let Some(server) = sinew_testkit::postgres() else { return };
    let store = sinew_store::open(&server.url(), &StoreOptions::default()).unwrap();
    bencher.with_inputs(record).bench_values(|record| store.append("outcomes", &[record]).unwrap());
}

#[divan::bench]
fn transition_postgres(bencher: Bencher<'_, '_>) {
    let Some(server) = sinew_testkit::postgres() else { return };
    let store = sinew_store::open(&server.url(), &StoreOptions::default()).unwrap();
    bencher.with_inputs(record).bench_values(|record| transition(&*store, record));
}

fn transition(store: &dyn Store, record: NewStreamRecord) {
    let through = RecordSeq(store.len("audit").unwrap() + 1);
    let snapshot = FoldSnapshot { through, tag: "v1".to_owned(), body: vec![7; 50_000] };
    store
        .transact(&[
            StoreOp::put("runs", "r1", ExpectedVersion::Any, record.body.clone()),
            StoreOp::append("audit", [record]),
            StoreOp::PutSnapshot { name: "audit".to_owned(), snapshot },
        ])
        .unwrap();
}

/// Reading a log from the start, as a rebuild does.
#[divan::bench(sample_count = 20)]
fn read_100_000_sqlite(bencher: Bencher<'_, '_>) {
    let (_folder, store) = sqlite();
    for _ in 0..2 {
        let records: Vec<_> = (0..50_000).map(|_| record()).collect();
        store.append("outcomes", &records).unwrap();
    }
    bencher.bench(|| {
        let tail = StreamTail::new(&*store, "outcomes", RecordSeq::START);
        assert_eq!(tail.map(Result::unwrap).count(), 100_000);
    });
}

/// What every command that reads the memory pays.
#[divan::bench]
fn open_sqlite(bencher: Bencher<'_, '_>) {
    let (folder, store) = sqlite();
    store.append("outcomes", &[record()]).unwrap();
    let path = folder.path().join("sinew.db");
    let url = path.to_str().unwrap();
    bencher.bench(|| {
        sinew_store::open(url, &StoreOptions::default()).unwrap().len("outcomes").unwrap()
    });
}
