//! The trait that every back end implements, and methods built on it.

use std::fmt;

use crate::{
    DocumentVersion, ExpectedVersion, FoldSnapshot, JsonText, KeyRange, NewStreamRecord, RecordSeq,
    SnapshotWrite, StoreError, StoreLocation, StoreOp, StoreOpResult, StoredDocument, StreamRecord,
};

/// A database of streams, documents and snapshots.
///
/// Calls block until they are done, a change until it is on disk: asynchronous callers use
/// `spawn_blocking`. One store serves any number of threads, and any number of processes may have
/// the same database open.
pub trait Store: fmt::Debug + Send + Sync {
    /// Where the data is.
    fn location(&self) -> &StoreLocation;

    /// Applies all steps in order, or none of them.
    ///
    /// A step sees the effects of the steps before it. The answer has one entry for each step.
    fn transact(&self, ops: &[StoreOp]) -> Result<Vec<StoreOpResult>, StoreError>;

    /// The records of a stream after a place, at most `limit`.
    ///
    /// A page can be shorter than requested (see [`MAX_PAGE`](crate::MAX_PAGE) and
    /// [`MAX_PAGE_BYTES`](crate::MAX_PAGE_BYTES)); only an empty one is the end.
    /// [`StreamTail`](crate::StreamTail) reads all pages.
    fn read(
        &self,
        stream: &str,
        after: RecordSeq,
        limit: usize,
    ) -> Result<Vec<StreamRecord>, StoreError>;

    /// The number of records in a stream, which is also the place of its last one.
    fn len(&self, stream: &str) -> Result<u64, StoreError>;

    /// A document.
    fn get(&self, collection: &str, key: &str) -> Result<Option<StoredDocument>, StoreError>;

    /// Documents of a collection in the order of their keys, at most `limit`.
    ///
    /// A page can be shorter than requested, as in [`Store::read`]; only an empty one is the end.
    fn list(
        &self,
        collection: &str,
        keys: KeyRange<'_>,
        limit: usize,
    ) -> Result<Vec<StoredDocument>, StoreError>;

    /// The snapshot of a fold.
    fn snapshot(&self, name: &str) -> Result<Option<FoldSnapshot>, StoreError>;

    /// Checks every page and every stream. Takes as long as reading all of it.
    fn check(&self) -> Result<(), StoreError>;
}

impl dyn Store + '_ {
    /// Appends records to a stream. A record whose id already exists keeps its place.
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

    /// Creates or replaces a document.
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

    /// Removes a document. If there is none and none was expected, nothing happens.
    pub fn delete(
        &self,
        collection: &str,
        key: &str,
        expect: ExpectedVersion,
    ) -> Result<(), StoreError> {
        self.transact(&[StoreOp::delete(collection, key, expect)]).map(drop)
    }

    /// Stores a snapshot, unless there is one by the same rules that reaches as far.
    pub fn put_snapshot(
        &self,
        name: &str,
        snapshot: FoldSnapshot,
    ) -> Result<SnapshotWrite, StoreError> {
        match one(self.transact(&[StoreOp::PutSnapshot { name: name.to_owned(), snapshot }])?) {
            Some(StoreOpResult::Snapshot(result)) => Ok(result),
            _ => Err(self.broken()),
        }
    }

    /// Drops a snapshot that disagrees with its stream.
    pub fn drop_snapshot(&self, name: &str) -> Result<(), StoreError> {
        self.transact(&[StoreOp::DropSnapshot { name: name.to_owned() }]).map(drop)
    }

    /// A back end whose answer does not match the request: a bug, reported instead of a panic.
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
