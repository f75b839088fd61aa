//! Snapshots: the state of a fold over a stream, so that the next fold need not start at the
//! beginning.

use crate::RecordSeq;

/// The state of a fold, up to a record of its stream.
///
/// It is a cache: if it disagrees with the stream, drop it and fold again.
#[derive(Clone, PartialEq, Eq)]
pub struct FoldSnapshot {
    /// The last record that it includes.
    pub through: RecordSeq,
    /// The rules of the fold. A snapshot made by other rules cannot be used.
    pub tag: String,
    /// The state, in the fold's own form.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for FoldSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({} through {}, {} bytes)", self.tag, self.through.0, self.body.len())
    }
}

/// The result of storing a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotWrite {
    /// It was stored.
    New,
    /// There is already one by the same rules that reaches as far, or further.
    Old,
}
