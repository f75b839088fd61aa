//! Any bytes as a skill file: reading and judging never panic, a skill is dropped with an error or
//! not at all, and a fix leaves nothing to fix.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_settings::ReasonSeverity;
use sinew_skill::validate::{RuleSet, ValidationFile, apply_fixes, validate};
use sinew_skill::{ReadOptions, read};

fuzz_target!(|bytes: &[u8]| {
    for options in [ReadOptions::openclaw("demo"), ReadOptions::openpocket("demo")] {
        let outcome = read(bytes, &options);
        let failed = outcome.reasons.iter().any(|reason| reason.severity == ReasonSeverity::Error);
        assert_eq!(outcome.skill.is_none(), failed);
    }
    for rules in [RuleSet::OpenClaw, RuleSet::OpenPocketStrict, RuleSet::STRICT] {
        let target = ValidationFile { directory: "demo", file_name: "SKILL.md", bytes };
        let found = validate(&target, rules);
        if let Some(fixed) = apply_fixes(bytes, &found.issues) {
            let again = validate(&ValidationFile { bytes: &fixed, ..target }, rules);
            assert!(!again.is_fixable());
        }
    }
});
