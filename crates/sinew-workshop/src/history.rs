//! History: every write with what was there before and after, so that each can be taken back.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Versions older than this may be removed.
pub(crate) const KEPT_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// The newest versions of a skill always stay.
pub(crate) const KEPT_VERSIONS: usize = 20;

/// Why a version was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum VersionCause {
    /// A proposal was written.
    Apply,
    /// A support file was written.
    SupportFile,
    /// A version was taken back.
    Undo,
    /// The skill was put back to an earlier version.
    Rollback,
    /// A draft became a skill.
    Promote,
    /// What was learned did not prove itself.
    Retire,
    /// A change made by hand was saved before it was overwritten.
    Save,
}

/// One file of a version: its content before and after, by SHA-256; absent where there was none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WrittenFile {
    /// Path below the workspace.
    pub path: String,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What is there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// One write to a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillVersion {
    /// A UUID.
    pub id: String,
    /// Its sequence number among all writes and proposals of the workspace.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The skill.
    pub skill_name: String,
    /// Why it was made.
    pub action: VersionCause,
    /// The proposal that was written or taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal_id: Option<String>,
    /// The version that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// Who.
    pub by: String,
    /// The files.
    pub files: Vec<WrittenFile>,
}

/// Ids of versions that are taken back, of a list with the newest first.
pub(crate) fn undone_versions(versions: &[SkillVersion]) -> BTreeSet<String> {
    let mut undone = BTreeSet::new();
    for version in versions.iter().rev() {
        if let Some(undoes) = &version.undoes {
            undone.insert(undoes.clone());
            // Undoing an undo restores the version that it had undone.
            let first = versions.iter().find(|v| v.id == *undoes).and_then(|v| v.undoes.clone());
            if let Some(first) = first {
                undone.remove(&first);
            }
        }
    }
    undone
}

/// The version that a plain `undo` takes back: the newest write that is not undone.
pub(crate) fn newest_standing(versions: &[SkillVersion]) -> Option<&SkillVersion> {
    let undone = undone_versions(versions);
    versions.iter().find(|version| {
        !matches!(version.action, VersionCause::Undo | VersionCause::Save)
            && !undone.contains(&version.id)
    })
}

/// What each file held right after `version`, for files that later versions touched.
pub(crate) fn contents_at(
    versions: &[SkillVersion],
    version: &str,
) -> BTreeMap<String, Option<String>> {
    let later = versions.iter().take_while(|later| later.id != version);
    let mut contents = BTreeMap::new();
    for written in later.flat_map(|later| &later.files) {
        // Newest first, so the oldest of the later versions comes last and wins.
        contents.insert(written.path.clone(), written.before.clone());
    }
    contents
}

/// The hash that a file was left with, if the workshop ever wrote it.
pub(crate) fn last_written<'v>(
    versions: &'v [SkillVersion],
    path: &str,
) -> Option<&'v WrittenFile> {
    versions
        .iter()
        .filter(|version| version.action != VersionCause::Save)
        .flat_map(|version| &version.files)
        .find(|written| written.path == path)
}

/// Versions that may be removed: old, and not among the newest of their skill. The list is newest
/// first.
pub(crate) fn prunable_versions(versions: &[SkillVersion], now: u64) -> Vec<&SkillVersion> {
    let old = |version: &&SkillVersion| now.saturating_sub(version.at) > KEPT_MS;
    versions.iter().skip(KEPT_VERSIONS).filter(old).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(
        number: u64,
        action: VersionCause,
        undoes: Option<&str>,
        hashes: (&str, &str),
    ) -> SkillVersion {
        let hash = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        SkillVersion {
            id: format!("v{number}"),
            number,
            at: number,
            skill_name: "s".to_owned(),
            action,
            proposal_id: None,
            undoes: undoes.map(str::to_owned),
            by: "t".to_owned(),
            files: vec![WrittenFile {
                path: "f".to_owned(),
                before: hash(hashes.0),
                after: hash(hashes.1),
            }],
        }
    }

    #[test]
    fn undo_steps_back_and_an_undo_can_be_undone() {
        let mut versions = vec![
            version(2, VersionCause::Apply, None, ("a", "b")),
            version(1, VersionCause::Apply, None, ("", "a")),
        ];
        assert_eq!(newest_standing(&versions).map(|v| v.number), Some(2));
        versions.insert(0, version(3, VersionCause::Undo, Some("v2"), ("b", "a")));
        assert_eq!(newest_standing(&versions).map(|v| v.number), Some(1));
        versions.insert(0, version(4, VersionCause::Undo, Some("v3"), ("a", "b")));
        assert_eq!(newest_standing(&versions).map(|v| v.number), Some(2));
        assert_eq!(contents_at(&versions, "v1")["f"].as_deref(), Some("a"));
        assert_eq!(contents_at(&versions, "v2")["f"].as_deref(), Some("b"));
    }

    #[test]
    fn only_old_versions_beyond_the_newest_go() {
        let versions: Vec<SkillVersion> =
            (0..30).rev().map(|n| version(n, VersionCause::Apply, None, ("", ""))).collect();
        assert!(prunable_versions(&versions, KEPT_MS / 2).is_empty());
        let gone: Vec<u64> =
            prunable_versions(&versions, KEPT_MS + 5).iter().map(|v| v.number).collect();
        assert_eq!(gone, [4, 3, 2, 1, 0]);
    }
}
