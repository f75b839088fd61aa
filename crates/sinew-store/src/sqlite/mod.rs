//! SQLite: one file, any number of processes.
//!
//! The file is in WAL mode, so readers never wait. All changes of a store go through one thread
//! ([`writer`]), which commits waiting requests together: a flush to the disk is most of the cost
//! of a change, and a group pays it once.

mod apply;
mod connection;
mod damaged_file;
mod fault;
pub(crate) mod maintenance;
mod query;
mod salvage;
mod writer;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::{
    CorruptionPolicy, FoldSnapshot, KeyRange, RecordSeq, Store, StoreError, StoreKind,
    StoreLocation, StoreOp, StoreOpResult, StoreOptions, StoredDocument, StreamRecord, op,
};
use connection::DatabaseFile;
use fault::SqliteFault;
use writer::WriterHandle;

/// Idle connections kept for readers. More concurrent readers open their own.
const IDLE_READERS: usize = 4;

/// A store in a file.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    place: StoreLocation,
    file: DatabaseFile,
    readers: Mutex<Vec<Connection>>,
    writer: WriterHandle,
}

impl SqliteStore {
    pub(crate) fn open(path: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        let set_aside = match &options.on_corrupt {
            CorruptionPolicy::Refuse => None,
            CorruptionPolicy::SetAside { stamp } => {
                damaged_file::set_aside_if_corrupt(path, stamp, options.patience)?
            }
        };
        let (file, connection) = DatabaseFile::open(path, options.patience)?;
        let place =
            StoreLocation { kind: StoreKind::Sqlite, shown: path.display().to_string(), set_aside };
        let writer = WriterHandle::start(file.clone(), connection)?;
        Ok(Self { place, file, readers: Mutex::new(Vec::new()), writer })
    }

    /// Runs a query on a read-only connection.
    fn query<T>(
        &self,
        doing: &'static str,
        query: impl Fn(&Connection) -> Result<T, SqliteFault>,
    ) -> Result<T, StoreError> {
        self.file.check_unmoved()?;
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.file.connect_reader()?,
        };
        let answer = self.file.retry_while_busy(|| query(&connection));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        answer.map_err(|fault| self.file.explain(fault, doing))
    }
}

impl Store for SqliteStore {
    fn location(&self) -> &StoreLocation {
        &self.place
    }

    fn transact(&self, ops: &[StoreOp]) -> Result<Vec<StoreOpResult>, StoreError> {
        op::check(ops)?;
        self.writer.write(ops.to_vec())
    }

    fn read(
        &self,
        stream: &str,
        after: RecordSeq,
        limit: usize,
    ) -> Result<Vec<StreamRecord>, StoreError> {
        self.query("read a stream", |connection| query::read(connection, stream, after, limit))
    }

    fn len(&self, stream: &str) -> Result<u64, StoreError> {
        self.query("measure a stream", |connection| query::len(connection, stream))
    }

    fn get(&self, collection: &str, key: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.query("read a document", |connection| query::get(connection, collection, key))
    }

    fn list(
        &self,
        collection: &str,
        keys: KeyRange<'_>,
        limit: usize,
    ) -> Result<Vec<StoredDocument>, StoreError> {
        self.query("list documents", |connection| query::list(connection, collection, keys, limit))
    }

    fn snapshot(&self, name: &str) -> Result<Option<FoldSnapshot>, StoreError> {
        self.query("read a snapshot", |connection| query::snapshot(connection, name))
    }

    fn check(&self) -> Result<(), StoreError> {
        let trouble = self.query("be checked", query::first_defect)?;
        match trouble {
            None => Ok(()),
            Some(detail) => Err(StoreError::Corrupt { place: self.place.shown.clone(), detail }),
        }
    }
}
