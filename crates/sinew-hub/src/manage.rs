//! Managing installed skills: uninstall, pin, keep for good.

use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::hub::Hub;
use crate::install::journal::{self, InstallJournal};
use crate::install::pinned_error;
use crate::lock::{ClawhubLock, LockEntry, SkillRetention};
use crate::permit::ChangePermit;
use crate::workdir::{Workdir, WorkdirGuard};

/// A skill that was uninstalled.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UninstalledSkill {
    /// Its folder below the skills root.
    pub key: String,
    /// The version that was there.
    pub version: String,
}

impl Hub {
    /// Removes an installed skill and its entries in both locks. Needs no network.
    pub fn uninstall(
        &self,
        permit: ChangePermit,
        workdir: &Workdir,
    ) -> Result<UninstalledSkill, HubError> {
        let ChangePermit { skill: wanted } = permit;
        workdir.recover(&self.env)?;
        // Check first: for a skill that is not installed, no folder of ours is created.
        workdir.lock(&self.env)?.find(&wanted)?;
        let entered = workdir.acquire(&self.env)?;
        let mut lock = workdir.lock(&self.env)?;
        let key = lock.find(&wanted)?.to_owned();
        let Some(entry) = lock.skills.remove(&key) else {
            return Err(HubError::new(ErrorCode::NotFound, format!("`{wanted}` is not installed")));
        };
        if entry.pinned {
            return Err(pinned_error(&key, &entry));
        }
        let (target, trash) = (workdir.target(&key), journal::trash(workdir, &key));
        journal::empty_trash(workdir, &key)?;
        journal::begin(
            &entered,
            &InstallJournal::Uninstall { key: key.clone(), entry: Box::new(entry.clone()) },
        )?;
        let moved = match std::fs::symlink_metadata(&target).is_ok() {
            true => {
                let failed = |error: std::io::Error| HubError::file("remove", &target, error);
                if let Some(folder) = trash.parent() {
                    std::fs::create_dir_all(folder).map_err(failed)?;
                }
                std::fs::rename(&target, &trash).map_err(failed)?;
                true
            }
            false => false,
        };
        if let Err(error) = lock.write(&workdir.lock_path()) {
            if moved {
                std::fs::rename(&trash, &target)
                    .map_err(|error| HubError::file("put back", &target, error))?;
            }
            journal::end(&entered)?;
            return Err(error);
        }
        ClawhubLock::remove(&workdir.root, &*self.env.clock, &key, &entry)?;
        journal::empty_trash(workdir, &key)?;
        if let (true, Some(owner)) = (key.starts_with('@'), target.parent()) {
            remove_empty_owner(owner);
        }
        journal::end(&entered)?;
        tracing::info!(skill = key, version = entry.version, "uninstalled");
        Ok(UninstalledSkill { key, version: entry.version })
    }

    /// Pins a skill so that nothing changes it, or removes the pin.
    pub fn pin(
        &self,
        permit: ChangePermit,
        pin: Option<Option<String>>,
        workdir: &Workdir,
    ) -> Result<(String, LockEntry), HubError> {
        self.change(permit, workdir, |entry| {
            entry.pinned = pin.is_some();
            entry.pin_reason = pin.flatten().filter(|reason| !reason.trim().is_empty());
        })
    }

    /// Keeps a skill that was acquired for one task.
    pub fn retain(
        &self,
        permit: ChangePermit,
        workdir: &Workdir,
    ) -> Result<(String, LockEntry), HubError> {
        self.change(permit, workdir, |entry| {
            entry.retained = SkillRetention::Keep;
            entry.run = None;
        })
    }

    /// Removes a skill that no lock covers, and returns the copy that is kept of it; `None` where
    /// there is none.
    pub fn retire(
        &self,
        permit: ChangePermit,
        workdir: &Workdir,
    ) -> Result<Option<std::path::PathBuf>, HubError> {
        let ChangePermit { skill: key } = permit;
        let entered = workdir.acquire(&self.env)?;
        if workdir.lock(&self.env)?.skills.contains_key(&key) {
            let message = format!("{key} was installed, and is removed by `sinew uninstall`");
            return Err(HubError::new(ErrorCode::Exists, message));
        }
        let target = workdir.target(&key);
        if std::fs::symlink_metadata(&target).is_err() {
            return Ok(None);
        }
        let backup = self.backup(entered.workdir, &key)?;
        let trash = journal::trash(workdir, &key);
        journal::empty_trash(workdir, &key)?;
        let failed = |error: std::io::Error| HubError::file("remove", &target, error);
        if let Some(folder) = trash.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::rename(&target, &trash).map_err(failed)?;
        journal::empty_trash(workdir, &key)?;
        Ok(Some(backup))
    }

    /// Takes a skill out of the lock and leaves its folder: from now on it is the user's own, and
    /// may be edited. Nothing happens where it is not locked.
    pub fn disown(&self, permit: ChangePermit, workdir: &Workdir) -> Result<(), HubError> {
        let ChangePermit { skill: key } = permit;
        if !workdir.lock(&self.env)?.skills.contains_key(&key) {
            return Ok(());
        }
        let _entered = workdir.acquire(&self.env)?;
        let mut lock = workdir.lock(&self.env)?;
        match lock.skills.remove(&key) {
            Some(entry) => {
                ClawhubLock::remove(&workdir.root, &*self.env.clock, &key, &entry)?;
                lock.write(&workdir.lock_path())
            }
            None => Ok(()),
        }
    }

    /// Changes an entry in both locks.
    fn change(
        &self,
        permit: ChangePermit,
        workdir: &Workdir,
        change: impl FnOnce(&mut LockEntry),
    ) -> Result<(String, LockEntry), HubError> {
        let ChangePermit { skill: wanted } = permit;
        workdir.lock(&self.env)?.find(&wanted)?;
        let entered = workdir.acquire(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let key = lock.find(&wanted)?.to_owned();
        let mut entry = lock.skills[&key].clone();
        change(&mut entry);
        journal::record(&entered, &self.env, &key, &entry)?;
        Ok((key, entry))
    }

    /// Records a registry's verdict on a skill.
    pub(crate) fn record_upstream(
        &self,
        entered: &WorkdirGuard<'_>,
        key: &str,
        verdict: &str,
        gone: bool,
    ) -> Result<(), HubError> {
        let lock = entered.workdir.lock(&self.env)?;
        let Some(entry) = lock.skills.get(key) else { return Ok(()) };
        let mut entry = entry.clone();
        entry.upstream = Some(crate::lock::UpstreamRecord {
            verdict: verdict.to_owned(),
            checked_at: crate::lock::timestamp(&*self.env.clock),
            gone,
        });
        journal::record(entered, &self.env, key, &entry)
    }
}

/// Removes an owner's folder if nothing but our own staging folder is left in it.
fn remove_empty_owner(owner: &std::path::Path) {
    let others = std::fs::read_dir(owner).into_iter().flatten().flatten();
    let mut others =
        others.filter(|entry| entry.file_name() != sinew_guard::staging::STAGING_FOLDER);
    if others.next().is_none() {
        // If it cannot be removed, an empty folder stays behind and does no harm.
        let _ = std::fs::remove_dir_all(owner);
    }
}
