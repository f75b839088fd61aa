//! No transcript stops the reader of `markdown`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_traces::TraceAgent;

fuzz_target!(|data: &[u8]| transcripts::read(TraceAgent::Openpocket, "# OpenPocket Session\n", data));
