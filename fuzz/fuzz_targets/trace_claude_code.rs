//! No transcript stops the reader of `claude_code`.
#![no_main]

mod transcripts;

use libfuzzer_sys::fuzz_target;
use sinew_workshop::traces::Agent;

fuzz_target!(|data: &[u8]| transcripts::read(Agent::ClaudeCode, "", data));
