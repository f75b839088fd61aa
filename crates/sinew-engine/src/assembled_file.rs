//! Large catalogs between processes: one file per view of the skills, from which a question takes the
//! entries that it is about.
//!
//! A process in the background writes it after a look at everything. Its time says when that was.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use sinew_catalog::{AssembledCatalog, CHECK_AFTER, CatalogRequest, Snapshot};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::mapped_file::MappedFile;
use sinew_route::{DocumentKey, RouteIndex};

use crate::Engine;

/// Files that are kept per profile: a terminal and two agents may see different programs.
const KEPT_FILES: usize = 4;

/// A catalog that was found, and whether it is time for a look at everything.
#[derive(Debug)]
pub(crate) struct FoundCatalog {
    pub(crate) catalog: Arc<AssembledCatalog>,
    pub(crate) is_due: bool,
}

impl Engine {
    /// Where the catalog of a request is kept, and what marks it; `None` where none can be.
    fn assembled_place(&self, request: &CatalogRequest<'_>) -> Option<(PathBuf, String)> {
        let tag = self.kept.as_ref()?.tag(&self.scan_gate);
        // The configuration hides secrets from itself, so its file counts as it is written.
        let path = self.options.config.clone();
        let path = path.unwrap_or_else(|| self.env.config_path(self.profile.name));
        let written = sinew_skill::content_hash(&fs::read(path).unwrap_or_default());
        let key = self.builder().assembled_key(request, &format!("{tag}\n{written}"))?;
        let name = format!("{}{}.bin", self.assembled_family(), &key[..16]);
        Some((self.env.sinew_home().join("cache").join(name), key))
    }

    fn assembled_family(&self) -> String {
        format!("assembled-{}-", self.profile.name)
    }

    /// The catalog that an earlier process left behind, where it is as large as to be worth it.
    pub(crate) fn assembled_catalog(&self, request: &CatalogRequest<'_>) -> Option<FoundCatalog> {
        let (path, key) = self.assembled_place(request)?;
        let checked = fs::metadata(&path).ok()?.modified().ok()?;
        let catalog = AssembledCatalog::open(MappedFile::open(&path).ok()?, &key, &self.env)?;
        let age = SystemTime::now().duration_since(checked).unwrap_or_default();
        Some(FoundCatalog { catalog: Arc::new(catalog), is_due: age > CHECK_AFTER })
    }

    /// Leaves a large catalog behind for the questions of later processes, or notes that the one that is
    /// there was compared with every file just now. What cannot be written only costs time.
    pub(crate) fn keep_assembled(&self, snapshot: &Snapshot) {
        if snapshot.catalog.entries.len() < self.large_from || snapshot.whole().is_some() {
            return;
        }
        let trust = self.trust();
        let request = self.request(&trust);
        let Some((path, key)) = self.assembled_place(&request) else { return };
        let known = MappedFile::open(&path)
            .ok()
            .and_then(|bytes| AssembledCatalog::open(bytes, &key, &self.env));
        let is_same = known.is_some_and(|known| {
            known.fingerprint() == snapshot.fingerprint && known.has_same_files()
        });
        if is_same {
            let noted = File::options()
                .append(true)
                .open(&path)
                .and_then(|file| file.set_modified(SystemTime::now()));
            if let Err(error) = noted {
                tracing::warn!(%error, "the kept catalog could not be confirmed");
            }
            return;
        }
        let documents = RouteIndex::digest_of(document_keys(snapshot));
        let bytes = self.builder().assembled_bytes(&request, snapshot, &key, &documents);
        let Some(bytes) = bytes else { return };
        if let Err(error) = atomic::write(&path, &bytes, FileAccess::OwnerOnly) {
            tracing::warn!(path = %path.display(), %error, "the catalog was not kept");
            return;
        }
        self.forget_old_catalogs();
    }

    fn forget_old_catalogs(&self) {
        let family = self.assembled_family();
        let folder = fs::read_dir(self.env.sinew_home().join("cache"));
        let mut files: Vec<(SystemTime, PathBuf)> = folder
            .into_iter()
            .flatten()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().starts_with(&family))
            .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
            .collect();
        files.sort_unstable_by(|a, b| b.cmp(a));
        for (_, path) in files.into_iter().skip(KEPT_FILES) {
            // One that stays is removed the next time.
            let _ = fs::remove_file(path);
        }
    }
}

/// The documents of a catalog as its index has them.
pub(crate) fn document_keys(snapshot: &Snapshot) -> impl Iterator<Item = DocumentKey<'_>> {
    let entries = snapshot.catalog.unshadowed().filter(|entry| entry.skill.is_some());
    entries.map(|entry| DocumentKey {
        id: &entry.name,
        name: &entry.name,
        hash: &entry.content_hash,
    })
}
