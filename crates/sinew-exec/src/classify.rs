//! The outcome of a run, from its exit status and the end of its standard error.
//!
//! The rules are data (`data/classify.json`), read from top to bottom: the first match decides. A
//! rule matches by an exit code or by a pattern in the text; a rule that names programs applies
//! only to them. A failure that no rule matches is a `runtime_error`. `task_mismatch` is never
//! guessed: only the caller, who knows the task, can say that the command did something else.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use sinew_cortex::failure::FailureKind;

use crate::child::ExitCause;

const RULES: &str = include_str!("../data/classify.json");

/// Lines from the end that are examined: a program writes last why it failed.
const LINES: usize = 200;
/// The longest line that is shown.
const MAX_LINE: usize = 200;

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// It worked.
    Success,
    /// It failed. `task_mismatch` is only ever reported by the caller, never guessed here.
    Failure(FailureKind),
}

impl RunOutcome {
    /// The name that records use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure(kind) => kind.as_str(),
        }
    }

    /// The kind of failure.
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

/// The evidence of a run.
#[derive(Debug, Clone, Copy)]
pub struct FailureEvidence<'a> {
    /// How it ended; `None` if the program is missing and was not started.
    pub how: Option<ExitCause>,
    /// The program's name, without its folder.
    pub program: &'a str,
    /// Its standard error, as plain text.
    pub text: &'a str,
    /// Declared variables that it did not get.
    pub missing: &'a [String],
}

/// The outcome of a run, and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunClassification {
    /// The outcome.
    pub outcome: RunOutcome,
    /// The rule that decided.
    pub rule: &'static str,
    /// The line that decided, or the first that looks like an error.
    pub line: String,
    /// The program, module or variable that is missing, if the line names it.
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

/// A group named `key` in a pattern captures what is missing.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).case_insensitive(true).build().ok()
}

/// Decides the outcome of a run.
pub fn classify(evidence: &FailureEvidence<'_>) -> RunClassification {
    let found = |outcome, rule, line: &str| RunClassification {
        outcome,
        rule,
        line: short(line),
        key: None,
    };
    let code = match evidence.how {
        None => {
            let line = format!("the program `{}` was not found", evidence.program);
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

/// Why sinew stopped the program, if it did.
fn ended(how: Option<ExitCause>) -> Option<&'static str> {
    match how {
        Some(ExitCause::TimedOut) => Some("it took too long and was stopped"),
        Some(ExitCause::Silent) => Some("it wrote nothing for too long and was stopped"),
        Some(ExitCause::TooMuchOutput) => Some("it wrote too much and was stopped"),
        _ => None,
    }
}

/// Words that error messages of many programs contain.
static ERROR_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(error|fatal|failed|failure|cannot|can't|could not|unable|denied|refused|invalid|not found|no such|panic|exception|unknown|missing)\b|^E: ").ok()
});

/// The first line that looks like an error, or else the last line.
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
