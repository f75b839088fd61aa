//! How a test tells its story: a file goes in, a few lines about it come out.

use sinew_settings::Reason;
use sinew_skill::validate::{RuleSet, ValidationFile, validate};
use sinew_skill::{ParsedSkillFile, ReadOptions, read};

/// Reads a file as OpenClaw's skills are read, from a folder named `folder`.
pub(crate) fn openclaw(bytes: &[u8]) -> ParsedSkillFile<'_> {
    read(bytes, &ReadOptions::openclaw("folder"))
}

/// A file with these fields, a heading and nothing else.
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

/// What a rule set says, as `CODE` for errors and `code:severity` for the rest.
pub(crate) fn verdict(folder: &str, text: &str, rules: RuleSet) -> String {
    let target =
        ValidationFile { directory: folder, file_name: "SKILL.md", bytes: text.as_bytes() };
    let found = validate(&target, rules);
    let said = found.issues.iter().map(|issue| match issue.severity {
        sinew_settings::ReasonSeverity::Error => issue.code.to_owned(),
        other => format!("{}:{other}", issue.code),
    });
    let said: Vec<String> = said.collect();
    let verdict = if found.passed() { "pass" } else { "fail" };
    format!("{verdict} {}", said.join(" ")).trim_end().to_owned()
}
