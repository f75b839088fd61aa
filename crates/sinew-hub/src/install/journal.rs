//! The journal: what is being done to a workdir, so that the next process can finish or undo it.
//!
//! The skill's folder itself changes in one step (`sinew_guard::staging`), so it is always the old
//! one or the new one. The journal carries the new lock entry: when the folder is the new one, the
//! entry is written; when it is not, nothing happened.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::staging;
use sinew_settings::Environment;

use crate::digest::tree_sha256;
use crate::error::HubError;
use crate::lock::{ClawhubLock, LockEntry, LockFile, is_key};
use crate::tree::records_of;
use crate::workdir::{Workdir, WorkdirGuard};

/// The operation under way.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum InstallJournal {
    /// A tree is being put in place.
    Install { key: String, entry: Box<LockEntry> },
    /// A tree is being moved to the trash.
    Uninstall { key: String, entry: Box<LockEntry> },
}

/// The journal's file.
pub(crate) fn path(workdir: &Workdir) -> PathBuf {
    workdir.state.join("hub-journal.json")
}

/// Where a removed tree waits for deletion.
pub(crate) fn trash(workdir: &Workdir, key: &str) -> PathBuf {
    workdir.skills.join(".sinew-trash").join(key.replace('/', "--"))
}

pub(crate) fn begin(entered: &WorkdirGuard<'_>, journal: &InstallJournal) -> Result<(), HubError> {
    let path = path(entered.workdir);
    let bytes = serde_json::to_vec(journal).unwrap_or_default();
    atomic::write(&path, &bytes, FileAccess::OwnerOnly)
        .map_err(|error| HubError::file("write", &path, error))
}

pub(crate) fn end(entered: &WorkdirGuard<'_>) -> Result<(), HubError> {
    let path = path(entered.workdir);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(HubError::file("remove", &path, error))
        }
        _ => Ok(()),
    }
}

/// Makes folder and lock agree again after an interrupted operation.
pub(crate) fn repair(entered: &WorkdirGuard<'_>, env: &Environment) -> Result<(), HubError> {
    let workdir = entered.workdir;
    sweep(workdir)?;
    let Ok(bytes) = std::fs::read(path(workdir)) else { return Ok(()) };
    match serde_json::from_slice::<InstallJournal>(&bytes) {
        Ok(InstallJournal::Install { key, entry }) if is_key(&key) => {
            let found = records_of(&workdir.target(&key)).map(|files| tree_sha256(&files));
            if found.is_ok_and(|found| found == entry.tree_sha256) {
                record(entered, env, &key, &entry)?;
            }
        }
        Ok(InstallJournal::Uninstall { key, entry }) if is_key(&key) => {
            let (target, trash) = (workdir.target(&key), trash(workdir, &key));
            if workdir.lock(env)?.skills.contains_key(&key) {
                if !target.exists() && trash.exists() {
                    std::fs::rename(&trash, &target)
                        .map_err(|error| HubError::file("put back", &target, error))?;
                }
            } else {
                ClawhubLock::remove(&workdir.root, &*env.clock, &key, &entry)?;
                empty_trash(workdir, &key)?;
            }
        }
        // The journal is written before anything else, so an unreadable one was never acted upon.
        _ => {}
    }
    end(entered)
}

/// Finishes or discards staged trees that were never put in place.
fn sweep(workdir: &Workdir) -> Result<(), HubError> {
    let owners = std::fs::read_dir(&workdir.skills).into_iter().flatten().flatten();
    let owners = owners.filter(|entry| entry.file_name().to_string_lossy().starts_with('@'));
    let folders: Vec<PathBuf> = owners.map(|entry| entry.path()).collect();
    for folder in folders.iter().chain([&workdir.skills]) {
        staging::recover(folder).map_err(|error| HubError::file("recover", folder, error))?;
    }
    Ok(())
}

/// Writes an entry into both locks.
pub(crate) fn record(
    entered: &WorkdirGuard<'_>,
    env: &Environment,
    key: &str,
    entry: &LockEntry,
) -> Result<(), HubError> {
    let workdir = entered.workdir;
    let mut lock: LockFile = workdir.lock(env)?;
    if lock.skills.get(key) != Some(entry) {
        lock.skills.insert(key.to_owned(), entry.clone());
        lock.unreadable.remove(key);
        lock.write(&workdir.lock_path())?;
    }
    ClawhubLock::set(&workdir.root, &*env.clock, key, entry)
}

pub(crate) fn empty_trash(workdir: &Workdir, key: &str) -> Result<(), HubError> {
    let trash = trash(workdir, key);
    match std::fs::remove_dir_all(&trash) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(HubError::file("remove", &trash, error));
        }
        _ => {}
    }
    // Folders that are empty now are removed too; others stay.
    if let Some(folder) = trash.parent() {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}
