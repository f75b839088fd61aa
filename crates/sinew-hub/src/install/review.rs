//! What is asked of whom: the request, what gives pause, and the question before anything changes.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sinew_guard::scan::{SkillCapabilities, Verdict};

use super::diff::VersionDiff;
use super::prepare::PreparedInstall;
use crate::error::HubError;
use crate::lock::{ApprovalMethod, FindingRecord, SkillRetention, SourceRecord};
use crate::reference::SkillReference;

/// A skill that is here already, which a new one may stand in front of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingSkill {
    /// Its name.
    pub name: String,
    /// Where it lies or came from.
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

/// What somebody wants to be installed.
#[derive(Debug, Clone)]
pub struct SkillInstallRequest {
    /// Which skill.
    pub reference: SkillReference,
    /// The folder it is to have, where that is not its own name.
    pub name: Option<String>,
    /// Whether what is there may be replaced.
    pub overwrite: bool,
    /// What gives pause and was accepted beforehand.
    pub accepted: BTreeSet<InstallRisk>,
    /// Findings that a person accepted.
    pub acceptance: Vec<RuleAcceptance>,
    /// Keep what the guard blocks, for a look at it.
    pub quarantine: bool,
    /// For how long it is meant to stay.
    pub retained: SkillRetention,
    /// Who asks.
    pub by: String,
    /// The acquisition it is for, where one wants it.
    pub run: Option<String>,
    /// The skills that are here already.
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

/// What gives pause: each needs a yes of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallRisk {
    /// The registry flags it.
    Suspicious,
    /// The registry has not finished its scan.
    Pending,
    /// The source names no digests.
    Unverified,
    /// An index sends us to another host.
    ForeignHost,
    /// A skill of the same name is here already.
    Shadows,
    /// Somebody else is behind it now.
    OwnerChange,
    /// The operator's policy warns.
    Policy,
}

impl InstallRisk {
    /// The flag that says yes beforehand.
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

/// One thing that gives pause, with what is the case.
#[derive(Debug, Clone, Serialize)]
pub struct InstallConcern {
    /// What it is.
    pub pause: InstallRisk,
    /// Which skill.
    pub skill: String,
    /// What is the case.
    pub detail: String,
}

impl fmt::Display for InstallConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.skill, self.detail)
    }
}

/// Why somebody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewOccasion {
    /// A skill is new here.
    Install,
    /// A skill changes.
    Update,
    /// A lock is followed whose entry nobody approved.
    Restore,
}

/// The question before anything changes. An answer is bound to the digest.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallReview {
    /// Why somebody is asked.
    pub occasion: ReviewOccasion,
    /// The folder below the skills root.
    pub key: String,
    /// What the skill calls itself.
    pub name: String,
    /// What it says it is for.
    pub description: String,
    /// Where it comes from.
    pub source: SourceRecord,
    /// Whether somebody looks at skills on their way through that source.
    pub reviewed: bool,
    /// The version or commit.
    pub version: String,
    /// The digest of exactly these files.
    pub digest: String,
    /// The digest of what it can do.
    pub capabilities_digest: String,
    /// What the guard comes to.
    pub verdict: Verdict,
    /// Under which rules.
    pub ruleset: String,
    /// What the guard found, at warn and above.
    pub findings: Vec<FindingRecord>,
    /// What it can reach and change.
    pub capabilities: SkillCapabilities,
    /// What the registry's moderators say: `clean`, `suspicious`, `unknown` …
    pub upstream: String,
    /// What it needs before it works.
    pub setup: Vec<String>,
    /// What else is worth knowing.
    pub warnings: Vec<String>,
    /// Bytes and files.
    pub bytes: u64,
    /// Number of files.
    pub files: usize,
    /// What changes, where it is here already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<VersionDiff>,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallDecision {
    /// Yes, by this person and in this way.
    Yes {
        /// Who.
        by: String,
        /// How.
        method: ApprovalMethod,
        /// Why.
        reason: Option<String>,
    },
    /// No.
    No,
    /// Nobody is here to answer. What was asked waits under this id, where it does.
    Nobody {
        /// The id of the open approval.
        id: Option<String>,
    },
}

/// Whoever may say yes: a person at a terminal, an approval that was given before, a policy.
pub trait InstallApprover {
    /// A yes to one thing that gives pause.
    fn concern(&mut self, concern: &InstallConcern) -> InstallDecision;
    /// A yes to the whole.
    fn approve(&mut self, proposal: &InstallReview) -> InstallDecision;
    /// The operator's word on what was fetched and scanned, before anybody else is asked.
    fn policy(&mut self, _prepared: &PreparedInstall) -> Result<(), HubError> {
        Ok(())
    }
}
