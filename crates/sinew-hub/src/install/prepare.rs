//! Everything before the approval: resolve, check, fetch, verify, validate, scan. Nothing is
//! written below the skills root here.

use std::path::PathBuf;

use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::scan::{FindingSeverity, ScanReport, Verdict};
use sinew_guard::scan_records::{
    FindingOverride, append_audit_record, read_overrides, record_override, verdict_with_overrides,
};
use sinew_guard::{Untrusted, archive, private_files};
use sinew_settings::ErrorCode;

use super::diff;
use super::review::{
    InstallApprover, InstallConcern, InstallDecision, InstallReview, InstallRisk, ReviewOccasion,
    SkillInstallRequest,
};
use crate::digest::tree_sha256;
use crate::error::HubError;
use crate::fetch::FetchedVersion;
use crate::hub::Hub;
use crate::lock::{LockEntry, LockFile, ScanRecord, is_key, timestamp};
use crate::net::DownloadProgress;
use crate::resolve::ResolvedVersion;
use crate::tree::SkillTree;
use crate::version_archive;
use crate::workdir::Workdir;

/// A skill that is verified and scanned, and waits for approval.
#[derive(Debug)]
pub struct PreparedInstall {
    /// What is shown for approval.
    pub proposal: InstallReview,
    /// Its files.
    pub tree: SkillTree,
    /// The guard's full report.
    pub report: ScanReport,
    /// The name its skill file had in the archive, if that was not `SKILL.md`.
    pub renamed: Option<String>,
    pub(crate) fetched: FetchFacts,
    pub(crate) previous: Option<LockEntry>,
    pub(crate) accepted: Vec<FindingOverride>,
    /// The request.
    pub ask: SkillInstallRequest,
}

/// What is recorded about a fetch beside its files.
#[derive(Debug, Clone)]
pub(crate) struct FetchFacts {
    pub(crate) artifact: Option<crate::lock::ArtifactRecord>,
    pub(crate) content_hash: Option<String>,
    pub(crate) unverified: bool,
}

impl Hub {
    /// Does everything up to the approval. Nothing is installed, and nothing is written except the
    /// cache and, for what the guard blocks, a copy for inspection.
    pub fn prepare(
        &self,
        ask: &SkillInstallRequest,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: DownloadProgress<'_>,
    ) -> Result<PreparedInstall, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let resolved =
            match self.resolve_with(&ask.reference, ask.accepted.contains(&InstallRisk::Pending)) {
                Err(error)
                    if error.code == ErrorCode::PendingScan
                        && error.hints.iter().any(|h| h.contains("--accept-pending")) =>
                {
                    self.pause(
                        ask,
                        gate,
                        InstallRisk::Pending,
                        &ask.reference.to_string(),
                        &error.message,
                        ErrorCode::PendingScan,
                    )?;
                    self.resolve_with(&ask.reference, true)?
                }
                other => other?,
            };
        self.moderate(ask, gate, &resolved)?;
        if let Some(key) = ask.name.as_ref().or(resolved.key.as_ref()) {
            rails(ask, workdir, &lock, key)?;
        }
        self.examine(ask, workdir, &lock, gate, resolved, ReviewOccasion::Install, progress)
    }

    /// The registry's moderation comes first: no flag can override a malware verdict.
    pub(crate) fn moderate(
        &self,
        ask: &SkillInstallRequest,
        gate: &mut dyn InstallApprover,
        resolved: &ResolvedVersion,
    ) -> Result<(), HubError> {
        let Some(moderation) = &resolved.moderation else { return Ok(()) };
        let name = ask.reference.to_string();
        let why = moderation.summary.clone().unwrap_or_else(|| moderation.reason_codes.join(", "));
        let why = Untrusted::new(&why.chars().take(300).collect::<String>()).for_terminal();
        if moderation.is_malware_blocked {
            let message = format!("{name}: its registry blocks it as malware ({why})");
            return Err(HubError::new(ErrorCode::BlockedUpstream, message)
                .hint("no flag overrides this; look for another skill"));
        }
        if moderation.is_suspicious {
            let detail = format!("its registry flags it as suspicious ({why})");
            self.pause(ask, gate, InstallRisk::Suspicious, &name, &detail, ErrorCode::Suspicious)?;
        }
        Ok(())
    }

    /// Asks for approval of one risk, unless it was accepted beforehand.
    fn pause(
        &self,
        ask: &SkillInstallRequest,
        gate: &mut dyn InstallApprover,
        pause: InstallRisk,
        skill: &str,
        detail: &str,
        word: ErrorCode,
    ) -> Result<(), HubError> {
        if ask.accepted.contains(&pause) {
            return Ok(());
        }
        let concern = InstallConcern { pause, skill: skill.to_owned(), detail: detail.to_owned() };
        match gate.concern(&concern) {
            InstallDecision::Yes { .. } => Ok(()),
            InstallDecision::No => Err(HubError::new(word, format!("{concern}; declined"))),
            InstallDecision::Nobody { .. } => Err(HubError::new(word, concern.to_string())
                .hint(format!("run it in a terminal, or with {}", pause.flag()))),
        }
    }

    /// Fetches, verifies and scans what was resolved, and builds the review to approve.
    #[allow(clippy::too_many_arguments, reason = "install, update and restore share every step")]
    pub(crate) fn examine(
        &self,
        ask: &SkillInstallRequest,
        workdir: &Workdir,
        lock: &LockFile,
        gate: &mut dyn InstallApprover,
        mut resolved: ResolvedVersion,
        occasion: ReviewOccasion,
        progress: DownloadProgress<'_>,
    ) -> Result<PreparedInstall, HubError> {
        let fetched = self.fetch(&mut resolved, progress)?;
        let requested = ask.reference.to_string();
        if let Some((index, host)) = &fetched.foreign {
            let detail = format!("the index of {index} points to {host}");
            self.pause(
                ask,
                gate,
                InstallRisk::ForeignHost,
                &requested,
                &detail,
                ErrorCode::NeedsApproval,
            )?;
        }
        if fetched.unverified && resolved.source.kind.is_registry() {
            let detail = "its registry gives no digests, so its files cannot be verified";
            self.pause(
                ask,
                gate,
                InstallRisk::Unverified,
                &requested,
                detail,
                ErrorCode::IntegrityUnavailable,
            )?;
        }
        let key = match ask.name.clone().or_else(|| resolved.key.clone()) {
            Some(key) => key,
            None => named(&fetched)?,
        };
        if !is_key(&key) {
            return Err(HubError::new(
                ErrorCode::BadReference,
                format!("`{key}` cannot be the name of a folder"),
            ));
        }
        if occasion == ReviewOccasion::Install {
            rails(ask, workdir, lock, &key)?;
        }
        let previous = lock.skills.get(&key).cloned();
        self.same_hands(ask, gate, previous.as_ref(), &resolved, &key)?;
        self.neighbours(ask, gate, workdir, &fetched, &resolved, &key)?;
        resolved.source.slug.get_or_insert_with(|| last(&key).to_owned());
        let digest = tree_sha256(&fetched.tree.records());
        let (report, accepted, verdict) = self.scan(ask, &fetched, &key, &digest)?;
        let version =
            resolved.version.clone().unwrap_or_else(|| digest["sha256:".len()..][..12].to_owned());
        let findings = ScanRecord::of(&report, verdict, String::new()).findings;
        let diff = previous.as_ref().and_then(|entry| {
            let old = SkillTree::from_folder(&workdir.target(&key)).ok()?;
            let new = (version.as_str(), &fetched.tree);
            Some(diff::between((entry, &old), new, &report.capabilities, &findings))
        });
        let mut warnings = Vec::new();
        if let Some(name) = &fetched.renamed {
            warnings.push(format!("its file was named {name} and is stored as SKILL.md"));
        }
        if fetched.unverified {
            warnings.push("its bytes could not be verified".to_owned());
        }
        if !resolved.source.kind.is_reviewed() {
            warnings.push("it comes from an unreviewed source".to_owned());
        }
        let capabilities = serde_json::to_vec(&report.capabilities).unwrap_or_default();
        let proposal = InstallReview {
            occasion,
            name: fetched.found.name.clone(),
            description: fetched.found.description.clone(),
            reviewed: resolved.source.kind.is_reviewed(),
            source: resolved.source.clone(),
            version,
            digest,
            capabilities_digest: format!("sha256:{}", sinew_skill::content_hash(&capabilities)),
            verdict,
            ruleset: report.ruleset.clone(),
            findings,
            capabilities: report.capabilities.clone(),
            upstream: resolved.verdict().to_owned(),
            setup: resolved.setup.iter().map(|setup| setup.key.clone()).collect(),
            warnings,
            bytes: report.capabilities.bytes,
            files: fetched.tree.files().len(),
            diff,
            key,
        };
        let prepared = PreparedInstall {
            proposal,
            report,
            renamed: fetched.renamed,
            fetched: FetchFacts {
                artifact: fetched.artifact,
                content_hash: fetched.content_hash,
                unverified: fetched.unverified,
            },
            tree: fetched.tree,
            previous,
            accepted,
            ask: ask.clone(),
        };
        gate.policy(&prepared)?;
        Ok(prepared)
    }

    /// The owner and registry must be the same as before, or the change must be approved.
    fn same_hands(
        &self,
        ask: &SkillInstallRequest,
        gate: &mut dyn InstallApprover,
        previous: Option<&LockEntry>,
        resolved: &ResolvedVersion,
        key: &str,
    ) -> Result<(), HubError> {
        let Some(previous) = previous else { return Ok(()) };
        let (before, now) = (previous.source.identity(), resolved.source.identity());
        if before == now {
            return Ok(());
        }
        let detail = format!("it came from {before} and would now come from {now}");
        self.pause(ask, gate, InstallRisk::OwnerChange, key, &detail, ErrorCode::OwnerChanged)
    }

    /// A skill of the same name elsewhere would no longer be used, or would hide this one.
    fn neighbours(
        &self,
        ask: &SkillInstallRequest,
        gate: &mut dyn InstallApprover,
        workdir: &Workdir,
        fetched: &FetchedVersion,
        resolved: &ResolvedVersion,
        key: &str,
    ) -> Result<(), HubError> {
        let target = workdir.target(key);
        let other = ask.neighbours.iter().find(|neighbour| {
            neighbour.name.eq_ignore_ascii_case(&fetched.found.name) && neighbour.folder != target
        });
        let Some(other) = other else { return Ok(()) };
        if resolved.source.kind == crate::lock::SourceKind::Local {
            return Ok(());
        }
        let name = Untrusted::new(&fetched.found.name).for_terminal();
        let detail = format!(
            "a skill named {name} is already installed ({}); the new one is from {}",
            other.origin,
            resolved.source.identity()
        );
        self.pause(ask, gate, InstallRisk::Shadows, key, &detail, ErrorCode::Shadows)
    }

    fn scan(
        &self,
        ask: &SkillInstallRequest,
        fetched: &FetchedVersion,
        key: &str,
        digest: &str,
    ) -> Result<(ScanReport, Vec<FindingOverride>, Verdict), HubError> {
        let known = ask.neighbours.iter().map(|neighbour| neighbour.name.clone());
        let known = known.filter(|name| !name.eq_ignore_ascii_case(&fetched.found.name));
        let scanner = self.scanner().clone().with_known_names(known);
        let report = scanner.scan_bundle(&fetched.tree.bundle(last(key)));
        let audit = self.audit_path();
        let mut accepted = Vec::new();
        for given in &ask.acceptance {
            let given = FindingOverride {
                rule: given.rule.clone(),
                // The user sees the tree's digest; the audit uses the scan's.
                digest: match given.digest == digest {
                    true => report.digest.clone(),
                    false => given.digest.clone(),
                },
                reason: given.reason.clone(),
                who: ask.by.clone(),
                at: timestamp(&*self.env.clock),
            };
            private_files::create_folder(&self.env.sinew_home().join("audit"))
                .map_err(|error| HubError::file("write", &audit, error))?;
            record_override(&report, &given, &audit).map_err(|error| {
                let mut error = HubError::new(ErrorCode::BlockedGuard, error.to_string())
                    .caused_by(error)
                    .hint(format!("the digest of these files is {digest}"));
                error.digest = Some(digest.to_owned());
                error
            })?;
            accepted.push(given);
        }
        let before = read_overrides(&audit).unwrap_or_default();
        accepted.extend(before.into_iter().filter(|given| given.digest == report.digest));
        accepted.dedup_by(|a, b| a.rule == b.rule);
        let verdict = verdict_with_overrides(&report, &accepted);
        if verdict != Verdict::Block {
            return Ok((report, accepted, verdict));
        }
        let worst: Vec<_> = report.at_least(FindingSeverity::Critical).cloned().collect();
        let shown: Vec<&str> = worst.iter().map(|finding| finding.rule.as_str()).take(3).collect();
        let mut error = HubError::new(
            ErrorCode::BlockedGuard,
            format!("{key}: the guard blocks it ({})", shown.join(", ")),
        );
        if ask.quarantine
            && let Some(path) = self.quarantine(key, digest, &fetched.tree)
        {
            error =
                error.hint(format!("a copy is kept for inspection: sinew scan {}", path.display()));
        }
        error.findings = worst;
        error.digest = Some(digest.to_owned());
        Err(error)
    }

    /// Keeps a blocked skill as an archive that only its owner can read; nothing loads it.
    fn quarantine(&self, key: &str, digest: &str, tree: &SkillTree) -> Option<PathBuf> {
        let folder = self.env.sinew_home().join("quarantine");
        private_files::create_folder(&folder).ok()?;
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        let name = format!("{}-{}.zip", key.replace('/', "--"), &hex[..12]);
        archive::components(&name).ok()?;
        let path = folder.join(name);
        let files = tree.files().iter().map(|file| (file.path.as_str(), file.bytes.as_slice()));
        let bytes = version_archive::pack(files, None).ok()?;
        atomic::write(&path, &bytes, FileAccess::OwnerOnly).ok()?;
        Some(path)
    }

    pub(crate) fn audit_path(&self) -> PathBuf {
        self.env.sinew_home().join("audit/overrides.jsonl")
    }

    /// Records the accepted findings again for the bytes as they are on disk.
    pub(crate) fn record_overrides(
        &self,
        accepted: &[FindingOverride],
        digest: &str,
    ) -> Result<(), HubError> {
        let audit = self.audit_path();
        for given in accepted {
            let given = FindingOverride { digest: digest.to_owned(), ..given.clone() };
            append_audit_record(&audit, &given)
                .map_err(|error| HubError::file("write", &audit, error))?;
        }
        Ok(())
    }
}

/// Refuses to overwrite or change what must stay.
fn rails(
    ask: &SkillInstallRequest,
    workdir: &Workdir,
    lock: &LockFile,
    key: &str,
) -> Result<(), HubError> {
    if let Some(entry) = lock.skills.get(key).filter(|entry| entry.pinned) {
        return Err(pinned_error(key, entry));
    }
    let target = workdir.target(key);
    if !ask.overwrite && std::fs::symlink_metadata(&target).is_ok() {
        let message = format!("{} already exists", target.display());
        return Err(HubError::new(ErrorCode::Exists, message)
            .hint("`sinew update` brings it up to date; --overwrite replaces it"));
    }
    Ok(())
}

pub(crate) fn pinned_error(key: &str, entry: &LockEntry) -> HubError {
    let why = entry.pin_reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    HubError::new(ErrorCode::Pinned, format!("{key} is pinned{why}"))
        .hint(format!("sinew pin --remove {key}"))
}

/// The folder of a skill without a slug: its own name, if that is a valid folder name.
fn named(fetched: &FetchedVersion) -> Result<String, HubError> {
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

fn last(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
