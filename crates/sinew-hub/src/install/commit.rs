//! Putting a permitted skill in place: in one step, journalled, and recorded in both locks.
//!
//! **Must never happen here:** bytes on disk that are not those of the permit, a lock that disagrees
//! with the folder.

use std::path::PathBuf;

use serde::Serialize;
use sinew_guard::digest as guard_digest;
use sinew_guard::staging::{StagedFileMode, StagedTree};
use sinew_settings::ErrorCode;

use super::journal::{self, InstallJournal};
use super::review::{PreparedInstall, ReviewOccasion, pinned_error};
use crate::digest::{FileRecord, tree_sha256};
use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::{LockApproval, LockEntry, ScanRecord, UpstreamRecord, timestamp};
use crate::permit::InstallPermit;
use crate::tree::{SkillTree, TreeFile, records_of};
use crate::version_archive;
use crate::workdir::{Workdir, WorkdirGuard};

/// A skill that was installed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallReceipt {
    /// Its folder below the skills root.
    pub key: String,
    /// What it calls itself.
    pub name: String,
    /// The version or commit.
    pub version: String,
    /// The digest of its files.
    pub digest: String,
    /// Its folder.
    pub path: PathBuf,
    /// A copy of the previous folder, if it had local changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
}

impl Hub {
    /// Puts a prepared skill in its place, as its permit says.
    pub fn commit(&self, permit: InstallPermit) -> Result<InstallReceipt, HubError> {
        let InstallPermit { prepared, approval } = permit;
        let entered = prepared.workdir.acquire(&self.env)?;
        let key = prepared.review.key.clone();
        let backup = self.check_still_applies(&entered, &prepared)?;
        let entry = self.entry(&prepared, approval);
        let notes = crate::lock::notes(&entry, &*self.env.clock);
        let scan_digest = scan_digest(&entry.files, &notes);
        let entry = LockEntry { scan_digest: Some(scan_digest.clone()), ..entry };
        self.record_overrides(&prepared.accepted, &scan_digest)?;
        self.put(&entered, &key, &prepared.tree, &notes, &entry)?;
        drop(entered);
        let path = prepared.workdir.target(&key);
        let review = prepared.review;
        tracing::info!(skill = key, version = review.version, digest = review.digest, "installed");
        Ok(InstallReceipt {
            key,
            name: review.name,
            version: review.version,
            digest: review.digest,
            path,
            backup,
        })
    }

    /// Checks that what was prepared still applies; returns the backup of what would be lost.
    fn check_still_applies(
        &self,
        entered: &WorkdirGuard<'_>,
        prepared: &PreparedInstall,
    ) -> Result<Option<PathBuf>, HubError> {
        let (workdir, key) = (entered.workdir, &prepared.review.key);
        let lock = workdir.lock(&self.env)?;
        let now = lock.skills.get(key);
        if let Some(entry) = now.filter(|entry| entry.pinned) {
            return Err(pinned_error(key, entry));
        }
        let target = workdir.target(key);
        let exists = std::fs::symlink_metadata(&target).is_ok();
        if exists
            && prepared.review.occasion == ReviewOccasion::Install
            && !prepared.request.overwrite
        {
            let message = format!("{} already exists", target.display());
            return Err(HubError::new(ErrorCode::Exists, message).hint("--overwrite replaces it"));
        }
        if now.map(|entry| &entry.tree_sha256) != prepared.previous.as_ref().map(|e| &e.tree_sha256)
        {
            let message = format!("{key} was changed by another process meanwhile");
            return Err(HubError::new(ErrorCode::LocalChanges, message).hint("try again"));
        }
        if !exists {
            return Ok(None);
        }
        let found = records_of(&target).map(|files| tree_sha256(&files)).ok();
        match now.is_some_and(|entry| Some(&entry.tree_sha256) == found.as_ref()) {
            true => Ok(None),
            false => self.backup(workdir, key).map(Some),
        }
    }

    /// A copy of a folder that has local changes.
    pub(crate) fn backup(&self, workdir: &Workdir, key: &str) -> Result<PathBuf, HubError> {
        let tree = SkillTree::from_folder(&workdir.target(key))?;
        let name = format!("{}-{}.zip", key.replace('/', "--"), self.env.clock.now_ms());
        let path = workdir.state.join("backups").join(name);
        let failed = |error: std::io::Error| HubError::file("write", &path, error);
        let files = tree.files().iter().map(|file| (file.path.as_str(), file.bytes.as_slice()));
        let bytes = version_archive::pack(files, None).map_err(failed)?;
        sinew_guard::atomic::write(&path, &bytes, sinew_guard::atomic::FileAccess::OwnerOnly)
            .map_err(failed)?;
        Ok(path)
    }

    fn entry(&self, prepared: &PreparedInstall, approval: LockApproval) -> LockEntry {
        let now = timestamp(&*self.env.clock);
        let (review, previous) = (&prepared.review, prepared.previous.as_ref());
        let prints = prepared.tree.fingerprints();
        let registry = review.source.kind.is_registry();
        LockEntry {
            source: review.source.clone(),
            version: review.version.clone(),
            tree_sha256: review.digest.clone(),
            files: prepared.tree.records(),
            scan_digest: None,
            fingerprint: registry.then_some(prints.published),
            fingerprint_with_meta: Some(prints.with_meta),
            content_hash: prepared.fetched.content_hash.clone(),
            artifact: prepared.fetched.artifact.clone(),
            scan: ScanRecord::of(&prepared.report, review.verdict, now.clone()),
            capabilities: review.capabilities.clone(),
            signature: review.signature.clone(),
            approval: Some(approval),
            upstream: registry.then(|| UpstreamRecord {
                verdict: review.upstream.clone(),
                checked_at: now.clone(),
                gone: false,
            }),
            unverified: prepared.fetched.unverified,
            pinned: false,
            pin_reason: None,
            installed_at: previous.map_or_else(|| now.clone(), |entry| entry.installed_at.clone()),
            updated_at: now,
            retained: previous.map_or(prepared.request.retained, |entry| entry.retained),
            run: previous.map_or_else(|| prepared.request.run.clone(), |entry| entry.run.clone()),
            other: previous.map(|entry| entry.other.clone()).unwrap_or_default(),
        }
    }

    /// The change itself: journal, tree, locks.
    fn put(
        &self,
        entered: &WorkdirGuard<'_>,
        key: &str,
        tree: &SkillTree,
        notes: &[(String, Vec<u8>)],
        entry: &LockEntry,
    ) -> Result<(), HubError> {
        let target = entered.workdir.target(key);
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Err(HubError::new(
                ErrorCode::BadReference,
                format!("`{key}` cannot be the name of a folder"),
            ));
        };
        std::fs::create_dir_all(parent).map_err(|error| HubError::file("create", parent, error))?;
        let stage =
            StagedTree::begin(parent).map_err(|error| HubError::file("write", parent, error))?;
        for TreeFile { path, bytes, executable } in tree.files() {
            let mode = if *executable { StagedFileMode::Script } else { StagedFileMode::Plain };
            stage.write(path, bytes, mode)?;
        }
        for (path, bytes) in notes {
            stage.write(path, bytes, StagedFileMode::Plain)?;
        }
        // Check that the bytes on disk are exactly those that were approved.
        let staged = tree_sha256(&records_of(&stage.path())?);
        if staged != entry.tree_sha256 {
            let message = format!("{key}: the disk holds {staged}, not {}", entry.tree_sha256);
            return Err(HubError::new(ErrorCode::IntegrityMismatch, message));
        }
        journal::begin(
            entered,
            &InstallJournal::Install { key: key.to_owned(), entry: Box::new(entry.clone()) },
        )?;
        if let Err(error) = stage.commit(&name.to_string_lossy()) {
            journal::end(entered)?;
            return Err(error.into());
        }
        // From here on the journal protects it: the next process completes what is missing.
        journal::record(entered, &self.env, key, entry)?;
        journal::end(entered)
    }
}

/// The digest of the folder as the catalog's scan computes it, notes included.
fn scan_digest(files: &[FileRecord], notes: &[(String, Vec<u8>)]) -> String {
    let notes: Vec<FileRecord> =
        notes.iter().map(|(path, bytes)| FileRecord::of(&**path, bytes)).collect();
    let known = files.iter().chain(&notes);
    guard_digest::tree_of_hashes(
        known.filter_map(|file| Some((file.path.as_str(), guard_digest::from_hex(&file.sha256)?))),
    )
}
