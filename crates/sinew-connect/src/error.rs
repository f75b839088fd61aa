//! What connecting and importing fail with.

use std::path::Path;

use sinew_settings::ErrorKind;

/// An error with its next step.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    /// What kind of trouble it is.
    pub kind: ErrorKind,
    /// A stable name in kebab-case, for scripts.
    pub code: &'static str,
    /// What happened, where.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl ConnectError {
    /// An error without hints.
    pub fn new(kind: ErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), hints: Vec::new() }
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        let message = format!("cannot {doing} {}: {error}", path.display());
        Self::new(ErrorKind::Environment, "file-error", message)
    }
}
