//! One record per reference: what scripts read of an install, an update or a removal.

use serde::Serialize;
use sinew_guard::scan::Finding;
use sinew_hub::install::{InstallReceipt, VersionDiff};
use sinew_hub::{HubError, RestoredSkill, UninstalledSkill, UpdateResult};
use sinew_settings::{ErrorCode, ErrorKind};

/// What became of one reference.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HubRecord {
    /// What was asked for.
    #[serde(rename = "ref")]
    pub reference: String,
    /// `installed`, `updated`, `current`, `available`, `removed`, `restored`, `imported`, `ok`,
    /// `linked`, `copied`, `unlinked`, `unchanged`, `kept`, `sent`, `taken`, `ahead`, `behind`,
    /// `would-install`, `would-update`, `would-restore`, `would-link`, `would-remove`, `refused` or
    /// `failed`.
    pub status: &'static str,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub reason: Option<ErrorCode>,
    /// The exact version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The digest of the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Where it lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub path: Option<std::path::PathBuf>,
    /// What the guard found, where that is why not.
    pub findings: Vec<Finding>,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<VersionDiff>,
    /// A copy of what was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub backup: Option<std::path::PathBuf>,
    /// What was meant instead, where the reference is ambiguous.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// What happened, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// When to try again, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at_ms: Option<u64>,
    /// What became of the skills that it needs, where they are not records of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<NeededRecord>,
}

/// What became of a skill that another one needs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NeededRecord {
    /// What is needed, as its author wrote it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The skill that needs it.
    pub needed_by: String,
    /// `installed`, `refused` or `failed`.
    pub status: &'static str,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub reason: Option<ErrorCode>,
    /// What happened, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl HubRecord {
    /// A record that went well.
    pub fn done(reference: &str, status: &'static str) -> Self {
        Self {
            reference: reference.to_owned(),
            status,
            reason: None,
            resolved: None,
            digest: None,
            path: None,
            findings: Vec::new(),
            diff: None,
            backup: None,
            matches: Vec::new(),
            message: None,
            hints: Vec::new(),
            retry_at_ms: None,
            needed: Vec::new(),
        }
    }

    /// A skill in its place.
    pub fn installed(reference: &str, installed: &InstallReceipt) -> Self {
        Self {
            resolved: Some(format!("{}@{}", installed.key, installed.version)),
            digest: Some(installed.digest.clone()),
            path: Some(installed.path.clone()),
            backup: installed.backup.clone(),
            ..Self::done(reference, "installed")
        }
    }

    /// A folder that is read where it is.
    pub fn linked(reference: &str, status: &'static str, folder: &std::path::Path) -> Self {
        Self { path: Some(folder.to_owned()), ..Self::done(reference, status) }
    }

    /// A skill that was brought up to date, or is.
    pub fn updated(updated: &UpdateResult) -> Self {
        Self {
            resolved: Some(format!("{}@{}", updated.key, updated.to)),
            digest: Some(updated.digest.clone()),
            diff: updated.diff.clone(),
            backup: updated.backup.clone(),
            ..Self::done(&updated.key, updated.status.as_str())
        }
    }

    /// A skill that is gone.
    pub fn removed(removed: &UninstalledSkill) -> Self {
        let resolved = Some(format!("{}@{}", removed.key, removed.version));
        Self { resolved, ..Self::done(&removed.key, "removed") }
    }

    /// An entry of a lock that was followed.
    pub fn restored(restored: &RestoredSkill) -> Self {
        let digest = Some(restored.digest.clone());
        Self { digest, ..Self::done(&restored.key, restored.status) }
    }

    /// What did not go well.
    pub fn failed(reference: &str, error: HubError) -> Self {
        let status = if error.kind() == ErrorKind::Refused { "refused" } else { "failed" };
        Self {
            reason: Some(error.code),
            digest: error.digest,
            findings: error.findings,
            matches: error.matches,
            message: Some(error.message),
            hints: error.hints,
            retry_at_ms: error.retry_at_ms,
            ..Self::done(reference, status)
        }
    }

    /// The gravest of several: refusals before trouble with the machine, and both before a plain no.
    pub fn worst_kind(records: &[Self]) -> Option<ErrorKind> {
        let rank = |kind: &ErrorKind| match kind {
            ErrorKind::Usage => 3,
            ErrorKind::Refused => 2,
            ErrorKind::Environment => 1,
            ErrorKind::No => 0,
        };
        records.iter().filter_map(|record| record.reason.map(ErrorCode::kind)).max_by_key(rank)
    }
}
