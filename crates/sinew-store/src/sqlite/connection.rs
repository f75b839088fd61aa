//! The database file and connections to it: created as private, recognised as ours, and checked for
//! having been replaced.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use sinew_guard::private_files;

use super::fault::SqliteFault;
use crate::StoreError;
use crate::migrate::{self, AppliedMigration, SchemaMigration};

/// "sinw": marks a database as sinew's, so that the file of another program is never written to.
pub(super) const APPLICATION_ID: i32 = 0x7369_6e77;

/// The schema, starting with the first version.
const MIGRATIONS: &[SchemaMigration] = &[
    SchemaMigration { version: 1, sql: include_str!("001.sql") },
    SchemaMigration { version: 2, sql: include_str!("002.sql") },
];

/// The number of pages after which the log is moved into the database file. The first connection of
/// a process reads the whole log, so a long one makes every command slow.
const MAX_WAL_PAGES: u32 = 64;

/// Statements that a connection keeps prepared: all there are.
const PREPARED: usize = 32;

/// The page cache of a connection, in KiB: a few pages are read often, the system caches the
/// others, and a server has several connections.
const PAGES_KIB: i64 = 512;

/// A process must not open the file by other means while SQLite has it open: closing any handle
/// drops all locks of the process. So the file is created under this lock, and never opened again.
static CREATION: Mutex<()> = Mutex::new(());

/// A database file.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    identity: FileIdentity,
    patience: Duration,
}

/// The identity of the file, regardless of its name. On Windows an open file cannot be moved.
#[cfg(unix)]
type FileIdentity = (u64, u64);
#[cfg(not(unix))]
type FileIdentity = ();

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    fs::metadata(path).map(drop)
}

impl DatabaseFile {
    /// Opens the file for writing, creates it if there is none, and updates its schema.
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<(Self, Connection), StoreError> {
        make(path)?;
        let identity = identity(path).map_err(|error| refused(path, &error))?;
        let file = Self { path: path.to_owned(), identity, patience };
        let connection = file
            .retry_while_busy(|| {
                let mut connection = file.connect()?;
                file.recognise(&connection)?;
                file.prepare(&connection)?;
                file.migrate(&mut connection, MIGRATIONS)?;
                Ok(connection)
            })
            .map_err(|fault| file.explain(fault, "open"))?;
        file.check_unmoved()?;
        Ok((file, connection))
    }

    /// A connection that cannot change anything.
    pub(crate) fn connect_reader(&self) -> Result<Connection, StoreError> {
        self.retry_while_busy(|| {
            let connection = self.connect()?;
            connection.pragma_update(None, "query_only", true)?;
            Ok(connection)
        })
        .map_err(|fault| self.explain(fault, "open"))
    }

    fn connect(&self) -> Result<Connection, SqliteFault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // SQLite's own waiting backs off to a tenth of a second and is unfair; see
        // [`DatabaseFile::retry_while_busy`].
        connection.busy_timeout(Duration::ZERO)?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cache_size", -PAGES_KIB)?;
        Ok(connection)
    }

    /// Refuses a database of another program.
    fn recognise(&self, connection: &Connection) -> Result<(), SqliteFault> {
        // In one transaction, because another process may be creating the database at this moment.
        let look = connection.unchecked_transaction()?;
        let tables: u32 =
            look.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id: i32 = look.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if id == APPLICATION_ID || (id == 0 && tables == 0) {
            return Ok(());
        }
        Err(StoreError::Foreign { place: self.display_path() }.into())
    }

    /// Settings of a connection that writes.
    fn prepare(&self, connection: &Connection) -> Result<(), SqliteFault> {
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" {
            let mode: String =
                connection
                    .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
            if mode != "wal" {
                let detail = format!("the file system keeps it in {mode} mode, but WAL is needed");
                let place = self.display_path();
                return Err(StoreError::Failed { place, doing: "open", detail }.into());
            }
        }
        // Acknowledged means on disk, so each commit is flushed; on macOS, where a plain flush ends
        // in the drive's own cache, with a full flush.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", MAX_WAL_PAGES)?;
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
        Ok(())
    }

    /// Runs the missing migrations, each in its own transaction.
    fn migrate(
        &self,
        connection: &mut Connection,
        known: &[SchemaMigration],
    ) -> Result<(), SqliteFault> {
        // Usually there is nothing to do, and finding that out should not need a lock.
        while migrate::next(&applied(connection)?, known, &self.display_path())?.is_some() {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            // Another process may have been faster.
            let Some(migration) =
                migrate::next(&applied(&transaction)?, known, &self.display_path())?
            else {
                break;
            };
            transaction.execute_batch(migration.sql)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.execute(
                "INSERT INTO sinew_migrations (version, checksum) VALUES (?1, ?2)",
                (migration.version, migration.checksum()),
            )?;
            transaction.commit()?;
            tracing::info!(version = migration.version, "updated the schema of the database");
        }
        Ok(())
    }

    /// Retries while other processes hold the file, until the patience is used up.
    ///
    /// Pauses are short and random, so that no process waits for long.
    pub(crate) fn retry_while_busy<T>(
        &self,
        mut attempt: impl FnMut() -> Result<T, SqliteFault>,
    ) -> Result<T, SqliteFault> {
        let start = Instant::now();
        loop {
            match attempt() {
                Err(fault) if fault.is_busy() && start.elapsed() < self.patience => {
                    thread::sleep(pause());
                }
                answer => return answer,
            }
        }
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// An error if the name now belongs to another file: what is written to the old one is lost to
    /// all other processes.
    pub(crate) fn check_unmoved(&self) -> Result<(), StoreError> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(StoreError::Moved { place: self.display_path() }),
        }
    }

    /// The error for the caller.
    pub(crate) fn explain(&self, fault: SqliteFault, doing: &'static str) -> StoreError {
        let place = self.display_path();
        if fault.is_busy() {
            return StoreError::Locked { place, waited: self.patience };
        }
        let code = fault.code();
        let detail = match fault {
            SqliteFault::Store(error) => return error,
            SqliteFault::Sql(error) => error.to_string(),
        };
        match code {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { place, detail }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::ReadOnly { place, detail }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { place },
            _ => StoreError::Failed { place, doing, detail },
        }
    }

    pub(crate) fn display_path(&self) -> String {
        self.path.display().to_string()
    }
}

/// One to four milliseconds: about the time another process needs for a commit.
pub(crate) fn pause() -> Duration {
    Duration::from_micros(1_000 + RandomState::new().hash_one(()) % 3_000)
}

/// Creates an empty file that only its owner can read; its `-wal` and `-shm` inherit the mode.
fn make(path: &Path) -> Result<(), StoreError> {
    let _making = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(StoreError::BadUrl {
                shown: path.display().to_string(),
                why: "it is a folder".to_owned(),
            });
        }
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    // `create_new` also creates the folder, and cannot do that for a bare name.
    let rooted = Path::new(".").join(path);
    match private_files::create_new(&rooted, b"") {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    let place = path.display().to_string();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { place },
        _ => StoreError::ReadOnly { place, detail: error.to_string() },
    }
}

/// The migrations that ran, in order; none in a new file.
fn applied(connection: &Connection) -> Result<Vec<AppliedMigration>, SqliteFault> {
    let exists = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE name = 'sinew_migrations'", [], |_| Ok(()))
        .optional()?;
    if exists.is_none() {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare("SELECT version, checksum FROM sinew_migrations ORDER BY version")?;
    let rows = statement.query_map([], |row| {
        Ok(AppliedMigration { version: row.get("version")?, checksum: row.get("checksum")? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THIRD: SchemaMigration =
        SchemaMigration { version: 3, sql: "ALTER TABLE sinew_streams ADD COLUMN note TEXT" };
    const BROKEN: SchemaMigration = SchemaMigration {
        version: 4,
        sql: "CREATE TABLE half (x TEXT); INSERT INTO nowhere VALUES (1)",
    };

    fn has(connection: &Connection, sql: &str) -> bool {
        connection.prepare(sql).is_ok()
    }

    #[test]
    fn a_step_that_fails_leaves_the_step_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let patience = Duration::from_secs(5);
        let (file, mut connection) =
            DatabaseFile::open(&folder.path().join("x.db"), patience).unwrap();
        let error = file
            .migrate(&mut connection, &[MIGRATIONS[0], MIGRATIONS[1], THIRD, BROKEN])
            .unwrap_err();
        assert!(matches!(file.explain(error, "open"), StoreError::Failed { doing: "open", .. }));
        assert!(has(&connection, "SELECT note FROM sinew_streams"));
        assert!(!has(&connection, "SELECT x FROM half"));
        let versions: Vec<u32> =
            applied(&connection).unwrap().iter().map(|step| step.version).collect();
        assert_eq!(versions, [1, 2, 3]);
        file.migrate(&mut connection, &[MIGRATIONS[0], MIGRATIONS[1], THIRD]).unwrap();
        drop(connection);
        let error = DatabaseFile::open(&folder.path().join("x.db"), patience).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 3, known: 2, .. }), "{error}");
    }
}
