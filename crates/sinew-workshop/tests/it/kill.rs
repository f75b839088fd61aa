//! Kills: at any moment of a write the skill is old or new, and after the next start the record says
//! which.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sinew_settings::config::GateMode;
use sinew_workshop::{ProposalChange, UndoForce, UndoTarget, workspace_hash};

use crate::bench::{Bench, PERSON, append, draft};
use crate::crowd::assert_consistent;

/// The process that gets killed: writes, and takes back, until then. It says what it is about to do
/// and what is done.
#[test]
#[ignore = "started by the test below"]
fn writer() {
    let Some(mut bench) = Bench::of_parent() else { return };
    bench.settings.trigger_gate = GateMode::Off;
    bench.settings.duplicate_gate = GateMode::Off;
    // What a kill kept from being taken back stays, so that the file grows over the rounds.
    bench.settings.max_skill_bytes = 200_000;
    let say = |what: &str, id: &str| {
        let mut out = std::io::stdout().lock();
        out.write_all(format!("\nsaid {what} {id}\n").as_bytes()).expect("a reader");
        out.flush().expect("a reader");
    };
    let apply = |draft: &sinew_workshop::ProposalRequest| {
        let made = bench.suggest(draft, PERSON).expect("a proposal").proposal;
        say("applying", &made.id);
        bench.apply(&made.id).expect("written");
        say("applied", &made.id);
        made.id
    };
    let undo = |id: &str| {
        say("undoing", id);
        bench
            .shop(|shop| shop.undo(&UndoTarget::Id(id.to_owned()), UndoForce::No, &PERSON))
            .expect("undone");
        say("undone", id);
    };
    let start = bench.shop(|shop| shop.proposals()).expect("proposals").len();
    for number in start.. {
        // A short file and a long one in turn, so that a torn one would show.
        let long = "- And so on.\n".repeat(number % 7 * 20);
        let added = apply(&append("tides", &format!("- Number {number}.\n{long}")));
        let files = ["references/a.md", "references/b.md", "scripts/c.sh"];
        let change = ProposalChange::Create {
            description: "Several files at once".to_owned(),
            body: format!("- Made by {number}."),
            files: files.map(|path| (path.to_owned(), format!("file of {number}"))).into(),
            generated: None,
        };
        let several = apply(&draft(&format!("several-{number}"), change));
        undo(&several);
        undo(&added);
    }
}

/// Kills a writer some time after its first write, and gives the last word about each proposal.
fn kill_a_writer(bench: &Bench, pause: Duration) -> BTreeMap<String, String> {
    let mut child = bench
        .child("kill::writer")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let (send, said) = channel();
    let reader = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Some((what, id)) = line.strip_prefix("said ").and_then(|l| l.split_once(' ')) {
                let _ = send.send((id.to_owned(), what.to_owned()));
            }
        }
    });
    let mut last = BTreeMap::new();
    last.extend(said.recv_timeout(Duration::from_secs(120)));
    assert!(!last.is_empty(), "a first write");
    thread::sleep(pause);
    child.kill().expect("killed");
    child.wait().expect("an end");
    reader.join().expect("read");
    last.extend(said.try_iter());
    last
}

/// Whether a write was interrupted and not yet recovered.
fn is_interrupted(bench: &Bench) -> bool {
    let key = workspace_hash(&bench.workspace());
    let state = bench.store.get("workshop.state", &key).expect("a store");
    state.is_some_and(|state| !state.body.read::<Value>().expect("JSON")["intent"].is_null())
}

#[test]
fn a_kill_leaves_the_old_or_the_new_skill_and_a_record_that_agrees() {
    let bench = Bench::new();
    let rounds = if std::env::var_os("SINEW_LONG").is_some() { 200 } else { 50 };
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut interrupted, mut versions) = (0, 0);
    for round in 0..rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let said = kill_a_writer(&bench, Duration::from_micros(random % 250_000));
        interrupted += usize::from(is_interrupted(&bench));
        // The next start: whatever was cut short is finished or undone.
        let before = versions;
        versions = assert_consistent(&bench);
        assert!(!is_interrupted(&bench), "round {round}");
        assert!(versions >= before, "round {round}: a version is gone");
        for (id, what) in &said {
            let status = bench.status_of(id);
            let allowed: &[&str] = match what.as_str() {
                "applying" => &["pending", "applied"],
                "applied" => &["applied"],
                "undoing" => &["applied", "rejected"],
                _ => &["rejected"],
            };
            assert!(
                allowed.contains(&status.as_str()),
                "round {round}: {what}, and it is {status}"
            );
        }
    }
    // Kills that all fall between two writes would show nothing.
    assert!(interrupted > rounds / 20, "{interrupted} of {rounds} writes were cut short");
}
