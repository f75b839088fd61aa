//! Which sessions were read before, so that a folder of thousands is read once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_skill::content_hash;

use super::transcript_files::TranscriptFile;

/// Sessions that were looked through for one workspace: size and last change of each.
#[derive(Debug)]
pub(super) struct SessionStamps {
    path: PathBuf,
    files: BTreeMap<PathBuf, (u64, u64)>,
    _lock: FileLock,
}

impl SessionStamps {
    /// What was looked through before. A list that cannot be read is begun anew: runs that are known
    /// are known by more than their files.
    pub(super) fn open(home: &Path, workspace: &Path) -> io::Result<Self> {
        let name = &content_hash(workspace.to_string_lossy().as_bytes())[..24];
        let path = home.join("learn").join(format!("{name}.json"));
        let lock = FileLock::acquire(&path.with_extension("lock"))?;
        let read = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Self { path, files: read.unwrap_or_default(), _lock: lock })
    }

    /// Whether a session is as it was.
    pub(super) fn knows(&self, file: &TranscriptFile) -> bool {
        self.files.get(&file.path) == Some(&(file.size, file.changed))
    }

    /// Remembers these sessions, and no others.
    pub(super) fn save(&self, files: &[TranscriptFile]) -> io::Result<()> {
        let seen: BTreeMap<&Path, (u64, u64)> =
            files.iter().map(|file| (file.path.as_path(), (file.size, file.changed))).collect();
        let bytes = serde_json::to_vec(&seen).map_err(io::Error::other)?;
        atomic::write(&self.path, &bytes, FileAccess::OwnerOnly)
    }
}
