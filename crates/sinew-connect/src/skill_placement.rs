//! One installed skill in an agent's folder: as a link, or as a copy that carries the digest of what
//! was copied.
//!
//! **Must never happen here:** something replaced or removed that sinew did not put there, or that was
//! edited since.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use sinew_guard::staging::{StagedFileMode, StagedTree};
use sinew_hub::HubError;
use sinew_hub::digest::{FileRecord, tree_sha256};
use sinew_hub::manifest::PlacementMode;
use sinew_hub::tree::{SkillTree, records_of};

/// The file that marks a folder as a copy of ours.
const MARK: &str = ".sinew-origin.json";
/// How a copy is named that is about to be removed.
const OLD: &str = ".sinew-old-";

/// What became of a skill in an agent's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacementOutcome {
    /// It is there as it should be.
    Unchanged,
    /// A link was made.
    Linked,
    /// A copy was made.
    Copied,
    /// It was taken away.
    Removed,
    /// Something else is there, and stays.
    Kept(String),
}

/// What stands at a place.
enum Occupant {
    Nothing,
    /// A link into the folder of skills.
    OurLink(PathBuf),
    /// A copy of ours; `None` if it was edited.
    OurCopy(Option<String>),
    /// Links that `sinew connect` made.
    Shared,
    Other(&'static str),
}

/// Puts a skill of `skills` into an agent's folder.
pub fn place_skill(
    source: &Path,
    target: &Path,
    skills: &Path,
    mode: PlacementMode,
) -> Result<PlacementOutcome, HubError> {
    let failed = |error: io::Error| HubError::file("write", target, error);
    if same_folder(source, target) {
        return Ok(PlacementOutcome::Unchanged);
    }
    let Some(parent) = target.parent() else { return Ok(PlacementOutcome::Unchanged) };
    fs::create_dir_all(parent).map_err(failed)?;
    // A link's own text counts from where its folder really is: people link an agent's folder to
    // another one.
    let (source, target, skills) = (real(source), real(target), real(skills));
    let (source, target, skills) = (source.as_path(), target.as_path(), skills.as_path());
    let Some(parent) = target.parent() else { return Ok(PlacementOutcome::Unchanged) };
    sweep(parent);
    let mode = if cfg!(unix) { mode } else { PlacementMode::Copy };
    match (occupant(target, skills), mode) {
        (Occupant::Other(what), _) => return Ok(PlacementOutcome::Kept(what.to_owned())),
        (Occupant::Shared, _) => return Ok(PlacementOutcome::Unchanged),
        (Occupant::OurCopy(None), _) => {
            return Ok(PlacementOutcome::Kept("the copy there was edited".to_owned()));
        }
        (Occupant::OurLink(to), PlacementMode::Link) if to == source => {
            return Ok(PlacementOutcome::Unchanged);
        }
        (Occupant::OurCopy(Some(digest)), PlacementMode::Copy) if digest == digest_of(source)? => {
            return Ok(PlacementOutcome::Unchanged);
        }
        (Occupant::OurCopy(Some(_)), PlacementMode::Link) => take_away(target).map_err(failed)?,
        (Occupant::OurLink(_), PlacementMode::Copy) => fs::remove_file(target).map_err(failed)?,
        (Occupant::Nothing | Occupant::OurLink(_) | Occupant::OurCopy(_), _) => {}
    }
    match mode {
        PlacementMode::Link => {
            link(source, target).map_err(failed)?;
            Ok(PlacementOutcome::Linked)
        }
        PlacementMode::Copy => {
            copy(source, target, parent)?;
            Ok(PlacementOutcome::Copied)
        }
    }
}

/// Takes a skill out of an agent's folder, if it is ours and was not edited.
pub fn remove_placement(target: &Path, skills: &Path) -> Result<PlacementOutcome, HubError> {
    let failed = |error: io::Error| HubError::file("remove", target, error);
    let (target, skills) = (real(target), real(skills));
    let (target, skills) = (target.as_path(), skills.as_path());
    match occupant(target, skills) {
        Occupant::Nothing | Occupant::Shared => Ok(PlacementOutcome::Unchanged),
        Occupant::OurLink(_) => {
            fs::remove_file(target).map_err(failed)?;
            Ok(PlacementOutcome::Removed)
        }
        Occupant::OurCopy(Some(_)) => {
            take_away(target).map_err(failed)?;
            Ok(PlacementOutcome::Removed)
        }
        Occupant::OurCopy(None) => {
            Ok(PlacementOutcome::Kept("the copy there was edited".to_owned()))
        }
        Occupant::Other(what) => Ok(PlacementOutcome::Kept(what.to_owned())),
    }
}

/// Whether a skill would be put where it is.
fn same_folder(source: &Path, target: &Path) -> bool {
    real(source) == real(target)
}

/// A path whose folder is named without links; what stands there may be one.
fn real(path: &Path) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    fs::canonicalize(parent).map_or_else(|_| path.to_owned(), |parent| parent.join(name))
}

fn occupant(target: &Path, skills: &Path) -> Occupant {
    let Ok(facts) = fs::symlink_metadata(target) else { return Occupant::Nothing };
    if facts.file_type().is_symlink() {
        let Ok(to) = fs::read_link(target) else { return Occupant::Other("a link is there") };
        let to = plain(&target.parent().unwrap_or(target).join(to));
        return match to.starts_with(skills) {
            true => Occupant::OurLink(to),
            false => Occupant::Other("a link to something else is there"),
        };
    }
    if !facts.is_dir() {
        return Occupant::Other("a file is there");
    }
    let mark = fs::read(target.join(MARK)).ok();
    let mark = mark.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(mark) = mark.filter(|mark| mark["by"] == "sinew") else {
        return Occupant::Other("a folder that sinew did not make is there");
    };
    match mark["digest"].as_str() {
        None => Occupant::Shared,
        Some(digest) => {
            let now = digest_of(target).ok();
            Occupant::OurCopy(now.filter(|now| now == digest))
        }
    }
}

/// The digest of a skill's files, our mark left out.
fn digest_of(folder: &Path) -> Result<String, HubError> {
    let records = records_of(folder).map_err(HubError::from)?;
    let files: Vec<FileRecord> = records.into_iter().filter(|file| file.path != MARK).collect();
    Ok(tree_sha256(&files))
}

fn copy(source: &Path, target: &Path, parent: &Path) -> Result<(), HubError> {
    let failed = |error: io::Error| HubError::file("write", target, error);
    let tree = SkillTree::from_folder(source).map_err(HubError::from)?;
    let digest = tree_sha256(&tree.records());
    let stage = StagedTree::begin(parent).map_err(failed)?;
    let staged = HubError::from;
    for file in tree.files().iter().filter(|file| file.path != MARK) {
        let mode = if file.executable { StagedFileMode::Script } else { StagedFileMode::Plain };
        stage.write(&file.path, &file.bytes, mode).map_err(staged)?;
    }
    let mark = format!("{}\n", json!({ "by": "sinew", "from": source, "digest": digest }));
    stage.write(MARK, mark.as_bytes(), StagedFileMode::Plain).map_err(staged)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    stage.commit(&name).map_err(staged)
}

/// A link that is old or new, never absent: made beside it, and moved over it.
#[cfg(unix)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    let parent = target.parent().unwrap_or(target);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let made = parent.join(format!("{OLD}link-{name}"));
    let _ = fs::remove_file(&made);
    std::os::unix::fs::symlink(relative(source, parent), &made)?;
    fs::rename(&made, target)
}

#[cfg(not(unix))]
fn link(_source: &Path, _target: &Path) -> io::Result<()> {
    Err(io::Error::other("links are not made on this system"))
}

/// Moves an unedited copy aside before it is removed, so that a kill leaves no half of it in sight.
fn take_away(target: &Path) -> io::Result<()> {
    let parent = target.parent().unwrap_or(target);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let old = parent.join(format!("{OLD}{name}"));
    fs::rename(target, &old)?;
    fs::remove_dir_all(&old)
}

/// Removes what a killed process moved aside.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(OLD) {
            let path = entry.path();
            let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
        }
    }
}

/// A path as seen from a folder, so that a project can be moved; across file systems' roots it stays
/// absolute.
fn relative(path: &Path, from: &Path) -> PathBuf {
    let (path_parts, from_parts): (Vec<_>, Vec<_>) =
        (path.components().collect(), from.components().collect());
    let shared = path_parts.iter().zip(&from_parts).take_while(|(a, b)| a == b).count();
    if shared <= 1 {
        return path.to_owned();
    }
    let up = std::iter::repeat_n(Component::ParentDir, from_parts.len() - shared);
    up.chain(path_parts[shared..].iter().copied()).collect()
}

/// A path without `.` and `..`, read without following links.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
