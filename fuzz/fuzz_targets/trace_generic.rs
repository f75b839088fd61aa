//! No transcript stops the reader of `generic`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_traces::TraceAgent;

fuzz_target!(|data: &[u8]| transcripts::read(TraceAgent::Generic, "{\"type\":\"trace\",\"task\":\"t\",\"id\":\"s\"}\n", data));
