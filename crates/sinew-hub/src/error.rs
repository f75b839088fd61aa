//! What can go wrong, as facts; the engine turns them into exit codes and hints.

use std::io;

use serde::Serialize;
use sinew_guard::scan::Finding;
use sinew_guard::staging::StagingError;
use sinew_settings::ErrorKind;

use crate::reference::ReferenceError;
use crate::tree::TreeError;

/// The codes that records carry in `reason`; scripts read them, so they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "each word says what it means, and HubError says the rest")]
pub enum HubErrorCode {
    BadReference,
    IntegrityMismatch,
    IntegrityUnavailable,
    BlockedGuard,
    BlockedUpstream,
    BlockedPolicy,
    Suspicious,
    PendingScan,
    NeedsApproval,
    Rejected,
    Pinned,
    Exists,
    Shadows,
    LocalChanges,
    OwnerChanged,
    Ambiguous,
    NotFound,
    Gone,
    RateLimited,
    Offline,
    Auth,
    BadRequest,
    Unavailable,
    TooLarge,
    Unsupported,
    Invalid,
    Network,
    Lock,
    File,
}

impl HubErrorCode {
    /// The code as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadReference => "bad-reference",
            Self::IntegrityMismatch => "integrity-mismatch",
            Self::IntegrityUnavailable => "integrity-unavailable",
            Self::BlockedGuard => "blocked-guard",
            Self::BlockedUpstream => "blocked-upstream",
            Self::BlockedPolicy => "blocked-policy",
            Self::Suspicious => "suspicious",
            Self::PendingScan => "pending-scan",
            Self::NeedsApproval => "needs-approval",
            Self::Rejected => "rejected",
            Self::Pinned => "pinned",
            Self::Exists => "exists",
            Self::Shadows => "shadows",
            Self::LocalChanges => "local-changes",
            Self::OwnerChanged => "owner-changed",
            Self::Ambiguous => "ambiguous",
            Self::NotFound => "not-found",
            Self::Gone => "gone",
            Self::RateLimited => "rate-limited",
            Self::Offline => "offline",
            Self::Auth => "auth",
            Self::BadRequest => "bad-request",
            Self::Unavailable => "unavailable",
            Self::TooLarge => "too-large",
            Self::Unsupported => "unsupported",
            Self::Invalid => "invalid",
            Self::Network => "network",
            Self::Lock => "lock",
            Self::File => "file",
        }
    }

    /// The kind of error.
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::BadReference => ErrorKind::Usage,
            Self::Exists
            | Self::LocalChanges
            | Self::Ambiguous
            | Self::NotFound
            | Self::Gone
            | Self::BadRequest
            | Self::Unavailable
            | Self::TooLarge
            | Self::Unsupported
            | Self::Invalid => ErrorKind::No,
            Self::IntegrityMismatch
            | Self::IntegrityUnavailable
            | Self::BlockedGuard
            | Self::BlockedUpstream
            | Self::BlockedPolicy
            | Self::Suspicious
            | Self::PendingScan
            | Self::NeedsApproval
            | Self::Rejected
            | Self::Pinned
            | Self::Shadows
            | Self::OwnerChanged => ErrorKind::Refused,
            Self::RateLimited
            | Self::Offline
            | Self::Auth
            | Self::Network
            | Self::Lock
            | Self::File => ErrorKind::Environment,
        }
    }
}

/// Why something could not be found, fetched or installed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct HubError {
    /// The code that records carry.
    pub word: HubErrorCode,
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
}

impl HubError {
    /// An error without hints.
    pub fn new(word: HubErrorCode, message: impl Into<String>) -> Self {
        Self {
            word,
            message: message.into(),
            hints: Vec::new(),
            findings: Vec::new(),
            matches: Vec::new(),
            retry_at_ms: None,
            digest: None,
        }
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// A file that could not be read or written.
    pub fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Self {
        Self::new(HubErrorCode::File, format!("cannot {doing} {}: {error}", path.display()))
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.word.kind()
    }
}

impl From<ReferenceError> for HubError {
    fn from(error: ReferenceError) -> Self {
        Self::new(HubErrorCode::BadReference, error.to_string())
            .hint("write slug, @owner/slug, owner/repo, an address, or a path such as ./folder")
    }
}

impl From<TreeError> for HubError {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Io { path, error } => {
                Self::new(HubErrorCode::File, format!("cannot read {path}: {error}"))
            }
            other => Self::new(HubErrorCode::Invalid, format!("the files cannot be used: {other}"))
                .hint("nothing was unpacked; report it to the publisher"),
        }
    }
}

impl From<StagingError> for HubError {
    fn from(error: StagingError) -> Self {
        match error {
            StagingError::Io(error) => {
                Self::new(HubErrorCode::File, format!("the skill cannot be written: {error}"))
            }
            other => Self::new(HubErrorCode::Invalid, other.to_string()),
        }
    }
}
