//! What `sinew sync` looks after in one workdir: the skills it installed, where it put them for
//! agents, and what it shares with the person's other machines.
//!
//! It is written before a change, so that after a crash the next run knows what may be unfinished.
//! **Must never happen here:** a skill listed that the user installed by hand and that no manifest ever
//! named, because what is listed may be removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::Environment;

use crate::error::HubError;
use crate::lock::put_aside;
use crate::own_remote::RemoteBase;
use crate::workdir::Workdir;

/// What a sync looks after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SyncRecord {
    /// Skills by their folder below the skills root.
    #[serde(default)]
    pub skills: BTreeMap<String, SyncedSkill>,
    /// What is shared with the person's other machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteBase>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A skill that a sync looks after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SyncedSkill {
    /// The skill that needs it, where the manifest does not name it itself.
    #[serde(default, rename = "neededBy", skip_serializing_if = "Option::is_none")]
    pub needed_by: Option<String>,
    /// Where agents find it.
    #[serde(default)]
    pub placements: Vec<PathBuf>,
}

impl SyncRecord {
    fn path(workdir: &Workdir) -> PathBuf {
        workdir.state.join("sync.json")
    }

    /// The record of a workdir. A damaged one is moved aside, and nothing is removed by it.
    pub fn read(workdir: &Workdir, env: &Environment) -> Result<Self, HubError> {
        let path = Self::path(workdir);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(HubError::file("read", &path, error)),
        };
        serde_json::from_slice(&bytes).map_err(|_| put_aside(&path, &*env.clock))
    }

    /// Replaces the record on disk; an unchanged one is not written.
    pub fn write(&self, workdir: &Workdir) -> Result<(), HubError> {
        let path = Self::path(workdir);
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let is_new = !Path::new(&path).exists();
        if (is_new && *self == Self::default())
            || std::fs::read(&path).is_ok_and(|known| known == text.as_bytes())
        {
            return Ok(());
        }
        atomic::write(&path, text.as_bytes(), FileAccess::Shared)
            .map_err(|error| HubError::file("write", &path, error))
    }
}
