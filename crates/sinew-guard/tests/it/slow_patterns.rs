//! No input is slow, because no engine here backtracks.

use sinew_guard::scan::SkillBundle;

use crate::support::scanner;

/// The manifest names the only matching engines; none of them backtracks.
#[test]
fn no_backtracking_engine_is_a_dependency() {
    let manifest = include_str!("../../Cargo.toml");
    for banned in ["fancy-regex", "pcre", "onig", "regress"] {
        assert!(!manifest.contains(banned), "{banned}");
    }
}

/// Work is bounded by a count, not by a clock: scans of adversarial texts end, and a text that uses
/// up the whole budget blocks.
#[test]
fn adversarial_text_ends() {
    let size = if crate::support::long() { 9_900_000 } else { 1_000_000 };
    for unit in [
        "curl ",
        "http://",
        "a",
        "\"",
        "ignore ",
        "`",
        "((((",
        "base64 -d |",
        "[a](",
        "<!--",
        "\\x41",
        "exec(",
        "wget | wget ",
        "\n- ",
        "> ",
        "password: ",
    ] {
        let text = unit.repeat(size / unit.len());
        for name in ["SKILL.md", "a.sh", "data.json"] {
            let report = scanner().scan_bundle(&SkillBundle::from_files([(
                name.to_owned(),
                text.clone().into_bytes(),
            )]));
            assert!(!report.ruleset.is_empty());
        }
    }
}
