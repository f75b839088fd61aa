//! Errors inside a call, before the database they belong to is known.

use rusqlite::ErrorCode;

use crate::StoreError;

/// An error of SQLite, or a final error.
#[derive(Debug)]
pub(crate) enum SqliteFault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for SqliteFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SqliteFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl SqliteFault {
    /// Whether another process holds the file right now, so that a retry makes sense.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(
            self.code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::FileLockingProtocolFailed
            )
        )
    }

    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql(error) => error.sqlite_error_code(),
            Self::Store(_) => None,
        }
    }
}
