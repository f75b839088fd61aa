//! The log as people read it: newest first.

use sinew_cortex::record::{CortexRecord, RecordBody};
use sinew_store::RecordSeq;

use super::Cortex;
use super::log::STREAM;
use crate::EngineError;

/// Records searched for one answer: months of use, read in a few milliseconds.
const MAX_SEARCHED: u64 = 5_000;

impl Cortex<'_> {
    /// The latest records that `wanted` takes, newest first, at most `limit`.
    pub fn latest_records(
        &self,
        limit: usize,
        wanted: impl Fn(&RecordBody) -> bool,
    ) -> Result<Vec<CortexRecord>, EngineError> {
        let store = self.store()?;
        let from = RecordSeq(store.len(STREAM)?.saturating_sub(MAX_SEARCHED));
        let (mut records, _) = self.read_after(&*store, from)?;
        records.retain(|record| wanted(&record.body));
        records.sort_by_key(|record| std::cmp::Reverse(record.key()));
        records.truncate(limit);
        Ok(records)
    }

    /// The latest outcomes, newest first, at most `limit`.
    pub fn outcomes(&self, limit: usize) -> Result<Vec<CortexRecord>, EngineError> {
        self.latest_records(limit, |body| matches!(body, RecordBody::Outcome(_)))
    }
}
