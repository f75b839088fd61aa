//! A folder or an archive on this machine: copied, never linked.

use std::path::Path;

use sinew_guard::archive::ArchiveLimits;
use sinew_settings::ErrorCode;
use sinew_skill::content_hash as sha256_hex;

use crate::error::HubError;
use crate::tree::SkillTree;

/// The files, and the digest and size of the archive if they came in one.
#[derive(Debug)]
pub struct LocalFiles {
    /// The files.
    pub tree: SkillTree,
    /// SHA-256 and size of the archive.
    pub archive: Option<(String, u64)>,
}

/// Reads a skill's folder, or an archive of it.
pub fn read_files(path: &Path) -> Result<LocalFiles, HubError> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            HubError::new(ErrorCode::NotFound, format!("there is no {}", path.display()))
        }
        _ => HubError::file("read", path, error),
    })?;
    if metadata.is_dir() {
        return Ok(LocalFiles { tree: SkillTree::from_folder(path)?, archive: None });
    }
    if metadata.len() > ArchiveLimits::SKILL.archive {
        let message = format!("{} has {} bytes", path.display(), metadata.len());
        return Err(HubError::new(ErrorCode::TooLarge, message));
    }
    let bytes = std::fs::read(path).map_err(|error| HubError::file("read", path, error))?;
    Ok(LocalFiles {
        tree: SkillTree::from_archive(&bytes, 0)?,
        archive: Some((sha256_hex(&bytes), bytes.len() as u64)),
    })
}
