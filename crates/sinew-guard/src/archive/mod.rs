//! Archives, opened in this process and under caps; no system tool ever sees them.
//!
//! **Must never happen here:** a byte written outside the target, a link or device created, a
//! header believed. Bytes that come out are counted as they come, and extraction stops in
//! mid-stream when a cap is reached. Only zip (stored or deflated), tar and tar.gz are known.

mod name;
mod tarball;
mod zipped;

use std::collections::BTreeMap;
use std::io::{self, Read};

pub use name::{NameError, SUPPORT_FOLDERS, components, is_skill_name, stripped, support_file};

/// Caps of one extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the archive itself.
    pub archive: u64,
    /// Bytes of all files together.
    pub unpacked: u64,
    /// Bytes of one file.
    pub entry: u64,
    /// Entries, folders included.
    pub entries: usize,
    /// Unpacked bytes per archive byte, once [`Limits::RATIO_FLOOR`] is passed.
    pub ratio: u64,
    /// Leading name components to remove.
    pub strip: usize,
}

impl Limits {
    /// Caps for a skill: the largest real one has 14 MB in 300 files.
    pub const SKILL: Self = Self {
        archive: 100_000_000,
        unpacked: 50_000_000,
        entry: 10_000_000,
        entries: 1_000,
        ratio: 200,
        strip: 0,
    };

    /// Small files may compress as well as they like.
    pub const RATIO_FLOOR: u64 = 1_000_000;

    /// The same caps with `strip` leading components removed from each name.
    pub fn stripping(self, strip: usize) -> Self {
        Self { strip, ..self }
    }
}

/// The kind of an archive, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PKZIP.
    Zip,
    /// Plain tar.
    Tar,
    /// Gzipped tar.
    TarGz,
}

/// The format of `bytes`, judged by magic alone.
pub fn format_of(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        Some(Format::Zip)
    } else if bytes.starts_with(&[0x1f, 0x8b]) {
        Some(Format::TarGz)
    } else if bytes.get(257..262) == Some(b"ustar") {
        Some(Format::Tar)
    } else {
        None
    }
}

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Neither zip nor tar nor tar.gz.
    #[error("it is neither zip nor tar nor tar.gz")]
    UnknownFormat,
    /// An entry's name.
    #[error("entry {name:?}: {error}")]
    Name {
        /// The name, as far as it can be shown.
        name: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// A link, device, pipe, sparse or encrypted entry.
    #[error("entry {name:?} is {kind}, not a regular file")]
    Kind {
        /// The name.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// Two entries land on one path on some file system.
    #[error("entries {first:?} and {second:?} are the same file on some systems")]
    Twins {
        /// The earlier name.
        first: String,
        /// The later name.
        second: String,
    },
    /// A cap was reached.
    #[error("it has more than {limit} {what}")]
    Cap {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// It unpacks to far more than it holds.
    #[error("it unpacks to more than {0} times its size")]
    Ratio(u64),
    /// Headers contradict each other or the data.
    #[error("its headers do not agree: {0}")]
    Malformed(&'static str),
    /// The data cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// One regular file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative path with `/`, checked.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Whether the archive marks it executable.
    pub executable: bool,
}

/// All files of an archive, in its order.
pub fn unpack(bytes: &[u8], limits: &Limits) -> Result<Vec<Entry>, ArchiveError> {
    let mut entries = Vec::new();
    walk(bytes, limits, &mut |entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// Hands each file to `sink` as it is unpacked. After an error, what was handed out is void.
pub fn walk(
    bytes: &[u8],
    limits: &Limits,
    sink: &mut dyn FnMut(Entry) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    if bytes.len() as u64 > limits.archive {
        return Err(ArchiveError::Cap { what: "bytes", limit: limits.archive });
    }
    let mut gate = Gate::new(*limits, bytes.len() as u64, sink);
    match format_of(bytes).ok_or(ArchiveError::UnknownFormat)? {
        Format::Zip => zipped::walk(bytes, &mut gate),
        Format::Tar => tarball::walk(bytes, &mut gate),
        Format::TarGz => {
            let inner = flate2::read::MultiGzDecoder::new(bytes);
            // Headers and padding of the allowed entries come on top of their bytes.
            let most = limits.unpacked + limits.entries as u64 * 2048 + 4096;
            tarball::walk(inner.take(most), &mut gate)
        }
    }
}

/// What every entry passes, whatever the format.
struct Gate<'a> {
    limits: Limits,
    archive: u64,
    unpacked: u64,
    entries: usize,
    seen: BTreeMap<String, (String, Kind)>,
    sink: &'a mut dyn FnMut(Entry) -> io::Result<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

impl<'a> Gate<'a> {
    fn new(limits: Limits, archive: u64, sink: &'a mut dyn FnMut(Entry) -> io::Result<()>) -> Self {
        Self { limits, archive, unpacked: 0, entries: 0, seen: BTreeMap::new(), sink }
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(ArchiveError::Cap { what: "entries", limit: self.limits.entries as u64 });
        }
        Ok(())
    }

    fn folder(&mut self, name: &[u8]) -> Result<(), ArchiveError> {
        self.count()?;
        // `./` is how tar names the folder it was started in.
        if matches!(name, b"." | b"./") {
            return Ok(());
        }
        let name = text(name)?;
        let plain = name.strip_prefix("./").unwrap_or(&name);
        match stripped(plain, self.limits.strip) {
            Err(NameError::Stripped) => Ok(()),
            Err(error) => Err(ArchiveError::Name { name: name.clone(), error }),
            Ok(parts) => {
                let path = parts.join("/");
                self.remember(&path, Kind::Folder)
            }
        }
    }

    fn file(
        &mut self,
        name: &[u8],
        executable: bool,
        from: &mut dyn Read,
    ) -> Result<(), ArchiveError> {
        self.count()?;
        let name = text(name)?;
        let plain = name.strip_prefix("./").unwrap_or(&name);
        let parts = stripped(plain, self.limits.strip)
            .map_err(|error| ArchiveError::Name { name: name.clone(), error })?;
        let path = parts.join("/");
        for depth in 1..parts.len() {
            self.remember(&parts[..depth].join("/"), Kind::Folder)?;
        }
        self.remember(&path, Kind::File)?;
        let bytes = self.read(from)?;
        (self.sink)(Entry { path, bytes, executable })?;
        Ok(())
    }

    fn remember(&mut self, path: &str, kind: Kind) -> Result<(), ArchiveError> {
        let key = name::twin_key(path);
        match self.seen.get(&key) {
            Some((first, Kind::Folder)) if kind == Kind::Folder && first == path => Ok(()),
            Some((first, _)) => {
                Err(ArchiveError::Twins { first: first.clone(), second: path.to_owned() })
            }
            None => {
                self.seen.insert(key, (path.to_owned(), kind));
                Ok(())
            }
        }
    }

    fn read(&mut self, from: &mut dyn Read) -> Result<Vec<u8>, ArchiveError> {
        let mut bytes = Vec::new();
        let mut chunk = [0u8; 16 * 1024];
        loop {
            let count = from.read(&mut chunk)?;
            if count == 0 {
                return Ok(bytes);
            }
            self.unpacked += count as u64;
            if bytes.len() as u64 + count as u64 > self.limits.entry {
                return Err(ArchiveError::Cap {
                    what: "bytes in one file",
                    limit: self.limits.entry,
                });
            }
            if self.unpacked > self.limits.unpacked {
                return Err(ArchiveError::Cap {
                    what: "unpacked bytes",
                    limit: self.limits.unpacked,
                });
            }
            if self.unpacked > Limits::RATIO_FLOOR
                && self.unpacked / self.limits.ratio.max(1) > self.archive
            {
                return Err(ArchiveError::Ratio(self.limits.ratio));
            }
            bytes.extend_from_slice(&chunk[..count]);
        }
    }
}

fn text(name: &[u8]) -> Result<String, ArchiveError> {
    match std::str::from_utf8(name) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(ArchiveError::Name {
            name: String::from_utf8_lossy(name).into_owned(),
            error: NameError::NotUtf8,
        }),
    }
}
