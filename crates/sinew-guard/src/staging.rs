//! Staging: a tree is prepared beside its target and put in place in one step.
//!
//! While a tree is staged, its parent folder is locked. The new tree is written through directory
//! handles that follow no link, flushed, and exchanged with the old one; if the system cannot
//! exchange folders, a journal lets the next start finish or undo the step.
//!
//! **Must never happen here:** a mix of two trees under the target's name, or leftovers that
//! survive the next start.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};

use crate::archive::{
    self, ArchiveError, ArchiveFormat, ArchiveLimits, EntryNameError, UnpackSummary, components,
};
use crate::atomic::{self, FileAccess, FileLock};

/// The folder beside the targets that holds staged trees.
pub const STAGING_FOLDER: &str = ".sinew-staging";
const LOCK: &str = "lock";
const JOURNAL: &str = "journal.json";
const NEW: &str = "new";
const OLD: &str = "old";

/// Why staging stopped.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// A file's name is not allowed.
    #[error("{path:?}: {error}")]
    Name {
        /// The name.
        path: String,
        /// What is wrong with it.
        error: EntryNameError,
    },
    /// The archive is invalid.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether a file is executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagedFileMode {
    /// 0644.
    Plain,
    /// 0755, for scripts of an approved skill.
    Script,
}

/// What was cleaned up at a start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StagingRecovery {
    /// A target whose exchange was interrupted and has been finished or undone.
    pub target: Option<String>,
    /// Leftover trees that were removed.
    pub removed: usize,
}

#[derive(Serialize, Deserialize)]
struct ExchangeJournal {
    target: String,
}

/// A tree being staged. If it is dropped without [`StagedTree::commit`], it is removed.
#[derive(Debug)]
pub struct StagedTree {
    parent: PathBuf,
    work: PathBuf,
    dir: Dir,
    _lock: FileLock,
}

impl StagedTree {
    /// Locks `parent`, cleans up after an interrupted process, and starts an empty tree.
    pub fn begin(parent: &Path) -> io::Result<Self> {
        let lock = lock(parent)?;
        recover_locked(parent)?;
        let work = parent.join(STAGING_FOLDER);
        let tree = work.join(NEW);
        crate::private_files::create_folder(&tree)?;
        let dir = Dir::open_ambient_dir(&tree, cap_std::ambient_authority())?;
        Ok(Self { parent: parent.to_owned(), work, dir, _lock: lock })
    }

    /// The tree, for scanning and hashing before it is committed.
    pub fn path(&self) -> PathBuf {
        self.work.join(NEW)
    }

    /// Adds a file.
    pub fn write(
        &self,
        path: &str,
        bytes: &[u8],
        mode: StagedFileMode,
    ) -> Result<(), StagingError> {
        self.write_from(path, &mut &*bytes, mode)
    }

    /// Adds a file as it is read. The name is checked again here, even if the caller has checked
    /// it.
    pub fn write_from(
        &self,
        path: &str,
        content: &mut dyn Read,
        mode: StagedFileMode,
    ) -> Result<(), StagingError> {
        let parts = components(path)
            .map_err(|error| StagingError::Name { path: path.to_owned(), error })?;
        let (name, folders) = parts.split_last().ok_or_else(|| StagingError::Name {
            path: path.to_owned(),
            error: EntryNameError::Empty,
        })?;
        let mut dir = self.dir.try_clone()?;
        for folder in folders {
            match dir.create_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
            dir = cap_fs_ext::DirExt::open_dir_nofollow(&dir, folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        let mut file = dir.open_with(name, &options)?.into_std();
        io::copy(content, &mut file)?;
        set_mode(&file, mode)?;
        file.sync_all()?;
        Ok(())
    }

    /// Unpacks a skill's archive into the tree. After an error the stage must be dropped.
    pub fn unpack(
        &self,
        bytes: &[u8],
        limits: &ArchiveLimits,
        scripts: StagedFileMode,
    ) -> Result<(), StagingError> {
        let format = archive::format_of(bytes).ok_or(ArchiveError::UnknownFormat)?;
        let mode = |_: &str, executable| if executable { scripts } else { StagedFileMode::Plain };
        self.unpack_from(bytes, bytes.len() as u64, format, limits, &mode)?;
        Ok(())
    }

    /// Unpacks an archive of `length` bytes into the tree; `mode` decides whether a file is
    /// executable, by its path and by what the archive says. After an error the stage must be
    /// dropped.
    pub fn unpack_from(
        &self,
        reader: impl Read,
        length: u64,
        format: ArchiveFormat,
        limits: &ArchiveLimits,
        mode: &dyn Fn(&str, bool) -> StagedFileMode,
    ) -> Result<UnpackSummary, StagingError> {
        let mut failed = None;
        let result = archive::stream_files(reader, length, format, limits, &mut |file| {
            let mode = mode(file.path, file.executable);
            match self.write_from(file.path, file.content, mode) {
                Ok(()) => Ok(()),
                Err(StagingError::Io(error)) => Err(error),
                Err(other) => {
                    failed = Some(other);
                    Err(io::Error::other("refused"))
                }
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(result?),
        }
    }

    /// Adds every file of `folder` that the tree does not have yet, so that the commit replaces
    /// files and loses none. The files are hard-linked, not copied.
    pub fn carry_over_from(&self, folder: &Path) -> Result<(), StagingError> {
        match Dir::open_ambient_dir(folder, cap_std::ambient_authority()) {
            Ok(from) => Ok(keep(&from, &self.dir)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts the tree in place of `parent/name`: afterwards the new tree is there, or, after an
    /// error, still the old one.
    pub fn commit(self, name: &str) -> Result<(), StagingError> {
        let single = components(name)
            .map_err(|error| StagingError::Name { path: name.to_owned(), error })?;
        if single.len() != 1 || name == STAGING_FOLDER {
            return Err(StagingError::Name { path: name.to_owned(), error: EntryNameError::Dots });
        }
        let (new, target) = (self.work.join(NEW), self.parent.join(name));
        set_folder_mode(&new)?;
        sync_tree(&new)?;
        if fs::symlink_metadata(&target).is_err() {
            fs::rename(&new, &target)?;
        } else if !exchange(&new, &target)? {
            self.swap_with_journal(name, &new, &target)?;
        }
        sync_folder(&self.parent)?;
        // Dropping removes what is left: after an exchange, the old tree.
        Ok(())
    }

    fn swap_with_journal(&self, name: &str, new: &Path, target: &Path) -> io::Result<()> {
        let journal = self.work.join(JOURNAL);
        let record = serde_json::to_vec(&ExchangeJournal { target: name.to_owned() })
            .map_err(io::Error::other)?;
        atomic::write(&journal, &record, FileAccess::OwnerOnly)?;
        fs::rename(target, self.work.join(OLD))?;
        fs::rename(new, target)?;
        sync_folder(&self.parent)?;
        fs::remove_file(&journal)
    }
}

impl Drop for StagedTree {
    fn drop(&mut self) {
        // What cannot be removed now is removed at the next start.
        let _ = recover_locked(&self.parent);
    }
}

/// Cleans up below `parent` after an interrupted process; call it at every start.
pub fn recover(parent: &Path) -> io::Result<StagingRecovery> {
    if fs::symlink_metadata(parent.join(STAGING_FOLDER)).is_err() {
        return Ok(StagingRecovery::default());
    }
    let _lock = lock(parent)?;
    recover_locked(parent)
}

fn lock(parent: &Path) -> io::Result<FileLock> {
    let work = parent.join(STAGING_FOLDER);
    crate::private_files::create_folder(&work)?;
    if !fs::symlink_metadata(&work)?.is_dir() {
        return Err(io::Error::other("the staging folder is not a folder"));
    }
    FileLock::acquire(&work.join(LOCK))
}

fn recover_locked(parent: &Path) -> io::Result<StagingRecovery> {
    let work = parent.join(STAGING_FOLDER);
    let mut recovered = StagingRecovery::default();
    let journal = work.join(JOURNAL);
    if let Ok(bytes) = fs::read(&journal)
        && let Ok(record) = serde_json::from_slice::<ExchangeJournal>(&bytes)
        && components(&record.target).is_ok_and(|parts| parts.len() == 1)
    {
        let (target, old, new) = (parent.join(&record.target), work.join(OLD), work.join(NEW));
        if fs::symlink_metadata(&target).is_err() {
            // The new tree was flushed before the journal was written, so it is complete.
            let from = if new.exists() { new } else { old };
            fs::rename(from, &target)?;
            sync_folder(parent)?;
        }
        recovered.target = Some(record.target);
    }
    for name in [JOURNAL, NEW, OLD] {
        recovered.removed += usize::from(remove(&work.join(name))?);
    }
    // Interrupted atomic writes leave their temporary files.
    for entry in fs::read_dir(&work)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            recovered.removed += usize::from(remove(&entry.path())?);
        }
    }
    Ok(recovered)
}

fn keep(from: &Dir, to: &Dir) -> io::Result<()> {
    for entry in from.entries()? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name == STAGING_FOLDER {
            continue;
        }
        if kind.is_dir() {
            match to.create_dir(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
            let to = cap_fs_ext::DirExt::open_dir_nofollow(to, &name)?;
            keep(&cap_fs_ext::DirExt::open_dir_nofollow(from, &name)?, &to)?;
        } else if kind.is_file() {
            match from.hard_link(&name, to, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => other?,
            }
        } else {
            let name = name.to_string_lossy().into_owned();
            return Err(io::Error::other(format!("{name:?} is neither a file nor a folder")));
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<bool> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Exchanges two folders in one step; `false` if the system or file system cannot do that.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange(new: &Path, target: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange(_new: &Path, _target: &Path) -> io::Result<bool> {
    Ok(false)
}

fn sync_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        }
    }
    sync_folder(folder)
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

#[cfg(unix)]
fn set_mode(file: &File, mode: StagedFileMode) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let bits = if mode == StagedFileMode::Script { 0o755 } else { 0o644 };
    file.set_permissions(fs::Permissions::from_mode(bits))
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _mode: StagedFileMode) -> io::Result<()> {
    Ok(())
}

/// The staged tree was private; in its final place it is an ordinary folder.
#[cfg(unix)]
fn set_folder_mode(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn set_folder_mode(_folder: &Path) -> io::Result<()> {
    Ok(())
}
