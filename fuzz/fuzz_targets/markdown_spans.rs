#![no_main]
//! Fuzz target: see `seeds/markdown_spans` for its starting inputs.

use libfuzzer_sys::fuzz_target;
use sinew_guard::scan::{Bundle, Scanner};

fuzz_target!(|data: &[u8]| {
    scan("SKILL.md", data);
});

/// Scans twice; equal answers, lines inside the file.
fn scan(name: &str, data: &[u8]) {
    static SCANNER: std::sync::LazyLock<Scanner> = std::sync::LazyLock::new(Scanner::new);
    let bundle = Bundle::from_files([(name.to_owned(), data.to_vec())]);
    let first = SCANNER.scan_bundle(&bundle);
    assert_eq!(first, SCANNER.scan_bundle(&bundle));
    let broken = first.findings.iter().any(|f| f.rule == "scan-failed" && f.evidence.contains("panicked"));
    assert!(!broken, "a rule panicked");
}
