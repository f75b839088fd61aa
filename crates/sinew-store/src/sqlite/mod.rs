//! SQLite: one file, any number of processes.
//!
//! The file is in WAL mode, so readers never wait. All changes of a store go through one thread
//! ([`writer`]), which commits what is waiting together: a flush to the disk is most of the price of
//! a change, and a group pays it once.

mod apply;
mod aside;
mod connection;
mod fault;
mod query;
mod writer;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::{
    Document, Done, Keys, OnCorrupt, Op, Options, Place, PlaceKind, Record, Seq, Snapshot, Store,
    StoreError, op,
};
use connection::File;
use fault::Fault;
use writer::Writer;

/// Connections that are kept for the next reader. More readers at once open their own.
const IDLE_READERS: usize = 4;

/// A store in a file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    place: Place,
    file: File,
    readers: Mutex<Vec<Connection>>,
    writer: Writer,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Self, StoreError> {
        let set_aside = match &options.on_corrupt {
            OnCorrupt::Refuse => None,
            OnCorrupt::SetAside { stamp } => aside::if_corrupt(path, stamp, options.patience)?,
        };
        let (file, connection) = File::open(path, options.patience)?;
        let place = Place { kind: PlaceKind::Sqlite, shown: path.display().to_string(), set_aside };
        let writer = Writer::start(file.clone(), connection)?;
        Ok(Self { place, file, readers: Mutex::new(Vec::new()), writer })
    }

    /// Runs a query on a connection that only reads.
    fn query<T>(
        &self,
        doing: &'static str,
        query: impl Fn(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.file.check_unmoved()?;
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.file.connect_reader()?,
        };
        let answer = self.file.patiently(|| query(&connection));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        answer.map_err(|fault| self.file.explain(fault, doing))
    }
}

impl Store for Sqlite {
    fn place(&self) -> &Place {
        &self.place
    }

    fn transact(&self, ops: &[Op]) -> Result<Vec<Done>, StoreError> {
        op::check(ops)?;
        self.writer.write(ops.to_vec())
    }

    fn read(&self, stream: &str, after: Seq, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.query("read a stream", |connection| query::read(connection, stream, after, limit))
    }

    fn len(&self, stream: &str) -> Result<u64, StoreError> {
        self.query("measure a stream", |connection| query::len(connection, stream))
    }

    fn get(&self, collection: &str, key: &str) -> Result<Option<Document>, StoreError> {
        self.query("read a document", |connection| query::get(connection, collection, key))
    }

    fn list(
        &self,
        collection: &str,
        keys: Keys<'_>,
        limit: usize,
    ) -> Result<Vec<Document>, StoreError> {
        self.query("list documents", |connection| query::list(connection, collection, keys, limit))
    }

    fn snapshot(&self, name: &str) -> Result<Option<Snapshot>, StoreError> {
        self.query("read a snapshot", |connection| query::snapshot(connection, name))
    }

    fn check(&self) -> Result<(), StoreError> {
        let trouble = self.query("be checked", query::trouble)?;
        match trouble {
            None => Ok(()),
            Some(detail) => Err(StoreError::Corrupt { place: self.place.shown.clone(), detail }),
        }
    }
}
