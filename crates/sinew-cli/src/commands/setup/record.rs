//! What setup did, so that `--undo` takes back that and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sinew_engine::{Engine, EngineError};
use sinew_guard::atomic::{self, FileAccess};
use sinew_settings::ErrorCode;

/// Agents that setup connected, and folders that it had read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    #[serde(default)]
    pub(super) agents: BTreeSet<String>,
    #[serde(default)]
    pub(super) folders: BTreeSet<PathBuf>,
}

impl SetupRecord {
    pub(super) fn read(engine: &Engine) -> Result<Self, EngineError> {
        let path = path(engine);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(EngineError::file("read", &path, error)),
        };
        serde_json::from_slice(&text).map_err(|error| {
            let message = format!("{} cannot be read: {error}", path.display());
            EngineError::new(ErrorCode::BadConfig, message)
                .hint("`sinew disconnect <agent>` works without it; move the file away to go on")
        })
    }

    pub(super) fn connected(&mut self, agent: &str) {
        self.agents.insert(agent.to_owned());
    }

    pub(super) fn imported(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        self.folders.extend(folders);
    }

    /// Writes it; nothing to take back means no file.
    pub(super) fn write(&self, engine: &Engine) -> Result<(), EngineError> {
        let path = path(engine);
        if self.agents.is_empty() && self.folders.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(EngineError::file("remove", &path, error))
                }
                _ => Ok(()),
            };
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        atomic::write(&path, format!("{text}\n").as_bytes(), FileAccess::OwnerOnly)
            .map_err(|error| EngineError::file("write", &path, error))
    }
}

fn path(engine: &Engine) -> PathBuf {
    engine.environment().sinew_home().join("setup.json")
}
