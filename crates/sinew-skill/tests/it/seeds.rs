//! Replays the starting inputs of the fuzz target.

use std::path::Path;

use sinew_skill::validate::{RuleSet, ValidationFile, apply_fixes, validate};
use sinew_skill::{ReadOptions, read};

#[test]
fn fuzz_seeds_never_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/frontmatter");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("seeds are in the repo") {
        let bytes = std::fs::read(entry.expect("listable").path()).expect("readable");
        let _ = read(&bytes, &ReadOptions::openclaw("seed"));
        let _ = read(&bytes, &ReadOptions::openpocket("seed"));
        for rules in [RuleSet::OpenClaw, RuleSet::OpenPocketStrict, RuleSet::STRICT] {
            let target = ValidationFile { directory: "seed", file_name: "SKILL.md", bytes: &bytes };
            let _ = apply_fixes(&bytes, &validate(&target, rules).issues);
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen} seeds");
}
