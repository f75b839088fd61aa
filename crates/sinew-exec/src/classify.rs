//! What became of a run, from its exit status and the end of its standard error.
//!
//! The rules are data (`data/classify.json`), read from top to bottom: the first that fits decides.
//! A rule fits by an exit code, or by a pattern in the text; a rule that names programs fits only
//! them. What no rule knows is a `runtime_error`. `task_mismatch` is never guessed: only whoever gave
//! the task can say that the command did something else.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use sinew_cortex::failure::FailureKind;

use crate::child::ExitCause;

const RULES: &str = include_str!("../data/classify.json");

/// Lines from the end that are looked at: a program says last why it failed.
const LINES: usize = 200;
/// Longest line that is shown.
const MAX_LINE: usize = 200;

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// It worked.
    Success,
    /// It did not. `task_mismatch` is only ever stated, never guessed here.
    Failure(FailureKind),
}

impl RunOutcome {
    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure(kind) => kind.as_str(),
        }
    }

    /// How it failed.
    pub fn failure(self) -> Option<FailureKind> {
        match self {
            Self::Success => None,
            Self::Failure(kind) => Some(kind),
        }
    }
}

impl Serialize for RunOutcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a run left behind.
#[derive(Debug, Clone, Copy)]
pub struct FailureEvidence<'a> {
    /// How it ended; `None` where the program could not be started because it is missing.
    pub how: Option<ExitCause>,
    /// The program's name, without its folder.
    pub program: &'a str,
    /// Its standard error, as plain text.
    pub text: &'a str,
    /// Declared variables that it did not get.
    pub missing: &'a [String],
}

/// What became of a run, and why it is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunClassification {
    /// What became of it.
    pub outcome: RunOutcome,
    /// The rule that decided.
    pub rule: &'static str,
    /// The line that decided, or the first that looks like an error.
    pub line: String,
    /// The program, module or variable that is missing, where the line names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

#[derive(Deserialize)]
struct FailureRuleRecord {
    id: String,
    outcome: FailureKind,
    #[serde(default)]
    exit: Vec<i32>,
    #[serde(default)]
    programs: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
}

struct FailureRule {
    id: &'static str,
    outcome: FailureKind,
    exit: Vec<i32>,
    programs: Vec<String>,
    patterns: Vec<Regex>,
}

static TABLE: LazyLock<Vec<FailureRule>> = LazyLock::new(|| {
    let rows: Vec<FailureRuleRecord> = serde_json::from_str(RULES).unwrap_or_default();
    rows.into_iter()
        .map(|row| FailureRule {
            // The table lives as long as the program.
            id: String::leak(row.id),
            outcome: row.outcome,
            exit: row.exit,
            programs: row.programs,
            patterns: row.patterns.iter().filter_map(|pattern| compiled(pattern)).collect(),
        })
        .collect()
});

/// A group named `key` in a pattern is what is missing.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(true).build().ok()
}

/// Says what became of a run.
pub fn classify(evidence: &FailureEvidence<'_>) -> RunClassification {
    let found = |outcome, rule, line: &str| RunClassification {
        outcome,
        rule,
        line: short(line),
        key: None,
    };
    let code = match evidence.how {
        None => {
            let line = format!("there is no program `{}`", evidence.program);
            let key = Some(evidence.program.to_owned());
            return RunClassification {
                key,
                ..found(RunOutcome::Failure(FailureKind::DependencyMissing), "no-program", &line)
            };
        }
        Some(ExitCause::Exit(0)) => return found(RunOutcome::Success, "exit-0", ""),
        Some(ExitCause::Exit(code)) => Some(code),
        Some(_) => None,
    };
    if let Some(line) = ended(evidence.how) {
        return found(RunOutcome::Failure(FailureKind::RuntimeError), "ended", line);
    }
    let lines: Vec<&str> = evidence.text.lines().rev().take(LINES).collect();
    for rule in TABLE.iter() {
        let mine = rule.programs.is_empty() || rule.programs.iter().any(|p| p == evidence.program);
        if !mine {
            continue;
        }
        for line in &lines {
            if let Some(hit) = rule.patterns.iter().find_map(|pattern| pattern.captures(line)) {
                let key = hit.name("key").map(|key| short(key.as_str()));
                return RunClassification {
                    key,
                    ..found(RunOutcome::Failure(rule.outcome), rule.id, line)
                };
            }
        }
        if code.is_some_and(|code| rule.exit.contains(&code)) {
            return found(RunOutcome::Failure(rule.outcome), rule.id, &error_line(evidence.text));
        }
    }
    if !evidence.missing.is_empty() {
        let line = format!("not set: {}", evidence.missing.join(", "));
        let key = evidence.missing.first().cloned();
        return RunClassification {
            key,
            ..found(RunOutcome::Failure(FailureKind::AuthError), "missing-variable", &line)
        };
    }
    found(RunOutcome::Failure(FailureKind::RuntimeError), "other", &error_line(evidence.text))
}

/// Why we ended the program ourselves, if we did.
fn ended(how: Option<ExitCause>) -> Option<&'static str> {
    match how {
        Some(ExitCause::TimedOut) => Some("it took too long and was ended"),
        Some(ExitCause::Silent) => Some("it said nothing for too long and was ended"),
        Some(ExitCause::TooLoud) => Some("it wrote too much and was ended"),
        _ => None,
    }
}

/// Words that errors start with, in the words of many programs.
static ERROR_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(error|fatal|failed|failure|cannot|can't|could not|unable|denied|refused|invalid|not found|no such|panic|exception|unknown|missing)\b|^E: ").ok()
});

/// The first line that looks like an error, or else the last line there is.
pub fn error_line(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| ERROR_WORDS.as_ref().is_some_and(|words| words.is_match(line));
    short(lines().find(is_error).or_else(|| lines().next_back()).unwrap_or_default())
}

fn short(line: &str) -> String {
    let line = line.trim();
    if line.chars().count() <= MAX_LINE {
        return line.to_owned();
    }
    line.chars().take(MAX_LINE - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_every_row_can_fit() {
        let rows: Vec<FailureRuleRecord> = serde_json::from_str(RULES).unwrap();
        for row in rows {
            assert!(!row.patterns.is_empty() || !row.exit.is_empty(), "{}", row.id);
            for pattern in &row.patterns {
                assert!(compiled(pattern).is_some(), "{}: {pattern}", row.id);
            }
            assert_ne!(row.outcome, FailureKind::TaskMismatch, "{}", row.id);
        }
    }
}
