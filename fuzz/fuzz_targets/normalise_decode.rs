//! Any bytes as a script: normalising, decoding and folding of strings.
#![no_main]

mod scanning;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| scanning::scan("a.py", data));
