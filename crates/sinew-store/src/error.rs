//! Errors of the store: what, where, and what to do next.

use std::path::PathBuf;
use std::time::Duration;

use crate::{DocumentVersion, ExpectedVersion};

/// An error of the store. Its text says what and where, [`StoreError::hint`] what to do next.
///
/// None of them contains a password: addresses are shown without it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The address of the store is invalid.
    #[error("`{shown}` is not the address of a store: {why}")]
    BadUrl {
        /// The address, as far as it may be shown.
        shown: String,
        /// What is wrong with it.
        why: String,
    },
    /// The database file is damaged, or not a database.
    #[error("the database {place} is damaged: {detail}")]
    Corrupt {
        /// Which database.
        place: String,
        /// The result of the check.
        detail: String,
    },
    /// A database of another program.
    #[error("{place} is a database of another program")]
    Foreign {
        /// Which database.
        place: String,
    },
    /// The database or its folder cannot be written.
    #[error("the database {place} cannot be written: {detail}")]
    ReadOnly {
        /// Which database.
        place: String,
        /// The system's error.
        detail: String,
    },
    /// The disk is full.
    #[error("the disk is full: no space is left for the database {place}")]
    Full {
        /// Which database.
        place: String,
    },
    /// Other writers were busy for too long.
    #[error("the database {place} was busy with other writers for {waited:?}")]
    Locked {
        /// Which database.
        place: String,
        /// How long this writer waited.
        waited: Duration,
    },
    /// The file was replaced or removed while it was open.
    #[error("the database {place} was moved or replaced while it was in use")]
    Moved {
        /// Which database.
        place: String,
    },
    /// The server does not answer.
    #[error("the database {place} cannot be reached: {detail}")]
    Unreachable {
        /// Which database.
        place: String,
        /// The network's error.
        detail: String,
    },
    /// The server answers, but refuses.
    #[error("the database {place} refused: {detail}")]
    Refused {
        /// Which database.
        place: String,
        /// The server's error.
        detail: String,
    },
    /// The connection broke between a change and its confirmation.
    #[error(
        "the connection to {place} broke while a change was being saved; it may be saved or not"
    )]
    Uncertain {
        /// Which database.
        place: String,
    },
    /// A newer sinew made the database.
    #[error("the database {place} has schema {found}; this sinew knows {known}")]
    Newer {
        /// Which database.
        place: String,
        /// Its schema.
        found: u32,
        /// The newest schema known here.
        known: u32,
    },
    /// The migration of this number that ran here differs from the one known now.
    #[error("schema {version} of the database {place} is not the one that this sinew knows")]
    Altered {
        /// Which database.
        place: String,
        /// The migration.
        version: u32,
    },
    /// Something exceeds its limit.
    #[error("the {what} has {found} {unit}, at most {cap} are allowed")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The unit.
        unit: &'static str,
        /// The limit.
        cap: usize,
    },
    /// A name that cannot be stored.
    #[error("the {what} cannot be stored: {why}")]
    BadName {
        /// What it names.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The document is not in the state that the writer expected. Nothing was changed.
    #[error("the document {collection}/{key} changed meanwhile")]
    Conflict {
        /// The collection.
        collection: String,
        /// The key.
        key: String,
        /// What the writer expected.
        expected: ExpectedVersion,
        /// The actual version.
        found: Option<DocumentVersion>,
    },
    /// Text that is not JSON, or JSON of another shape than expected.
    #[error("a body is not the JSON that was expected: {detail}")]
    NotJson {
        /// The parser's error, with line and column.
        detail: String,
    },
    /// Any other error of the database.
    #[error("the database {place} failed to {doing}: {detail}")]
    Failed {
        /// Which database.
        place: String,
        /// The operation.
        doing: &'static str,
        /// The error.
        detail: String,
    },
}

impl StoreError {
    /// What to do next.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadUrl { .. } => {
                "write `sqlite:<path>`, a plain path, or `postgres://user@host/database`"
            }
            Self::Corrupt { .. } => {
                "nothing was changed; `sinew doctor --repair` keeps what can be read, `sinew backup --restore` brings a copy back, `sinew doctor --fresh` starts an empty one"
            }
            Self::Foreign { .. } => "give sinew its own file",
            Self::ReadOnly { .. } => {
                "make it writable for this user, or choose another place with SINEW_HOME or SINEW_DATABASE_URL"
            }
            Self::Full { .. } => "free some space and try again; nothing that was saved is lost",
            Self::Locked { .. } => {
                "try again; if it persists, look for a sinew process that hangs or was suspended"
            }
            Self::Moved { .. } => "open the store again; nothing was written to the old file",
            Self::Unreachable { .. } => {
                "check that the server runs, and its host, port and sslmode in SINEW_DATABASE_URL"
            }
            Self::Refused { .. } => {
                "check user, password and database in SINEW_DATABASE_URL, and what the user may do there"
            }
            Self::Uncertain { .. } => {
                "append the same records again, which is safe; read a document before changing it again"
            }
            Self::Newer { .. } => "update sinew; an older one must not write here",
            Self::Altered { .. } => "use the sinew that made this database, or a released one",
            Self::Conflict { .. } => "read it again, then decide again",
            Self::TooLarge { .. } => "shorten it, or split it",
            Self::BadName { .. } | Self::NotJson { .. } | Self::Failed { .. } => return None,
        })
    }
}

/// Where a store keeps its data, for messages and reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLocation {
    /// Which kind of database it is.
    pub kind: StoreKind,
    /// Its address, without user and password.
    pub shown: String,
    /// The damaged file that was set aside when this store was opened.
    pub set_aside: Option<PathBuf>,
}

/// Which kind of database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// What came of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairReport {
    /// Where the damaged file is now.
    pub kept_as: PathBuf,
    /// Records that could be read.
    pub records: usize,
    /// Documents that could be read.
    pub documents: usize,
    /// What could not, as far as it is known.
    pub lost: Vec<String>,
}
