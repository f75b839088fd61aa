//! OpenPocket's own commands: copying bundled skills into a workspace, and moving old files over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SKILL_FILE, Tier};
use sinew_guard::atomic::{self, FileAccess};

use crate::{EngineError, SkillsHandle};

/// What copying did.
#[derive(Debug, Default, Serialize)]
pub struct CopyReport {
    /// Skills that were chosen.
    pub selected: usize,
    /// Skills that were copied.
    pub copied: Vec<String>,
    /// Skills whose place was taken.
    pub skipped: Vec<String>,
}

/// What moving old single files over did.
#[derive(Debug, Default, Serialize)]
pub struct MigrationReport {
    /// Files that became folders.
    pub migrated: Vec<PathBuf>,
    /// Files whose folder exists already.
    pub skipped: Vec<PathBuf>,
}

impl SkillsHandle<'_> {
    /// The bundled skills that the workspace does not have yet.
    pub fn loadable_skills<'a>(&self, catalog: &'a Catalog) -> Vec<&'a CatalogEntry> {
        let here = |id: &str| {
            catalog.entries.iter().any(|entry| entry.tier == Tier::Workspace && entry.id == id)
                || self.workspace_skills().join(id).exists()
        };
        let bundled = catalog
            .entries
            .iter()
            .filter(|entry| entry.bundled && entry.state != EntryState::Broken);
        bundled.filter(|entry| !here(&entry.id)).collect()
    }

    fn workspace_skills(&self) -> PathBuf {
        self.engine.workspace().join("skills")
    }

    /// Copies bundled skills into the workspace, each as a whole, never over an existing one.
    pub fn load_into_workspace(&self, chosen: &[&CatalogEntry]) -> Result<CopyReport, EngineError> {
        let mut report = CopyReport { selected: chosen.len(), ..CopyReport::default() };
        for entry in chosen {
            let target = self.workspace_skills().join(&entry.id);
            if target.exists() {
                report.skipped.push(entry.id.clone());
                continue;
            }
            copy_skill(entry, &target)
                .map_err(|error| EngineError::file("write", &target, error))?;
            report.copied.push(entry.id.clone());
        }
        Ok(report)
    }

    /// Turns `foo.md` in the workspace into `foo/SKILL.md` with front matter.
    pub fn migrate_single_files(&self, catalog: &Catalog) -> Result<MigrationReport, EngineError> {
        let mut report = MigrationReport::default();
        let single = |entry: &&CatalogEntry| {
            let is_skill_file = entry
                .file_path
                .file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE));
            entry.tier == Tier::Workspace && entry.skill.is_some() && !is_skill_file
        };
        for entry in catalog.entries.iter().filter(single) {
            let target = entry.base_dir.join(&entry.id).join(SKILL_FILE);
            if target.exists() {
                report.skipped.push(entry.file_path.clone());
                continue;
            }
            migrate(entry, &target).map_err(|error| EngineError::file("write", &target, error))?;
            report.migrated.push(target);
        }
        Ok(report)
    }
}

fn migrate(entry: &CatalogEntry, target: &Path) -> io::Result<()> {
    let text = fs::read_to_string(&entry.file_path)?;
    let has_front =
        sinew_skill::split_front_matter(&text).is_ok_and(|fenced| fenced.front.is_some());
    let text = if has_front {
        text
    } else {
        // JSON strings are YAML strings, and quote whatever a title may hold.
        let quoted = |value: &str| serde_json::Value::String(value.to_owned()).to_string();
        let name = if sinew_skill::names::is_slug(&entry.id) {
            entry.id.clone()
        } else {
            quoted(&entry.id)
        };
        format!("---\nname: {name}\ndescription: {}\n---\n\n{text}", quoted(&entry.description))
    };
    atomic::write(target, text.as_bytes(), FileAccess::Shared)?;
    // The old file would win over the folder made from it; a backup is no skill.
    atomic::backup(&entry.file_path)?;
    fs::remove_file(&entry.file_path)
}

/// Copies through a temporary sibling and a rename; links are not followed.
pub(super) fn copy_skill(entry: &CatalogEntry, target: &Path) -> io::Result<()> {
    let parent = target.parent().unwrap_or(target);
    fs::create_dir_all(parent)?;
    let staging = tempfile::Builder::new().prefix(".sinew-").tempdir_in(parent)?;
    let is_folder = entry.base_dir.file_name().is_some_and(|name| *name == *entry.id);
    if is_folder {
        copy_folder(&entry.base_dir, staging.path())?;
    } else {
        fs::copy(&entry.file_path, staging.path().join(SKILL_FILE))?;
    }
    fs::rename(staging.keep(), target)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
