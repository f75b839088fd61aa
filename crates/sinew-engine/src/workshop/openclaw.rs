//! Where OpenClaw keeps its own workshop store, and writing one safely.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_settings::ErrorCode;
use sinew_workshop::workspace_hash;

use crate::{EngineError, WorkshopHandle};

impl WorkshopHandle<'_> {
    /// OpenClaw's store of this workspace.
    pub fn openclaw_store(&self) -> PathBuf {
        let name = format!("{}.json", workspace_hash(self.engine.workspace()));
        self.engine.env.openclaw_state().0.join("skill-workshop").join(name)
    }

    /// Writes a store. The file it replaces is kept as a backup; a file that is not a store is not
    /// replaced.
    pub fn write_openclaw_store(
        &self,
        path: &Path,
        text: &str,
    ) -> Result<Option<PathBuf>, EngineError> {
        let lock = path.with_extension("lock");
        let _lock =
            FileLock::acquire(&lock).map_err(|error| EngineError::file("lock", &lock, error))?;
        let failed = |error: std::io::Error| EngineError::file("write", path, error);
        let backup = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
            Ok(bytes) => {
                let is_store = serde_json::from_slice::<Value>(&bytes)
                    .is_ok_and(|file| file["version"] == 1 && file["proposals"].is_array());
                if !is_store {
                    return Err(EngineError::new(
                        ErrorCode::TargetExists,
                        format!(
                            "{} is not a workshop store; it was not overwritten",
                            path.display()
                        ),
                    )
                    .hint("name another file, or move this one away"));
                }
                Some(atomic::backup(path).map_err(failed)?)
            }
        };
        atomic::write(path, text.as_bytes(), FileAccess::OwnerOnly).map_err(failed)?;
        Ok(backup)
    }
}
