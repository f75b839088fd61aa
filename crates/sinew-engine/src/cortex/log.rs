//! The log in the database, and the fold that follows it.

use std::sync::{Arc, MutexGuard};

use sinew_cortex::record::{CortexRecord, RecordBody};
use sinew_cortex::stored_body::{StoredBody, from_stored};
use sinew_cortex::{CortexMemory, MemoryHistory, Ulid, UtcInstant};
use sinew_settings::ErrorCode;
use sinew_store::{
    FoldSnapshot, JsonText, NewStreamRecord, RecordSeq, Store, StoreError, StreamTail,
};

use super::Cortex;
use crate::EngineError;

/// The stream that everything is folded from.
pub(super) const STREAM: &str = "outcomes";
/// The snapshot of the fold.
const SNAPSHOT: &str = "cortex";
/// Records between two snapshots. Every command that learns folds so many at most, which is not
/// noticeable; writing a full memory, a quarter of a megabyte, each time would be.
const SNAPSHOT_EVERY: u64 = 32;

/// How far this process has followed the log.
#[derive(Debug, Default)]
pub(super) struct FoldState {
    /// The fold, once the log was looked at.
    history: Option<MemoryHistory>,
    /// The last record that is in it.
    through: RecordSeq,
    /// The last record that the stored snapshot holds, as far as this process knows.
    stored: RecordSeq,
}

impl Cortex<'_> {
    /// The database.
    pub(super) fn store(&self) -> Result<Arc<dyn Store>, EngineError> {
        self.state.store.read().map(|store| Arc::clone(&store)).map_err(|_| poisoned())
    }

    fn followed(&self) -> Result<MutexGuard<'_, FoldState>, EngineError> {
        self.state.followed.lock().map_err(|_| poisoned())
    }

    /// Calls `look` with what is remembered now.
    pub(crate) fn with_memory<T>(
        &self,
        look: impl Fn(&CortexMemory) -> T,
    ) -> Result<T, EngineError> {
        self.guarded(|| {
            let mut followed = self.followed()?;
            let memory = self.follow(&mut followed)?;
            Ok(look(memory))
        })
    }

    /// Appends records of one moment, in order, and gives the id of the first.
    pub(super) fn append(
        &self,
        at: UtcInstant,
        bodies: Vec<RecordBody>,
    ) -> Result<Ulid, EngineError> {
        let first = self.new_id(at)?;
        self.append_from(first, at, bodies)?;
        Ok(first)
    }

    /// An id that sorts after those that this process made for the same millisecond.
    fn new_id(&self, at: UtcInstant) -> Result<Ulid, EngineError> {
        let mut last = self.state.last_id.lock().map_err(|_| poisoned())?;
        let id = match *last {
            Some(id) if id.time() == at && id.nth_after(1).time() == at => id.nth_after(1),
            _ => Ulid::new(at, entropy()?),
        };
        *last = Some(id);
        Ok(id)
    }

    /// Appends records of one moment, in order, under ids that begin with this one.
    pub(super) fn append_from(
        &self,
        first: Ulid,
        at: UtcInstant,
        bodies: Vec<RecordBody>,
    ) -> Result<(), EngineError> {
        let mut id = first;
        let mut records = Vec::new();
        for body in bodies {
            records.push(CortexRecord { id, ts: at, body });
            id = id.next();
        }
        self.append_records(&records)
    }

    /// Appends records that have their ids. One that is there already stays as it is.
    fn append_records(&self, records: &[CortexRecord]) -> Result<(), EngineError> {
        let rows = records.iter().map(log_row).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Ok(());
        }
        self.guarded(|| {
            let store = self.store()?;
            match store.append(STREAM, &rows) {
                // The same ids again: whatever was saved is not saved twice.
                Err(StoreError::Uncertain { .. }) => store.append(STREAM, &rows)?,
                appended => appended?,
            };
            Ok(())
        })
    }

    /// Does something with the database, and remembers damage that is found on the way.
    fn guarded<T>(&self, act: impl Fn() -> Result<T, CortexLogError>) -> Result<T, EngineError> {
        act().map_err(|error| match error {
            CortexLogError::Store(error) => self.engine.database().remember(error),
            other => other.into(),
        })
    }

    /// Brings the fold up to date with the log.
    fn follow<'a>(&self, followed: &'a mut FoldState) -> Result<&'a CortexMemory, CortexLogError> {
        let store = self.store()?;
        if followed.history.is_none() {
            self.load_snapshot(&*store, followed)?;
        }
        let (fresh, through) = self.read_after(&*store, followed.through)?;
        let mut replayed = false;
        let history = followed.history.get_or_insert_with(|| MemoryHistory::new(self.policy()));
        if history.add(fresh, self.policy()).is_err() {
            let (all, end) = self.read_after(&*store, RecordSeq::START)?;
            *history = MemoryHistory::of(&all, self.policy());
            followed.through = end;
            replayed = true;
        } else {
            followed.through = through.max(followed.through);
        }
        if replayed
            || followed.through.0 - followed.stored.0.min(followed.through.0) >= SNAPSHOT_EVERY
        {
            self.store_snapshot(&*store, history, followed.through);
            followed.stored = followed.through;
        }
        Ok(history.memory())
    }

    fn load_snapshot(&self, store: &dyn Store, followed: &mut FoldState) -> Result<(), StoreError> {
        let found = store.snapshot(SNAPSHOT)?.filter(|snapshot| snapshot.tag == self.tag());
        let Some(found) = found else { return Ok(()) };
        // A snapshot that reaches further than the log belongs to another log.
        if found.through.0 > store.len(STREAM)? {
            return store.drop_snapshot(SNAPSHOT);
        }
        let resumed = serde_json::from_slice(&found.body)
            .ok()
            .and_then(|snapshot| MemoryHistory::resume(snapshot, self.policy()));
        if let Some(history) = resumed {
            *followed =
                FoldState { history: Some(history), through: found.through, stored: found.through };
        }
        Ok(())
    }

    /// A snapshot that cannot be stored only costs time at the next start.
    fn store_snapshot(&self, store: &dyn Store, history: &MemoryHistory, through: RecordSeq) {
        if let Ok(body) = serde_json::to_vec(&history.snapshot()) {
            let snapshot = FoldSnapshot { through, tag: self.tag(), body };
            if let Err(error) = store.put_snapshot(SNAPSHOT, snapshot) {
                tracing::warn!(%error, "the snapshot of what was learned was not stored");
            }
        }
    }

    /// The rules a snapshot was folded by.
    fn tag(&self) -> String {
        let key = self.policy().fold_key();
        format!("{}/{}/{:?}", sinew_cortex::memory::FORMAT, key.window_hours, key.shield)
    }

    /// Folds the whole log anew, and gives the memory with whether the old one agreed.
    pub(super) fn refold(&self) -> Result<(CortexMemory, bool), EngineError> {
        let before = self.memory()?;
        self.guarded(|| {
            let store = self.store()?;
            let mut followed = self.followed()?;
            store.drop_snapshot(SNAPSHOT)?;
            let (all, through) = self.read_after(&*store, RecordSeq::START)?;
            let history = MemoryHistory::of(&all, self.policy());
            self.store_snapshot(&*store, &history, through);
            let memory = history.memory().clone();
            let agreed = memory == before;
            *followed = FoldState { history: Some(history), through, stored: through };
            Ok((memory, agreed))
        })
    }

    /// The records after a position, and the position of the last one. One that cannot be read is
    /// skipped with a notice.
    pub(super) fn read_after(
        &self,
        store: &dyn Store,
        after: RecordSeq,
    ) -> Result<(Vec<CortexRecord>, RecordSeq), StoreError> {
        let mut records = Vec::new();
        let mut through = after;
        for row in StreamTail::new(store, STREAM, after) {
            let row = row?;
            through = row.seq;
            match (row.id.parse(), from_stored(&row.kind, row.body.as_str())) {
                (Ok(id), Ok(body)) => {
                    records.push(CortexRecord { id, ts: UtcInstant::from_ms(row.ts), body });
                }
                _ => self.notice(format!("record {} of the log cannot be read; skipped", row.id)),
            }
        }
        Ok((records, through))
    }
}

/// An error of the database, or of the engine.
pub(super) enum CortexLogError {
    Store(StoreError),
    Engine(EngineError),
}

impl From<StoreError> for CortexLogError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<EngineError> for CortexLogError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<CortexLogError> for EngineError {
    fn from(trouble: CortexLogError) -> Self {
        match trouble {
            CortexLogError::Store(error) => error.into(),
            CortexLogError::Engine(error) => error,
        }
    }
}

/// A record as the database keeps it: id, time and kind have columns of their own.
pub(super) fn log_row(record: &CortexRecord) -> Result<NewStreamRecord, EngineError> {
    Ok(NewStreamRecord {
        id: record.id.to_string(),
        ts: record.ts.ms(),
        kind: record.body.name().to_owned(),
        body: JsonText::of(&StoredBody(&record.body))?,
    })
}

/// Random bits for the ids of records.
pub(crate) fn entropy() -> Result<u128, EngineError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        EngineError::new(ErrorCode::NoEntropy, format!("no random numbers: {error}"))
    })?;
    Ok(u128::from_le_bytes(bytes))
}

fn poisoned() -> EngineError {
    EngineError::new(ErrorCode::CortexFailed, "another thread failed while it used the memory")
        .hint("try again; the log itself is in the database")
}
