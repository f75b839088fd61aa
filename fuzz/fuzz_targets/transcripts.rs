//! What every fuzz target of a transcript reader does: read, judge_run, clean, hash.

use std::io::Cursor;

use sinew_traces::{TraceAgent, PrivateNames, TranscriptOptions, clean, fingerprint, judge_run, pitfalls, simhash, tokens};
use sinew_settings::config::TypedTextMode;

/// Reads what was made up behind `start` as a transcript of this agent.
pub fn read(agent: TraceAgent, start: &str, data: &[u8]) {
    let transcript = [start.as_bytes(), data].concat();
    let reading = TranscriptOptions { agent: Some(agent), name: "fuzz", progress: &|_| {} };
    let _ = sinew_traces::read(&mut Cursor::new(transcript), &reading, &mut |run| {
        let _ = judge_run(&run);
        let private = PrivateNames { homes: vec!["/home/fuzz".to_owned()], hosts: Vec::new() };
        let clean = clean(run, &private, TypedTextMode::Parameter);
        let _ = fingerprint(&clean.run.steps);
        let _ = simhash(&tokens(&clean.run.steps));
        for (at, fix) in pitfalls(&clean.run.steps) {
            assert!(fix.is_none_or(|fix| fix > at));
        }
        // What was cleaned once has nothing left that the same table finds for sure.
        for step in &clean.run.steps {
            let left = sinew_guard::secrets::find_strict(&step.result);
            assert!(left.iter().all(|secret| secret.id != "github-token"), "{}", step.result);
        }
    });
}
