//! Streams: named logs to which records are only ever appended.

use std::vec;

use serde::{Deserialize, Serialize};

use crate::{JsonText, Store, StoreError};

/// The place of a record in its stream.
///
/// The first record has 1, and there are no gaps: a stream of `n` records holds `1..=n`. Records
/// become visible in this order, so a reader that has seen `n` never misses a smaller one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RecordSeq(pub u64);

impl RecordSeq {
    /// Before the first record.
    pub const START: Self = Self(0);
}

/// A record to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStreamRecord {
    /// Its id within the stream. Appending it again changes nothing, so a retry is safe.
    pub id: String,
    /// Milliseconds since 1970 in UTC, as the caller gave them. Stored, never compared.
    pub ts: i64,
    /// The kind of the body.
    pub kind: String,
    /// The content.
    pub body: JsonText,
}

/// A record of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamRecord {
    /// Its place in the stream.
    pub seq: RecordSeq,
    /// Its id within the stream.
    pub id: String,
    /// Milliseconds since 1970 in UTC, as the writer gave them.
    pub ts: i64,
    /// The kind of the body.
    pub kind: String,
    /// The content.
    pub body: JsonText,
}

/// All records after a place, read page by page.
///
/// It ends where the stream ended when the last page was read, or after an error.
#[derive(Debug)]
pub struct StreamTail<'s> {
    store: &'s dyn Store,
    stream: &'s str,
    after: RecordSeq,
    page: vec::IntoIter<StreamRecord>,
    over: bool,
}

/// Records per page of a [`StreamTail`]: enough to make a query's fixed cost negligible, few enough
/// for memory.
const TAIL_PAGE: usize = 2_000;

impl<'s> StreamTail<'s> {
    /// The records of `stream` after `after`.
    pub fn new(store: &'s dyn Store, stream: &'s str, after: RecordSeq) -> Self {
        Self { store, stream, after, page: Vec::new().into_iter(), over: false }
    }
}

impl Iterator for StreamTail<'_> {
    type Item = Result<StreamRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.len() == 0 && !self.over {
            match self.store.read(self.stream, self.after, TAIL_PAGE) {
                Ok(page) => {
                    self.over = page.is_empty();
                    self.page = page.into_iter();
                }
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        let record = self.page.next()?;
        self.after = record.seq;
        Some(Ok(record))
    }
}
