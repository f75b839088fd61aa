//! No transcript stops the reader of `object`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_workshop::traces::Agent;

fuzz_target!(|data: &[u8]| transcripts::read(Agent::Generic, "{\"task\":\"t\",\"ok\":true,\"traces\":[", data));
