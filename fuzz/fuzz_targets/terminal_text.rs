#![no_main]
//! Fuzz target: see `seeds/terminal_text` for its starting inputs.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        assert!(!sinew_guard::Untrusted::new(text).for_terminal().chars().any(char::is_control));
    }
});
