//! Background work: the index follows the changes of other servers, counts are written to the store, and
//! blobs without a reference are removed.

use std::collections::{BTreeSet, HashSet};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sinew_store::{
    ExpectedVersion, JsonText, KeyRange, RecordSeq, StoreError, StoreOp, StoreOpResult,
};

use super::blobs::BlobError;
use super::model::{
    AUDIT, RegistryAuditEntry, SKILLS, STATS, SkillDoc, StatsDoc, TICKETS, TicketDoc, VERSIONS,
    VersionDoc,
};
use super::{TeamRegistry, lookup};

/// How old the index may be when a search is answered: a person does not notice, and a busy server
/// asks the store twice a second instead of two thousand times.
const FRESH: Duration = Duration::from_millis(500);
/// How often what was counted is written.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// How often files without a reference are looked for.
const COLLECT_EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a file may exist without a reference: it may belong to an unfinished publication.
const GRACE_MS: u64 = 24 * 60 * 60 * 1000;
/// Records or documents per request to the store.
const PAGE: usize = 1000;

/// How far the index has come in the trail.
#[derive(Debug, Default)]
pub(super) struct IndexProgress {
    through: RecordSeq,
    /// Later records that are in the index already: this server made those changes itself.
    ahead: BTreeSet<RecordSeq>,
    looked: Option<Instant>,
}

impl IndexProgress {
    /// Notes that the index knows of a record.
    fn note(&mut self, seq: RecordSeq) {
        if seq > self.through {
            self.ahead.insert(seq);
        }
        self.join();
    }

    /// Notes that the index knows of everything up to a record.
    fn reach(&mut self, seq: RecordSeq) {
        self.through = self.through.max(seq);
        self.ahead = self.ahead.split_off(&RecordSeq(self.through.0 + 1));
        self.join();
    }

    fn join(&mut self) {
        while self.ahead.remove(&RecordSeq(self.through.0 + 1)) {
            self.through.0 += 1;
        }
    }
}

impl TeamRegistry {
    /// Reads every skill into the index.
    pub(super) fn load(&self) -> Result<(), StoreError> {
        // The position in the trail first: what changes while skills are read is read again.
        let through = RecordSeq(self.store.len(AUDIT)?);
        let mut stats = std::collections::HashMap::new();
        self.for_each_doc(STATS, |key, stat: StatsDoc| {
            stats.insert(key.to_owned(), stat);
        })?;
        let mut index = self.index_mut();
        self.for_each_doc(SKILLS, |key, skill: SkillDoc| {
            let stat = stats.get(key).copied().unwrap_or_default();
            index.set(skill, stat.downloads, stat.installs);
        })?;
        *self.progress() =
            IndexProgress { through, looked: Some(Instant::now()), ..IndexProgress::default() };
        Ok(())
    }

    /// Applies the steps of a change and updates the index for its skill, so that no search has to catch
    /// up first.
    pub(super) fn transact(&self, ops: &[StoreOp], key: Option<&str>) -> Result<(), StoreError> {
        let done = self.store.transact(ops)?;
        if let Some(key) = key {
            self.refresh(key)?;
        }
        let appended = ops.iter().zip(done).filter_map(|(op, done)| match (op, done) {
            (StoreOp::Append { stream, .. }, StoreOpResult::Appended(places))
                if stream == AUDIT =>
            {
                Some(places)
            }
            _ => None,
        });
        let far = {
            let mut progress = self.progress();
            appended.flatten().for_each(|seq| progress.note(seq));
            progress.ahead.len() >= PAGE
        };
        // Changes of other servers lie in between, and enough after them that a search would be slow.
        if far { self.catch_up() } else { Ok(()) }
    }

    /// Whether the index may be behind.
    pub(super) fn is_behind(&self) -> bool {
        self.progress().looked.is_none_or(|looked| looked.elapsed() > FRESH)
    }

    /// Reads the changes of other servers, where the last check is too long ago.
    pub(super) fn catch_up(&self) -> Result<(), StoreError> {
        // One thread reads; the others wait for it.
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_behind() {
            return Ok(());
        }
        loop {
            let through = self.progress().through;
            let page = self.store.read(AUDIT, through, PAGE)?;
            let Some(last) = page.last().map(|record| record.seq) else { break };
            let mut changed = BTreeSet::new();
            for record in &page {
                if !self.progress().ahead.contains(&record.seq) {
                    changed.extend(record.body.read::<RegistryAuditEntry>()?.skill);
                }
            }
            for key in changed {
                self.refresh(&key)?;
            }
            // Only now, so that what could not be read is read the next time.
            self.progress().reach(last);
        }
        self.progress().looked = Some(Instant::now());
        Ok(())
    }

    /// Counts a fetch or an install; the count is written to the store later.
    pub(super) fn count(&self, key: &str, more: StatsDoc) {
        self.index_mut().count(key, more);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = counts.entry(key.to_owned()).or_default();
        sum.downloads += more.downloads;
        sum.installs += more.installs;
    }

    /// Writes the counts to the store. Those that cannot be written are kept for the next time.
    pub(super) fn write_counts(&self) {
        let waiting = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *counts)
        };
        for (key, more) in waiting {
            if self.add_stats(&key, more).is_err() {
                let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
                let sum = counts.entry(key).or_default();
                sum.downloads += more.downloads;
                sum.installs += more.installs;
            }
        }
    }

    fn add_stats(&self, key: &str, more: StatsDoc) -> Result<(), StoreError> {
        let found =
            self.store.get(STATS, key)?.as_ref().map(lookup::read::<StatsDoc>).transpose()?;
        let (old, expect) = match found {
            Some(found) => (found.value, ExpectedVersion::Version(found.version)),
            None => (StatsDoc::default(), ExpectedVersion::Absent),
        };
        let sum = StatsDoc {
            downloads: old.downloads + more.downloads,
            installs: old.installs + more.installs,
        };
        self.store.put(STATS, key, expect, JsonText::of(&sum)?).map(drop)
    }

    /// Removes files that have had no reference for a day, and tickets and logins that expired; returns
    /// the number of files.
    pub fn collect_garbage(&self) -> Result<usize, super::RegistryError> {
        let now = self.now();
        // Listed before the references are read: files that are added meanwhile are not in the list.
        let listed = self.blobs.list()?;
        let mut kept: HashSet<String> = HashSet::new();
        let mut ended = Vec::new();
        self.for_each_doc(TICKETS, |key, ticket: TicketDoc| {
            if ticket.expires_at < now {
                ended.push(key.to_owned());
            } else {
                kept.insert(ticket.sha256);
            }
        })?;
        for key in ended {
            self.store.delete(TICKETS, &key, ExpectedVersion::Any)?;
        }
        self.tokens.count_waiting_logins(now)?;
        self.for_each_doc(VERSIONS, |_, version: VersionDoc| {
            kept.extend(version.files.into_iter().map(|file| file.sha256));
            kept.insert(version.archive.sha256);
        })?;
        self.for_each_doc(SKILLS, |_, skill: SkillDoc| {
            kept.extend(skill.versions.into_iter().map(|line| line.plain.sha256));
        })?;
        let mut removed = 0;
        for blob in listed {
            let old = now.saturating_sub(blob.modified_ms) > GRACE_MS;
            if old && !kept.contains(&blob.sha256) {
                match self.blobs.remove(&blob.sha256) {
                    Ok(()) => removed += 1,
                    // Another server removed it first.
                    Err(BlobError::Missing(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(removed)
    }

    /// Keeps the registry up to date in the background, until the returned handle is dropped.
    pub fn start_upkeep(self: &Arc<Self>) -> std::io::Result<RegistryUpkeep> {
        let registry = Arc::clone(self);
        let (stop, stopped) = mpsc::channel::<()>();
        let work = move || {
            let mut collected: Option<Instant> = None;
            loop {
                let over = stopped.recv_timeout(WRITE_EVERY) != Err(RecvTimeoutError::Timeout);
                registry.write_counts();
                if over {
                    return;
                }
                // Requests fail on a store that does not answer as well, and report it.
                if let Err(error) = registry.catch_up() {
                    tracing::warn!(?error, "the registry's index is behind its store");
                }
                registry.recheck_due_skills();
                if collected.is_none_or(|at| at.elapsed() > COLLECT_EVERY) {
                    if let Err(error) = registry.collect_garbage() {
                        tracing::warn!(?error, "unused files of the registry were not removed");
                    }
                    collected = Some(Instant::now());
                }
            }
        };
        let thread = thread::Builder::new().name("sinew-registry".to_owned()).spawn(work)?;
        Ok(RegistryUpkeep { stop: Some(stop), thread: Some(thread) })
    }

    /// Calls `with` for every document of a collection.
    pub(super) fn for_each_doc<T: serde::de::DeserializeOwned>(
        &self,
        collection: &str,
        mut with: impl FnMut(&str, T),
    ) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let page = self.store.list(collection, KeyRange::ALL.after(&after), PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(&last.key);
            for document in &page {
                with(&document.key, document.body.read()?);
            }
        }
    }
}

/// The background work; when this is dropped, it ends and writes the remaining counts.
#[derive(Debug)]
pub struct RegistryUpkeep {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for RegistryUpkeep {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_changes_count_in_any_order_and_others_are_waited_for() {
        let mut progress = IndexProgress::default();
        let mut after = |step: &mut dyn FnMut(&mut IndexProgress)| {
            step(&mut progress);
            (progress.through.0, progress.ahead.len())
        };
        assert_eq!(
            after(&mut |p| p.note(RecordSeq(2))),
            (0, 1),
            "1 is another server's, or not told yet"
        );
        assert_eq!(after(&mut |p| p.note(RecordSeq(1))), (2, 0));
        assert_eq!(after(&mut |p| p.note(RecordSeq(1))), (2, 0), "told again");
        assert_eq!(after(&mut |p| p.note(RecordSeq(5))), (2, 1));
        assert_eq!(after(&mut |p| p.note(RecordSeq(6))), (2, 2));
        assert_eq!(after(&mut |p| p.reach(RecordSeq(4))), (6, 0), "read up to our own");
        assert_eq!(after(&mut |p| p.reach(RecordSeq(3))), (6, 0), "never back");
    }
}
