//! What connecting and importing fail with.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use sinew_settings::ErrorCode;

/// An error with its next step.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    /// Its stable name, which also decides its kind.
    pub code: ErrorCode,
    /// What happened, where.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ConnectError {
    /// An error without hints.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hints: Vec::new(), source: None }
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Keeps what caused it, for logs.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: io::Error) -> Self {
        let message = format!("cannot {doing} {}: {error}", path.display());
        Self::new(ErrorCode::FileError, message).caused_by(error)
    }
}
