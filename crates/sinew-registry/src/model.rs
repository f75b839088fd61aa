//! What the registry keeps, as documents of the store.
//!
//! A skill's key is `slug/owner`, so that all owners of a slug are adjacent; a version's key is its
//! skill's, then the version. Publishing changes both in one transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sinew_guard::scan::FindingSeverity;

/// Collections and streams of the store.
pub(crate) const SKILLS: &str = "registry.skills";
pub(crate) const VERSIONS: &str = "registry.versions";
pub(crate) const TOKENS: &str = "registry.tokens";
pub(crate) const DEVICES: &str = "registry.devices";
pub(crate) const TICKETS: &str = "registry.tickets";
pub(crate) const STARS: &str = "registry.stars";
pub(crate) const ALIASES: &str = "registry.aliases";
pub(crate) const STATS: &str = "registry.stats";
pub(crate) const AUDIT: &str = "registry.audit";

/// The key of a skill.
pub(crate) fn skill_key(slug: &str, owner: &str) -> String {
    format!("{slug}/{owner}")
}

/// The key of a version.
pub(crate) fn version_key(slug: &str, owner: &str, version: &str) -> String {
    format!("{slug}/{owner}/{version}")
}

/// A skill: what lists and details show, and a line for each version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SkillDoc {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) slug: String,
    pub(crate) display_name: String,
    pub(crate) summary: Option<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) tags: BTreeMap<String, String>,
    /// In the order of publication.
    pub(crate) versions: Vec<VersionSummary>,
    pub(crate) setup: Vec<SetupKey>,
    pub(crate) os: Vec<String>,
    pub(crate) stars: u64,
    pub(crate) created_at: u64,
    pub(crate) updated_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<DeletionMark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mirrored: Option<MirrorOrigin>,
}

impl SkillDoc {
    pub(crate) fn key(&self) -> String {
        skill_key(&self.slug, &self.owner)
    }

    /// The version that is served when none is named.
    pub(crate) fn latest(&self) -> Option<&VersionSummary> {
        let tagged = self.tags.get("latest").and_then(|version| self.version(version));
        tagged.filter(|line| !line.withdrawn).or_else(|| {
            let open = self.versions.iter().filter(|line| !line.withdrawn);
            open.max_by_key(|line| semver::Version::parse(&line.version).ok())
        })
    }

    pub(crate) fn version(&self, version: &str) -> Option<&VersionSummary> {
        self.versions.iter().find(|line| line.version == version)
    }

    /// Whether the registry that it came from flagged it.
    pub(crate) fn is_suspicious(&self) -> bool {
        self.mirrored.as_ref().is_some_and(|mirrored| mirrored.suspicious)
    }

    /// Whether callers may see it at all.
    pub(crate) fn is_visible(&self) -> bool {
        let hidden = self.mirrored.as_ref().is_some_and(|mirrored| mirrored.hidden.is_some());
        self.deleted.is_none() && !hidden && self.latest().is_some()
    }
}

/// What a skill's document says of one of its versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionSummary {
    pub(crate) version: String,
    pub(crate) created_at: u64,
    pub(crate) changelog: String,
    pub(crate) spdx: Option<String>,
    /// Of the published files and of the installed tree, in both orders.
    pub(crate) fingerprints: Vec<String>,
    pub(crate) has_warnings: bool,
    /// The archive without the registry's own file, for discovery indexes.
    pub(crate) plain: BlobRef,
    /// Set where the whole version is one `SKILL.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) only_file: Option<String>,
    #[serde(default)]
    pub(crate) withdrawn: bool,
}

/// Where the skill with this key moved to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AliasDoc {
    pub(crate) slug: String,
    pub(crate) owner: String,
}

/// A variable or setting that a skill wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SetupKey {
    pub(crate) key: String,
    pub(crate) required: bool,
}

/// A skill that its owner took back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletionMark {
    pub(crate) at: u64,
    pub(crate) by: String,
    pub(crate) reserved_until: u64,
    pub(crate) reason: Option<String>,
}

/// A skill that came from another registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MirrorOrigin {
    /// The other registry.
    pub(crate) upstream: String,
    /// Its owner there, which can differ from the one here by a prefix.
    pub(crate) owner: String,
    pub(crate) checked_at: u64,
    /// Why it is not served any more.
    pub(crate) hidden: Option<String>,
    /// What upstream says of it beyond our own scan.
    pub(crate) suspicious: bool,
    /// Set where it came straight from GitHub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) github: Option<GitHubFolder>,
}

/// A folder of a repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitHubFolder {
    pub(crate) owner: String,
    pub(crate) repo: String,
    pub(crate) path: String,
    /// The branch, tag or commit that was asked for.
    pub(crate) at: Option<String>,
    /// The commit that was looked at last.
    pub(crate) commit: String,
}

/// A version: its files and what the scan said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionDoc {
    pub(crate) id: String,
    pub(crate) version: String,
    pub(crate) created_at: u64,
    pub(crate) changelog: String,
    pub(crate) by: String,
    pub(crate) files: Vec<FileDoc>,
    /// sinew's digest of the published files.
    pub(crate) tree: String,
    pub(crate) fingerprint: String,
    pub(crate) spdx: Option<String>,
    /// The archive that installs get.
    pub(crate) archive: BlobRef,
    pub(crate) scan: ScanDoc,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<serde_json::Value>,
}

/// One published file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileDoc {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
    pub(crate) content_type: String,
}

/// Bytes in the blob store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlobRef {
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

/// What the scan said when the version was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScanDoc {
    pub(crate) ruleset: String,
    pub(crate) checked_at: u64,
    pub(crate) has_warnings: bool,
    pub(crate) findings: Vec<FindingDoc>,
}

/// A finding, as it is kept and shown to the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FindingDoc {
    pub(crate) code: String,
    pub(crate) severity: FindingSeverity,
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) evidence: String,
}

/// Permission to upload one file once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TicketDoc {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
    pub(crate) content_type: String,
    /// Whose it is.
    pub(crate) handle: String,
    pub(crate) expires_at: u64,
    pub(crate) uploaded: bool,
}

/// How often a skill was fetched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StatsDoc {
    pub(crate) downloads: u64,
    pub(crate) installs: u64,
}

/// One entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAuditEntry {
    /// Who: a handle.
    pub who: String,
    /// The skill's key, `slug/owner`, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The version, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// From where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Anything else: a reason, a label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
