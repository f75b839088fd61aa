//! The trait: what every back end does, and what follows from it.

use std::fmt;

use crate::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, JsonText, KeyRange, NewStreamRecord, RecordSeq,
    SnapshotWrite, StoreError, StoreLocation, StoreOp, StoreOpResult, StoredDocument, StreamRecord,
};

/// A database of streams, documents and snapshots.
///
/// Calls block until they are done, a change until it is safe on disk: asynchronous callers use
/// `spawn_blocking`. One store serves any number of threads, and any number of processes may have
/// the same database open.
pub trait Store: fmt::Debug + Send + Sync {
    /// Where the data is.
    fn location(&self) -> &StoreLocation;

    /// Does all the steps, in order, or none of them.
    ///
    /// A step sees what the steps before it did. The answer has one entry for each step.
    fn transact(&self, ops: &[StoreOp]) -> Result<Vec<StoreOpResult>, StoreError>;

    /// The records of a stream after a place, at most `limit`.
    ///
    /// A page can be shorter than asked for (see [`MAX_PAGE`](crate::MAX_PAGE) and
    /// [`MAX_PAGE_BYTES`](crate::MAX_PAGE_BYTES)); only an empty one is the end.
    /// [`StreamTail`](crate::StreamTail) turns the pages.
    fn read(
        &self,
        stream: &str,
        after: RecordSeq,
        limit: usize,
    ) -> Result<Vec<StreamRecord>, StoreError>;

    /// How many records a stream has, which is also the place of its last one.
    fn len(&self, stream: &str) -> Result<u64, StoreError>;

    /// A document.
    fn get(&self, collection: &str, key: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// Documents of a collection in the order of their keys, at most `limit`.
    ///
    /// A page can be shorter than asked for, as in [`Store::read`]; only an empty one is the end.
    fn list(
        &self,
        collection: &str,
        keys: KeyRange<'_>,
        limit: usize,
    ) -> Result<Vec<StoredDocument>, StoreError>;

    /// The snapshot of a fold.
    fn snapshot(&self, name: &str) -> Result<Option<FoldSnapshot>, StoreError>;

    /// Looks at every page and every stream. Takes as long as reading all of it.
    fn check(&self) -> Result<(), StoreError>;
}

impl dyn Store + '_ {
    /// Adds records to a stream. A record whose id is there already keeps the place it has.
    pub fn append(
        &self,
        stream: &str,
        records: &[NewStreamRecord],
    ) -> Result<Vec<RecordSeq>, StoreError> {
        match one(self.transact(&[StoreOp::append(stream, records)])?) {
            Some(StoreOpResult::Appended(places)) => Ok(places),
            _ => Err(self.broken()),
        }
    }

    /// Makes or replaces a document.
    pub fn put(
        &self,
        collection: &str,
        key: &str,
        expect: ExpectedVersion,
        body: JsonText,
    ) -> Result<DocumentVersion, StoreError> {
        match one(self.transact(&[StoreOp::put(collection, key, expect, body)])?) {
            Some(StoreOpResult::Put(version)) => Ok(version),
            _ => Err(self.broken()),
        }
    }

    /// Removes a document. Where there is none and none was expected, nothing happens.
    pub fn delete(
        &self,
        collection: &str,
        key: &str,
        expect: ExpectedVersion,
    ) -> Result<(), StoreError> {
        self.transact(&[StoreOp::delete(collection, key, expect)]).map(drop)
    }

    /// Keeps a snapshot, unless one by the same rules reaches as far already.
    pub fn put_snapshot(
        &self,
        name: &str,
        snapshot: FoldSnapshot,
    ) -> Result<SnapshotWrite, StoreError> {
        match one(self.transact(&[StoreOp::PutSnapshot { name: name.to_owned(), snapshot }])?) {
            Some(StoreOpResult::Snapshot(kept)) => Ok(kept),
            _ => Err(self.broken()),
        }
    }

    /// Forgets a snapshot that disagrees with its stream.
    pub fn drop_snapshot(&self, name: &str) -> Result<(), StoreError> {
        self.transact(&[StoreOp::DropSnapshot { name: name.to_owned() }]).map(drop)
    }

    /// A back end that answers something else than it was asked: a bug, reported instead of a panic.
    fn broken(&self) -> StoreError {
        StoreError::Failed {
            place: self.location().shown.clone(),
            doing: "answer",
            detail: "the answer does not fit the question".to_owned(),
        }
    }
}

fn one(done: Vec<StoreOpResult>) -> Option<StoreOpResult> {
    done.into_iter().next()
}
