//! Archives, unpacked in this process and under caps; no system tool is involved.
//!
//! **Must never happen here:** a byte written outside the target, a link or device created, a
//! header trusted. Unpacked bytes are counted as they are produced, and extraction stops in
//! mid-stream when a cap is reached. A skill comes as zip (stored or deflated), tar or tar.gz; a
//! tool that a skill needs may also come as tar.bz2.

mod name;
mod tarball;
mod zip_reader;

use std::collections::BTreeMap;
use std::io::{self, Read};

pub use name::{
    EntryNameError, SUPPORT_FOLDERS, collision_key, components, is_skill_name, stripped_components,
    support_file_components,
};

/// Caps of one extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes of the archive itself.
    pub archive: u64,
    /// Bytes of all files together.
    pub unpacked: u64,
    /// Bytes of one file.
    pub entry: u64,
    /// Entries, folders included.
    pub entries: usize,
    /// Unpacked bytes per archive byte, once [`ArchiveLimits::RATIO_FLOOR`] is exceeded.
    pub ratio: u64,
    /// Leading name components to remove.
    pub strip: usize,
}

impl ArchiveLimits {
    /// Caps for a skill: the largest real one has 14 MB in 300 files.
    pub const SKILL: Self = Self {
        archive: 100_000_000,
        unpacked: 50_000_000,
        entry: 10_000_000,
        entries: 1_000,
        ratio: 200,
        strip: 0,
    };

    /// Caps for a program that a skill needs: compilers and speech models are that large.
    pub const TOOL: Self = Self {
        archive: 256 * 1024 * 1024,
        unpacked: 1024 * 1024 * 1024,
        entry: 1024 * 1024 * 1024,
        entries: 20_000,
        ratio: 200,
        strip: 0,
    };

    /// Up to this size any compression ratio is allowed.
    pub const RATIO_FLOOR: u64 = 1_000_000;

    /// The same caps with `strip` leading components removed from each name.
    pub fn with_strip(self, strip: usize) -> Self {
        Self { strip, ..self }
    }
}

/// The kind of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// PKZIP.
    Zip,
    /// Plain tar.
    Tar,
    /// Gzipped tar.
    TarGz,
    /// Tar packed with bzip2; never used for skills.
    TarBz2,
}

/// The format of a skill's archive, judged only by its first bytes.
pub fn format_of(bytes: &[u8]) -> Option<ArchiveFormat> {
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        Some(ArchiveFormat::Zip)
    } else if bytes.starts_with(&[0x1f, 0x8b]) {
        Some(ArchiveFormat::TarGz)
    } else if bytes.get(257..262) == Some(b"ustar") {
        Some(ArchiveFormat::Tar)
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
    /// An entry's name is not allowed.
    #[error("entry {name:?}: {error}")]
    Name {
        /// The name, as far as it can be shown.
        name: String,
        /// What is wrong with it.
        error: EntryNameError,
    },
    /// A link, device, pipe, sparse or encrypted entry.
    #[error("entry {name:?} is {kind}, not a regular file")]
    Kind {
        /// The name.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// Two entries have the same path on some file systems.
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
    /// It unpacks to far more than its size.
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
pub struct ArchiveFile {
    /// Relative path with `/`, checked.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Whether the archive marks it executable.
    pub executable: bool,
}

/// All files of an archive, in its order.
pub fn unpack(bytes: &[u8], limits: &ArchiveLimits) -> Result<Vec<ArchiveFile>, ArchiveError> {
    let mut entries = Vec::new();
    for_each_file(bytes, limits, &mut |entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// The names in a zip, unchecked, for choosing what to unpack.
pub fn zip_names(bytes: &[u8], limits: &ArchiveLimits) -> Result<Vec<String>, ArchiveError> {
    let names = zip_reader::names(bytes, limits.entries)?;
    Ok(names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// The files of a zip that `wanted` selects by their names as written there. Other files are not
/// unpacked, so that a link elsewhere in a repository does not matter.
pub fn unpack_selected(
    bytes: &[u8],
    limits: &ArchiveLimits,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<ArchiveFile>, ArchiveError> {
    if bytes.len() as u64 > limits.archive {
        return Err(ArchiveError::Cap { what: "bytes", limit: limits.archive });
    }
    let mut entries = Vec::new();
    let mut sink = |file: ArchiveFileStream<'_>| {
        let mut bytes = Vec::new();
        file.content.read_to_end(&mut bytes)?;
        entries.push(ArchiveFile {
            path: file.path.to_owned(),
            bytes,
            executable: file.executable,
        });
        Ok(())
    };
    let mut gate = EntryGate::new(*limits, bytes.len() as u64, &mut sink);
    zip_reader::walk(bytes, &mut gate, &|name| std::str::from_utf8(name).is_ok_and(wanted))?;
    Ok(entries)
}

/// Passes each file to `sink` as it is unpacked. After an error, everything passed so far is void.
pub fn for_each_file(
    bytes: &[u8],
    limits: &ArchiveLimits,
    sink: &mut dyn FnMut(ArchiveFile) -> io::Result<()>,
) -> Result<(), ArchiveError> {
    if bytes.len() as u64 > limits.archive {
        return Err(ArchiveError::Cap { what: "bytes", limit: limits.archive });
    }
    let format = format_of(bytes).ok_or(ArchiveError::UnknownFormat)?;
    stream_files(bytes, bytes.len() as u64, format, limits, &mut |file| {
        let mut bytes = Vec::new();
        file.content.read_to_end(&mut bytes)?;
        sink(ArchiveFile { path: file.path.to_owned(), bytes, executable: file.executable })
    })?;
    Ok(())
}

/// A file while it is being unpacked.
pub struct ArchiveFileStream<'a> {
    /// Relative path with `/`, checked.
    pub path: &'a str,
    /// Whether the archive marks it executable.
    pub executable: bool,
    /// Its bytes; reading fails if a cap is reached.
    pub content: &'a mut dyn Read,
}

/// What was unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnpackSummary {
    /// Files passed to the sink.
    pub files: usize,
    /// Files whose names were empty after stripping leading parts.
    pub vanished: usize,
}

/// Passes each file of an archive of `length` bytes and known format to `sink`, without holding
/// more than a chunk in memory. Only a zip is read whole, because its directory is at the end.
pub fn stream_files(
    mut reader: impl Read,
    length: u64,
    format: ArchiveFormat,
    limits: &ArchiveLimits,
    sink: &mut dyn FnMut(ArchiveFileStream<'_>) -> io::Result<()>,
) -> Result<UnpackSummary, ArchiveError> {
    if length > limits.archive {
        return Err(ArchiveError::Cap { what: "bytes", limit: limits.archive });
    }
    let mut gate = EntryGate::new(*limits, length, sink);
    // Headers and padding of the allowed entries are added to their bytes.
    let most = limits.unpacked + limits.entries as u64 * 2048 + 4096;
    match format {
        ArchiveFormat::Zip => {
            let mut bytes = Vec::new();
            reader.take(limits.archive).read_to_end(&mut bytes)?;
            zip_reader::walk(&bytes, &mut gate, &|_| true)?;
        }
        ArchiveFormat::Tar => tarball::walk(&mut reader, &mut gate)?,
        ArchiveFormat::TarGz => {
            tarball::walk(flate2::read::MultiGzDecoder::new(reader).take(most), &mut gate)?;
        }
        ArchiveFormat::TarBz2 => {
            tarball::walk(bzip2::read::MultiBzDecoder::new(reader).take(most), &mut gate)?;
        }
    }
    Ok(gate.done)
}

type FileSink<'a> = &'a mut dyn FnMut(ArchiveFileStream<'_>) -> io::Result<()>;

/// The checks that every entry passes, in any format.
struct EntryGate<'a> {
    limits: ArchiveLimits,
    archive: u64,
    unpacked: u64,
    entries: usize,
    seen: BTreeMap<String, (String, ArchiveEntryKind)>,
    done: UnpackSummary,
    sink: FileSink<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ArchiveEntryKind {
    File,
    Folder,
}

impl<'a> EntryGate<'a> {
    fn new(limits: ArchiveLimits, archive: u64, sink: FileSink<'a>) -> Self {
        Self {
            limits,
            archive,
            unpacked: 0,
            entries: 0,
            seen: BTreeMap::new(),
            done: UnpackSummary::default(),
            sink,
        }
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
        // `./` is how tar names its starting folder.
        if matches!(name, b"." | b"./") {
            return Ok(());
        }
        let name = text(name)?;
        let plain = name.strip_prefix("./").unwrap_or(&name);
        match stripped_components(plain, self.limits.strip) {
            Err(EntryNameError::Stripped) => Ok(()),
            Err(error) => Err(ArchiveError::Name { name: name.clone(), error }),
            Ok(parts) => {
                let path = parts.join("/");
                self.remember(&path, ArchiveEntryKind::Folder)
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
        let parts = match stripped_components(plain, self.limits.strip) {
            Ok(parts) => parts,
            Err(EntryNameError::Stripped) => Vec::new(),
            Err(error) => return Err(ArchiveError::Name { name: name.clone(), error }),
        };
        let path = parts.join("/");
        for depth in 1..parts.len() {
            self.remember(&parts[..depth].join("/"), ArchiveEntryKind::Folder)?;
        }
        if !parts.is_empty() {
            self.remember(&path, ArchiveEntryKind::File)?;
        }
        let mut reached = None;
        let mut content = CappedReader {
            from,
            limits: self.limits,
            archive: self.archive,
            unpacked: &mut self.unpacked,
            entry: 0,
            reached: &mut reached,
        };
        let taken = if parts.is_empty() {
            self.done.vanished += 1;
            Ok(())
        } else {
            self.done.files += 1;
            (self.sink)(ArchiveFileStream { path: &path, executable, content: &mut content })
        };
        // Bytes that the sink did not read count as well: the checksum covers the whole file.
        let taken = taken.and_then(|()| io::copy(&mut content, &mut io::sink()).map(drop));
        match reached {
            Some(error) => Err(error),
            None => Ok(taken?),
        }
    }

    fn remember(&mut self, path: &str, kind: ArchiveEntryKind) -> Result<(), ArchiveError> {
        let key = collision_key(path);
        match self.seen.get(&key) {
            Some((first, ArchiveEntryKind::Folder))
                if kind == ArchiveEntryKind::Folder && first == path =>
            {
                Ok(())
            }
            Some((first, _)) => {
                Err(ArchiveError::Twins { first: first.clone(), second: path.to_owned() })
            }
            None => {
                self.seen.insert(key, (path.to_owned(), kind));
                Ok(())
            }
        }
    }
}

/// A file's bytes, counted as they are read.
struct CappedReader<'a> {
    from: &'a mut dyn Read,
    limits: ArchiveLimits,
    archive: u64,
    unpacked: &'a mut u64,
    entry: u64,
    /// The cap that was reached; a `Read` can only return an I/O error.
    reached: &'a mut Option<ArchiveError>,
}

impl Read for CappedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.entry += count as u64;
        *self.unpacked += count as u64;
        let limits = &self.limits;
        let reached = if self.entry > limits.entry {
            ArchiveError::Cap { what: "bytes in one file", limit: limits.entry }
        } else if *self.unpacked > limits.unpacked {
            ArchiveError::Cap { what: "unpacked bytes", limit: limits.unpacked }
        } else if *self.unpacked > ArchiveLimits::RATIO_FLOOR
            && *self.unpacked / limits.ratio.max(1) > self.archive
        {
            ArchiveError::Ratio(limits.ratio)
        } else {
            return Ok(count);
        };
        let error = io::Error::other(reached.to_string());
        *self.reached = Some(reached);
        Err(error)
    }
}

fn text(name: &[u8]) -> Result<String, ArchiveError> {
    match std::str::from_utf8(name) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(ArchiveError::Name {
            name: String::from_utf8_lossy(name).into_owned(),
            error: EntryNameError::NotUtf8,
        }),
    }
}
