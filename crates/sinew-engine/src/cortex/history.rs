//! The log as people read it: newest first.

use sinew_cortex::record::{Body, Record};
use sinew_store::Seq;

use super::Cortex;
use super::log::STREAM;
use crate::Error;

/// Records looked through for one answer: months of use, read in a few milliseconds.
const LOOKED_AT: u64 = 5_000;

impl Cortex<'_> {
    /// The latest records that `wanted` takes, newest first, at most `limit`.
    pub fn latest(
        &self,
        limit: usize,
        wanted: impl Fn(&Body) -> bool,
    ) -> Result<Vec<Record>, Error> {
        let store = self.store()?;
        let from = Seq(store.len(STREAM)?.saturating_sub(LOOKED_AT));
        let (mut records, _) = self.read_after(&*store, from)?;
        records.retain(|record| wanted(&record.body));
        records.sort_by_key(|record| std::cmp::Reverse(record.key()));
        records.truncate(limit);
        Ok(records)
    }

    /// The latest outcomes, newest first, at most `limit`.
    pub fn outcomes(&self, limit: usize) -> Result<Vec<Record>, Error> {
        self.latest(limit, |body| matches!(body, Body::Outcome(_)))
    }
}
