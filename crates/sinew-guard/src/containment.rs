//! Access to files inside a folder, through handles that do not lead out of it.
//!
//! A path that was checked first and opened afterwards can be swapped in between. Here a file is
//! opened first, without following a link and without blocking on a pipe, and everything else is
//! read from the open handle.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_fs_ext::{
    FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, OpenOptions};

/// An open regular file, with the metadata of its handle.
#[derive(Debug)]
pub struct OpenFile {
    file: cap_std::fs::File,
    /// The file's stamp when it was opened.
    pub stamp: FileStamp,
    /// How many hard links the file has.
    pub links: u64,
    /// Whether any execute bit is set.
    pub executable: bool,
}

/// What identifies a file's content without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// When the content changed last.
    pub modified: Option<SystemTime>,
    /// When the file's metadata changed last, where the system records it: content that was changed
    /// and given its old time back still shows here.
    pub changed: Option<SystemTime>,
    /// Device and inode, where the system has them.
    pub id: (u64, u64),
    /// A symbolic link: what it points to may change while the link itself does not.
    pub is_link: bool,
}

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum FileOpenError {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// The last part of the path is a symbolic link.
    #[error("it is a symbolic link")]
    Link,
    /// A pipe, device, socket or folder.
    #[error("it is {0}, not a regular file")]
    NotRegular(&'static str),
    /// The system refused.
    #[error(transparent)]
    Io(io::Error),
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileReadError {
    /// The file holds more than the limit.
    #[error("it has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// Bytes found; at least this many.
        size: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens `path` below `dir` if it is a regular file. Never follows a link in the last part, never
/// leaves `dir`, never blocks.
pub fn open_regular(dir: &Dir, path: &Path) -> Result<OpenFile, FileOpenError> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = match dir.open_with(path, &options) {
        Ok(file) => file,
        Err(error) => return Err(classify(dir, path, error)),
    };
    let metadata = file.metadata().map_err(FileOpenError::Io)?;
    if !metadata.is_file() {
        return Err(FileOpenError::NotRegular(kind(metadata.file_type())));
    }
    Ok(OpenFile {
        file,
        stamp: stamp(&metadata),
        links: metadata.nlink(),
        executable: executable(&metadata),
    })
}

#[cfg(unix)]
fn executable(metadata: &cap_std::fs::Metadata) -> bool {
    use cap_std::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

/// Windows has no execute bit.
#[cfg(not(unix))]
fn executable(_metadata: &cap_std::fs::Metadata) -> bool {
    false
}

/// The stamp of a file below `dir`, without opening it.
///
/// Meant for comparing with an earlier [`OpenFile::stamp`]; it costs one system call. It checks
/// nothing, so content still has to be read through [`open_regular`].
pub fn stamp_of(dir: &Dir, path: &Path) -> io::Result<FileStamp> {
    #[cfg(unix)]
    return Ok(stamp_from(&rustix::fs::statat(dir, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?));
    #[cfg(not(unix))]
    dir.symlink_metadata(path).map(|metadata| stamp(&metadata))
}

#[cfg(unix)]
fn stamp_from(stat: &rustix::fs::Stat) -> FileStamp {
    let time = |seconds: i64, nanos: u64| {
        let seconds = std::time::Duration::from_secs(u64::try_from(seconds).ok()?);
        let nanos = std::time::Duration::from_nanos(nanos);
        SystemTime::UNIX_EPOCH.checked_add(seconds)?.checked_add(nanos)
    };
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the fields' types differ between systems"
    )]
    FileStamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: time(stat.st_mtime.into(), u64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        changed: time(stat.st_ctime.into(), u64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        id: (stat.st_dev as u64, stat.st_ino as u64),
        is_link: rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink(),
    }
}

/// The kind of a folder entry, as the folder lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderEntryKind {
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Anything else.
    File,
}

/// Lists a folder below `dir`: calls `take` with each entry until it breaks off, and returns the
/// folder's stamp from just before.
///
/// Every folder of a catalog is listed here. On Linux this uses one handle and direct system calls,
/// because [`Dir::read_dir`] opens each folder a second time.
#[cfg(target_os = "linux")]
pub fn list(
    dir: &Dir,
    path: &Path,
    mut take: impl FnMut(&OsStr, FolderEntryKind) -> ControlFlow<()>,
) -> io::Result<FileStamp> {
    use cap_std::fs::OpenOptionsExt as _;
    use rustix::fs::{AtFlags, FileType, OFlags, RawDir};
    use std::os::unix::ffi::OsStrExt as _;

    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::DIRECTORY.bits().cast_signed());
    let folder = dir.open_with(path, &options)?;
    let stamp = stamp_from(&rustix::fs::fstat(&folder)?);
    let mut buffer = [MaybeUninit::uninit(); LISTED_AT_ONCE];
    let mut entries = RawDir::new(&folder, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not give the kind in the listing; an entry that is gone by now
            // has no kind.
            FileType::Unknown => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let Ok(stat) = rustix::fs::statat(&folder, entry.file_name(), flags) else {
                    continue;
                };
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        let kind = match kind {
            FileType::Directory => FolderEntryKind::Folder,
            FileType::Symlink => FolderEntryKind::Link,
            _ => FolderEntryKind::File,
        };
        if take(OsStr::from_bytes(name), kind).is_break() {
            break;
        }
    }
    Ok(stamp)
}

/// Buffer size for reading a folder: the listing of a skill's folder fits, and it is small for a
/// thread's stack.
#[cfg(target_os = "linux")]
const LISTED_AT_ONCE: usize = 8 * 1024;

/// Lists a folder below `dir`: calls `take` with each entry until it breaks off, and returns the
/// folder's stamp from just before.
#[cfg(not(target_os = "linux"))]
pub fn list(
    dir: &Dir,
    path: &Path,
    mut take: impl FnMut(&OsStr, FolderEntryKind) -> ControlFlow<()>,
) -> io::Result<FileStamp> {
    let stamp = stamp_of(dir, path)?;
    for entry in dir.read_dir(path)? {
        let entry = entry?;
        let kind = match entry.file_type()? {
            kind if kind.is_dir() => FolderEntryKind::Folder,
            kind if kind.is_symlink() => FolderEntryKind::Link,
            _ => FolderEntryKind::File,
        };
        if take(&entry.file_name(), kind).is_break() {
            break;
        }
    }
    Ok(stamp)
}

impl OpenFile {
    /// Reads the file, unless it is larger than `limit` or grows beyond it.
    pub fn read(self, limit: u64) -> Result<Vec<u8>, FileReadError> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes, limit)?;
        Ok(bytes)
    }

    /// Reads the file into `bytes`, replacing its content, unless the file is larger than `limit`
    /// or grows beyond it.
    pub fn read_into(mut self, bytes: &mut Vec<u8>, limit: u64) -> Result<(), FileReadError> {
        if self.stamp.size > limit {
            return Err(FileReadError::TooLarge { size: self.stamp.size, limit });
        }
        let expected = usize::try_from(self.stamp.size).unwrap_or(0);
        // Room for one byte more: if it stays free, the file has ended, and no second read is
        // needed.
        bytes.resize(expected + 1, 0);
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            if filled == expected {
                break;
            }
        }
        bytes.truncate(filled);
        if filled > expected {
            let rest = limit.saturating_add(1).saturating_sub(filled as u64);
            self.file.by_ref().take(rest).read_to_end(bytes)?;
        }
        let size = bytes.len() as u64;
        if size > limit { Err(FileReadError::TooLarge { size, limit }) } else { Ok(()) }
    }
}

fn stamp(metadata: &cap_std::fs::Metadata) -> FileStamp {
    #[cfg(unix)]
    let changed = {
        use cap_std::fs::MetadataExt as _;
        let seconds = u64::try_from(metadata.ctime()).ok().map(std::time::Duration::from_secs);
        let nanos =
            std::time::Duration::from_nanos(u64::try_from(metadata.ctime_nsec()).unwrap_or(0));
        seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds)?.checked_add(nanos))
    };
    #[cfg(not(unix))]
    let changed = None;
    FileStamp {
        size: metadata.len(),
        modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
        changed,
        id: (metadata.dev(), metadata.ino()),
        is_link: metadata.is_symlink(),
    }
}

fn classify(dir: &Dir, path: &Path, error: io::Error) -> FileOpenError {
    if error.kind() == io::ErrorKind::NotFound {
        return FileOpenError::NotFound;
    }
    match dir.symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => FileOpenError::Link,
        Ok(metadata) if !metadata.is_file() => {
            FileOpenError::NotRegular(kind(metadata.file_type()))
        }
        _ => FileOpenError::Io(error),
    }
}

fn kind(file_type: cap_std::fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt as _;
        if file_type.is_fifo() {
            return "a pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
        if file_type.is_block_device() || file_type.is_char_device() {
            return "a device";
        }
    }
    if file_type.is_dir() { "a folder" } else { "something else" }
}

/// Resolves every link in `path`; returns `None` if the result is not inside the real path of
/// `root`.
pub fn resolve_inside(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let root = fs::canonicalize(root)?;
    let path = fs::canonicalize(path)?;
    Ok(path.starts_with(&root).then_some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_file_cannot_pass_the_limit() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("a"), "12345")?;
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
        let file = open_regular(&dir, Path::new("a")).expect("a regular file");
        fs::write(folder.path().join("a"), "1234567890")?;
        assert!(matches!(file.read(5), Err(FileReadError::TooLarge { size: 6, limit: 5 })));
        Ok(())
    }

    #[test]
    fn a_file_that_grew_or_shrank_is_read_to_its_end() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
        let mut bytes = b"what an earlier file left".to_vec();
        for now in ["", "1", "12345", "123456", "1234567890"] {
            fs::write(folder.path().join("a"), "12345")?;
            let file = open_regular(&dir, Path::new("a")).expect("a regular file");
            fs::write(folder.path().join("a"), now)?;
            file.read_into(&mut bytes, 10).expect("within the limit");
            assert_eq!(bytes, now.as_bytes());
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn a_listing_names_every_entry_and_what_it_is() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let inner = folder.path().join("inner");
        fs::create_dir_all(inner.join("folder"))?;
        fs::write(inner.join("file"), "x")?;
        std::os::unix::fs::symlink("nowhere", inner.join("link"))?;
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority())?;
        let mut found = Vec::new();
        let stamp = list(&dir, Path::new("inner"), |name, kind| {
            found.push((name.to_string_lossy().into_owned(), kind));
            ControlFlow::Continue(())
        })?;
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let named = [
            ("file", FolderEntryKind::File),
            ("folder", FolderEntryKind::Folder),
            ("link", FolderEntryKind::Link),
        ];
        assert_eq!(found, named.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(stamp, stamp_of(&dir, Path::new("inner"))?);

        let mut calls = 0;
        list(&dir, Path::new("."), |_, _| {
            calls += 1;
            ControlFlow::Break(())
        })?;
        assert_eq!(calls, 1);
        assert!(list(&dir, Path::new("inner/file"), |_, _| ControlFlow::Continue(())).is_err());
        assert!(list(&dir, Path::new(".."), |_, _| ControlFlow::Continue(())).is_err());
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_ways_out_are_refused() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let inside = folder.path().join("in");
        fs::create_dir(&inside)?;
        fs::write(folder.path().join("secret"), "x")?;
        std::os::unix::fs::symlink(folder.path().join("secret"), inside.join("link"))?;
        assert!(std::process::Command::new("mkfifo").arg(inside.join("pipe")).status()?.success());
        let dir = Dir::open_ambient_dir(&inside, cap_std::ambient_authority())?;
        let open = |name: &str| open_regular(&dir, Path::new(name)).err().map(|e| e.to_string());
        assert_eq!(open("link").as_deref(), Some("it is a symbolic link"));
        assert_eq!(open("pipe").as_deref(), Some("it is a pipe, not a regular file"));
        assert_eq!(open("none").as_deref(), Some("there is no such file"));
        assert!(open("../secret").is_some());
        Ok(())
    }
}
