//! What the locks vouch for: an installed skill is loaded as it was approved, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use sinew_catalog::InstallVoucher;
use sinew_hub::Workdir;
use sinew_hub::hold_reason;
use sinew_hub::lock::{LockEntry, LockFile};
use sinew_settings::{Reason, ReasonCode};

use super::install_consents::InstallConsent;
use crate::Engine;

/// What a lock file looked like: when it changed, and how long it is.
type LockStamp = Option<(SystemTime, u64)>;

/// What the locks of this agent's folders say.
#[derive(Debug)]
pub(crate) struct LockTrust {
    tag: String,
    stamps: Vec<LockStamp>,
    /// Which lock covers a folder, and under which key.
    covered: BTreeMap<PathBuf, (usize, String)>,
    locks: Vec<LockFile>,
    /// Folders of skills that this user agreed to: those of their own lock, and those of a project's
    /// lock that their home knows.
    own: BTreeSet<PathBuf>,
    /// Folders of skills whose lock cannot be read, so that what was approved there is unknown.
    damaged: Vec<PathBuf>,
}

impl Engine {
    /// What the locks say now; read again only where a file changed.
    pub(crate) fn trust(&self) -> Arc<LockTrust> {
        let workdirs = self.hub().workdirs();
        for workdir in &workdirs {
            // A folder that cannot be settled now is held back by its lock until it can.
            if let Err(error) = workdir.recover_if_free(&self.env) {
                tracing::warn!(%error, "an interrupted install could not be settled");
            }
        }
        let files = workdirs.iter().map(Workdir::lock_path).chain([self.install_consents_path()]);
        let stamps: Vec<LockStamp> = files
            .map(|file| {
                let metadata = std::fs::metadata(file).ok()?;
                Some((metadata.modified().ok()?, metadata.len()))
            })
            .collect();
        let mut known = self.trusted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trust) = known.as_ref().filter(|trust| trust.stamps == stamps) {
            return Arc::clone(trust);
        }
        let (agreed, managed) = (self.install_consents(), self.hub().managed_folder());
        let (mut covered, mut own) = (BTreeMap::new(), BTreeSet::new());
        let (mut locks, mut damaged) = (Vec::new(), Vec::new());
        for (at, workdir) in workdirs.iter().enumerate() {
            let lock = LockFile::peek(&workdir.lock_path()).unwrap_or_else(|| {
                damaged.push(workdir.skills.clone());
                LockFile::default()
            });
            for (key, entry) in &lock.skills {
                let is_own = workdir.skills == managed
                    || agreed.contains(&InstallConsent::claimed(key, entry));
                if is_own {
                    own.insert(workdir.target(key));
                }
                covered.insert(workdir.target(key), (at, key.clone()));
            }
            locks.push(lock);
        }
        let tag = format!("{stamps:?}");
        let trust = Arc::new(LockTrust { tag, stamps, covered, locks, own, damaged });
        *known = Some(Arc::clone(&trust));
        trust
    }
}

impl LockTrust {
    /// The lock's key and entry of the skill in a folder.
    pub(crate) fn locked_skill(&self, folder: &Path) -> Option<(&str, &LockEntry)> {
        let (at, key) = self.covered.get(folder)?;
        Some((key, self.locks.get(*at)?.skills.get(key)?))
    }
}

impl InstallVoucher for LockTrust {
    fn load_objection(&self, folder: &Path, scanned: Option<&str>) -> Option<Reason> {
        if self.damaged.iter().any(|skills| folder.starts_with(skills)) {
            let why = "the lock beside it is damaged, so what was approved is unknown";
            return Some(
                Reason::new(ReasonCode::Quarantined, why).remedy("`sinew installed` says more"),
            );
        }
        let (at, key) = self.covered.get(folder)?;
        let why = hold_reason(&self.locks[*at], key, folder, scanned)?;
        Some(
            Reason::new(ReasonCode::Quarantined, why)
                .remedy(format!("`sinew verify {key}` shows what differs")),
        )
    }

    fn is_installed(&self, folder: &Path) -> bool {
        self.own.contains(folder)
    }

    fn installed_slug(&self, folder: &Path) -> Option<&str> {
        self.own.get(folder)?;
        self.locked_skill(folder)?.1.source.slug.as_deref()
    }

    fn tag(&self) -> &str {
        &self.tag
    }
}
