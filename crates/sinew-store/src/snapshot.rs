//! Snapshots: what a fold over a stream came to, so that the next one need not start at the front.

use crate::RecordSeq;

/// The state of a fold, through a record of its stream.
///
/// It is a cache: whoever finds that it disagrees with the stream drops it and folds again.
#[derive(Clone, PartialEq, Eq)]
pub struct FoldSnapshot {
    /// The last record that is in it.
    pub through: RecordSeq,
    /// By which rules it was folded. A snapshot of other rules says nothing about this one.
    pub tag: String,
    /// The state, in the fold's own form.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for FoldSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({} through {}, {} bytes)", self.tag, self.through.0, self.body.len())
    }
}

/// What became of a snapshot that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotWrite {
    /// It is the snapshot now.
    New,
    /// One by the same rules that reaches as far, or further, is there already.
    Old,
}
