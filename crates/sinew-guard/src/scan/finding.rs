//! The result of a scan: findings, the verdict, and the report that contains both.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Deserialize, Serialize};

use super::capability::SkillCapabilities;

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FindingSeverity {
    /// Worth knowing.
    Info,
    /// Shown before anything is installed.
    Warn,
    /// Blocks.
    Critical,
}

impl FindingSeverity {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }

    pub(crate) fn lowered(self, steps: u8) -> Self {
        match (self, steps) {
            (severity, 0) => severity,
            (Self::Critical, 1) => Self::Warn,
            _ => Self::Info,
        }
    }
}

/// The result of a scan.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    BorshDeserialize,
    BorshSerialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Verdict {
    /// Nothing at or above warn.
    Allow,
    /// At least one warning, nothing critical.
    Warn,
    /// At least one critical finding.
    Block,
}

impl Verdict {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }

    /// The verdict for the highest of `severities`.
    pub fn from_severities(severities: impl IntoIterator<Item = FindingSeverity>) -> Self {
        match severities.into_iter().max() {
            Some(FindingSeverity::Critical) => Self::Block,
            Some(FindingSeverity::Warn) => Self::Warn,
            Some(FindingSeverity::Info) | None => Self::Allow,
        }
    }
}

/// Which rules apply, and how strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum ScanScope {
    /// A generated change, before it is stored.
    Proposal,
    /// A folder or archive of a skill.
    Bundle,
    /// Front matter text that reaches a prompt.
    Metadata,
    /// Any string shown to a person or a model.
    Text,
}

/// One piece of evidence behind a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FactRef {
    /// What was seen.
    pub kind: String,
    /// In which file.
    pub file: String,
    /// On which line, from 1.
    pub line: usize,
}

/// One scanner hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// The severity here.
    pub severity: FindingSeverity,
    /// The severity of the rule before mitigating context lowers it.
    pub base_severity: FindingSeverity,
    /// Whether a widening of one of Skill Workshop's rules matched, not its base pattern.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub variant: bool,
    /// The role of the text: instruction, command, code, quoted and so on.
    pub role: String,
    /// Path inside the skill; `archive!inner` for a file inside a container.
    pub file: String,
    /// Line, from 1; 0 if the finding is about the file as a whole.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Last line of the evidence.
    pub end_line: usize,
    /// What was found, in one sentence.
    pub message: String,
    /// The line itself, shortened and made safe to print; secrets replaced.
    pub evidence: String,
    /// What the evidence decodes to, if it was encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoded: Option<String>,
    /// Why this matters.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
    /// What lowered the severity, one entry for each step.
    pub demotions: Vec<String>,
    /// The facts that satisfied the rule.
    pub facts: Vec<FactRef>,
    /// The entry of the OWASP Agentic Skills Top 10.
    pub ast: String,
}

/// The complete result of one scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScanReport {
    /// Allow, warn or block.
    pub verdict: Verdict,
    /// Which rules applied.
    pub scope: ScanScope,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// What the skill can do.
    pub capabilities: SkillCapabilities,
    /// The digest of the rule table.
    pub ruleset: String,
    /// The digest of the scanned tree.
    pub digest: String,
}

impl ScanReport {
    pub(crate) fn new(
        scope: ScanScope,
        mut findings: Vec<Finding>,
        capabilities: SkillCapabilities,
        ruleset: &str,
        digest: String,
    ) -> Self {
        findings.sort_by(|a, b| {
            b.severity
                .cmp(&a.severity)
                .then_with(|| a.file.cmp(&b.file))
                .then_with(|| a.line.cmp(&b.line))
                .then_with(|| a.rule.cmp(&b.rule))
                .then_with(|| a.column.cmp(&b.column))
        });
        findings.dedup();
        let verdict = Verdict::from_severities(findings.iter().map(|finding| finding.severity));
        Self { verdict, scope, findings, capabilities, ruleset: ruleset.to_owned(), digest }
    }

    /// Findings at or above `severity`.
    pub fn at_least(&self, severity: FindingSeverity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity >= severity)
    }
}
