//! What registries send, as far as a client needs it.
//!
//! Reading is tolerant: unknown fields are ignored, and one bad record does not spoil a page. A
//! known field of the wrong type makes its record invalid, and the report names the field.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The records of one page, and what was wrong with the others.
#[derive(Debug, Clone)]
pub struct WirePage<T> {
    /// The valid records.
    pub rows: Vec<T>,
    /// Where the next page starts; only `None` means the end.
    pub next: Option<String>,
    /// One line for each record that could not be read.
    pub problems: Vec<String>,
}

/// Reads one document.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        format!("{path}: {}", error.into_inner())
    })
}

/// Reads the records below `field`, each on its own.
pub fn page<T: DeserializeOwned>(mut value: Value, field: &str) -> Result<WirePage<T>, String> {
    let next = value.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
    let Some(Value::Array(items)) = value.get_mut(field).map(Value::take) else {
        return Err(format!("{field}: expected a list"));
    };
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    for (at, item) in items.into_iter().enumerate() {
        match read(item) {
            Ok(row) => rows.push(row),
            Err(problem) => problems.push(format!("{field}[{at}].{problem}")),
        }
    }
    Ok(WirePage { rows, next, problems })
}

/// A row of a search.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchRowWire {
    /// How well it matches, on the registry's own scale.
    pub score: f64,
    /// The skill.
    pub slug: Option<String>,
    /// The display name.
    pub display_name: Option<String>,
    /// What it is for.
    pub summary: Option<String>,
    /// `clawhub` or `skills-sh`; absent means the registry itself.
    pub source: Option<String>,
    /// The owner's handle.
    pub owner_handle: Option<String>,
    /// The owner.
    pub owner: Option<UpstreamOwnerWire>,
    /// Who published it.
    pub publisher: Option<UpstreamOwnerWire>,
    /// How it is installed.
    pub install: Option<InstallHintWire>,
    /// What the registry says about its safety.
    pub trust: Option<TrustWire>,
    /// Usage numbers.
    pub metrics: Option<MetricsWire>,
    /// The latest version.
    pub version: Option<String>,
    /// Downloads so far.
    pub downloads: Option<u64>,
    /// When it changed last, in milliseconds.
    pub updated_at: Option<f64>,
}

/// An owner or publisher.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpstreamOwnerWire {
    /// The handle.
    pub handle: Option<String>,
    /// The display name.
    pub display_name: Option<String>,
}

/// How a search row is installed.
#[derive(Debug, Clone, Deserialize)]
pub struct InstallHintWire {
    /// `clawhub`, `github` or `skills-sh`.
    pub kind: Option<String>,
    /// What to type.
    pub reference: Option<String>,
}

/// What a registry says about the safety of a row.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustWire {
    /// A verdict, or an object that contains one.
    #[serde(rename = "clawHubVerdict")]
    pub verdict: Option<Value>,
}

/// Usage numbers of a row.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricsWire {
    /// Installs in the last 60 days.
    #[serde(rename = "rolling60DayInstalls")]
    pub recent_installs: Option<u64>,
    /// How many people have bookmarked it.
    pub bookmarks: Option<u64>,
}

/// A skill as lists and details show it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillSummaryWire {
    /// The skill.
    pub slug: String,
    /// The display name.
    pub display_name: Option<String>,
    /// What it is for.
    pub summary: Option<String>,
    /// Versions by tag.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Counts.
    #[serde(default)]
    pub stats: SkillStatsWire,
    /// When it changed last, in milliseconds.
    pub updated_at: Option<f64>,
    /// The latest version, in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_version: Option<VersionSummaryWire>,
    /// The owner, in lists that name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_handle: Option<String>,
}

/// Counts of a skill.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SkillStatsWire {
    /// Downloads.
    pub downloads: Option<u64>,
    /// Stars.
    pub stars: Option<u64>,
}

/// A version in a list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionSummaryWire {
    /// The version.
    pub version: String,
    /// When it was published, in milliseconds.
    pub created_at: Option<f64>,
    /// What changed.
    pub changelog: Option<String>,
}

/// A skill in detail.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillDetailWire {
    /// The skill.
    pub skill: SkillSummaryWire,
    /// Its latest version.
    pub latest_version: Option<VersionSummaryWire>,
    /// What it needs.
    pub metadata: Option<SkillNeedsWire>,
    /// Who owns it.
    pub owner: Option<UpstreamOwnerWire>,
    /// What the registry's moderators say.
    pub moderation: Option<ModerationWire>,
}

/// What a skill needs before it works.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillNeedsWire {
    /// Variables and settings.
    #[serde(default)]
    pub setup: Vec<SetupKeyWire>,
    /// The operating systems it runs on.
    pub os: Option<Vec<String>>,
}

/// One thing that a skill needs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetupKeyWire {
    /// A variable or a setting.
    pub key: String,
    /// Whether the skill cannot work without it.
    #[serde(default)]
    pub required: bool,
}

/// What a registry's moderators say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModerationWire {
    /// Flagged, but still available.
    #[serde(default)]
    pub is_suspicious: bool,
    /// Known to be malware.
    #[serde(default)]
    pub is_malware_blocked: bool,
    /// `clean`, `suspicious` or `malicious`.
    pub verdict: Option<String>,
    /// Why, as codes.
    #[serde(default)]
    pub reason_codes: Vec<String>,
    /// Why, for people.
    pub summary: Option<String>,
}

/// One version, with its files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionDocumentWire {
    /// The version itself.
    pub version: VersionDetailWire,
}

/// A version, with its files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetailWire {
    /// The version.
    pub version: String,
    /// When it was published, in milliseconds.
    pub created_at: Option<f64>,
    /// What changed.
    pub changelog: Option<String>,
    /// Its files; `None` where the registry does not say.
    pub files: Option<Vec<VersionFileWire>>,
    /// Scan results.
    pub security: Option<SecurityWire>,
}

/// A file of a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionFileWire {
    /// Relative path.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256.
    pub sha256: String,
}

/// Scan results of a version.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityWire {
    /// `clean`, `suspicious`, `malicious`, `pending` or `error`.
    pub status: Option<String>,
    /// Whether the scan found something that does not block.
    #[serde(default)]
    pub has_warnings: bool,
}

/// How a registry wants a skill to be installed, or why not.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallAnswerWire {
    /// Whether it may be installed.
    pub ok: bool,
    /// `archive` or `github`.
    pub install_kind: Option<String>,
    /// Where it is on GitHub.
    pub github: Option<GitHubSourceWire>,
    /// Why not, as a code.
    pub reason: Option<String>,
    /// Why not, for people.
    pub message: Option<String>,
    /// What skills.sh's mirror knows of it.
    pub trust: Option<MirrorTrustWire>,
    /// The reference under which the registry itself serves it.
    pub canonical_ref: Option<String>,
}

/// What a registry knows about an entry of skills.sh.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MirrorTrustWire {
    /// `scanned` or `unscanned`.
    #[serde(rename = "clawhubScan")]
    pub scan: Option<String>,
}

/// A folder of a commit on GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitHubSourceWire {
    /// `owner/repo`.
    pub repo: String,
    /// The commit.
    pub commit: String,
    /// The folder.
    pub path: Option<String>,
    /// The hash of the folder.
    pub content_hash: Option<String>,
}

/// What `/resolve` answers for a fingerprint.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolutionWire {
    /// The version with that fingerprint.
    #[serde(rename = "match")]
    pub matched: Option<VersionNumberWire>,
}

/// A version and nothing else.
#[derive(Debug, Clone, Deserialize)]
pub struct VersionNumberWire {
    /// The version.
    pub version: String,
}

/// A verdict on one version of one skill.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictWire {
    /// The slug that was asked about.
    pub requested_slug: Option<String>,
    /// The owner that was asked about.
    pub requested_owner_handle: Option<String>,
    /// The version that was asked about.
    pub requested_version: Option<String>,
    /// The skill, where it is known.
    pub slug: Option<String>,
    /// Why the decision is what it is.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Scan results.
    pub security: Option<SecurityWire>,
}

/// A slug that several owners use.
#[derive(Debug, Clone, Deserialize)]
pub struct AmbiguousSlugWire {
    /// The possible owners.
    #[serde(default)]
    pub matches: Vec<AmbiguousMatchWire>,
}

/// One owner of such a slug.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AmbiguousMatchWire {
    /// The owner.
    pub owner_handle: Option<String>,
    /// The skill.
    pub slug: Option<String>,
    /// What to type.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
}
