//! Updating installed skills: never silently, and never over local changes.

use std::collections::BTreeSet;

use semver::Version;
use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::digest::{META_FILE, tree_sha256};
use crate::error::HubError;
use crate::hub::Hub;
use crate::install::{
    ExistingSkill, InstallPreparation, InstallRisk, PreparationPurpose, PreparationStage,
    RuleAcceptance, SkillInstallRequest, UpdateBase, VersionDiff, pinned_error,
};
use crate::lock::LockEntry;
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

impl UpdateResult {
    /// The result for a skill that stays as the lock has it.
    fn current(key: &str, entry: &LockEntry) -> Self {
        Self {
            key: key.to_owned(),
            status: UpdateStatus::Current,
            from: entry.version.clone(),
            to: entry.version.clone(),
            diff: None,
            backup: None,
            digest: entry.tree_sha256.clone(),
        }
    }
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
    /// Starts to prepare an update.
    pub fn prepare_update(
        &self,
        key: &str,
        how: &UpdateRequest,
        workdir: &Workdir,
    ) -> Result<InstallPreparation<'_>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let key = lock.find(key)?.to_owned();
        let entry = lock.skills[&key].clone();
        if entry.pinned {
            return Err(pinned_error(&key, &entry));
        }
        let request = self.install_request(&key, &entry, how)?;
        let base = UpdateBase {
            key,
            entry,
            wanted: how.wanted.clone(),
            dry_run: how.dry_run,
            overwrite: how.overwrite,
        };
        let purpose = PreparationPurpose::Update(Box::new(base));
        let stage = PreparationStage::Resolve;
        Ok(InstallPreparation::new(self, request, workdir, lock, purpose, stage))
    }

    /// What the source offers now. The registry's verdict is recorded before anything else happens.
    pub(crate) fn resolve_update(
        &self,
        base: &UpdateBase,
        reference: &SkillReference,
        workdir: &Workdir,
    ) -> Result<ResolvedVersion, HubError> {
        let resolved = self.resolve(reference).map_err(gone)?;
        let verdict = resolved.verdict();
        let known = base.entry.upstream.as_ref().map(|upstream| upstream.verdict.as_str());
        let matters = base.entry.source.kind.is_registry() && known != Some(verdict);
        if matters && (verdict == "malicious" || !base.dry_run) {
            let entered = workdir.acquire(&self.env)?;
            self.record_upstream(&entered, &base.key, verdict, false)?;
        }
        Ok(resolved)
    }

    /// Whether the installed files differ from the lock; an error where that forbids an update.
    pub(crate) fn check_local_changes(
        &self,
        base: &UpdateBase,
        workdir: &Workdir,
    ) -> Result<bool, HubError> {
        let (key, entry) = (&base.key, &base.entry);
        let target = workdir.target(key);
        if !target.is_dir() {
            return Err(missing_folder_error(key));
        }
        let local = SkillTree::from_folder(&target)?;
        let changed = tree_sha256(&local.records()) != entry.tree_sha256;
        if changed && !base.overwrite && !self.is_known(entry, &local)? {
            let message = format!("{key} has local changes");
            return Err(HubError::new(ErrorCode::LocalChanges, message)
                .hint(format!("sinew verify {key}"))
                .hint("--overwrite replaces them and keeps a copy"));
        }
        Ok(changed)
    }

    fn install_request(
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
        let mut request = SkillInstallRequest::new(reference, &how.by);
        request.name = Some(key.to_owned());
        request.overwrite = true;
        request.accepted.clone_from(&how.accepted);
        request.acceptance.clone_from(&how.acceptance);
        request.neighbours.clone_from(&how.neighbours);
        Ok(request)
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
    pub(crate) fn is_current(
        &self,
        base: &UpdateBase,
        resolved: &ResolvedVersion,
    ) -> Result<Option<UpdateResult>, HubError> {
        let UpdateBase { key, entry, wanted, .. } = base;
        let current = || Ok(Some(UpdateResult::current(key, entry)));
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

/// Says of a skill that its registry no longer has what stays installed.
fn gone(error: HubError) -> HubError {
    match error.code {
        ErrorCode::NotFound | ErrorCode::Gone => {
            let mut gone = HubError::new(ErrorCode::Gone, error.message);
            gone.hints = error.hints;
            gone.hint("it stays as it is; `sinew uninstall --gone` offers to remove it")
        }
        _ => error,
    }
}
