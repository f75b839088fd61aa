//! The folders between a project's root and the folder that an agent stands in.

use std::path::{Path, PathBuf};

/// A deeper project than this is not one.
const MAX_LEVELS: usize = 40;

/// The folders from `start` up to the root of its project, nearest first, and whether there is a root:
/// the nearest folder with `.git` in it. Where there is none, they are all folders above `start`.
///
/// The home folder itself is never a scope of a project below it: what lies there is personal.
pub(crate) fn folders_to_project_root(start: &Path, home: &Path) -> (Vec<PathBuf>, bool) {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in start.ancestors().take(MAX_LEVELS) {
        if folder == home && folder != start {
            break;
        }
        folders.push(folder.to_path_buf());
        if folder.join(".git").exists() {
            return (folders, true);
        }
    }
    (folders, false)
}
