//! The install request, the risks that need approval, the review shown before anything changes, and
//! the files it is about.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sinew_guard::scan::{ScanReport, SkillCapabilities, Verdict};
use sinew_guard::scan_records::FindingOverride;
use sinew_settings::ErrorCode;

use super::diff::VersionDiff;
use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::{
    ApprovalMethod, ArtifactRecord, FindingRecord, LockApproval, LockEntry, SkillRetention,
    SourceRecord, timestamp,
};
use crate::reference::SkillReference;
use crate::signature::SignatureRecord;
use crate::tree::SkillTree;
use crate::update::{UpdateResult, UpdateStatus};
use crate::workdir::Workdir;

/// A skill that is already installed and that a new one may shadow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingSkill {
    /// Its name.
    pub name: String,
    /// Where it is or where it came from.
    pub origin: String,
    /// Its folder.
    pub folder: std::path::PathBuf,
}

/// A person's acceptance of one rule for exactly these bytes.
#[derive(Debug, Clone)]
pub struct RuleAcceptance {
    /// The rule.
    pub rule: String,
    /// The tree's digest, as it was shown.
    pub digest: String,
    /// Why it is fine.
    pub reason: String,
}

/// A request to install a skill.
#[derive(Debug, Clone)]
pub struct SkillInstallRequest {
    /// Which skill.
    pub reference: SkillReference,
    /// The folder to install into, if that is not its own name.
    pub name: Option<String>,
    /// Whether an existing folder may be replaced.
    pub overwrite: bool,
    /// Risks that were accepted beforehand.
    pub accepted: BTreeSet<InstallRisk>,
    /// Findings that a person accepted.
    pub acceptance: Vec<RuleAcceptance>,
    /// Whether to keep a copy for inspection of what the guard blocks.
    pub quarantine: bool,
    /// How long it is meant to stay.
    pub retained: SkillRetention,
    /// Who requests it.
    pub by: String,
    /// The acquisition it is for, if any.
    pub run: Option<String>,
    /// The skills that are already installed.
    pub neighbours: Vec<ExistingSkill>,
}

impl SkillInstallRequest {
    /// A plain request.
    pub fn new(reference: SkillReference, by: &str) -> Self {
        Self {
            reference,
            name: None,
            overwrite: false,
            accepted: BTreeSet::new(),
            acceptance: Vec::new(),
            quarantine: true,
            retained: SkillRetention::Keep,
            by: by.to_owned(),
            run: None,
            neighbours: Vec::new(),
        }
    }
}

/// A risk that needs an approval of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallRisk {
    /// The registry flags it as suspicious.
    Suspicious,
    /// The registry has not finished its scan.
    Pending,
    /// The source gives no digests.
    Unverified,
    /// An index points to another host.
    ForeignHost,
    /// A skill of the same name is already installed.
    Shadows,
    /// The owner or registry has changed.
    OwnerChange,
    /// The operator's policy warns.
    Policy,
}

impl InstallRisk {
    /// The flag that accepts this risk beforehand.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Suspicious => "--accept-suspicious",
            Self::Pending => "--accept-pending",
            Self::Unverified => "--accept-unverified",
            Self::ForeignHost => "--accept-foreign-host",
            Self::Shadows => "--accept-shadowing",
            Self::OwnerChange => "--accept-owner-change",
            Self::Policy => "--acknowledge",
        }
    }

    /// The code of an install that stops here.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Suspicious => ErrorCode::Suspicious,
            Self::Pending => ErrorCode::PendingScan,
            Self::Unverified => ErrorCode::IntegrityUnavailable,
            Self::ForeignHost => ErrorCode::NeedsApproval,
            Self::Shadows => ErrorCode::Shadows,
            Self::OwnerChange => ErrorCode::OwnerChanged,
            Self::Policy => ErrorCode::BlockedPolicy,
        }
    }
}

/// One risk of an install, with its details.
#[derive(Debug, Clone, Serialize)]
pub struct InstallConcern {
    /// Which risk.
    pub risk: InstallRisk,
    /// Which skill.
    pub skill: String,
    /// The details.
    pub detail: String,
}

impl InstallConcern {
    /// The error of an install whose risk was declined.
    pub fn declined(&self) -> HubError {
        HubError::new(self.risk.code(), format!("{self}; declined"))
    }

    /// The error of an install whose risk could not be put to a person.
    pub fn unanswered(&self) -> HubError {
        HubError::new(self.risk.code(), self.to_string())
            .hint(format!("run it in a terminal, or with {}", self.risk.flag()))
    }
}

impl fmt::Display for InstallConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.skill, self.detail)
    }
}

/// Why approval is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewOccasion {
    /// A new skill.
    Install,
    /// An update of an installed skill.
    Update,
    /// A lock is restored whose entry was never approved.
    Restore,
}

/// What is shown for approval before anything changes. An approval is bound to the digest.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallReview {
    /// Why approval is needed.
    pub occasion: ReviewOccasion,
    /// The folder below the skills root.
    pub key: String,
    /// What the skill calls itself.
    pub name: String,
    /// What it says it is for.
    pub description: String,
    /// Where it comes from.
    pub source: SourceRecord,
    /// Whether that source reviews skills before it serves them.
    pub reviewed: bool,
    /// The version or commit.
    pub version: String,
    /// The digest of exactly these files.
    pub digest: String,
    /// The digest of what it can do.
    pub capabilities_digest: String,
    /// The guard's verdict.
    pub verdict: Verdict,
    /// The version of the guard's rules.
    pub ruleset: String,
    /// The guard's findings, at warn and above.
    pub findings: Vec<FindingRecord>,
    /// What it can reach and change.
    pub capabilities: SkillCapabilities,
    /// Who signed it.
    #[serde(default)]
    pub signature: SignatureRecord,
    /// The verdict of the registry's moderators: `clean`, `suspicious`, `unknown` …
    pub upstream: String,
    /// What it needs before it works.
    pub setup: Vec<String>,
    /// What of the configuration it would be given: entries below `skills.entries`.
    #[serde(default)]
    pub entries: Vec<String>,
    /// Anything else worth knowing.
    pub warnings: Vec<String>,
    /// Total size in bytes.
    pub bytes: u64,
    /// Number of files.
    pub files: usize,
    /// What changes, if it is already installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<VersionDiff>,
}

impl InstallReview {
    /// The error of an install that was declined.
    pub fn declined(&self) -> HubError {
        self.refused(ErrorCode::Rejected, format!("{}: declined", self.key))
    }

    /// The error of an install that waits for an answer, under this id if the question was stored.
    pub fn unanswered(&self, waits: Option<&str>) -> HubError {
        let message = format!("{} waits for a person's approval", self.key);
        let error = self.refused(ErrorCode::NeedsApproval, message);
        match waits {
            Some(id) => error.hint(format!("sinew approve {id}")),
            None => error.hint("run it in a terminal"),
        }
    }

    /// An error that names the files it is about.
    pub fn refused(&self, code: ErrorCode, message: String) -> HubError {
        let mut error = HubError::new(code, message);
        error.digest = Some(self.digest.clone());
        error
    }
}

/// A skill that is verified and scanned, and waits for approval.
#[derive(Debug)]
pub struct PreparedInstall {
    /// What is shown for approval.
    pub review: InstallReview,
    /// Its files.
    pub tree: SkillTree,
    /// The guard's full report.
    pub report: ScanReport,
    /// The name its skill file had in the archive, if that was not `SKILL.md`.
    pub renamed: Option<String>,
    /// The request.
    pub request: SkillInstallRequest,
    /// Where it is to be installed.
    pub(crate) workdir: Workdir,
    pub(crate) fetched: FetchFacts,
    /// The entry in the lock that it would replace.
    pub(crate) previous: Option<LockEntry>,
    /// Whether the installed files differ from that entry.
    pub(crate) local_changes: bool,
    pub(crate) accepted: Vec<FindingOverride>,
}

/// What is recorded about a fetch beside its files.
#[derive(Debug, Clone)]
pub(crate) struct FetchFacts {
    pub(crate) artifact: Option<ArtifactRecord>,
    pub(crate) content_hash: Option<String>,
    pub(crate) unverified: bool,
}

impl PreparedInstall {
    /// Whether exactly these files are installed already.
    pub fn changes_nothing(&self) -> bool {
        !self.local_changes
            && self.previous.as_ref().is_some_and(|entry| entry.tree_sha256 == self.review.digest)
    }

    /// The result of an update that ends with these files.
    pub fn update_result(&self, status: UpdateStatus) -> UpdateResult {
        let review = &self.review;
        let from = self.previous.as_ref().map_or(&review.version, |entry| &entry.version);
        UpdateResult {
            key: review.key.clone(),
            status,
            from: from.clone(),
            to: review.version.clone(),
            diff: review.diff.clone(),
            backup: None,
            digest: review.digest.clone(),
        }
    }
}

impl Hub {
    /// The record of an approval, bound to what was prepared.
    pub fn approval(
        &self,
        prepared: &PreparedInstall,
        by: String,
        method: ApprovalMethod,
        reason: Option<String>,
    ) -> LockApproval {
        let review = &prepared.review;
        let accepted = prepared.accepted.iter();
        LockApproval {
            digest: review.digest.clone(),
            capabilities: review.capabilities_digest.clone(),
            ruleset: review.ruleset.clone(),
            by,
            at: timestamp(&*self.env.clock),
            method,
            reason,
            accepted: accepted.map(|given| format!("{}@{}", given.rule, review.digest)).collect(),
        }
    }

    /// An approval that makes a new question unnecessary: the lock's own for exactly these files, or
    /// that of the configuration for an update that changes nothing but text. A new install always
    /// needs an answer.
    pub fn standing_approval(&self, prepared: &PreparedInstall) -> Option<LockApproval> {
        let review = &prepared.review;
        if review.occasion == ReviewOccasion::Install {
            return None;
        }
        let earlier = prepared.previous.as_ref().and_then(|entry| entry.approval.as_ref());
        if let Some(approval) = earlier.filter(|approval| approval.digest == review.digest) {
            return Some(approval.clone());
        }
        let safe = self.settings.auto_safe
            && review.occasion == ReviewOccasion::Update
            && review.reviewed
            && review.upstream == "clean"
            && review.diff.as_ref().is_some_and(|diff| !diff.needs_a_person(review.verdict));
        safe.then(|| {
            let why = "hub.updates is auto-safe, and only text changed".to_owned();
            self.approval(prepared, "sinew".to_owned(), ApprovalMethod::Policy, Some(why))
        })
    }
}

pub(crate) fn pinned_error(key: &str, entry: &LockEntry) -> HubError {
    let why = entry.pin_reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    HubError::new(ErrorCode::Pinned, format!("{key} is pinned{why}"))
        .hint(format!("sinew pin --remove {key}"))
}

/// The last part of a key: `@owner/slug` is the skill `slug`.
pub(super) fn slug_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
