//! Test helpers: a file goes in, a short description of the result comes out.

use sinew_settings::Reason;
use sinew_skill::validate::{RuleSet, ValidationFile, validate};
use sinew_skill::{ParsedSkillFile, ReadOptions, read};

/// Reads a file in OpenClaw's dialect, from a folder named `folder`.
pub(crate) fn openclaw(bytes: &[u8]) -> ParsedSkillFile<'_> {
    read(bytes, &ReadOptions::openclaw("folder"))
}

/// A file with only these fields and a heading.
pub(crate) fn file(fields: &str) -> String {
    format!("---\n{fields}\n---\n# Demo\n")
}

/// `code` or `code@line`, in order.
pub(crate) fn codes(reasons: &[Reason]) -> String {
    let one = |reason: &Reason| match reason.line {
        Some(line) => format!("{}@{line}", reason.code),
        None => reason.code.to_string(),
    };
    reasons.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The issues of a rule set, as `CODE` for errors and `code:severity` for the rest.
pub(crate) fn verdict(folder: &str, text: &str, rules: RuleSet) -> String {
    let target =
        ValidationFile { directory: folder, file_name: "SKILL.md", bytes: text.as_bytes() };
    let found = validate(&target, rules);
    let issues = found.issues.iter().map(|issue| match issue.severity {
        sinew_settings::ReasonSeverity::Error => issue.code.to_owned(),
        other => format!("{}:{other}", issue.code),
    });
    let issues: Vec<String> = issues.collect();
    let verdict = if found.passed() { "pass" } else { "fail" };
    format!("{verdict} {}", issues.join(" ")).trim_end().to_owned()
}
