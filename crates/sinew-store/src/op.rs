//! What a transaction may do, and its limits.
//!
//! Every change goes through here, on both back ends, before a byte is written.

use crate::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, JsonText, NewStreamRecord, RecordSeq,
    SnapshotWrite, StoreError,
};

/// One step of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreOp {
    /// Appends records to a stream.
    Append {
        /// The stream; it is created with its first record.
        stream: String,
        /// The records, in order.
        records: Vec<NewStreamRecord>,
    },
    /// Creates or replaces a document.
    Put {
        /// The collection.
        collection: String,
        /// The document's key.
        key: String,
        /// The expected state.
        expect: ExpectedVersion,
        /// The new content.
        body: JsonText,
    },
    /// Removes a document.
    Delete {
        /// The collection.
        collection: String,
        /// The document's key.
        key: String,
        /// The expected state.
        expect: ExpectedVersion,
    },
    /// Offers a snapshot; it is stored if it is newer, or made by other rules.
    PutSnapshot {
        /// The fold's name.
        name: String,
        /// The state.
        snapshot: FoldSnapshot,
    },
    /// Drops a snapshot.
    DropSnapshot {
        /// The fold's name.
        name: String,
    },
}

impl StoreOp {
    /// An append.
    pub fn append(stream: &str, records: impl Into<Vec<NewStreamRecord>>) -> Self {
        Self::Append { stream: stream.to_owned(), records: records.into() }
    }

    /// Creates or replaces a document.
    pub fn put(collection: &str, key: &str, expect: ExpectedVersion, body: JsonText) -> Self {
        Self::Put { collection: collection.to_owned(), key: key.to_owned(), expect, body }
    }

    /// Removes a document.
    pub fn delete(collection: &str, key: &str, expect: ExpectedVersion) -> Self {
        Self::Delete { collection: collection.to_owned(), key: key.to_owned(), expect }
    }
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreOpResult {
    /// The places of the records, in the given order.
    Appended(Vec<RecordSeq>),
    /// The document's new version.
    Put(DocumentVersion),
    /// The document was removed.
    Deleted,
    /// The result for the snapshot.
    Snapshot(SnapshotWrite),
    /// The snapshot was dropped.
    SnapshotDropped,
}

/// The largest body of a record or document. Records have a few hundred bytes; an imported memory
/// or a proposal with files stays well below.
pub const MAX_BODY: usize = 4 << 20;

/// The largest snapshot: a hundred times a full memory.
pub const MAX_SNAPSHOT: usize = 64 << 20;

/// The maximum size of one transaction: all of it is in memory, and other writers wait while it is
/// written.
pub const MAX_TRANSACTION_BYTES: usize = 128 << 20;

/// The maximum number of steps of one transaction, counting each record.
pub const MAX_STEPS: usize = 100_000;

/// The longest name of a stream, collection, kind, snapshot or tag.
pub const MAX_NAME: usize = 64;

/// The longest id of a record.
pub const MAX_ID: usize = 128;

/// The longest key of a document. With its collection it must fit into a PostgreSQL index.
pub const MAX_KEY: usize = 1024;

/// The maximum number of rows of one page.
pub const MAX_PAGE: usize = 10_000;

/// A page ends after the row that reaches this size, so that memory stays bounded however large the
/// bodies are.
pub const MAX_PAGE_BYTES: usize = 16 << 20;

/// Refuses transactions that no back end may run.
pub(crate) fn check(ops: &[StoreOp]) -> Result<(), StoreError> {
    let mut steps = 0;
    let mut bytes = 0;
    for op in ops {
        steps += 1;
        match op {
            StoreOp::Append { stream, records } => {
                check_text("stream name", stream, MAX_NAME)?;
                steps += records.len();
                for record in records {
                    check_text("record id", &record.id, MAX_ID)?;
                    check_text("record kind", &record.kind, MAX_NAME)?;
                    check_size("record body", record.body.as_str().len(), MAX_BODY)?;
                    bytes += record.body.as_str().len();
                }
            }
            StoreOp::Put { collection, key, body, .. } => {
                check_document(collection, key)?;
                check_size("document body", body.as_str().len(), MAX_BODY)?;
                bytes += body.as_str().len();
            }
            StoreOp::Delete { collection, key, .. } => check_document(collection, key)?,
            StoreOp::PutSnapshot { name, snapshot } => {
                check_text("snapshot name", name, MAX_NAME)?;
                check_text("snapshot tag", &snapshot.tag, MAX_NAME)?;
                check_size("snapshot", snapshot.body.len(), MAX_SNAPSHOT)?;
                bytes += snapshot.body.len();
            }
            StoreOp::DropSnapshot { name } => check_text("snapshot name", name, MAX_NAME)?,
        }
    }
    if steps > MAX_STEPS {
        let (what, unit) = ("transaction", "steps");
        return Err(StoreError::TooLarge { what, found: steps, unit, cap: MAX_STEPS });
    }
    check_size("transaction", bytes, MAX_TRANSACTION_BYTES)
}

fn check_document(collection: &str, key: &str) -> Result<(), StoreError> {
    check_text("collection name", collection, MAX_NAME)?;
    check_text("document key", key, MAX_KEY)
}

fn check_text(what: &'static str, text: &str, cap: usize) -> Result<(), StoreError> {
    check_size(what, text.len(), cap)?;
    if text.is_empty() {
        return Err(StoreError::BadName { what, why: "it is empty" });
    }
    if text.chars().any(char::is_control) {
        return Err(StoreError::BadName { what, why: "it contains a control character" });
    }
    Ok(())
}

fn check_size(what: &'static str, found: usize, cap: usize) -> Result<(), StoreError> {
    if found <= cap {
        return Ok(());
    }
    Err(StoreError::TooLarge { what, found, unit: "bytes", cap })
}

/// The rows of one page, within the limits.
#[derive(Debug)]
pub(crate) struct StorePage<T> {
    rows: Vec<T>,
    bytes: usize,
}

impl<T> StorePage<T> {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), bytes: 0 }
    }

    /// Adds a row, and returns whether the page is full.
    pub(crate) fn push(&mut self, row: T, bytes: usize) -> bool {
        self.rows.push(row);
        self.bytes += bytes;
        self.bytes >= MAX_PAGE_BYTES || self.rows.len() >= MAX_PAGE
    }

    pub(crate) fn into_rows(self) -> Vec<T> {
        self.rows
    }
}
