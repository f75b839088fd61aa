//! A memory that grows with the log, even if records arrive out of order.
//!
//! Several processes write one log, so a record may arrive a moment after one that sorts behind it.
//! The latest records are therefore stored with the memory from before them, and folded again when
//! a record falls between them. A record older than these needs a fold of the whole log.

use serde::{Deserialize, Serialize};

use crate::fold::{NeedsFold, apply_all, continue_fold, fold_split, in_order};
use crate::memory::{CortexMemory, FORMAT};
use crate::policy::CortexPolicy;
use crate::record::CortexRecord;

/// Records that may still be reordered. Writers are late by the time of one write, so a handful
/// would do; this many cost a fraction of a millisecond to fold.
const RECENT: usize = 96;
/// The base moves this many records at a time, so that it does not move with each one.
const STEP: usize = 64;

/// A memory with its latest records.
#[derive(Debug, Clone)]
pub struct MemoryHistory {
    base: CortexMemory,
    recent: Vec<CortexRecord>,
    head: CortexMemory,
}

/// A history as it is stored: the memory before the latest records, and those records.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HistorySnapshot {
    base: CortexMemory,
    recent: Vec<CortexRecord>,
}

impl MemoryHistory {
    /// The history of a whole log.
    pub fn of(records: &[CortexRecord], policy: &CortexPolicy) -> Self {
        let sorted = in_order(records);
        let at = sorted.len().saturating_sub(RECENT);
        let (base, head) = fold_split(&sorted, at, policy);
        let recent = sorted[at..].iter().map(|record| (*record).clone()).collect();
        Self { base, recent, head }
    }

    /// An empty history.
    pub fn new(policy: &CortexPolicy) -> Self {
        Self::of(&[], policy)
    }

    /// Restores a stored history, if it was made by this version under this policy.
    pub fn resume(snapshot: HistorySnapshot, policy: &CortexPolicy) -> Option<Self> {
        let HistorySnapshot { base, recent } = snapshot;
        if base.format != FORMAT {
            return None;
        }
        let mut head = base.clone();
        apply_all(&mut head, &recent, policy).ok()?;
        Some(Self { base, recent, head })
    }

    /// The form that is stored.
    pub fn snapshot(&self) -> HistorySnapshot {
        HistorySnapshot { base: self.base.clone(), recent: self.recent.clone() }
    }

    /// The memory.
    pub fn memory(&self) -> &CortexMemory {
        &self.head
    }

    /// Adds records that arrived. If they are too old, the history stays unchanged, and the whole
    /// log must be folded.
    pub fn add(
        &mut self,
        mut records: Vec<CortexRecord>,
        policy: &CortexPolicy,
    ) -> Result<(), NeedsFold> {
        records.retain(|record| !self.recent.iter().any(|known| known.key() == record.key()));
        let Some(first) = records.iter().map(CortexRecord::key).min() else { return Ok(()) };
        if Some(first) > self.head.last && apply_all(&mut self.head, &records, policy).is_ok() {
            self.recent.extend(records);
        } else if Some(first) > self.base.last {
            let together: Vec<CortexRecord> = self.recent.iter().cloned().chain(records).collect();
            let mut memory = self.base.clone();
            apply_all(&mut memory, &together, policy)?;
            self.head = memory;
            self.recent = together;
        } else {
            return Err(NeedsFold);
        }
        self.recent.sort_by_key(CortexRecord::key);
        self.advance(policy);
        Ok(())
    }

    /// Moves the base forward once there are many recent records.
    fn advance(&mut self, policy: &CortexPolicy) {
        if self.recent.len() < RECENT + STEP {
            return;
        }
        let at = self.recent.len() - RECENT;
        let mut memory = self.base.clone();
        let sorted: Vec<&CortexRecord> = self.recent.iter().collect();
        if let Ok(Some(base)) = continue_fold(&mut memory, &sorted, at, policy) {
            self.base = base;
            self.recent.drain(..at);
        }
    }
}
