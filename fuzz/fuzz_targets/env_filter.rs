#![no_main]
//! Fuzz target: see `seeds/env_filter` for its starting inputs.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let (name, value) = text.split_once('\n').unwrap_or((text, ""));
        let declared = [name.to_owned()];
        for reviewed in [false, true] {
            let skill = sinew_guard::env::SkillEnv { skill: "fuzz", declared: &declared, reviewed, allow_declared_credentials: true, host_credentials: &[] };
            if sinew_guard::env::check_variable(&skill, name, value).is_ok() {
                assert!(!sinew_guard::env::is_blocked_everywhere(name) && !value.contains('\0') && !name.contains('='));
            }
        }
    }
});
