//! Restoring from a lock: exactly what it names, or nothing.

use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::hub::Hub;
use crate::install::{
    InstallPreparation, PreparationPurpose, PreparationStage, SkillInstallRequest,
};
use crate::lock::{
    ClawhubLock, LockEntry, ScanRecord, SkillsLock, SourceKind, SourceRecord, timestamp,
};
use crate::permit::ImportPermit;
use crate::reference::{ShorthandMeaning, SkillReference};
use crate::tree::SkillTree;
use crate::verify::{TreeStatus, folders};
use crate::workdir::Workdir;

/// How strictly a lock is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreStrictness {
    /// Ask for approval of entries that were never approved.
    Ask,
    /// Fail if any digest, source or approval would change.
    Frozen,
}

/// The result for one entry.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredSkill {
    /// Its folder below the skills root.
    pub key: String,
    /// `ok`, `restored` or `imported`.
    pub status: &'static str,
    /// The digest in the lock.
    pub digest: String,
}

impl Hub {
    /// Starts to prepare one entry of the lock; `None` where the disk holds what it names. Nothing
    /// should be put in place before every entry is prepared and approved, so that a failure
    /// changes nothing.
    pub fn prepare_restore(
        &self,
        key: &str,
        strictness: RestoreStrictness,
        by: &str,
        workdir: &Workdir,
    ) -> Result<Option<InstallPreparation<'_>>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let key = lock.find(key)?.to_owned();
        let entry = lock.skills[&key].clone();
        if strictness == RestoreStrictness::Frozen && entry.approval.is_none() {
            let message = format!("{key}: the lock's entry was never approved");
            return Err(HubError::new(ErrorCode::NeedsApproval, message));
        }
        let found = self.verified(&key, &entry, workdir);
        if found.status == TreeStatus::Ok {
            return Ok(None);
        }
        if found.status != TreeStatus::Missing || !found.missing.is_empty() {
            let message = format!("{key} has local changes");
            return Err(HubError::new(ErrorCode::LocalChanges, message)
                .hint("move the folder away, then restore again"));
        }
        let stage = PreparationStage::Fetch(Box::new(self.resolve_locked(&entry)?));
        let reference = SkillReference::parse(&entry.source.requested, ShorthandMeaning::GitHub)?;
        let mut request = SkillInstallRequest::new(reference, by);
        request.name = Some(key);
        let purpose = PreparationPurpose::Restore(Box::new(entry));
        Ok(Some(InstallPreparation::new(self, request, workdir, lock, purpose, stage)))
    }

    /// Adds skills that other tools installed here to the lock. They are not approved, so they are
    /// held back until a person approves them.
    pub fn import(
        &self,
        _permit: ImportPermit,
        workdir: &Workdir,
    ) -> Result<Vec<RestoredSkill>, HubError> {
        workdir.recover(&self.env)?;
        let theirs = ClawhubLock::read(&workdir.root).unwrap_or_default();
        let skills = SkillsLock::read(&workdir.root);
        let entered = workdir.acquire(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let mut done = Vec::new();
        for key in folders(workdir).into_iter().filter(|key| !lock.skills.contains_key(key)) {
            let folder = workdir.target(&key);
            let noted = origin(&folder);
            let locked = theirs.entries().find(|(known, _)| *known == key).map(|(_, entry)| entry);
            let text = |value: Option<&serde_json::Value>, name: &str| {
                value.and_then(|value| value.get(name)?.as_str()).map(str::to_owned)
            };
            let slug = key.rsplit('/').next().unwrap_or(&key).to_owned();
            let mut source = match (noted.is_some() || locked.is_some(), skills.skills.get(&key)) {
                (true, _) => {
                    let mut source = SourceRecord::new(SourceKind::Clawhub, &key);
                    source.registry = text(noted.as_ref(), "registry");
                    if source.registry.is_none() {
                        source.registry = Some(self.registry(None)?.address());
                    }
                    source.owner =
                        text(noted.as_ref(), "ownerHandle").or_else(|| text(locked, "ownerHandle"));
                    source
                }
                (false, Some(entry)) => {
                    let requested = match &entry.at {
                        Some(at) => format!("{}@{key}#{at}", entry.source),
                        None => format!("{}@{key}", entry.source),
                    };
                    let kind = match entry.source_type.as_deref() {
                        Some("well-known") => SourceKind::WellKnown,
                        Some("local") => SourceKind::Local,
                        Some("git") => SourceKind::Git,
                        _ => SourceKind::Github,
                    };
                    let mut source = SourceRecord::new(kind, &requested);
                    source.repo = Some(entry.source.clone());
                    source
                }
                // The user's own skill: it needs no entry in a lock.
                (false, None) => continue,
            };
            source.slug = Some(text(noted.as_ref(), "slug").unwrap_or(slug));
            let tree = SkillTree::from_folder(&folder)?;
            let files = tree.records();
            let report = self.scanner().scan_bundle(&tree.bundle(&key));
            let prints = tree.fingerprints();
            let now = timestamp(&*self.env.clock);
            let version = text(noted.as_ref(), "installedVersion")
                .or_else(|| text(locked, "version"))
                .unwrap_or_else(|| "unknown".to_owned());
            let entry = LockEntry {
                tree_sha256: crate::digest::tree_sha256(&files),
                source,
                version,
                files,
                scan_digest: None,
                fingerprint: Some(prints.published),
                fingerprint_with_meta: Some(prints.with_meta),
                content_hash: None,
                artifact: None,
                scan: ScanRecord::of(&report, report.verdict, now.clone()),
                capabilities: report.capabilities.clone(),
                signature: crate::signature::judge(&tree, &self.signatures),
                approval: None,
                upstream: None,
                unverified: true,
                pinned: false,
                pin_reason: None,
                installed_at: now.clone(),
                updated_at: now,
                retained: crate::lock::SkillRetention::Keep,
                run: None,
                other: serde_json::Map::new(),
            };
            done.push(RestoredSkill {
                key: key.clone(),
                status: "imported",
                digest: entry.tree_sha256.clone(),
            });
            let mut lock = workdir.lock(&self.env)?;
            lock.skills.insert(key, entry);
            lock.write(&workdir.lock_path())?;
        }
        drop(entered);
        Ok(done)
    }
}

/// The note that the upstream client left in a skill.
fn origin(folder: &std::path::Path) -> Option<serde_json::Value> {
    let names = [".clawhub/origin.json", ".clawdhub/origin.json"];
    names
        .iter()
        .find_map(|name| serde_json::from_slice(&std::fs::read(folder.join(name)).ok()?).ok())
}
