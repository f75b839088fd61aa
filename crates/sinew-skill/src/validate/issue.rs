//! The issues that a rule set reports.

use serde::Serialize;
use sinew_settings::{Reason, ReasonSeverity};

use super::Fix;

/// One issue of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ValidationIssue {
    /// Its severity.
    pub severity: ReasonSeverity,
    /// The stable name: SCREAMING_CASE, except for `openclaw`, which uses the reason codes.
    pub code: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The line of the file, from 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The edit that corrects it, if there is no doubt about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Object>))]
    pub fix: Option<Fix>,
}

impl ValidationIssue {
    pub(super) fn new(
        severity: ReasonSeverity,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, code, message: message.into(), line: None, fix: None }
    }

    pub(super) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ReasonSeverity::Error, code, message)
    }

    /// The reader's reason as an issue with another rule set's code.
    pub(super) fn of_reason(code: &'static str, reason: &Reason) -> Self {
        Self { line: reason.line, ..Self::error(code, reason.detail.clone()) }
    }

    #[must_use]
    pub(super) fn at_line(mut self, line: Option<usize>) -> Self {
        self.line = line.and_then(|line| u32::try_from(line).ok());
        self
    }

    #[must_use]
    pub(super) fn fixed_by(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }
}

/// The result of validating a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileValidation {
    /// All issues, in the order of the rules.
    pub issues: Vec<ValidationIssue>,
}

impl FileValidation {
    /// Whether the file passes: no issue is an error.
    pub fn passed(&self) -> bool {
        self.issues.iter().all(|issue| issue.severity != ReasonSeverity::Error)
    }

    /// Whether [`apply_fixes`](super::apply_fixes) has something to do.
    pub fn is_fixable(&self) -> bool {
        self.issues.iter().any(|issue| issue.fix.is_some())
    }

    /// Whether an issue of this code was raised.
    pub fn has_issue(&self, code: &str) -> bool {
        self.issues.iter().any(|issue| issue.code == code)
    }
}
