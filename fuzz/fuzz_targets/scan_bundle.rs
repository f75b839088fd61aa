//! Several files at once: bytecode beside its source, scripts that a skill file links, containers. A
//! harmless file more never lowers the verdict.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sinew_guard::scan::{Scanner, SkillBundle};

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// Parts of the input, in order; a part ends at this mark.
const MARK: &[u8] = b"\n=====\n";
const NAMES: &[&str] = &["scripts/a.pyc", "scripts/a.py", "SKILL.md", "run.sh", "assets/a.zip"];

fuzz_target!(|data: &[u8]| {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut rest = data;
    for name in NAMES {
        let end = rest.windows(MARK.len()).position(|window| window == MARK);
        files.push(((*name).to_owned(), rest[..end.unwrap_or(rest.len())].to_vec()));
        match end {
            Some(end) => rest = &rest[end + MARK.len()..],
            None => break,
        }
    }
    let first = SCANNER.scan_bundle(&SkillBundle::from_files(files.clone()));
    assert_eq!(first, SCANNER.scan_bundle(&SkillBundle::from_files(files.clone())));
    let panicked =
        first.findings.iter().any(|f| f.rule == "scan-failed" && f.evidence.contains("panicked"));
    assert!(!panicked, "a rule panicked");
    files.push(("references/more.md".to_owned(), b"# More\n\nNothing to see.\n".to_vec()));
    assert!(SCANNER.scan_bundle(&SkillBundle::from_files(files)).verdict >= first.verdict);
});
