//! A skill that its user no longer wants, taken out of every agent's reach.
//!
//! What was installed goes the hub's way, which keeps the lock in step. A folder that no lock knows is set
//! aside and never deleted: no other copy of it may exist.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use sinew_catalog::CatalogEntry;
use sinew_catalog::shell_word;
use sinew_settings::{Actor, ErrorCode};

use super::openpocket::copy_skill;
use crate::hub::{HubOverrides, InstallTarget};
use crate::{EngineError, SkillsHandle};

/// A skill that was removed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovedSkill {
    /// Its name.
    pub name: String,
    /// Where its files are now; absent for what can be installed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<PathBuf>,
}

impl SkillsHandle<'_> {
    /// Removes a skill, and records who did. Only a person can.
    pub fn remove(&self, entry: &CatalogEntry, actor: &Actor) -> Result<RemovedSkill, EngineError> {
        self.engine.check_gate()?;
        if !actor.is_person() {
            return Err(EngineError::new(
                ErrorCode::NeedsPerson,
                "only a person can remove a skill",
            ));
        }
        if entry.bundled {
            let said = format!("`{}` came with the program and cannot be removed", entry.name);
            return Err(EngineError::new(ErrorCode::SkillNotUsable, said)
                .hint(format!("`sinew disable {}` switches it off", shell_word(&entry.name))));
        }
        let hub = self.engine.hub().open(&HubOverrides { registry: None, offline: true })?;
        for place in [InstallTarget::Workspace, InstallTarget::Managed] {
            let workdir = self.engine.hub().workdir(place);
            let rows = hub.installed(&workdir)?;
            let row =
                rows.iter().find(|row| row.status != "extraneous" && row.path == entry.base_dir);
            if let Some(row) = row {
                hub.uninstall(&row.key, &workdir, actor)?;
                return Ok(RemovedSkill { name: entry.name.clone(), kept_at: None });
            }
        }
        let kept_at = self.set_aside(entry)?;
        let after = kept_at.to_string_lossy();
        let set =
            json!({"key": "skill", "before": entry.base_dir.to_string_lossy(), "after": after});
        self.engine.settings().note_set(&entry.name, actor, &[set]);
        Ok(RemovedSkill { name: entry.name.clone(), kept_at: Some(kept_at) })
    }

    /// Moves a skill's files into a folder of sinew's own, where no agent looks.
    fn set_aside(&self, entry: &CatalogEntry) -> Result<PathBuf, EngineError> {
        let env = self.engine.environment();
        let folder = env.sinew_home().join("removed");
        let target = folder.join(format!("{}-{}", entry.id, env.clock.now_ms()));
        let failed = |error: io::Error| EngineError::file("set aside", &target, error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let is_folder = entry.base_dir.file_name().is_some_and(|name| *name == *entry.id);
        let source: &Path = if is_folder { &entry.base_dir } else { &entry.file_path };
        match fs::rename(source, &target) {
            // The home may lie on another disk than the workspace.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                copy_skill(entry, &target).map_err(failed)?;
                match is_folder {
                    true => fs::remove_dir_all(source).map_err(failed)?,
                    false => fs::remove_file(source).map_err(failed)?,
                }
            }
            done => done.map_err(failed)?,
        }
        self.engine.forget_below(&entry.base_dir);
        Ok(target)
    }
}
