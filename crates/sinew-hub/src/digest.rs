//! Digests of a skill version, computed as each tool that has to agree on them does.
//!
//! All of them are folds over [`FileRecord`]s. There are two orders: the root collation, which is
//! what JavaScript's `localeCompare` gives, and plain byte order. [`tree_sha256`] is sinew's own
//! and the only one that approvals are bound to, because it alone covers sizes and execute bits.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sinew_catalog::collate;
use sinew_skill::content_hash as sha256_hex;

/// The file that registries add to an archive; an installed tree has it, a published one does not.
pub const META_FILE: &str = "_meta.json";
/// Folders at a skill's root in which tools keep their records. They are not part of the skill.
pub const RECORD_FOLDERS: &[&str] = &[".clawhub", ".clawdhub", ".openclaw", ".sinew"];

/// Everything about one file except its bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileRecord {
    /// Relative path with `/`.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 of the bytes, lower-case hex.
    pub sha256: String,
    /// Whether any execute bit is set.
    #[serde(rename = "x", default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl FileRecord {
    /// The record of a plain file.
    pub fn of(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self {
            path: path.into(),
            size: bytes.len() as u64,
            sha256: sha256_hex(bytes),
            executable: false,
        }
    }
}

/// The order in which files enter a [`fingerprint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FingerprintOrder {
    /// Root collation, as the upstream client sorts in most locales.
    Collation,
    /// Byte order, as it sorts in the `C` locale.
    Bytes,
}

impl FingerprintOrder {
    /// Compares two paths; paths that collate equal are ordered by their bytes.
    pub fn compare(self, a: &str, b: &str) -> Ordering {
        match self {
            Self::Collation => collate::compare(a, b).then_with(|| a.cmp(b)),
            Self::Bytes => a.cmp(b),
        }
    }

    fn sorted(self, files: &[FileRecord]) -> Vec<&FileRecord> {
        let mut files: Vec<_> = files.iter().collect();
        files.sort_by(|a, b| self.compare(&a.path, &b.path));
        files
    }
}

/// The registry's fingerprint of a version: the hash of its `path:sha256` lines.
pub fn fingerprint(files: &[FileRecord], order: FingerprintOrder) -> String {
    joined(files, order, |file| format!("{}:{}", file.path, file.sha256))
}

/// The registry's hash of a folder in a GitHub repository: like the fingerprint, but with sizes.
pub fn content_hash(files: &[FileRecord]) -> String {
    joined(files, FingerprintOrder::Collation, |file| {
        format!("{}\0{}\0{}", file.path, file.size, file.sha256)
    })
}

fn joined(
    files: &[FileRecord],
    order: FingerprintOrder,
    line: impl Fn(&FileRecord) -> String,
) -> String {
    let lines: Vec<String> = order.sorted(files).into_iter().map(line).collect();
    sha256_hex(lines.join("\n").as_bytes())
}

/// sinew's digest of an installed skill, `sha256:` and hex. Other tools' records are not part of
/// it.
pub fn tree_sha256(files: &[FileRecord]) -> String {
    let mut whole = Vec::new();
    for file in
        FingerprintOrder::Bytes.sorted(files).into_iter().filter(|file| !is_record(&file.path))
    {
        let x = if file.executable { 'x' } else { '-' };
        whole.extend(format!("{}\0{x}\0{}\0{}\n", file.path, file.size, file.sha256).into_bytes());
    }
    format!("sha256:{}", sha256_hex(&whole))
}

/// OpenClaw's digest of an installed skill: the hash of a JSON list of its folders and files.
pub fn openclaw_tree(files: &[FileRecord]) -> String {
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    struct OpenclawTreeNode<'a> {
        path: &'a str,
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        sha256: Option<&'a str>,
    }
    const LEFT_OUT: &[&str] = &[".clawhub", ".clawdhub"];
    let mut items = BTreeSet::new();
    for file in files.iter().filter(|file| !LEFT_OUT.contains(&top(&file.path))) {
        for (at, _) in file.path.match_indices('/') {
            items.insert(OpenclawTreeNode {
                path: &file.path[..at],
                kind: "directory",
                sha256: None,
            });
        }
        items.insert(OpenclawTreeNode {
            path: &file.path,
            kind: "file",
            sha256: Some(&file.sha256),
        });
    }
    let mut items: Vec<OpenclawTreeNode<'_>> = items.into_iter().collect();
    items.sort_by(|a, b| FingerprintOrder::Collation.compare(a.path, b.path));
    let json = serde_json::to_string(&items).unwrap_or_default();
    format!("sha256:{}", sha256_hex(json.as_bytes()))
}

/// Whether a path belongs to a tool's own records and not to the skill.
pub fn is_record(path: &str) -> bool {
    RECORD_FOLDERS.contains(&top(path))
}

/// Whether a path may be published: no part of it starts with a dot or is `node_modules`.
pub fn is_publishable(path: &str) -> bool {
    path.split('/').all(|part| !part.starts_with('.') && part != "node_modules")
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}
