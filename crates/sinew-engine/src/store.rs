//! The database of this machine, or of the team: opened on first use.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use sinew_cortex::{Ulid, UtcInstant};
use sinew_settings::{Environment, ErrorCode};
use sinew_store::{
    CorruptionPolicy, JsonText, NewStreamRecord, Store, StoreError, StoreOp, StoreOptions,
};

use crate::cortex::entropy;
use crate::{Engine, EngineError};

/// The variable that names a team's database.
const DATABASE_URL: &str = "SINEW_DATABASE_URL";

impl Engine {
    /// The database: `SINEW_DATABASE_URL`, else `sinew.db` in sinew's home. A damaged file is an error
    /// until someone decides what becomes of it (see [`Self::database`]).
    pub fn store(&self) -> Result<Arc<dyn Store>, EngineError> {
        if let Some(store) = self.store.get() {
            return Ok(Arc::clone(store));
        }
        let opened = sinew_store::open(&address(&self.env), &StoreOptions::default())
            .map_err(|error| self.database().remember(error))?;
        // Of two threads that open it at once, the first one's is used.
        Ok(Arc::clone(self.store.get_or_init(|| opened)))
    }
}

/// An entry of the audit trail: who did what.
pub(crate) fn audit(
    kind: &str,
    at: UtcInstant,
    body: &impl Serialize,
) -> Result<StoreOp, EngineError> {
    let entry = NewStreamRecord {
        id: Ulid::new(at, entropy()?).to_string(),
        ts: at.ms(),
        kind: kind.to_owned(),
        body: JsonText::of(body)?,
    };
    Ok(StoreOp::append("audit", [entry]))
}

/// Where the database is.
pub(crate) fn address(env: &Environment) -> String {
    match env.var(DATABASE_URL) {
        Some(url) => url.trim().to_owned(),
        None => format!("sqlite:{}", sqlite_path(env).display()),
    }
}

/// Whether there is a database on this machine, without making one.
pub(crate) fn local_exists(env: &Environment) -> bool {
    env.var(DATABASE_URL).is_none() && sqlite_path(env).is_file()
}

fn sqlite_path(env: &Environment) -> PathBuf {
    env.sinew_home().join("sinew.db")
}

/// Opens the database after setting a damaged file aside.
pub(crate) fn open_after_set_aside(env: &Environment) -> Result<Arc<dyn Store>, StoreError> {
    let stamp = UtcInstant::from_clock(env.clock.now_ms()).to_string().replace([':', '.'], "-");
    let options = StoreOptions {
        on_corrupt: CorruptionPolicy::SetAside { stamp },
        ..StoreOptions::default()
    };
    sinew_store::open(&address(env), &options)
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::BadUrl { .. } => ErrorCode::BadDatabaseUrl,
            StoreError::TooLarge { .. } | StoreError::BadName { .. } => ErrorCode::NotStorable,
            StoreError::Corrupt { .. } => ErrorCode::DatabaseDamaged,
            StoreError::Foreign { .. } => ErrorCode::DatabaseForeign,
            StoreError::ReadOnly { .. } => ErrorCode::DatabaseReadOnly,
            StoreError::Full { .. } => ErrorCode::DiskFull,
            StoreError::Locked { .. } => ErrorCode::DatabaseBusy,
            StoreError::Unreachable { .. } => ErrorCode::DatabaseUnreachable,
            StoreError::Conflict { .. } => ErrorCode::ChangedMeanwhile,
            _ => ErrorCode::DatabaseFailed,
        };
        let told = Self::new(code, error.to_string());
        let told = match error.hint() {
            Some(hint) => told.hint(hint),
            None => told,
        };
        told.caused_by(error)
    }
}
