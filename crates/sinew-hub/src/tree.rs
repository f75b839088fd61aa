//! The files of one skill version, in memory or read from a folder.
//!
//! **Must never happen here:** a link followed, a file skipped silently, two paths that some file
//! system treats as one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use sinew_guard::archive::{
    self, ArchiveError, ArchiveLimits, EntryNameError, collision_key, components,
};
use sinew_guard::containment::{FileOpenError, FileReadError, open_regular};
use sinew_guard::scan::{MAX_FILE, MAX_FILES, MAX_SKILL, SkillBundle};

use crate::digest::{self, FileRecord, FingerprintOrder, META_FILE};

/// Ignore files at a skill's root, in the order in which they are applied.
const IGNORE_FILES: &[&str] = &[".gitignore", ".clawhubignore", ".clawdhubignore"];

/// One file of a skill version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative path with `/`.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Whether it is executable.
    pub executable: bool,
}

impl TreeFile {
    /// A plain file.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: false }
    }

    fn record(&self) -> FileRecord {
        FileRecord { executable: self.executable, ..FileRecord::of(&*self.path, &self.bytes) }
    }
}

/// Why files cannot form a tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A file's name is not allowed.
    #[error("{path:?}: {error}")]
    Name {
        /// The name, as far as it can be shown.
        path: String,
        /// What is wrong with it.
        error: EntryNameError,
    },
    /// A link, pipe, device or socket.
    #[error("{path:?} is {kind}, and a skill holds regular files only")]
    Kind {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// Two paths that are the same file on some file systems.
    #[error("{first:?} and {second:?} are the same file on some systems")]
    Twins {
        /// The earlier path.
        first: String,
        /// The later path.
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
    /// The archive is invalid.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A file cannot be read.
    #[error("{path:?}: {error}")]
    Io {
        /// The path.
        path: String,
        /// The system's error.
        error: io::Error,
    },
}

/// The files of one skill version, in byte order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillTree {
    files: Vec<TreeFile>,
}

impl SkillTree {
    /// A tree of these files, if their names are safe and distinct on every file system, and they
    /// are within the caps.
    pub fn new(files: Vec<TreeFile>) -> Result<Self, TreeError> {
        let mut tree = TreeBuilder::default();
        for file in files {
            tree.add(file)?;
        }
        Ok(tree.done())
    }

    /// The files of a zip, tar or tar.gz, with `strip` leading folders removed.
    pub fn from_archive(bytes: &[u8], strip: usize) -> Result<Self, TreeError> {
        let entries = archive::unpack(bytes, &ArchiveLimits::SKILL.with_strip(strip))?;
        let file = |entry: archive::ArchiveFile| TreeFile {
            path: entry.path,
            bytes: entry.bytes,
            executable: entry.executable,
        };
        Self::new(entries.into_iter().map(file).collect())
    }

    /// The files of a folder, read through handles that follow no link. Other tools' records at its
    /// root and `.git` are left out.
    pub fn from_folder(folder: &Path) -> Result<Self, TreeError> {
        let mut tree = TreeBuilder::default();
        walk(folder, &mut |file| tree.add(file))?;
        Ok(tree.done())
    }

    /// The files, in byte order of their paths.
    pub fn files(&self) -> &[TreeFile] {
        &self.files
    }

    /// One file.
    pub fn get(&self, path: &str) -> Option<&TreeFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The record of each file.
    pub fn records(&self) -> Vec<FileRecord> {
        self.files.iter().map(TreeFile::record).collect()
    }

    /// The tree in the form the scanner takes.
    pub fn bundle(&self, name: &str) -> SkillBundle {
        let files = self.files.iter().map(|file| (file.path.clone(), file.bytes.clone()));
        SkillBundle::from_files(files).with_name(name)
    }

    /// The files below a folder of the tree, as a tree of their own; `""` is the whole.
    pub fn subtree(&self, folder: &str) -> Self {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let files = self.files.iter().filter_map(|file| {
            let path = file.path.strip_prefix(&prefix)?.to_owned();
            Some(TreeFile { path, ..file.clone() })
        });
        Self { files: files.collect() }
    }

    /// The tree without the files for which `leave_out` returns true.
    #[must_use]
    pub fn without(mut self, leave_out: impl Fn(&str) -> bool) -> Self {
        self.files.retain(|file| !leave_out(&file.path));
        self
    }

    /// The files that a publisher would send and the upstream client hashes: no dot names, no
    /// `node_modules`, nothing that an ignore file at the root excludes. `_meta.json` stays.
    pub fn publishable(&self) -> Self {
        let rules = self.ignore_rules();
        let ignored = |path: &str| rules.matched_path_or_any_parents(path, false).is_ignore();
        self.clone().without(|path| !digest::is_publishable(path) || ignored(path))
    }

    /// The fingerprints of the publishable files: without and with `_meta.json`.
    pub fn fingerprints(&self) -> TreeFingerprints {
        let with_meta = self.publishable().records();
        let without_meta: Vec<FileRecord> =
            with_meta.iter().filter(|file| file.path != META_FILE).cloned().collect();
        TreeFingerprints {
            published: digest::fingerprint(&without_meta, FingerprintOrder::Collation),
            with_meta: digest::fingerprint(&with_meta, FingerprintOrder::Collation),
        }
    }

    fn ignore_rules(&self) -> Gitignore {
        let mut builder = GitignoreBuilder::new("");
        for file in IGNORE_FILES.iter().filter_map(|name| self.get(name)) {
            for line in String::from_utf8_lossy(&file.bytes).lines() {
                // A line that is not a pattern ignores nothing, as in every tool that reads these
                // files.
                let _ = builder.add_line(None, line);
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}

/// The two fingerprints of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFingerprints {
    /// Of the published files.
    pub published: String,
    /// Of the files on disk after an install, `_meta.json` included.
    pub with_meta: String,
}

/// The records of a folder's files, for comparing with a lock; only one file at a time is held in
/// memory.
pub fn records_of(folder: &Path) -> Result<Vec<FileRecord>, TreeError> {
    let mut names = TreeFileChecks::default();
    let mut records = Vec::new();
    walk(folder, &mut |file| {
        names.take(&file)?;
        records.push(file.record());
        Ok(())
    })?;
    records.sort();
    Ok(records)
}

#[derive(Default)]
struct TreeBuilder {
    names: TreeFileChecks,
    files: Vec<TreeFile>,
}

impl TreeBuilder {
    fn add(&mut self, file: TreeFile) -> Result<(), TreeError> {
        self.names.take(&file)?;
        self.files.push(file);
        Ok(())
    }

    fn done(mut self) -> SkillTree {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        SkillTree { files: self.files }
    }
}

/// The checks every file passes on its way into a tree.
#[derive(Default)]
struct TreeFileChecks {
    seen: BTreeMap<String, String>,
    bytes: u64,
}

impl TreeFileChecks {
    /// No file is the folder of another: `SKILL.md` and `SKILL.md/x` cannot be unpacked together.
    fn check_folders(&self, path: &str) -> Result<(), TreeError> {
        let key = collision_key(path);
        let below = format!("{key}/");
        let folders = key.match_indices('/').filter_map(|(at, _)| self.seen.get(&key[..at]));
        let inside = self.seen.range(below.clone()..).next();
        let inside = inside.filter(|(key, _)| key.starts_with(&below)).map(|(_, path)| path);
        match folders.chain(inside).next() {
            Some(first) => Err(TreeError::Twins { first: first.clone(), second: path.to_owned() }),
            None => Ok(()),
        }
    }

    fn take(&mut self, file: &TreeFile) -> Result<(), TreeError> {
        components(&file.path)
            .map_err(|error| TreeError::Name { path: file.path.clone(), error })?;
        if let Some(first) = self.seen.insert(collision_key(&file.path), file.path.clone()) {
            return Err(TreeError::Twins { first, second: file.path.clone() });
        }
        self.check_folders(&file.path)?;
        self.bytes += file.bytes.len() as u64;
        let cap = |what, limit| Err(TreeError::Cap { what, limit });
        match () {
            () if file.bytes.len() as u64 > MAX_FILE => cap("bytes in one file", MAX_FILE),
            () if self.bytes > MAX_SKILL => cap("bytes", MAX_SKILL),
            () if self.seen.len() > MAX_FILES => cap("files", MAX_FILES as u64),
            () => Ok(()),
        }
    }
}

/// Passes every file below `folder` to the visitor, except records at the root and version control.
fn walk(
    folder: &Path,
    sink: &mut dyn FnMut(TreeFile) -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    let failed = |path: &Path, error| TreeError::Io { path: path.display().to_string(), error };
    let root = Dir::open_ambient_dir(folder, cap_std::ambient_authority())
        .map_err(|error| failed(folder, error))?;
    let mut waiting = vec![(root, PathBuf::new())];
    while let Some((dir, at)) = waiting.pop() {
        for entry in dir.entries().map_err(|error| failed(&at, error))? {
            let entry = entry.map_err(|error| failed(&at, error))?;
            let name = entry.file_name();
            let relative = at.join(&name);
            let Some(path) = slashed(&relative) else {
                let path = relative.to_string_lossy().into_owned();
                return Err(TreeError::Name { path, error: EntryNameError::NotUtf8 });
            };
            if digest::is_record(&path) || name == ".git" {
                continue;
            }
            if entry.file_type().map_err(|error| failed(&relative, error))?.is_dir() {
                // A tree that is too deep is refused here; the names of its files would be refused
                // anyway.
                components(&path).map_err(|error| TreeError::Name { path: path.clone(), error })?;
                let inner = entry.open_dir().map_err(|error| failed(&relative, error))?;
                waiting.push((inner, relative));
                continue;
            }
            sink(read(&dir, Path::new(&name), path)?)?;
        }
    }
    Ok(())
}

fn read(dir: &Dir, name: &Path, path: String) -> Result<TreeFile, TreeError> {
    let file = match open_regular(dir, name) {
        Ok(file) => file,
        Err(FileOpenError::Link) => return Err(TreeError::Kind { path, kind: "a symbolic link" }),
        Err(FileOpenError::NotRegular(kind)) => return Err(TreeError::Kind { path, kind }),
        Err(FileOpenError::NotFound) => {
            return Err(TreeError::Io { path, error: io::ErrorKind::NotFound.into() });
        }
        Err(FileOpenError::Io(error)) => return Err(TreeError::Io { path, error }),
    };
    if file.links > 1 {
        return Err(TreeError::Kind { path, kind: "a hard link to another file" });
    }
    let executable = file.executable;
    match file.read(MAX_FILE) {
        Ok(bytes) => Ok(TreeFile { path, bytes, executable }),
        Err(FileReadError::TooLarge { limit, .. }) => {
            Err(TreeError::Cap { what: "bytes in one file", limit })
        }
        Err(FileReadError::Io(error)) => Err(TreeError::Io { path, error }),
    }
}

fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}
