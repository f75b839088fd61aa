//! No transcript stops the reader of `tree`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_traces::TraceAgent;

fuzz_target!(|data: &[u8]| transcripts::read(TraceAgent::Openclaw, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n", data));
