#![no_main]
//! Fuzz target: see `seeds/tar_extract` for its starting inputs.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    extract(data);
});

/// Whatever comes out has a clean name and respects the caps.
fn extract(data: &[u8]) {
    let limits = sinew_guard::archive::ArchiveLimits { unpacked: 1_000_000, entry: 100_000, ..sinew_guard::archive::ArchiveLimits::SKILL };
    if let Ok(entries) = sinew_guard::archive::unpack(data, &limits) {
        for entry in entries {
            assert!(sinew_guard::archive::components(&entry.path).is_ok() && entry.bytes.len() <= 100_000);
        }
    }
}
