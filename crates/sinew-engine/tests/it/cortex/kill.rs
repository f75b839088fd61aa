//! Kills: what was acknowledged is remembered, and the fold is that of the log.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use sinew_store::{RecordSeq, StreamTail};

use crate::cortex::support::{World, long, parents_engine, used};

/// The process that gets killed: it reports, and says so once the report is acknowledged.
#[test]
#[ignore = "started by the test below"]
fn reporter() {
    let Some(engine) = parents_engine() else { return };
    let cortex = engine.cortex().expect("a cortex");
    for number in 0.. {
        let region = format!("region-{}", number % 5);
        let recorded = cortex.record(&used(&region, "skill")).expect("a record");
        let mut out = std::io::stdout().lock();
        out.write_all(format!("saved {}\n", recorded.id).as_bytes()).expect("a line");
        out.flush().expect("a line");
    }
}

/// Starts a reporter, kills it so long after its first report, and gives what it had acknowledged.
fn kill_a_reporter(world: &World, after: Duration) -> Vec<String> {
    let mut child = world
        .child("cortex::kill::reporter")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let (saved, savings) = channel();
    let reader = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // The harness may have left the start of the line to us, and a kill its end.
            if let Some((_, id)) = line.split_once("saved ").filter(|(_, id)| id.len() == 26) {
                saved.send(id.to_owned()).expect("a receiver");
            }
        }
    });
    let first = savings.recv().expect("a first report");
    thread::sleep(after);
    child.kill().expect("a kill");
    child.wait().expect("its end");
    reader.join().expect("the reader");
    std::iter::once(first).chain(savings.try_iter()).collect()
}

on_both! {
    fn what_was_acknowledged_survives_every_kill(world) {
        world.follow_real_time();
        let kills = match (long(), world.is_file()) {
            (true, _) => 200,
            (false, true) => 50,
            (false, false) => 10,
        };
        let mut acknowledged = BTreeSet::new();
        for number in 0..kills {
            let pause = Duration::from_micros(number * 7_919 % 40_000);
            acknowledged.extend(kill_a_reporter(world, pause));
        }
        let engine = world.engine();
        let store = engine.store().expect("a store");
        store.check().expect("a whole database");
        let logged: BTreeSet<String> = StreamTail::new(&*store, "outcomes", RecordSeq::START)
            .map(|record| record.expect("a record").id)
            .collect();
        assert!(acknowledged.is_subset(&logged), "an acknowledged outcome is lost");
        let cortex = engine.cortex().expect("a cortex");
        let memory = cortex.memory().expect("a memory");
        assert_eq!(memory.outcomes(), logged.len() as u64);
        assert!(cortex.rebuild().expect("a fold").agreed);
    }
}
