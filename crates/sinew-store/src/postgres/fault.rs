//! Errors on the way to the server, on it, and on the way back.

use std::error::Error as _;
use std::time::Duration;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// An error of the server or the network, or a final error.
#[derive(Debug)]
pub(super) enum PostgresFault {
    Sql(tokio_postgres::Error),
    /// All connections were in use for too long.
    Crowded,
    /// The server took too long to answer.
    Overdue,
    /// There is no connection.
    Cut(&'static str),
    Store(StoreError),
}

impl From<tokio_postgres::Error> for PostgresFault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for PostgresFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<PoolError> for PostgresFault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                Self::Sql(error)
            }
            PoolError::Timeout(TimeoutType::Wait) => Self::Crowded,
            PoolError::Timeout(_) => Self::Cut("it does not answer"),
            PoolError::Closed
            | PoolError::NoRuntimeSpecified
            | PoolError::PostCreateHook(HookError::Message(_)) => Self::Cut("the pool is closed"),
        }
    }
}

impl PostgresFault {
    /// Whether the connection is gone, so that another one should be tried.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Sql(error) => match error.code() {
                // The server announces a shutdown before it closes the connection.
                Some(code) => [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(code),
                None => error.is_closed() || is_broken_pipe(error),
            },
            _ => false,
        }
    }

    /// The error for the caller.
    pub(super) fn explain(
        self,
        place: &str,
        doing: &'static str,
        patience: Duration,
    ) -> StoreError {
        let place = place.to_owned();
        let error = match self {
            Self::Store(error) => return error,
            Self::Crowded => return StoreError::Locked { place, waited: patience },
            Self::Overdue => {
                return StoreError::Unreachable { place, detail: "it does not answer".to_owned() };
            }
            Self::Cut(detail) => {
                return StoreError::Unreachable { place, detail: detail.to_owned() };
            }
            Self::Sql(error) => error,
        };
        let detail = chain(&error);
        let Some(code) = error.code() else {
            // The driver itself reports a missing password.
            let text = error.to_string();
            return if text == "authentication error" || text == "invalid configuration" {
                StoreError::Refused { place, detail }
            } else {
                StoreError::Unreachable { place, detail }
            };
        };
        // The first two characters are the class of the error.
        match code.code() {
            "55P03" | "40P01" => StoreError::Locked { place, waited: patience },
            "53100" => StoreError::Full { place },
            "25006" => StoreError::ReadOnly { place, detail },
            "XX001" | "XX002" => StoreError::Corrupt { place, detail },
            "42501" | "3D000" => StoreError::Refused { place, detail },
            code => match &code[..2] {
                "28" => StoreError::Refused { place, detail },
                "08" | "53" | "57" => StoreError::Unreachable { place, detail },
                _ => StoreError::Failed { place, doing, detail },
            },
        }
    }
}

fn is_broken_pipe(error: &tokio_postgres::Error) -> bool {
    error.source().and_then(|source| source.downcast_ref::<std::io::Error>()).is_some()
}

/// An error with its causes, each of which explains a part.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = match error.as_db_error() {
        Some(server) => return server.to_string(),
        None => error.to_string(),
    };
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
