//! sinew's own skills in an agent's folder: links, each with a mark that sinew made them.

use sinew_settings::CodedError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use sinew_catalog::{EntryState, Tier};
use sinew_guard::atomic::{self, FileAccess};

use super::agents::ConnectableAgent;
use crate::Connector;

/// The file that marks a folder as ours.
const MARK: &str = ".sinew-origin.json";

/// Skills that are put into an agent's folder.
#[derive(Debug, Serialize)]
pub struct SkillLinks {
    /// The folder.
    pub folder: PathBuf,
    /// Skills that are new there.
    pub added: Vec<String>,
    /// Names that are taken by something that is not ours.
    pub taken: Vec<String>,
    #[serde(skip)]
    sources: Vec<(String, PathBuf)>,
}

impl Connector<'_> {
    /// Which installed skills an agent's folder lacks.
    pub(super) fn plan_skills(
        &self,
        agent: &ConnectableAgent,
    ) -> Result<Option<SkillLinks>, CodedError> {
        let Some(folder) = self.skills_folder(agent) else { return Ok(None) };
        let snapshot = self.host.snapshot();
        let managed = snapshot.catalog.unshadowed().filter(|entry| {
            entry.tier == Tier::Managed
                && entry.state == EntryState::Ready
                && entry.base_dir.starts_with(&self.managed_folder)
        });
        let mut plan =
            SkillLinks { folder, added: Vec::new(), taken: Vec::new(), sources: Vec::new() };
        for entry in managed {
            let Some(name) = entry.base_dir.file_name().map(|name| name.to_string_lossy()) else {
                continue;
            };
            let target = plan.folder.join(&*name);
            if target.join(MARK).is_file() {
                continue;
            }
            match fs::symlink_metadata(&target) {
                Ok(_) => plan.taken.push(name.into_owned()),
                Err(_) => {
                    plan.added.push(name.clone().into_owned());
                    plan.sources.push((name.into_owned(), entry.base_dir.clone()));
                }
            }
        }
        Ok(Some(plan))
    }

    pub(super) fn create_links(&self, plan: &SkillLinks) -> Result<(), CodedError> {
        for (name, source) in &plan.sources {
            let target = plan.folder.join(name);
            self.publish_one(source, &target)
                .map_err(|error| CodedError::file("write", &target, error))?;
        }
        Ok(())
    }

    fn publish_one(&self, source: &Path, target: &Path) -> io::Result<()> {
        fs::create_dir_all(target)?;
        // The mark first, so that a folder that was left unfinished is known as ours.
        let mark = json!({ "by": "sinew", "from": source, "at": self.stamp() });
        atomic::write(&target.join(MARK), format!("{mark}\n").as_bytes(), FileAccess::Shared)?;
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            link(&entry.path(), &target.join(entry.file_name()))?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

/// Windows lets few users make links.
#[cfg(not(unix))]
fn link(source: &Path, target: &Path) -> io::Result<()> {
    if source.is_dir() {
        fs::create_dir(target)?;
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            link(&entry.path(), &target.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::copy(source, target).map(drop)
}

/// Folders of ours in an agent's folder.
pub(super) fn linked_folders(connector: &Connector<'_>, agent: &ConnectableAgent) -> Vec<PathBuf> {
    let Some(folder) = connector.skills_folder(agent) else { return Vec::new() };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = entries.map(|entry| entry.path()).filter(|path| is_ours(path));
    let mut ours: Vec<PathBuf> = ours.collect();
    ours.sort();
    ours
}

fn is_ours(folder: &Path) -> bool {
    let real = fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir());
    let mark = fs::read(folder.join(MARK)).ok();
    let mark = mark.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    real && mark.is_some_and(|mark| mark["by"] == "sinew")
}

/// Removes folders of ours. Links are removed, never their targets.
pub(super) fn remove_links(folders: &[PathBuf]) -> Result<(), CodedError> {
    for folder in folders {
        fs::remove_dir_all(folder).map_err(|error| CodedError::file("remove", folder, error))?;
    }
    Ok(())
}
