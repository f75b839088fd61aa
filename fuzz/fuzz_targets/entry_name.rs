#![no_main]
//! Fuzz target: see `seeds/entry_name` for its starting inputs.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(parts) = sinew_guard::archive::components(text)
    {
        assert!(parts.iter().all(|part| !part.is_empty() && *part != ".." && !part.contains(['/', '\\', ':', '\0'])));
    }
});
