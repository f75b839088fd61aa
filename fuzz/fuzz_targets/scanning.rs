//! What the scanner's targets share: they differ in the kind of file that the bytes pose as, and so in
//! the part of the scanner that reads them.

use sinew_guard::scan::{Scanner, SkillBundle};

/// Scans bytes as one file, twice: the answers are equal and no rule panicked.
pub fn scan(name: &str, data: &[u8]) {
    static SCANNER: std::sync::LazyLock<Scanner> = std::sync::LazyLock::new(Scanner::new);
    let bundle = SkillBundle::from_files([(name.to_owned(), data.to_vec())]);
    let first = SCANNER.scan_bundle(&bundle);
    assert_eq!(first, SCANNER.scan_bundle(&bundle));
    let broken =
        first.findings.iter().any(|f| f.rule == "scan-failed" && f.evidence.contains("panicked"));
    assert!(!broken, "a rule panicked");
}
