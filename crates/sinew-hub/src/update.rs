//! Updating installed skills: never silently, and never over local changes.

use std::collections::BTreeSet;

use semver::Version;
use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::digest::{META_FILE, tree_sha256};
use crate::error::HubError;
use crate::hub::Hub;
use crate::install::{
    ExistingSkill, InstallApprover, InstallRisk, ReviewOccasion, RuleAcceptance,
    SkillInstallRequest, VersionDiff, pinned_error,
};
use crate::lock::{ApprovalMethod, LockEntry};
use crate::net::DownloadProgress;
use crate::reference::{RegistryRef, RequestedVersion, ShorthandMeaning, SkillReference};
use crate::registry::QualifiedSlug;
use crate::resolve::ResolvedVersion;
use crate::tree::SkillTree;
use crate::verify::missing_folder_error;
use crate::workdir::Workdir;

/// Options of an update.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// Only report what would change.
    pub dry_run: bool,
    /// Whether to replace local changes; a copy of them is kept.
    pub overwrite: bool,
    /// Risks that were accepted beforehand.
    pub accepted: BTreeSet<InstallRisk>,
    /// Findings that a person accepted.
    pub acceptance: Vec<RuleAcceptance>,
    /// Which version; the latest by default.
    pub wanted: RequestedVersion,
    /// Who requests it.
    pub by: String,
    /// The skills that are already installed.
    pub neighbours: Vec<ExistingSkill>,
}

/// The result for one skill.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateResult {
    /// Its folder below the skills root.
    pub key: String,
    /// How the update ended.
    pub status: UpdateStatus,
    /// The version before.
    pub from: String,
    /// The version now, or the one that is available.
    pub to: String,
    /// What changed or would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<VersionDiff>,
    /// A copy of the previous folder, if it had local changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<std::path::PathBuf>,
    /// The digest of its files now.
    pub digest: String,
}

/// How an update ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateStatus {
    /// There is nothing newer.
    Current,
    /// It was updated.
    Updated,
    /// There is something newer, and nothing was changed.
    Available,
}

impl UpdateStatus {
    /// The name that records and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Updated => "updated",
            Self::Available => "available",
        }
    }
}

impl Hub {
    /// Updates one skill.
    pub fn update(
        &self,
        key: &str,
        how: &UpdateRequest,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: DownloadProgress<'_>,
    ) -> Result<UpdateResult, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let key = lock.find(key)?.to_owned();
        let entry = lock.skills[&key].clone();
        if entry.pinned {
            return Err(pinned_error(&key, &entry));
        }
        let ask = self.ask_for(&key, &entry, how)?;
        let resolved = self.resolve(&ask.reference).map_err(|error| self.gone(error))?;
        self.upstream_first(&key, &entry, workdir, &resolved, how)?;
        self.moderate(&ask, gate, &resolved)?;
        let target = workdir.target(&key);
        if !target.is_dir() {
            return Err(missing_folder_error(&key));
        }
        let local = SkillTree::from_folder(&target)?;
        let untouched = tree_sha256(&local.records()) == entry.tree_sha256;
        if !untouched && !how.overwrite && !self.is_known(&entry, &local)? {
            let message = format!("{key} has local changes");
            return Err(HubError::new(ErrorCode::LocalChanges, message)
                .hint(format!("sinew verify {key}"))
                .hint("--overwrite replaces them and keeps a copy"));
        }
        if untouched && let Some(current) = self.is_current(&key, &entry, &resolved, &how.wanted)? {
            return Ok(current);
        }
        let occasion = ReviewOccasion::Update;
        let prepared = self.examine(&ask, workdir, &lock, gate, resolved, occasion, progress)?;
        let same = prepared.proposal.digest == entry.tree_sha256;
        let mut updated = UpdateResult {
            key: key.clone(),
            status: UpdateStatus::Current,
            from: entry.version.clone(),
            to: prepared.proposal.version.clone(),
            diff: prepared.proposal.diff.clone(),
            backup: None,
            digest: prepared.proposal.digest.clone(),
        };
        if same && untouched {
            return Ok(updated);
        }
        if how.dry_run {
            updated.status = UpdateStatus::Available;
            return Ok(updated);
        }
        let safe = self.settings.auto_safe
            && prepared.proposal.reviewed
            && prepared.proposal.upstream == "clean"
            && prepared
                .proposal
                .diff
                .as_ref()
                .is_some_and(|diff| !diff.needs_a_person(prepared.proposal.verdict));
        let approval = match (&entry.approval, safe) {
            // The approved bytes replace local changes, so the earlier approval still applies.
            (Some(approval), _) if approval.digest == prepared.proposal.digest => approval.clone(),
            (_, true) => {
                let why = Some("hub.updates is auto-safe, and only text changed".to_owned());
                self.approval(&prepared, "sinew".to_owned(), ApprovalMethod::Policy, why)
            }
            (_, false) => self.request_approval(&prepared, gate)?,
        };
        let installed = self.commit(prepared, approval, workdir)?;
        updated.status = UpdateStatus::Updated;
        updated.backup = installed.backup;
        Ok(updated)
    }

    fn ask_for(
        &self,
        key: &str,
        entry: &LockEntry,
        how: &UpdateRequest,
    ) -> Result<SkillInstallRequest, HubError> {
        let source = &entry.source;
        let reference = match (source.kind.is_registry(), &source.registry, &source.slug) {
            (true, Some(address), Some(slug)) => SkillReference::Registry(RegistryRef {
                registry: Some(self.registry_at(address)?.name.clone()),
                owner: source.owner.clone(),
                slug: slug.clone(),
                wanted: how.wanted.clone(),
            }),
            _ => SkillReference::parse(&source.requested, ShorthandMeaning::GitHub)?,
        };
        let mut ask = SkillInstallRequest::new(reference, &how.by);
        ask.name = Some(key.to_owned());
        ask.overwrite = true;
        ask.accepted.clone_from(&how.accepted);
        ask.acceptance.clone_from(&how.acceptance);
        ask.neighbours.clone_from(&how.neighbours);
        Ok(ask)
    }

    fn gone(&self, error: HubError) -> HubError {
        match error.code {
            ErrorCode::NotFound | ErrorCode::Gone => {
                let mut gone = HubError::new(ErrorCode::Gone, error.message);
                gone.hints = error.hints;
                gone.hint("it stays as it is; `sinew uninstall --gone` offers to remove it")
            }
            _ => error,
        }
    }

    /// Records the registry's current verdict before anything else happens.
    fn upstream_first(
        &self,
        key: &str,
        entry: &LockEntry,
        workdir: &Workdir,
        resolved: &ResolvedVersion,
        how: &UpdateRequest,
    ) -> Result<(), HubError> {
        let verdict = resolved.verdict();
        let known = entry.upstream.as_ref().map(|upstream| upstream.verdict.as_str());
        let matters = entry.source.kind.is_registry() && known != Some(verdict);
        if matters && (verdict == "malicious" || !how.dry_run) {
            let entered = workdir.acquire(&self.env)?;
            self.record_upstream(&entered, key, verdict, false)?;
        }
        Ok(())
    }

    /// Whether a changed tree is a version that the registry published.
    fn is_known(&self, entry: &LockEntry, local: &SkillTree) -> Result<bool, HubError> {
        let source = &entry.source;
        let (true, Some(address), Some(slug)) =
            (source.kind.is_registry(), &source.registry, &source.slug)
        else {
            return Ok(false);
        };
        let registry = self.registry_at(address)?;
        let skill = QualifiedSlug { slug, owner: source.owner.as_deref() };
        let prints = local.fingerprints();
        for print in [&prints.published, &prints.with_meta] {
            if registry.resolve(skill, print)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether there is nothing newer. The same version with other bytes is an error.
    fn is_current(
        &self,
        key: &str,
        entry: &LockEntry,
        resolved: &ResolvedVersion,
        wanted: &RequestedVersion,
    ) -> Result<Option<UpdateResult>, HubError> {
        let current = || {
            Ok(Some(UpdateResult {
                key: key.to_owned(),
                status: UpdateStatus::Current,
                from: entry.version.clone(),
                to: entry.version.clone(),
                diff: None,
                backup: None,
                digest: entry.tree_sha256.clone(),
            }))
        };
        let source = &entry.source;
        if !source.kind.is_registry() {
            let same = resolved.source.commit.is_some() && resolved.source.commit == source.commit;
            return if same { current() } else { Ok(None) };
        }
        let Some(now) = &resolved.version else { return Ok(None) };
        if *now != entry.version {
            let versions = (Version::parse(now), Version::parse(&entry.version));
            let older = matches!(&versions, (Ok(now), Ok(then)) if now < then);
            return if older && *wanted == RequestedVersion::Latest { current() } else { Ok(None) };
        }
        let registry = self.registry_at(source.registry.as_deref().unwrap_or_default())?;
        let slug = source.slug.as_deref().unwrap_or_default();
        let document = registry
            .version(QualifiedSlug { slug, owner: source.owner.as_deref() }, &entry.version)?;
        let Some(files) = document.version.files else { return current() };
        let differs = files.iter().find(|listed| {
            // Registries accept other names for a skill file; it is compared under its own.
            let known = entry.files.iter().find(|file| file.path == listed.path).or_else(|| {
                listed
                    .path
                    .eq_ignore_ascii_case("skill.md")
                    .then(|| entry.files.iter().find(|file| file.path == "SKILL.md"))?
            });
            known.is_none_or(|known| {
                known.size != listed.size || !known.sha256.eq_ignore_ascii_case(&listed.sha256)
            })
        });
        let fewer = entry.files.iter().filter(|file| file.path != META_FILE).count() != files.len();
        match (differs, fewer) {
            (None, false) => current(),
            (differs, _) => {
                let which = differs.map(|file| file.path.as_str()).unwrap_or("its list of files");
                let which = sinew_guard::Untrusted::new(which).for_terminal();
                let message =
                    format!("{key}@{} has changed on its registry: {which}", entry.version);
                Err(HubError::new(ErrorCode::IntegrityMismatch, message).hint(
                    "a published version never changes: this may be a hijack; nothing was changed",
                ))
            }
        }
    }
}
