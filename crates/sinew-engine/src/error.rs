//! The one error that surfaces see: what kind, what happened, what to do next.
//!
//! Crates below keep their own error enums, which know facts. Here they become a kind, a message
//! and hints, and so an exit code, an HTTP status or an MCP error.

use std::fmt;

use serde::Serialize;
use sinew_catalog::SkillLookupError;
use sinew_settings::ErrorKind;

/// An error with its next step.
#[derive(Debug, Clone, Serialize)]
pub struct EngineError {
    /// What kind of trouble it is.
    pub kind: ErrorKind,
    /// A stable name in kebab-case, for scripts.
    pub code: &'static str,
    /// What happened, where.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl EngineError {
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
    pub fn file(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::new(
            ErrorKind::Environment,
            "file-error",
            format!("cannot {doing} {}: {error}", path.display()),
        )
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}

impl From<SkillLookupError> for EngineError {
    fn from(error: SkillLookupError) -> Self {
        let message = error.to_string();
        match error {
            SkillLookupError::Ambiguous { .. } => {
                Self::new(ErrorKind::Usage, "ambiguous-skill", message)
                    .hint("name it by the path of its file")
            }
            SkillLookupError::NotFound { nearest, .. } => {
                let error = Self::new(ErrorKind::No, "unknown-skill", message);
                match nearest.as_slice() {
                    [] => error.hint("`sinew list --all` shows every skill there is"),
                    names => error.hint(format!("did you mean {}?", names.join(", "))),
                }
            }
        }
    }
}
