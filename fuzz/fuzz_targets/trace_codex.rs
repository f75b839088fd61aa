//! No transcript stops the reader of `codex`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_traces::TraceAgent;

fuzz_target!(|data: &[u8]| transcripts::read(TraceAgent::Codex, "", data));
