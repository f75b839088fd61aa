//! The input of a scan: the files of one skill, from a folder, an archive or memory.
//!
//! Nothing is dropped on the way in: a file that cannot be read becomes a [`BundleProblem`], which
//! the scan turns into a finding. The bytes read here are the bytes that are hashed and scanned.

use std::io;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use crate::archive::{self, ArchiveError, ArchiveLimits};
use crate::containment::{FileOpenError, FileReadError, open_regular};
use crate::digest;

/// Maximum size of a scanned file; larger ones are reported.
pub const MAX_FILE: u64 = 10_000_000;
/// Maximum size of one skill.
pub const MAX_SKILL: u64 = 50_000_000;
/// Maximum number of files of one skill.
pub const MAX_FILES: usize = 1_000;
/// Maximum depth of folders; deeper trees are not read.
const MAX_DEPTH: usize = 16;

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Relative path with `/`.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A problem that kept a file from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BundleProblem {
    pub(crate) rule: &'static str,
    pub(crate) path: String,
    pub(crate) detail: String,
}

/// The files of one skill, in byte order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillBundle {
    /// The skill's folder name, if it has one.
    name: Option<String>,
    files: Vec<BundleFile>,
    troubles: Vec<BundleProblem>,
}

impl SkillBundle {
    /// A bundle from files in memory.
    pub fn from_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let mut bundle = Self::default();
        let mut total = 0u64;
        for (path, bytes) in files {
            bundle.take(path, bytes, &mut total);
        }
        bundle.sorted()
    }

    /// A bundle from a folder, read through handles that follow no link.
    pub fn from_dir(path: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(path, cap_std::ambient_authority())?;
        let mut bundle = Self {
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
            ..Self::default()
        };
        let mut total = 0u64;
        let mut waiting = vec![(root, PathBuf::new(), 0usize)];
        while let Some((dir, at, depth)) = waiting.pop() {
            if bundle.files.len() + bundle.troubles.len() > MAX_FILES {
                break;
            }
            for entry in dir.entries()? {
                let entry = entry?;
                let name = entry.file_name();
                let relative = at.join(&name);
                let shown = slashed(&relative);
                if entry.file_type()?.is_dir() {
                    if depth + 1 >= MAX_DEPTH {
                        bundle.trouble(
                            "oversize-unscannable",
                            shown,
                            "folders are nested too deep",
                        );
                        continue;
                    }
                    match entry.open_dir() {
                        Ok(inner) => waiting.push((inner, relative, depth + 1)),
                        Err(error) => bundle.trouble("scan-failed", shown, &error.to_string()),
                    }
                    continue;
                }
                bundle.take_file(&dir, Path::new(&name), shown, &mut total);
                if bundle.files.len() + bundle.troubles.len() > MAX_FILES {
                    break;
                }
            }
        }
        Ok(bundle.sorted())
    }

    /// A bundle from the bytes of a zip, tar or tar.gz.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let entries = archive::unpack(bytes, &ArchiveLimits::SKILL)?;
        Ok(Self::from_files(entries.into_iter().map(|entry| (entry.path, entry.bytes))))
    }

    /// The same bundle under another folder name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The folder name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The files.
    pub fn files(&self) -> &[BundleFile] {
        &self.files
    }

    pub(crate) fn problems(&self) -> &[BundleProblem] {
        &self.troubles
    }

    /// The digest of the tree: see [`digest::tree`].
    pub fn digest(&self) -> String {
        digest::tree(self.files.iter().map(|file| (file.path.as_str(), file.bytes.as_slice())))
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes.len() as u64).sum()
    }

    fn take_file(&mut self, dir: &Dir, name: &Path, shown: String, total: &mut u64) {
        let file = match open_regular(dir, name) {
            Ok(file) => file,
            Err(FileOpenError::Link) => {
                return self.trouble("link-entry", shown, "a symbolic link");
            }
            Err(FileOpenError::NotRegular(kind)) => {
                return self.trouble("special-file", shown, kind);
            }
            // It disappeared between the listing and the opening, so it is not part of the digest
            // either.
            Err(FileOpenError::NotFound) => return,
            Err(FileOpenError::Io(error)) => {
                return self.trouble("scan-failed", shown, &error.to_string());
            }
        };
        if file.links > 1 && is_skill_md(&shown) {
            return self.trouble("hardlink-entry", shown, "the file has another hard link");
        }
        match file.read(MAX_FILE) {
            Ok(bytes) => self.take(shown, bytes, total),
            Err(FileReadError::TooLarge { size, .. }) => {
                self.trouble("oversize-unscannable", shown, &format!("{size} bytes"));
            }
            Err(FileReadError::Io(error)) => self.trouble("scan-failed", shown, &error.to_string()),
        }
    }

    fn take(&mut self, path: String, bytes: Vec<u8>, total: &mut u64) {
        *total += bytes.len() as u64;
        if bytes.len() as u64 > MAX_FILE || *total > MAX_SKILL {
            let detail = format!("{} bytes", bytes.len());
            self.trouble("oversize-unscannable", path, &detail);
        } else if self.files.len() >= MAX_FILES {
            if !self.troubles.iter().any(|trouble| trouble.rule == "too-many-files") {
                self.trouble("too-many-files", path, "files beyond this one were not read");
                // Unread files are not scanned, and that blocks.
                self.trouble("oversize-unscannable", String::new(), "more files than are scanned");
            }
        } else {
            self.files.push(BundleFile { path, bytes });
        }
    }

    fn trouble(&mut self, rule: &'static str, path: String, detail: &str) {
        self.troubles.push(BundleProblem { rule, path, detail: detail.to_owned() });
    }

    fn sorted(mut self) -> Self {
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.troubles.sort_by(|a, b| (a.rule, &a.path).cmp(&(b.rule, &b.path)));
        self
    }
}

/// Whether a path is a skill file, in any spelling and at any depth.
pub(crate) fn is_skill_md(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"))
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
