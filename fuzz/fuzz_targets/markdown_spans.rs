//! Any bytes as a SKILL.md: front matter, Markdown spans and their roles.
#![no_main]

mod scanning;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| scanning::scan("SKILL.md", data));
