//! The install request, the risks that need approval, and the review shown before anything changes.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sinew_guard::scan::{SkillCapabilities, Verdict};

use super::diff::VersionDiff;
use super::prepare::PreparedInstall;
use crate::error::HubError;
use crate::lock::{ApprovalMethod, FindingRecord, SkillRetention, SourceRecord};
use crate::reference::SkillReference;

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
}

/// One risk of an install, with its details.
#[derive(Debug, Clone, Serialize)]
pub struct InstallConcern {
    /// Which risk.
    pub pause: InstallRisk,
    /// Which skill.
    pub skill: String,
    /// The details.
    pub detail: String,
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
    /// The verdict of the registry's moderators: `clean`, `suspicious`, `unknown` …
    pub upstream: String,
    /// What it needs before it works.
    pub setup: Vec<String>,
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

/// The answer to a request for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallDecision {
    /// Approved, by this person and in this way.
    Yes {
        /// Who.
        by: String,
        /// How.
        method: ApprovalMethod,
        /// Why.
        reason: Option<String>,
    },
    /// Declined.
    No,
    /// There is no one to answer. The request waits under this id, if it was stored.
    Nobody {
        /// The id of the open approval.
        id: Option<String>,
    },
}

/// What can approve an install: a person at a terminal, an approval given before, or a policy.
pub trait InstallApprover {
    /// Asks about one risk.
    fn concern(&mut self, concern: &InstallConcern) -> InstallDecision;
    /// Asks about the whole install.
    fn approve(&mut self, proposal: &InstallReview) -> InstallDecision;
    /// The operator's policy on what was fetched and scanned, applied before a person is asked.
    fn policy(&mut self, _prepared: &PreparedInstall) -> Result<(), HubError> {
        Ok(())
    }
}
