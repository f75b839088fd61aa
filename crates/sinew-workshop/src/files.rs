//! The files of a workspace: read without following links, written old or new, never outside.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::containment::{FileOpenError, open_regular};
use sinew_skill::content_hash;

use crate::error::{Result, WorkshopError};

/// A larger skill file is not read by the workshop.
const MAX_READ: u64 = 1024 * 1024;

/// Files of a folder that is moved as a whole; what was learned has a handful.
const MAX_FILES: usize = 200;

/// A file of the workspace, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkspaceFile {
    pub(crate) text: String,
    pub(crate) sha256: String,
}

/// The path of a skill's file.
pub(crate) fn skill_path(name: &str) -> String {
    format!("skills/{name}/SKILL.md")
}

/// The path of the notes about an installed skill.
pub fn overlay_path(name: &str) -> String {
    format!(".sinew/overlays/{name}/LEARNED.md")
}

/// Reads a file by its path below the workspace; `None` where there is none.
pub(crate) fn read(workspace: &Path, path: &str) -> Result<Option<WorkspaceFile>> {
    let full = workspace.join(path);
    let dir = match Dir::open_ambient_dir(workspace, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(WorkshopError::Io { path: workspace.to_owned(), error }),
    };
    let file = match open_regular(&dir, Path::new(path)) {
        Ok(file) => file,
        Err(FileOpenError::NotFound) => return Ok(None),
        Err(FileOpenError::Link) => return Err(WorkshopError::Escapes(path.to_owned())),
        // A path with a link that leads out of the workspace ends here.
        Err(FileOpenError::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(WorkshopError::Escapes(path.to_owned()));
        }
        Err(other) => return Err(WorkshopError::Io { path: full, error: io::Error::other(other) }),
    };
    let bytes = file.read(MAX_READ).map_err(|error| WorkshopError::Io {
        path: full.clone(),
        error: io::Error::other(error),
    })?;
    let sha256 = content_hash(&bytes);
    let text = String::from_utf8(bytes)
        .map_err(|error| WorkshopError::Io { path: full, error: io::Error::other(error) })?;
    Ok(Some(WorkspaceFile { text, sha256 }))
}

/// Every file below a folder of the workspace, by its path below the workspace. Links are not
/// followed but are an error: what they lead to must not be moved.
pub(crate) fn files_below(workspace: &Path, folder: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let full = workspace.join(&folder);
        for entry in fs::read_dir(&full).map_err(WorkshopError::io(&full))? {
            let entry = entry.map_err(WorkshopError::io(&full))?;
            let kind = entry.file_type().map_err(WorkshopError::io(&full))?;
            let Ok(name) = entry.file_name().into_string() else {
                return Err(WorkshopError::Escapes(entry.path().to_string_lossy().into_owned()));
            };
            let path = format!("{folder}/{name}");
            match kind {
                _ if found.len() + waiting.len() >= MAX_FILES => {
                    return Err(WorkshopError::TooManyFiles(MAX_FILES));
                }
                kind if kind.is_dir() => waiting.push(path),
                kind if kind.is_file() => found.push(path),
                _ => return Err(WorkshopError::Escapes(path)),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Refuses a path whose folders lead out of the workspace, whatever it says.
pub(crate) fn check_contained(workspace: &Path, path: &str) -> Result<PathBuf> {
    let escapes = || WorkshopError::Escapes(path.to_owned());
    let plain = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if !plain || Path::new(path).is_absolute() {
        return Err(escapes());
    }
    let full = workspace.join(path);
    let real = match fs::canonicalize(workspace) {
        Ok(real) => real,
        // A workspace that does not exist yet is created by the write, and holds no links.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(full),
        Err(error) => return Err(WorkshopError::Io { path: workspace.to_owned(), error }),
    };
    for folder in full.ancestors().skip(1).take_while(|folder| folder.starts_with(workspace)) {
        match fs::canonicalize(folder) {
            Ok(folder) if folder.starts_with(&real) => break,
            Ok(_) => return Err(escapes()),
            // It is created later; the folder above it decides. A dangling link is not written through.
            Err(_) if fs::symlink_metadata(folder).is_ok() => return Err(escapes()),
            Err(_) => {}
        }
    }
    if fs::symlink_metadata(&full).is_ok_and(|found| found.is_symlink()) {
        return Err(escapes());
    }
    Ok(full)
}

/// Writes or removes a file; afterwards it is as wanted, or, after an error, as it was.
pub(crate) fn write(workspace: &Path, path: &str, content: Option<&str>) -> Result<()> {
    let full = check_contained(workspace, path)?;
    match content {
        Some(text) => {
            let access = match () {
                () if full.exists() => FileAccess::Same,
                // A script is for its owner to run, once they have read it.
                () if text.starts_with("#!") => FileAccess::OwnerRuns,
                () => FileAccess::Shared,
            };
            atomic::write(&full, text.as_bytes(), access).map_err(WorkshopError::io(&full))
        }
        None => {
            match fs::remove_file(&full) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(WorkshopError::Io { path: full, error });
                }
                _ => {}
            }
            remove_empty_folders(workspace, path);
            Ok(())
        }
    }
}

/// Removes the folders above a path that hold nothing, up to `skills` or `.sinew`.
pub(crate) fn remove_empty_folders(workspace: &Path, path: &str) {
    let parts = path.split('/').count();
    let mut folder = workspace.join(path);
    for _ in 0..parts.saturating_sub(2) {
        folder.pop();
        // A folder that is not empty is not removed, which is intended.
        if fs::remove_dir(&folder).is_err() {
            return;
        }
    }
}

/// Removes temporary files that an interrupted atomic write left beside a path.
pub(crate) fn remove_litter(workspace: &Path, path: &str) {
    let full = workspace.join(path);
    let Some(entries) = full.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".sinew-") && name.ends_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}
