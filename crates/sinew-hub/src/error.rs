//! What can go wrong, as facts; the engine turns them into exit codes and hints.

use std::error::Error;
use std::io;
use std::path::Path;

use sinew_guard::scan::Finding;
use sinew_guard::staging::StagingError;
use sinew_settings::{ErrorCode, ErrorKind};

use crate::reference::ReferenceError;
use crate::tree::TreeError;

/// Why something could not be found, fetched or installed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct HubError {
    /// Its stable name, which records carry as their reason.
    pub code: ErrorCode,
    /// What happened, where. Safe to show: no secret, no control character.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
    /// The guard's findings, if they are the cause.
    pub findings: Vec<Finding>,
    /// References that may be meant, if the given one is ambiguous.
    pub matches: Vec<String>,
    /// When to try again, in milliseconds since 1970.
    pub retry_at_ms: Option<u64>,
    /// The digest of what was refused, if it was known.
    pub digest: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl HubError {
    /// An error without hints.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hints: Vec::new(),
            findings: Vec::new(),
            matches: Vec::new(),
            retry_at_ms: None,
            digest: None,
            source: None,
        }
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
        self.source = Some(Box::new(source));
        self
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: io::Error) -> Self {
        let message = format!("cannot {doing} {}: {error}", path.display());
        Self::new(ErrorCode::File, message).caused_by(error)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.code.kind()
    }
}

impl From<ReferenceError> for HubError {
    fn from(error: ReferenceError) -> Self {
        Self::new(ErrorCode::BadReference, error.to_string())
            .caused_by(error)
            .hint("write slug, @owner/slug, owner/repo, an address, or a path such as ./folder")
    }
}

impl From<TreeError> for HubError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Io { path, error } => {
                Self::new(ErrorCode::File, format!("cannot read {path}: {error}")).caused_by(error)
            }
            other => Self::new(ErrorCode::Invalid, format!("the files cannot be used: {other}"))
                .caused_by(other)
                .hint("nothing was unpacked; report it to the publisher"),
        }
    }
}

impl From<StagingError> for HubError {
    fn from(error: StagingError) -> Self {
        match error {
            StagingError::Io(error) => {
                Self::new(ErrorCode::File, format!("the skill cannot be written: {error}"))
                    .caused_by(error)
            }
            other => Self::new(ErrorCode::Invalid, other.to_string()).caused_by(other),
        }
    }
}
