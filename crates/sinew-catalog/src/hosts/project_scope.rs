//! The folders of a project with skills of their own: those between its root and the folder that an
//! agent stands in, and those below it.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use sinew_settings::path_text;

/// A deeper project than this is not one.
const MAX_LEVELS: usize = 40;

/// How deep packages lie in a project: `packages/group/name/part`.
const MAX_BELOW: usize = 4;
/// Folders that are looked into; a project with more keeps its skills near its root.
const MAX_FOLDERS: usize = 4_000;
/// Folders of others' code and of what was built.
const FOREIGN: &[&str] = &["node_modules", "target", "vendor", "dist", "build"];

/// The folders below `workspace` in which `inner` is a folder, each with its path below the workspace, the
/// nearest first. Links, hidden folders and those of others' code are not followed.
pub(crate) fn folders_below(workspace: &Path, inner: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(workspace.to_path_buf(), 0)]);
    let mut looked = 0;
    while let Some((folder, depth)) = waiting.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut children: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                !name.starts_with('.') && !FOREIGN.contains(&&*name)
            })
            .map(|entry| entry.path())
            .collect();
        children.sort();
        for child in children {
            looked += 1;
            if looked > MAX_FOLDERS {
                return found;
            }
            if child.join(inner).is_dir() {
                let below = child.strip_prefix(workspace).map(path_text).unwrap_or_default();
                found.push((child.clone(), below));
            }
            if depth + 1 < MAX_BELOW {
                waiting.push_back((child, depth + 1));
            }
        }
    }
    found
}

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
