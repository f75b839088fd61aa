//! The one error that surfaces see: its code, what happened, what to do next.
//!
//! Crates below keep their own error enums, which know facts. Here they become a code, a message
//! and hints, and so an exit code, an HTTP status or an MCP error; what they were is kept as the
//! source.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::{Serialize, Serializer};
use sinew_catalog::SkillLookupError;
use sinew_settings::{CodedError, ErrorCode, ErrorKind};

/// An error of the engine: a [`CodedError`], into which those of the crates below are turned.
#[derive(Debug, Clone)]
pub struct EngineError(CodedError);

impl EngineError {
    /// An error without hints.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(CodedError::new(code, message))
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }

    /// Keeps what caused it, for logs.
    #[must_use]
    pub fn caused_by(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self(self.0.caused_by(source))
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: io::Error) -> Self {
        Self(CodedError::file(doing, path, error))
    }
}

impl Deref for EngineError {
    type Target = CodedError;

    fn deref(&self) -> &CodedError {
        &self.0
    }
}

impl DerefMut for EngineError {
    fn deref_mut(&mut self) -> &mut CodedError {
        &mut self.0
    }
}

impl From<CodedError> for EngineError {
    fn from(error: CodedError) -> Self {
        Self(error)
    }
}

impl From<EngineError> for CodedError {
    fn from(error: EngineError) -> Self {
        error.0
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// An error as scripts and agents read it; the source is for logs alone.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EngineErrorRecord<'a> {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// Which one, for programs.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub code: ErrorCode,
    /// What happened.
    pub message: &'a str,
    /// What to do next.
    pub hints: &'a [String],
}

impl Serialize for EngineError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, code) = (self.kind(), self.code);
        EngineErrorRecord { kind, code, message: &self.message, hints: &self.hints }
            .serialize(serializer)
    }
}

impl From<SkillLookupError> for EngineError {
    fn from(error: SkillLookupError) -> Self {
        let message = error.to_string();
        match error {
            SkillLookupError::Ambiguous { .. } => Self::new(ErrorCode::AmbiguousSkill, message)
                .hint("name it by the path of its file"),
            SkillLookupError::NotFound { nearest, .. } => {
                let error = Self::new(ErrorCode::UnknownSkill, message);
                match nearest.as_slice() {
                    [] => error.hint("`sinew list --all` shows every skill there is"),
                    names => error.hint(format!("did you mean {}?", names.join(", "))),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sinew_hub::HubError;

    use super::*;

    #[test]
    fn what_caused_an_error_is_kept_through_the_crates() {
        let cause = io::Error::new(io::ErrorKind::PermissionDenied, "no entry");
        let error = EngineError::from(HubError::file("read", Path::new("lock.json"), cause));
        assert_eq!((error.code, error.kind()), (ErrorCode::File, ErrorKind::Environment));
        let hub = error.source().expect("the hub's error");
        let cause = hub.source().expect("the system's error");
        assert_eq!(
            (hub.to_string().as_str(), cause.to_string().as_str()),
            ("cannot read lock.json: no entry", "no entry")
        );
    }

    #[test]
    fn scripts_read_kind_code_message_and_hints() {
        let error = EngineError::new(ErrorCode::NotNow, "later").hint("wait");
        let expected = serde_json::json!({
            "kind": "no", "code": "not-now", "message": "later", "hints": ["wait"],
        });
        assert_eq!(serde_json::to_value(error).expect("JSON"), expected);
    }
}
