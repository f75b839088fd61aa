//! A folder that skills are installed into, and the lock for changing it.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use sinew_guard::atomic;
use sinew_settings::{Environment, ErrorCode};

use crate::error::HubError;
use crate::install::journal;
use crate::lock::LockFile;

/// How long to wait while another process holds the workdir.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the file lock is tried.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// A folder that skills are installed into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workdir {
    /// The folder in which other tools look for their records.
    pub root: PathBuf,
    /// The folder of skills.
    pub skills: PathBuf,
    /// The folder of sinew's records.
    pub state: PathBuf,
}

impl Workdir {
    /// A workspace: skills in `skills/`, records in `.sinew/`.
    pub fn workspace(root: &Path) -> Self {
        Self { root: root.to_owned(), skills: root.join("skills"), state: root.join(".sinew") }
    }

    /// The managed tier below sinew's own home.
    pub fn managed(env: &Environment) -> Self {
        let home = env.sinew_home();
        Self { skills: home.join("skills"), state: home.clone(), root: home }
    }

    /// The lock file.
    pub fn lock_path(&self) -> PathBuf {
        self.state.join("lock.json")
    }

    /// The current lock.
    pub fn lock(&self, env: &Environment) -> Result<LockFile, HubError> {
        LockFile::read(&self.lock_path(), &*env.clock)
    }

    /// The folder of a skill.
    pub fn target(&self, key: &str) -> PathBuf {
        self.skills.join(key)
    }

    /// Finishes or undoes an interrupted operation; cheap if there is none.
    pub fn recover(&self, env: &Environment) -> Result<(), HubError> {
        if journal::path(self).exists() {
            drop(self.acquire(env)?);
        }
        Ok(())
    }

    /// The same for readers: if another process is at work, they do not wait for it.
    pub fn recover_if_free(&self, env: &Environment) -> Result<(), HubError> {
        if !journal::path(self).exists() {
            return Ok(());
        }
        let path = self.state.join("hub.lock");
        match atomic::FileLock::try_acquire(&path) {
            Ok(Some(held)) => journal::repair(&WorkdirGuard { workdir: self, _held: held }, env),
            Ok(None) => Ok(()),
            Err(error) => Err(HubError::file("lock", &path, error)),
        }
    }

    /// Locks the workdir for changes. An interrupted operation is finished or undone first.
    pub fn acquire(&self, env: &Environment) -> Result<WorkdirGuard<'_>, HubError> {
        let path = self.state.join("hub.lock");
        let failed = |error: std::io::Error| HubError::file("lock", &path, error);
        let started = Instant::now();
        let pid = self.state.join("hub.pid");
        let held = loop {
            if let Some(held) = atomic::FileLock::try_acquire(&path).map_err(failed)? {
                break held;
            }
            if started.elapsed() > PATIENCE {
                let holder = std::fs::read_to_string(&pid).unwrap_or_default();
                let message = format!(
                    "another sinew (pid {}) is changing {}",
                    holder.trim(),
                    self.skills.display()
                );
                return Err(HubError::new(ErrorCode::Lock, message).hint("wait for it, or stop it"));
            }
            thread::sleep(ASK_AGAIN);
        };
        // The pid is only for the message above; if it cannot be written, the lock still holds.
        let _ = std::fs::write(&pid, std::process::id().to_string());
        let entered = WorkdirGuard { workdir: self, _held: held };
        journal::repair(&entered, env)?;
        Ok(entered)
    }
}

/// Exclusive access to a workdir, until this is dropped.
#[derive(Debug)]
pub struct WorkdirGuard<'a> {
    /// The workdir.
    pub workdir: &'a Workdir,
    _held: atomic::FileLock,
}
