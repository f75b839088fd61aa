//! Transcripts become runs.

mod fingerprints;
mod reading;
mod seeds;

use std::io::Cursor;

use sinew_traces::{AgentRun, LineCounts, TranscriptOptions};

/// The runs of a transcript, and what was met in it.
pub(crate) fn read(transcript: &[u8]) -> (Vec<AgentRun>, LineCounts) {
    let reading = TranscriptOptions { agent: None, name: "here", progress: &|_| {} };
    let mut runs = Vec::new();
    let read =
        sinew_traces::read(&mut Cursor::new(transcript), &reading, &mut |run| runs.push(run));
    let (_, counts) = read.expect("a transcript");
    (runs, counts)
}
