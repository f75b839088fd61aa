//! One installed skill, as the lock records it.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sinew_guard::scan::{FindingSeverity, ScanReport, SkillCapabilities, Verdict};
use sinew_settings::path_text;

use crate::digest::FileRecord;
use crate::signature::SignatureRecord;

/// One installed skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockEntry {
    /// Where it was installed from.
    pub source: SourceRecord,
    /// The version, or the commit where there is none.
    pub version: String,
    /// The digest of its files, which approvals are bound to.
    pub tree_sha256: String,
    /// Its files.
    pub files: Vec<FileRecord>,
    /// The digest of the folder as the catalog's scan computes it, other tools' records included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan_digest: Option<String>,
    /// The registry's fingerprint of the published files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The same with `_meta.json`, as the upstream client computes it on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint_with_meta: Option<String>,
    /// The registry's hash of a folder on GitHub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// The archive it came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRecord>,
    /// The result of the guard's scan.
    pub scan: ScanRecord,
    /// What it can reach and change.
    #[serde(default)]
    pub capabilities: SkillCapabilities,
    /// Who signed it, as far as that was proved when it was installed.
    #[serde(default, skip_serializing_if = "SignatureRecord::is_unsigned")]
    pub signature: SignatureRecord,
    /// Who approved it; without an approval the skill is held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<LockApproval>,
    /// What the registry said about it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamRecord>,
    /// Its bytes could not be verified: the registry gave no digests, and the user accepted that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// Whether updates leave it alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Why it is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_reason: Option<String>,
    /// When it was installed first.
    pub installed_at: String,
    /// When it changed last.
    pub updated_at: String,
    /// Whether it stays or is removed after the task.
    #[serde(default)]
    pub retained: SkillRetention,
    /// The acquisition that installed it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Fields that other programs or versions wrote here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl LockEntry {
    /// Why it must not be loaded, regardless of its files.
    pub fn hold_reason(&self) -> Option<String> {
        if self.upstream.as_ref().is_some_and(|upstream| upstream.verdict == "malicious") {
            return Some("its registry calls it malicious".to_owned());
        }
        match &self.approval {
            None => Some("it has not been approved".to_owned()),
            Some(approval) if approval.digest != self.tree_sha256 => {
                Some("its approval is for other files".to_owned())
            }
            Some(_) => None,
        }
    }
}

/// Where a skill came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SourceRecord {
    /// The kind of source.
    pub kind: SourceKind,
    /// The registry's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The owner's handle there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The skill's name there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// An address, or a path on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `owner/repo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The folder in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The branch or tag that was requested.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The commit it resolved to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The reference as the user typed it.
    pub requested: String,
}

impl SourceRecord {
    /// An empty record of this kind.
    pub fn new(kind: SourceKind, requested: &str) -> Self {
        Self {
            kind,
            registry: None,
            owner: None,
            slug: None,
            url: None,
            repo: None,
            path: None,
            at: None,
            commit: None,
            requested: requested.to_owned(),
        }
    }

    /// Where it came from, in a word for people: a registry's address, else the kind of source.
    pub fn place(&self) -> &str {
        match (&self.registry, self.kind.is_registry()) {
            (Some(address), true) => address,
            _ => self.kind.as_str(),
        }
    }

    /// Names a folder of `project` by its path in it.
    pub(super) fn shorten_paths(&mut self, project: &Path) {
        if self.kind != SourceKind::Local {
            return;
        }
        let short = |text: &str| {
            let below = Path::new(text).strip_prefix(project).ok();
            below.filter(|path| is_below(path)).map(path_text)
        };
        if let Some(url) = self.url.as_deref().and_then(short) {
            self.url = Some(url);
        }
        if let Some(requested) = short(&self.requested) {
            self.requested = requested;
        }
    }

    /// The whole paths again. What a user typed begins with a dot, and stays as it is.
    pub(super) fn restore_paths(&mut self, project: &Path) {
        let is_local = self.kind == SourceKind::Local;
        let written = self.url.clone().filter(|url| is_local && is_below(Path::new(url)));
        let Some(written) = written else { return };
        let whole = path_text(&project.join(&written));
        if self.requested == written {
            self.requested.clone_from(&whole);
        }
        self.url = Some(whole);
    }

    /// The source's identity, for noticing that the owner or registry has changed.
    pub fn identity(&self) -> String {
        let part = |text: &Option<String>| text.clone().unwrap_or_default();
        match self.kind {
            SourceKind::Clawhub | SourceKind::Registry => {
                format!("{} @{}/{}", part(&self.registry), part(&self.owner), part(&self.slug))
            }
            SourceKind::Github | SourceKind::SkillsSh => {
                format!("github.com/{} {}", part(&self.repo), part(&self.path))
            }
            SourceKind::Git | SourceKind::WellKnown => {
                format!("{} {}", part(&self.url), part(&self.path).trim()).trim().to_owned()
            }
            // `a/./b` is `a/b`.
            SourceKind::Local => {
                let url = part(&self.url);
                let plain: PathBuf = Path::new(&url).components().collect();
                format!("{} {}", path_text(&plain), part(&self.path).trim()).trim().to_owned()
            }
        }
    }
}

/// Whether a path is plain, and leads below where it begins.
fn is_below(path: &Path) -> bool {
    let plain = |part| matches!(part, Component::Normal(_));
    path.components().next().is_some() && path.components().all(plain)
}

/// The kind of source a skill came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SourceKind {
    /// The default registry, ClawHub.
    Clawhub,
    /// Another registry.
    Registry,
    /// A repository on GitHub.
    Github,
    /// Any git repository.
    Git,
    /// A host's discovery index.
    WellKnown,
    /// skills.sh.
    SkillsSh,
    /// A folder or archive on this machine.
    Local,
}

impl SourceKind {
    /// The name that records and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clawhub => "clawhub",
            Self::Registry => "registry",
            Self::Github => "github",
            Self::Git => "git",
            Self::WellKnown => "well-known",
            Self::SkillsSh => "skills-sh",
            Self::Local => "local",
        }
    }

    /// Whether this source reviews skills before it serves them.
    pub fn is_reviewed(self) -> bool {
        matches!(self, Self::Clawhub | Self::Registry)
    }

    /// Whether it speaks the registry's protocol.
    pub fn is_registry(self) -> bool {
        matches!(self, Self::Clawhub | Self::Registry)
    }
}

/// The archive a skill came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRecord {
    /// `zip` or `artifact`.
    pub kind: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Its bytes.
    pub size: u64,
}

/// The result of the guard's scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanRecord {
    /// Allow, warn or block.
    pub verdict: Verdict,
    /// The version of the rules.
    pub ruleset: String,
    /// Findings at warn and above.
    pub findings: Vec<FindingRecord>,
    /// When it was scanned.
    pub at: String,
}

impl ScanRecord {
    /// The record of a scan report.
    pub fn of(report: &ScanReport, verdict: Verdict, at: String) -> Self {
        let findings = report.at_least(FindingSeverity::Warn).map(|finding| FindingRecord {
            rule: finding.rule.clone(),
            severity: finding.severity,
            file: finding.file.clone(),
            line: finding.line,
        });
        Self { verdict, ruleset: report.ruleset.clone(), findings: findings.collect(), at }
    }
}

/// A finding, without its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FindingRecord {
    /// The rule.
    pub rule: String,
    /// How severe.
    pub severity: FindingSeverity,
    /// The file.
    pub file: String,
    /// The line.
    pub line: usize,
}

/// Who approved what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockApproval {
    /// The digest of the approved files.
    pub digest: String,
    /// The digest of its capabilities, as they were shown.
    #[serde(default)]
    pub capabilities: String,
    /// The version of the rules it was scanned with.
    #[serde(default)]
    pub ruleset: String,
    /// Who approved it.
    pub by: String,
    /// When.
    pub at: String,
    /// How.
    pub method: ApprovalMethod,
    /// The reason given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Findings that were accepted, as `rule@digest`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
}

/// How an approval was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMethod {
    /// At a prompt.
    Prompt,
    /// On the command line.
    Flag,
    /// By the configuration.
    Policy,
}

/// What the registry said about a skill last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UpstreamRecord {
    /// `clean`, `suspicious`, `malicious`, `pending`, `error` or `unknown`.
    pub verdict: String,
    /// When the registry was asked.
    pub checked_at: String,
    /// Whether the registry no longer has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

/// How long a skill is meant to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SkillRetention {
    /// For one task.
    Task,
    /// Until it is uninstalled.
    #[default]
    Keep,
}
