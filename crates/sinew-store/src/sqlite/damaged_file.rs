//! A damaged file is set aside, and a new one takes its place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sinew_guard::atomic::FileLock;

use super::connection::DatabaseFile;
use super::maintenance::{beside, move_aside};
use super::query;
use crate::StoreError;

/// Sets a damaged file aside and returns its new path; leaves an intact one alone.
pub(super) fn set_aside_if_corrupt(
    path: &Path,
    stamp: &str,
    patience: Duration,
) -> Result<Option<PathBuf>, StoreError> {
    if !path.is_file() {
        return Ok(None);
    }
    // If two processes find the same damage, the second one must check again, or it would move the
    // new file that the first one created.
    let failed = |error: std::io::Error| StoreError::ReadOnly {
        place: path.display().to_string(),
        detail: error.to_string(),
    };
    let _lock = FileLock::acquire(&beside(path, ".lock")).map_err(failed)?;
    match damage(path, patience) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => {}
        Err(other) => return Err(other),
    }
    let aside = move_aside(path, "corrupt", stamp).map_err(failed)?;
    tracing::error!(file = %path.display(), ?aside, "a damaged database was set aside");
    Ok(aside)
}

pub(super) fn damage(path: &Path, patience: Duration) -> Result<Option<String>, StoreError> {
    let (file, connection) = DatabaseFile::open(path, patience)?;
    file.retry_while_busy(|| query::first_defect(&connection))
        .map_err(|fault| file.explain(fault, "be checked"))
}
