//! When agents last opened the skills of this workspace: a skill that is never opened has not proved
//! itself, and one that is opened every day counts as used even if no outcome was reported.

use sinew_catalog::CatalogEntry;
use sinew_store::{ExpectedVersion, JsonText, StoreOp};
use sinew_workshop::workspace_hash;

use crate::{EngineError, WorkshopHandle, store};

/// The last time each skill was opened, in milliseconds since 1970.
const LOADS: &str = "workshop.loads";

/// One note an hour is enough for a rule that counts days.
const PAUSE_MS: u64 = 60 * 60 * 1000;

impl WorkshopHandle<'_> {
    /// Notes that an agent opened a skill. It never fails the read: no database is created for it, and
    /// an error is only logged.
    pub(crate) fn note_loaded(&self, entry: &CatalogEntry) {
        let is_own = entry.base_dir.starts_with(self.engine.workspace().join("skills"));
        if is_own
            && (self.engine.store.get().is_some() || store::local_exists(&self.engine.env))
            && let Err(error) = self.try_note_loaded(&entry.name)
        {
            tracing::warn!(skill = entry.name, %error, "the use of a skill was not noted");
        }
    }

    fn try_note_loaded(&self, skill: &str) -> Result<(), EngineError> {
        let (now, store) = (self.engine.env.clock.now_ms(), self.engine.store()?);
        if self.last_loaded(skill)?.is_none_or(|last| now.saturating_sub(last) >= PAUSE_MS) {
            let put = StoreOp::put(
                LOADS,
                &self.load_key(skill),
                ExpectedVersion::Any,
                JsonText::of(&now)?,
            );
            store.transact(&[put])?;
        }
        Ok(())
    }

    /// When an agent last opened a skill, to the hour.
    pub(super) fn last_loaded(&self, skill: &str) -> Result<Option<u64>, EngineError> {
        let found = self.engine.store()?.get(LOADS, &self.load_key(skill))?;
        Ok(found.map(|found| found.body.read()).transpose()?)
    }

    fn load_key(&self, skill: &str) -> String {
        format!("{}/{skill}", workspace_hash(self.engine.workspace()))
    }
}
