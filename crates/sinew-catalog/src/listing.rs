//! The entries of a folder when it was listed, and whether they are still current.
//!
//! Every skill's folder is listed once: the names show whether it is a skill, what else the guard
//! has to scan, and, together with the folder's stamp, whether listing it again would give anything
//! new.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
pub(crate) use sinew_guard::containment::FolderEntryKind;
use sinew_guard::containment::{self, FileStamp};

use crate::discover::SKILL_FILE;

/// The maximum number of names read of one folder.
const MAX_NAMES: usize = 1_000_000;

/// Files of one skill that are checked before a cached answer is used.
pub(crate) const MAX_SURVEYED: usize = 1_000;

/// Where reading starts: the root's own handle, or the target of a link.
///
/// A target is opened for each use. Libraries made of links are common, and a handle for each of
/// their skills would exhaust the limit of open files.
#[derive(Debug, Clone)]
pub(crate) enum ReadAnchor {
    Root(Arc<Dir>),
    Target(Arc<Path>),
}

impl ReadAnchor {
    /// Calls `work` with the open folder.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Dir) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::Root(dir) => work(dir),
            Self::Target(path) => work(&Dir::open_ambient_dir(path, ambient_authority())?),
        }
    }

    /// The current stamp of something below.
    pub(crate) fn stamp(&self, inside: &Path) -> io::Result<FileStamp> {
        self.with(|dir| containment::stamp_of(dir, or_itself(inside)))
    }
}

/// A path below an anchor as the system needs it: `.` for the anchor itself.
fn or_itself(inside: &Path) -> &Path {
    if inside.as_os_str().is_empty() { Path::new(".") } else { inside }
}

/// File systems store time in steps; the coarsest that matter, FAT and old NFS, in steps of 2 s.
const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// Whether the last change was long enough before the check: a change right after the check could
/// otherwise have the same time and stay unnoticed.
pub(crate) fn is_settled(stamp: &FileStamp, looked_at_ms: u64) -> bool {
    let modified = stamp.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    modified.is_some_and(|time| time + CLOCK_SLACK < Duration::from_millis(looked_at_ms))
}

/// One entry of a folder.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FolderEntryKind,
}

/// A folder that was listed, and its stamp from just before.
#[derive(Debug)]
pub(crate) struct FolderListing {
    pub(crate) anchor: ReadAnchor,
    pub(crate) inside: PathBuf,
    pub(crate) stamp: FileStamp,
    pub(crate) at_ms: u64,
    /// The path, with the root as it was named.
    pub(crate) shown: PathBuf,
    /// Every entry, in the order of the system.
    pub(crate) children: Vec<FolderEntry>,
}

impl FolderListing {
    /// Looks at a folder and lists it.
    pub(crate) fn of(
        anchor: &ReadAnchor,
        inside: &Path,
        shown: &Path,
        at_ms: u64,
    ) -> io::Result<Self> {
        let mut children = Vec::new();
        let mut is_skill = false;
        let take = |name: &OsStr, kind| {
            is_skill |= name == SKILL_FILE;
            children.push(FolderEntry { name: name.to_owned(), kind });
            let enough = if is_skill { MAX_SURVEYED + 1 } else { MAX_NAMES };
            if children.len() < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let stamp = anchor.with(|dir| containment::list(dir, or_itself(inside), take))?;
        let (anchor, inside) = (anchor.clone(), inside.to_path_buf());
        Ok(Self { anchor, inside, stamp, at_ms, shown: shown.to_path_buf(), children })
    }

    /// Whether it is a skill's own folder.
    pub(crate) fn is_skill(&self) -> bool {
        self.holds(SKILL_FILE)
    }

    /// Whether an entry of exactly that name exists.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == OsStr::new(name))
    }

    /// Whether a path still leads to this very folder.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let there = ReadAnchor::Target(path.into()).stamp(Path::new(""));
        there.is_ok_and(|there| there.id == self.stamp.id)
    }

    /// Whether listing it again would give the same.
    pub(crate) fn is_unchanged(&self) -> bool {
        is_settled(&self.stamp, self.at_ms)
            && self.anchor.stamp(&self.inside).is_ok_and(|now| now == self.stamp)
    }

    /// Whether both listings saw the same folder in the same state.
    pub(crate) fn is_same_as(&self, earlier: &Self) -> bool {
        is_settled(&earlier.stamp, earlier.at_ms) && self.stamp == earlier.stamp
    }
}
