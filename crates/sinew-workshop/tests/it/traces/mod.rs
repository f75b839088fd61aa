//! Finished runs become drafts.

mod consent;
mod drafts;
mod merging;
mod replay;
mod samples;
mod secrets;

use std::io::Cursor;

use serde_json::{Value, json};
use sinew_settings::Config;
use sinew_traces::{AgentRun, LineCounts, PrivateNames, TraceSettings, TranscriptOptions};
use sinew_workshop::LearnResult;

use crate::bench::Bench;

/// The runs of a transcript, and what was met in it.
pub(crate) fn read(transcript: &[u8]) -> (Vec<AgentRun>, LineCounts) {
    let reading = TranscriptOptions { agent: None, name: "here", progress: &|_| {} };
    let mut runs = Vec::new();
    let read =
        sinew_traces::read(&mut Cursor::new(transcript), &reading, &mut |run| runs.push(run));
    let (_, counts) = read.expect("a transcript");
    (runs, counts)
}

/// Learns from a transcript under a configuration.
pub(crate) fn learn_under(bench: &Bench, config: Value, transcript: &str) -> Vec<LearnResult> {
    let settings = TraceSettings::of(&Config::from_tree(config).0);
    let private = PrivateNames { homes: vec!["/home/robin".to_owned()], hosts: Vec::new() };
    let (runs, _) = read(transcript.as_bytes());
    let learn = |run| bench.shop(|shop| shop.learn(run, &settings, &private));
    runs.into_iter().map(|run| learn(run).expect("the store works")).collect()
}

/// Learns from a transcript.
pub(crate) fn learn(bench: &Bench, transcript: &str) -> Vec<LearnResult> {
    learn_under(bench, json!({}), transcript)
}
