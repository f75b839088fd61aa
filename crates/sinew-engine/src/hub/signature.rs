//! Who signed something that is not installed yet.

use std::path::Path;

use sinew_hub::signature::{SignatureRecord, SignatureRules, judge, judge_attestation};
use sinew_hub::tree::SkillTree;
use sinew_settings::ErrorCode;

use crate::{EngineError, HubHandle};

/// A larger archive is no skill.
const MAX_ARCHIVE: u64 = 100_000_000;

impl HubHandle<'_> {
    /// What the signature of a skill's folder or archive is worth; with an attestation, what that says
    /// about the archive's bytes.
    pub fn signature_of(
        &self,
        path: &Path,
        attestation: Option<&Path>,
    ) -> Result<SignatureRecord, EngineError> {
        let engine = self.engine;
        let rules = SignatureRules::read(&engine.config.signatures, &engine.env);
        let path = engine.env.cwd.join(path);
        let unusable = |error: &dyn std::fmt::Display| {
            EngineError::new(ErrorCode::BadArchive, format!("{}: {error}", path.display()))
                .hint("name a skill's folder, or its archive")
        };
        if path.is_dir() && attestation.is_none() {
            let tree = SkillTree::from_folder(&path).map_err(|error| unusable(&error))?;
            return Ok(judge(&tree, &rules));
        }
        let metadata =
            std::fs::metadata(&path).map_err(|error| EngineError::file("read", &path, error))?;
        if !metadata.is_file() || metadata.len() > MAX_ARCHIVE {
            return Err(unusable(&"it is no archive of a skill"));
        }
        let bytes =
            std::fs::read(&path).map_err(|error| EngineError::file("read", &path, error))?;
        if let Some(file) = attestation {
            let file = engine.env.cwd.join(file);
            let bundle = std::fs::read_to_string(&file)
                .map_err(|error| EngineError::file("read", &file, error))?;
            return Ok(judge_attestation(&bytes, &bundle, &rules));
        }
        let tree = SkillTree::from_archive(&bytes, 0).map_err(|error| unusable(&error))?;
        Ok(judge(&tree, &rules))
    }
}
