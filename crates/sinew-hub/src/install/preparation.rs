//! Everything before the approval, as a state machine: resolve, check, fetch, verify, review.
//!
//! [`InstallPreparation::advance`] goes on until something needs an answer. A risk comes back as a
//! [`PausedPreparation`], which can only be continued by accepting the risk; so no caller can pass
//! over one. Nothing is written below the skills root here, only the cache, the lock's record of a
//! registry's verdict and, for what the guard blocks, a copy for inspection.

use sinew_guard::Untrusted;
use sinew_settings::ErrorCode;

use super::diff;
use super::review::{
    FetchFacts, InstallConcern, InstallReview, InstallRisk, PreparedInstall, ReviewOccasion,
    SkillInstallRequest, pinned_error, slug_of,
};
use super::scan::InstallScan;
use crate::digest::tree_sha256;
use crate::error::HubError;
use crate::fetch::FetchedVersion;
use crate::hub::Hub;
use crate::lock::{LockEntry, LockFile, ScanRecord, SourceKind, is_key};
use crate::net::DownloadProgress;
use crate::reference::RequestedVersion;
use crate::resolve::ResolvedVersion;
use crate::signature::{self, SignatureRecord, SignatureState};
use crate::tree::SkillTree;
use crate::update::UpdateResult;
use crate::workdir::Workdir;

/// An install, update or restore on its way to a review.
#[derive(Debug)]
pub struct InstallPreparation<'h> {
    context: PreparationContext<'h>,
    stage: PreparationStage,
}

/// Where a preparation has come to.
#[derive(Debug)]
pub enum PreparationStep<'h> {
    /// A risk has to be accepted before it goes on.
    Concern(Box<PausedPreparation<'h>>),
    /// Fetched, verified and scanned: it waits for approval.
    Ready(Box<PreparedInstall>),
    /// What is installed is already what was wanted.
    Current(Box<UpdateResult>),
}

/// A preparation that stopped at a risk. Dropping it ends the install.
#[derive(Debug)]
pub struct PausedPreparation<'h> {
    concern: InstallConcern,
    preparation: InstallPreparation<'h>,
}

impl<'h> PausedPreparation<'h> {
    /// The risk.
    pub fn concern(&self) -> &InstallConcern {
        &self.concern
    }

    /// Goes on although there is this risk.
    pub fn accept(mut self) -> InstallPreparation<'h> {
        self.preparation.context.request.accepted.insert(self.concern.risk);
        self.preparation
    }
}

/// What is prepared, and for which purpose.
#[derive(Debug)]
struct PreparationContext<'h> {
    hub: &'h Hub,
    workdir: Workdir,
    lock: LockFile,
    request: SkillInstallRequest,
    purpose: PreparationPurpose,
    /// Whether the installed files differ from the lock.
    local_changes: bool,
}

/// Why a skill is prepared.
#[derive(Debug)]
pub(crate) enum PreparationPurpose {
    /// It is new, or replaces what is there.
    Install,
    /// An installed skill is brought up to date.
    Update(Box<UpdateBase>),
    /// What the lock names is missing on disk.
    Restore(Box<LockEntry>),
}

/// What an update starts from.
#[derive(Debug)]
pub(crate) struct UpdateBase {
    pub(crate) key: String,
    pub(crate) entry: LockEntry,
    pub(crate) wanted: RequestedVersion,
    pub(crate) dry_run: bool,
    /// Whether local changes may be replaced.
    pub(crate) overwrite: bool,
}

/// The next thing to do. A stage is left when nothing in it needs an acceptance any more.
#[derive(Debug)]
pub(crate) enum PreparationStage {
    /// Find the version that the request means.
    Resolve,
    /// Ask the registry's moderation, then compare with what is on disk.
    Check(Box<ResolvedVersion>),
    /// Download the files.
    Fetch(Box<ResolvedVersion>),
    /// Judge the files, their source and their name.
    Review(Box<ResolvedVersion>, Box<FetchedVersion>),
}

impl Hub {
    /// Starts to prepare an install.
    pub fn prepare_install(
        &self,
        request: SkillInstallRequest,
        workdir: &Workdir,
    ) -> Result<InstallPreparation<'_>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let (purpose, stage) = (PreparationPurpose::Install, PreparationStage::Resolve);
        Ok(InstallPreparation::new(self, request, workdir, lock, purpose, stage))
    }
}

impl<'h> InstallPreparation<'h> {
    pub(crate) fn new(
        hub: &'h Hub,
        request: SkillInstallRequest,
        workdir: &Workdir,
        lock: LockFile,
        purpose: PreparationPurpose,
        stage: PreparationStage,
    ) -> Self {
        let (workdir, local_changes) = (workdir.clone(), false);
        let context = PreparationContext { hub, workdir, lock, request, purpose, local_changes };
        Self { context, stage }
    }

    /// Goes on to the next risk, or to the end.
    pub fn advance(self, progress: DownloadProgress<'_>) -> Result<PreparationStep<'h>, HubError> {
        let Self { mut context, mut stage } = self;
        loop {
            stage = match stage {
                PreparationStage::Resolve => match context.resolve()? {
                    Resolution::Found(resolved) => PreparationStage::Check(resolved),
                    Resolution::Concern(concern) => return Ok(context.pause(concern, stage)),
                },
                PreparationStage::Check(resolved) => {
                    if let Some(concern) = context.moderation_concern(&resolved)? {
                        return Ok(context.pause(concern, PreparationStage::Check(resolved)));
                    }
                    if let Some(current) = context.compare_with_disk(&resolved)? {
                        return Ok(PreparationStep::Current(Box::new(current)));
                    }
                    PreparationStage::Fetch(resolved)
                }
                PreparationStage::Fetch(mut resolved) => {
                    let fetched = context.hub.fetch(&mut resolved, progress)?;
                    PreparationStage::Review(resolved, Box::new(fetched))
                }
                PreparationStage::Review(resolved, fetched) => {
                    let concern = match context.source_concern(&resolved, &fetched) {
                        Some(concern) => Some(concern),
                        None => {
                            let key = context.target_key(&resolved, &fetched)?;
                            context.name_concern(&key, &resolved, &fetched)
                        }
                    };
                    if let Some(concern) = concern {
                        let stage = PreparationStage::Review(resolved, fetched);
                        return Ok(context.pause(concern, stage));
                    }
                    return Ok(PreparationStep::Ready(Box::new(
                        context.review(*resolved, *fetched)?,
                    )));
                }
            };
        }
    }
}

/// What a request resolves to.
enum Resolution {
    /// A version.
    Found(Box<ResolvedVersion>),
    /// The version has a risk.
    Concern(InstallConcern),
}

impl<'h> PreparationContext<'h> {
    fn pause(self, concern: InstallConcern, stage: PreparationStage) -> PreparationStep<'h> {
        let preparation = InstallPreparation { context: self, stage };
        PreparationStep::Concern(Box::new(PausedPreparation { concern, preparation }))
    }

    /// A concern, unless its risk was accepted.
    fn unaccepted(&self, risk: InstallRisk, skill: &str, detail: String) -> Option<InstallConcern> {
        let concern = || InstallConcern { risk, skill: skill.to_owned(), detail };
        (!self.request.accepted.contains(&risk)).then(concern)
    }

    fn occasion(&self) -> ReviewOccasion {
        match self.purpose {
            PreparationPurpose::Install => ReviewOccasion::Install,
            PreparationPurpose::Update(_) => ReviewOccasion::Update,
            PreparationPurpose::Restore(_) => ReviewOccasion::Restore,
        }
    }

    fn resolve(&self) -> Result<Resolution, HubError> {
        let request = &self.request;
        if let PreparationPurpose::Update(base) = &self.purpose {
            let found = self.hub.resolve_update(base, &request.reference, &self.workdir)?;
            return Ok(Resolution::Found(Box::new(found)));
        }
        let accepts_pending = request.accepted.contains(&InstallRisk::Pending);
        match self.hub.resolve_with(&request.reference, accepts_pending) {
            Ok(found) => Ok(Resolution::Found(Box::new(found))),
            Err(error)
                if error.code == ErrorCode::PendingScan
                    && error.hints.iter().any(|hint| hint.contains("--accept-pending")) =>
            {
                let skill = request.reference.to_string();
                let concern = self.unaccepted(InstallRisk::Pending, &skill, error.message.clone());
                concern.map(Resolution::Concern).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The registry's moderation comes first: no flag can override a malware verdict.
    fn moderation_concern(
        &self,
        resolved: &ResolvedVersion,
    ) -> Result<Option<InstallConcern>, HubError> {
        let Some(moderation) = &resolved.moderation else { return Ok(None) };
        let name = self.request.reference.to_string();
        let why = moderation.summary.clone().unwrap_or_else(|| moderation.reason_codes.join(", "));
        let why = Untrusted::new(&why.chars().take(300).collect::<String>()).for_terminal();
        if moderation.is_malware_blocked {
            let message = format!("{name}: its registry blocks it as malware ({why})");
            return Err(HubError::new(ErrorCode::BlockedUpstream, message)
                .hint("no flag overrides this; look for another skill"));
        }
        if !moderation.is_suspicious {
            return Ok(None);
        }
        let detail = format!("its registry flags it as suspicious ({why})");
        Ok(self.unaccepted(InstallRisk::Suspicious, &name, detail))
    }

    /// What is on disk may be in the way of an install, or be all that an update wants.
    fn compare_with_disk(
        &mut self,
        resolved: &ResolvedVersion,
    ) -> Result<Option<UpdateResult>, HubError> {
        match &self.purpose {
            PreparationPurpose::Install => {
                if let Some(key) = self.request.name.as_ref().or(resolved.key.as_ref()) {
                    self.check_target_is_free(key)?;
                }
                Ok(None)
            }
            PreparationPurpose::Update(base) => {
                self.local_changes = self.hub.check_local_changes(base, &self.workdir)?;
                if self.local_changes {
                    return Ok(None);
                }
                self.hub.is_current(base, resolved)
            }
            PreparationPurpose::Restore(_) => Ok(None),
        }
    }

    /// Refuses to overwrite or change what must stay.
    fn check_target_is_free(&self, key: &str) -> Result<(), HubError> {
        if let Some(entry) = self.lock.skills.get(key).filter(|entry| entry.pinned) {
            return Err(pinned_error(key, entry));
        }
        let target = self.workdir.target(key);
        if !self.request.overwrite && std::fs::symlink_metadata(&target).is_ok() {
            let message = format!("{} already exists", target.display());
            return Err(HubError::new(ErrorCode::Exists, message)
                .hint("`sinew update` brings it up to date; --overwrite replaces it"));
        }
        Ok(())
    }

    /// Whether the bytes come from where they should, with digests to verify them.
    fn source_concern(
        &self,
        resolved: &ResolvedVersion,
        fetched: &FetchedVersion,
    ) -> Option<InstallConcern> {
        let requested = self.request.reference.to_string();
        let foreign = fetched.foreign.as_ref().and_then(|(index, host)| {
            let detail = format!("the index of {index} points to {host}");
            self.unaccepted(InstallRisk::ForeignHost, &requested, detail)
        });
        let unverified = fetched.unverified && resolved.source.kind.is_registry();
        foreign.or_else(|| {
            let detail = "its registry gives no digests, so its files cannot be verified";
            unverified
                .then(|| self.unaccepted(InstallRisk::Unverified, &requested, detail.to_owned()))
                .flatten()
        })
    }

    /// The folder below the skills root, which must be a valid name and free.
    fn target_key(
        &self,
        resolved: &ResolvedVersion,
        fetched: &FetchedVersion,
    ) -> Result<String, HubError> {
        let key = match self.request.name.clone().or_else(|| resolved.key.clone()) {
            Some(key) => key,
            None => own_name(fetched)?,
        };
        if !is_key(&key) {
            return Err(HubError::new(
                ErrorCode::BadReference,
                format!("`{key}` cannot be the name of a folder"),
            ));
        }
        if self.occasion() == ReviewOccasion::Install {
            self.check_target_is_free(&key)?;
        }
        Ok(key)
    }

    /// Whether the owner and registry are the same as before, and no other skill has this name.
    fn name_concern(
        &self,
        key: &str,
        resolved: &ResolvedVersion,
        fetched: &FetchedVersion,
    ) -> Option<InstallConcern> {
        let now = resolved.source.identity();
        let before = self.lock.skills.get(key).map(|entry| entry.source.identity());
        let changed = before.filter(|before| *before != now).and_then(|before| {
            let detail = format!("it came from {before} and would now come from {now}");
            self.unaccepted(InstallRisk::OwnerChange, key, detail)
        });
        if changed.is_some() || resolved.source.kind == SourceKind::Local {
            return changed;
        }
        let target = self.workdir.target(key);
        let other = self.request.neighbours.iter().find(|neighbour| {
            neighbour.name.eq_ignore_ascii_case(&fetched.found.name) && neighbour.folder != target
        })?;
        let name = Untrusted::new(&fetched.found.name).for_terminal();
        let detail = format!(
            "a skill named {name} is already installed ({}); the new one is from {now}",
            other.origin,
        );
        self.unaccepted(InstallRisk::Shadows, key, detail)
    }

    /// Scans the files and builds the review to approve.
    fn review(
        self,
        mut resolved: ResolvedVersion,
        fetched: FetchedVersion,
    ) -> Result<PreparedInstall, HubError> {
        let key = self.target_key(&resolved, &fetched)?;
        let occasion = self.occasion();
        let previous = self.lock.skills.get(&key).cloned();
        resolved.source.slug.get_or_insert_with(|| slug_of(&key).to_owned());
        let digest = tree_sha256(&fetched.tree.records());
        let InstallScan { report, accepted, verdict } =
            self.hub.scan(&self.request, &fetched, &key, &digest)?;
        let version =
            resolved.version.clone().unwrap_or_else(|| digest["sha256:".len()..][..12].to_owned());
        let findings = ScanRecord::of(&report, verdict, String::new()).findings;
        let diff = previous.as_ref().and_then(|entry| {
            let old = SkillTree::from_folder(&self.workdir.target(&key)).ok()?;
            let new = (version.as_str(), &fetched.tree);
            Some(diff::between((entry, &old), new, &report.capabilities, &findings))
        });
        if let PreparationPurpose::Restore(entry) = &self.purpose
            && digest != entry.tree_sha256
        {
            let message = format!(
                "{key}: its source gives {digest}, but the lock names {}",
                entry.tree_sha256
            );
            return Err(
                HubError::new(ErrorCode::IntegrityMismatch, message).hint("nothing was changed")
            );
        }
        let signature = signature::judge(&fetched.tree, &self.hub.signatures);
        self.hub.signatures.check(&key, &signature)?;
        let mut warnings = warnings(&resolved, &fetched);
        warnings.extend(signature_warning(&signature, previous.as_ref()));
        let capabilities = serde_json::to_vec(&report.capabilities).unwrap_or_default();
        let review = InstallReview {
            occasion,
            name: fetched.found.name.clone(),
            description: fetched.found.description.clone(),
            reviewed: resolved.source.kind.is_reviewed(),
            version,
            digest,
            capabilities_digest: format!("sha256:{}", sinew_skill::content_hash(&capabilities)),
            verdict,
            ruleset: report.ruleset.clone(),
            findings,
            capabilities: report.capabilities.clone(),
            upstream: resolved.verdict().to_owned(),
            setup: resolved.setup.iter().map(|setup| setup.key.clone()).collect(),
            entries: Vec::new(),
            warnings,
            signature,
            bytes: report.capabilities.bytes,
            files: fetched.tree.files().len(),
            source: resolved.source,
            diff,
            key,
        };
        Ok(PreparedInstall {
            review,
            report,
            renamed: fetched.renamed,
            fetched: FetchFacts {
                artifact: fetched.artifact,
                content_hash: fetched.content_hash,
                unverified: fetched.unverified,
            },
            tree: fetched.tree,
            previous,
            local_changes: self.local_changes,
            accepted,
            workdir: self.workdir,
            request: self.request,
        })
    }
}

/// What a person must know about who signed: a signer that is not proved, or another than before.
fn signature_warning(new: &SignatureRecord, previous: Option<&LockEntry>) -> Option<String> {
    let signer = |record: &SignatureRecord| record.signer.as_ref().map(|one| one.name.clone());
    match previous.and_then(|entry| signer(&entry.signature).map(|_| &entry.signature)) {
        Some(old) if signer(old) != signer(new) => {
            Some(format!("it was {}; now: {}", old.sentence(), new.sentence()))
        }
        _ if new.state == SignatureState::Unproved => Some(new.sentence()),
        _ => None,
    }
}

fn warnings(resolved: &ResolvedVersion, fetched: &FetchedVersion) -> Vec<String> {
    let renamed = fetched
        .renamed
        .as_ref()
        .map(|name| format!("its file was named {name} and is stored as SKILL.md"));
    let unverified = fetched.unverified.then(|| "its bytes could not be verified".to_owned());
    let unreviewed = (!resolved.source.kind.is_reviewed())
        .then(|| "it comes from an unreviewed source".to_owned());
    [renamed, unverified, unreviewed].into_iter().flatten().collect()
}

/// The folder of a skill without a slug: its own name, if that is a valid folder name.
fn own_name(fetched: &FetchedVersion) -> Result<String, HubError> {
    let slug = |text: &str| {
        let text = text.trim().to_ascii_lowercase().replace([' ', '_'], "-");
        crate::reference::parse_slug(&text).ok()
    };
    let folder = fetched.found.folder.rsplit('/').next().unwrap_or_default();
    slug(&fetched.found.name).or_else(|| slug(folder)).ok_or_else(|| {
        HubError::new(ErrorCode::Invalid, "the skill's name cannot be the name of a folder")
            .hint("give it one with --as")
    })
}
