//! The router's index on disk: one file per workspace, because each has skills of its own.
//!
//! A file is replaced whole and mapped where it lies, so that any number of processes share it. A
//! damaged one is rebuilt, with a notice. A workspace that has none yet starts from the one that
//! was written last: most of its skills are in there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::mapped_file::MappedFile;
use sinew_route::RouteIndex;

/// Files that are kept per profile; a person works in fewer places at a time.
const KEPT_FILES: usize = 8;

/// Where the index of one workspace is.
#[derive(Debug, Clone)]
pub(crate) struct IndexFile {
    pub(crate) path: PathBuf,
    /// What the names of a profile's files begin with.
    family: String,
}

/// What was found on disk.
pub(crate) struct LoadedIndex {
    pub(crate) index: Option<RouteIndex>,
    /// Why the workspace's own file is not used; one that is not there needs no word.
    pub(crate) notice: Option<String>,
}

impl IndexFile {
    pub(crate) fn of(cache: &Path, profile: &str, workspace: &Path) -> Self {
        let family = format!("index-{profile}-");
        let place = sinew_skill::content_hash(workspace.as_os_str().as_encoded_bytes());
        Self { path: cache.join(format!("{family}{}.bin", &place[..16])), family }
    }

    pub(crate) fn load(&self) -> LoadedIndex {
        let loaded = self.load_own_or_newest();
        tracing::debug!(
            path = %self.path.display(),
            found = loaded.index.is_some(),
            notice = loaded.notice,
            "looked for the routing index"
        );
        loaded
    }

    fn load_own_or_newest(&self) -> LoadedIndex {
        match open(&self.path) {
            Some(Ok(index)) => LoadedIndex { index: Some(index), notice: None },
            Some(Err(error)) => {
                LoadedIndex { index: None, notice: Some(format!("the index was rebuilt: {error}")) }
            }
            None => {
                let newest = self.others().into_iter().next();
                let index = newest.and_then(|(_, path)| open(&path)?.ok());
                LoadedIndex { index, notice: None }
            }
        }
    }

    /// An index that cannot be saved only costs time at the next start, so it is no error.
    pub(crate) fn save(&self, index: &RouteIndex) {
        if let Err(error) = atomic::write(&self.path, &index.to_bytes(), FileAccess::OwnerOnly) {
            tracing::warn!(path = %self.path.display(), %error, "the routing index was not saved");
            return;
        }
        for (_, path) in self.others().into_iter().skip(KEPT_FILES - 1) {
            let _ = fs::remove_file(path);
        }
    }

    /// The files of other workspaces, newest first.
    fn others(&self) -> Vec<(SystemTime, PathBuf)> {
        let folder = self.path.parent().map(fs::read_dir);
        let mut files: Vec<(SystemTime, PathBuf)> = folder
            .into_iter()
            .flatten()
            .flatten()
            .flatten()
            .filter(|file| file.path() != self.path)
            .filter(|file| file.file_name().to_string_lossy().starts_with(&self.family))
            .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
            .collect();
        files.sort_unstable_by(|a, b| b.cmp(a));
        files
    }
}

/// `None` where there is no file.
fn open(path: &Path) -> Option<Result<RouteIndex, sinew_route::IndexError>> {
    Some(RouteIndex::open(Arc::new(MappedFile::open(path).ok()?)))
}
