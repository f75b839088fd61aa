//! Any bytes as a file without a name to go by: typing by content, containers.
#![no_main]

mod scanning;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| scanning::scan("file", data));
