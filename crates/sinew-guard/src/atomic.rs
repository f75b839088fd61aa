//! Atomic writes: a file shared with other programs is the old one or the new one, never half of
//! each.
//!
//! A write goes to a temporary file in the same folder, is flushed to the disk, and renamed over
//! the target; then the folder itself is flushed, so that the rename survives a power cut. Writers
//! that read before they write hold a [`FileLock`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAccess {
    /// Anyone, by the usual mode.
    Shared,
    /// Only the owner: secrets and state.
    OwnerOnly,
    /// Only the owner, who may also run it.
    OwnerRuns,
    /// The same access as the file that is replaced.
    Same,
}

/// Replaces `path` with `bytes`.
pub fn write(path: &Path, bytes: &[u8], access: FileAccess) -> io::Result<()> {
    let folder = parent(path);
    fs::create_dir_all(folder)?;
    let mut temporary =
        tempfile::Builder::new().prefix(".sinew-").suffix(".tmp").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    set_access(temporary.as_file(), access, path)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Copies `path` to a backup beside it and returns the backup's path.
///
/// The first backup is `<file>.bak`; later ones are numbered, so that no backup overwrites another.
pub fn backup(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = |number: u32| match number {
        1 => path.with_file_name(format!("{name}.bak")),
        n => path.with_file_name(format!("{name}.bak{n}")),
    };
    let bytes = fs::read(path)?;
    let permissions = fs::metadata(path)?.permissions();
    for candidate in (1..).map(numbered) {
        match OpenOptions::new().write(true).create_new(true).open(&candidate) {
            Ok(mut file) => {
                // Before the first byte is written: a backup of a secret is a secret.
                file.set_permissions(permissions)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                return Ok(candidate);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there is always a free number")
}

/// An advisory lock, held until it is dropped.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Waits for the lock at `path`, which is created if it does not exist.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let file = Self::open(path)?;
        file.lock()?;
        Ok(Self(file))
    }

    /// The lock at `path`, or `None` if another process holds it.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = Self::open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn open(path: &Path) -> io::Result<File> {
        fs::create_dir_all(parent(path))?;
        OpenOptions::new().create(true).truncate(false).write(true).open(path)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing the file releases it as well, so a failure here can be ignored.
        let _ = self.0.unlock();
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn set_access(file: &File, access: FileAccess, replaced: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match access {
        FileAccess::Shared => 0o644,
        FileAccess::OwnerOnly => 0o600,
        FileAccess::OwnerRuns => 0o700,
        FileAccess::Same => fs::metadata(replaced)?.permissions().mode() & 0o777,
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Windows gives a new file the access rights of its folder, which for a home folder are the
/// owner's.
#[cfg(not(unix))]
fn set_access(_file: &File, _access: FileAccess, _replaced: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A folder cannot be opened as a file on Windows, and its rename is journalled.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_and_leaves_nothing_else() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("deep/state.json");
        write(&path, b"one", FileAccess::OwnerOnly)?;
        write(&path, b"two", FileAccess::OwnerOnly)?;
        assert_eq!(fs::read(&path)?, b"two");
        assert_eq!(fs::read_dir(folder.path().join("deep"))?.count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
        }
        Ok(())
    }

    #[test]
    fn a_lock_that_is_held_is_not_waited_for() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.lock");
        let held = FileLock::acquire(&path)?;
        assert!(FileLock::try_acquire(&path)?.is_none());
        drop(held);
        assert!(FileLock::try_acquire(&path)?.is_some());
        Ok(())
    }

    #[test]
    fn a_backup_never_overwrites_a_backup() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.md");
        fs::write(&path, "first")?;
        let first = backup(&path)?;
        fs::write(&path, "second")?;
        let second = backup(&path)?;
        assert_eq!(fs::read(first)?, b"first");
        assert_eq!(fs::read(second)?, b"second");
        Ok(())
    }
}
