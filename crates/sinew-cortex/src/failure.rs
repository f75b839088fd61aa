//! How a run can fail: the kinds, what each costs, and what to do about it. The kind of a failure
//! comes from `sinew-exec`, or from the caller.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FailureKind {
    /// The skill does something other than the task.
    TaskMismatch,
    /// The skill failed.
    RuntimeError,
    /// Credentials were refused or missing.
    AuthError,
    /// A program is not installed.
    DependencyMissing,
    /// The service did not answer properly.
    ApiError,
}

/// What one kind of failure means.
struct FailureRow {
    kind: FailureKind,
    name: &'static str,
    /// The short name in the original's prose.
    short: &'static str,
    /// What the weight is multiplied by.
    factor: f64,
    /// Its severity for the Bayesian policy and the drift alarm.
    severity: f64,
    remedy: &'static str,
}

const ROWS: [FailureRow; 5] = [
    FailureRow {
        kind: FailureKind::TaskMismatch,
        name: "task_mismatch",
        short: "mismatch",
        factor: 0.4,
        severity: 1.0,
        remedy: "uninstalled; try the next candidate, or say more about the task",
    },
    FailureRow {
        kind: FailureKind::RuntimeError,
        name: "runtime_error",
        short: "runtime",
        factor: 0.6,
        severity: 1.0,
        remedy: "uninstalled; try the next candidate",
    },
    FailureRow {
        kind: FailureKind::AuthError,
        name: "auth_error",
        short: "auth",
        factor: 0.8,
        severity: 0.25,
        remedy: "check the credentials that the skill names",
    },
    FailureRow {
        kind: FailureKind::DependencyMissing,
        name: "dependency_missing",
        short: "dependency",
        factor: 0.85,
        severity: 0.25,
        remedy: "install what is missing, then try again",
    },
    FailureRow {
        kind: FailureKind::ApiError,
        name: "api_error",
        short: "api",
        factor: 0.9,
        severity: 0.15,
        remedy: "the service did not answer; try again later",
    },
];

impl FailureKind {
    /// Every kind, worst first.
    pub const ALL: [Self; 5] = [
        Self::TaskMismatch,
        Self::RuntimeError,
        Self::AuthError,
        Self::DependencyMissing,
        Self::ApiError,
    ];

    fn row(self) -> &'static FailureRow {
        &ROWS[self as usize]
    }

    /// Its name in records.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// What a weight is multiplied by.
    pub fn factor(self) -> f64 {
        self.row().factor
    }

    /// Its severity, up to 1.
    pub fn severity(self) -> f64 {
        self.row().severity
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        self.row().remedy
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is not a kind of failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFailureKind;

impl fmt::Display for UnknownFailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        write!(f, "a failure is one of {}", names.join(", "))
    }
}

impl std::error::Error for UnknownFailureKind {}

impl FromStr for FailureKind {
    type Err = UnknownFailureKind;

    fn from_str(text: &str) -> Result<Self, UnknownFailureKind> {
        let text = text.trim().to_ascii_lowercase().replace('-', "_");
        let row = ROWS.iter().find(|row| row.name == text || row.short == text);
        row.map(|row| row.kind).ok_or(UnknownFailureKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for kind in FailureKind::ALL {
            assert_eq!(kind.row().kind, kind);
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!("API".parse(), Ok(FailureKind::ApiError));
        assert_eq!("dependency-missing".parse(), Ok(FailureKind::DependencyMissing));
        assert!("bored".parse::<FailureKind>().is_err());
    }
}
