//! What was fetched and verified once: archives by digest, and the digest of each exact version.
//!
//! Nothing here is trusted: an archive is hashed when it is read, and one that does not match is
//! dropped and fetched again.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sinew_guard::atomic::{self, FileAccess};
use sinew_skill::content_hash as sha256_hex;

/// The cache of one machine.
#[derive(Debug, Clone)]
pub struct HubCache {
    folder: PathBuf,
}

/// What is known about an exact version or commit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArchiveRecord<T> {
    /// The archive's digest.
    pub sha256: String,
    /// What the source said about it.
    pub said: T,
}

impl HubCache {
    /// The cache below sinew's home.
    pub fn in_home(home: &Path) -> Self {
        Self { folder: home.join("cache/hub") }
    }

    /// The archive under `key` and its record, if both are present and intact.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<(Vec<u8>, ArchiveRecord<T>)> {
        let known: ArchiveRecord<T> =
            serde_json::from_slice(&std::fs::read(self.key(key)).ok()?).ok()?;
        let path = self.blob(&known.sha256)?;
        let bytes = std::fs::read(&path).ok()?;
        if sha256_hex(&bytes) == known.sha256 {
            return Some((bytes, known));
        }
        // It was altered on disk. If it cannot be removed, it is refused again next time.
        let _ = std::fs::remove_file(path);
        None
    }

    /// Stores an archive. A cache that cannot be written only costs time, so a failure is ignored.
    pub fn put<T: Serialize>(&self, key: &str, bytes: &[u8], said: T) {
        let known = ArchiveRecord { sha256: sha256_hex(bytes), said };
        let Some(path) = self.blob(&known.sha256) else { return };
        if (path.exists() || save(&path, bytes))
            && let Ok(text) = serde_json::to_vec(&known)
        {
            save(&self.key(key), &text);
        }
    }

    /// Reads a document.
    pub fn document<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&std::fs::read(self.folder.join(name)).ok()?).ok()
    }

    /// Writes a document, replacing it as a whole.
    pub fn put_document<T: Serialize>(&self, name: &str, value: &T) {
        if let Ok(text) = serde_json::to_vec(value) {
            save(&self.folder.join(name), &text);
        }
    }

    /// A key can contain anything, so its digest names the file.
    fn key(&self, key: &str) -> PathBuf {
        self.folder.join("known").join(format!("{}.json", sha256_hex(key.as_bytes())))
    }

    fn blob(&self, sha256: &str) -> Option<PathBuf> {
        sinew_guard::digest::from_hex(sha256)?;
        Some(self.folder.join("sha256").join(&sha256[..2]).join(&sha256[2..]))
    }
}

/// Whether a file of the cache was written; the failure is an event.
fn save(path: &Path, bytes: &[u8]) -> bool {
    match atomic::write(path, bytes, FileAccess::OwnerOnly) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the download cache was not written");
            false
        }
    }
}
