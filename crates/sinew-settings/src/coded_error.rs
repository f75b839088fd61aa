//! An error that names itself and its next step.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::{ErrorCode, ErrorKind};

/// A failure with its stable code, what happened, and what to do next.
#[derive(Debug, Clone)]
pub struct CodedError {
    /// Its stable name, which also decides its kind.
    pub code: ErrorCode,
    /// What happened, where.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl CodedError {
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

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.code.kind()
    }
}

impl fmt::Display for CodedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CodedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
