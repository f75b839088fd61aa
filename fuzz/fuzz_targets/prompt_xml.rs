#![no_main]
//! Fuzz target: see `seeds/prompt_xml` for its starting inputs.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let shown = sinew_guard::Untrusted::new(text).for_prompt_xml();
        assert!(!shown.contains(['<', '>', '"', '\'']));
    }
});
