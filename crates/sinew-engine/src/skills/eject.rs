//! A skill that came with the program, copied to where its user can change it.
//!
//! The copy has a higher rank than the original, so it is used from then on; the catalog says so.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_settings::{ErrorCode, nearest};
use sinew_skill::names::index_name;

use super::new_skill::refuse_existing;
use super::openpocket::copy_skill;
use crate::{EngineError, SkillsHandle};

/// A carried skill that was copied.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EjectedSkill {
    /// Its name.
    pub name: String,
    /// The file to edit.
    pub path: PathBuf,
    /// The folder that it was copied from.
    pub from: PathBuf,
    /// Whether the copy is used instead of the original, which is so in every folder that is read.
    pub used: bool,
}

impl SkillsHandle<'_> {
    /// The skills that came with the program, also those that another of their name replaces.
    pub fn carried<'a>(&self, catalog: &'a Catalog) -> Vec<&'a CatalogEntry> {
        catalog.entries.iter().filter(|entry| entry.bundled).collect()
    }

    /// Copies a carried skill into a folder, where no skill of its name may be.
    pub fn eject(
        &self,
        catalog: &Catalog,
        wanted: &str,
        folder: &Path,
    ) -> Result<EjectedSkill, EngineError> {
        self.engine.check_gate()?;
        let carried = self.carried(catalog);
        let index = index_name(wanted);
        let entry = carried.iter().find(|entry| index_name(&entry.name) == index);
        let Some(entry) = entry else { return Err(unknown(wanted, &carried)) };
        let target = folder.join(&entry.id);
        refuse_existing(&target)?;
        copy_skill(entry, &target).map_err(|error| EngineError::file("write", &target, error))?;
        let now = self.engine.snapshot();
        let path = target.join(sinew_catalog::SKILL_FILE);
        let copy = now.catalog.unshadowed().find(|copy| copy.name == entry.name);
        Ok(EjectedSkill {
            name: entry.name.clone(),
            used: copy.is_some_and(|copy| same_file(&copy.file_path, &path)),
            path,
            from: entry.base_dir.clone(),
        })
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    one == other || std::fs::canonicalize(one).ok() == std::fs::canonicalize(other).ok()
}

fn unknown(wanted: &str, carried: &[&CatalogEntry]) -> EngineError {
    let said = format!("sinew carries no skill `{}`", wanted.escape_debug());
    let error = EngineError::new(ErrorCode::UnknownSkill, said);
    match nearest(wanted, carried.iter().map(|entry| entry.name.as_str())).first() {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`sinew bundled list` shows those that it carries"),
    }
}
