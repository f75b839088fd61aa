//! What a new version changes: files, text, capabilities, findings, and front matter that affects
//! what an agent may do.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sinew_guard::scan::{SkillCapabilities, Verdict};
use sinew_skill::{ReadOptions, YamlValue};

use crate::digest::META_FILE;
use crate::lock::{FindingRecord, LockEntry};
use crate::tree::SkillTree;

/// Lines of text shown per file.
const MAX_LINES: usize = 200;
/// Files whose text is shown.
const MAX_TEXTS: usize = 10;
/// A larger file is named but its text is not shown.
const MAX_TEXT: usize = 100_000;
/// Front matter that decides what an agent may do or what is installed.
const STEERING: &[&str] = &["allowed-tools", "install", "hooks"];

/// What a new version changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VersionDiff {
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// Files that are new.
    pub added: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Files that differ.
    pub changed: Vec<String>,
    /// What it can do now and could not do before, such as `host api.example.org`.
    pub gained: Vec<String>,
    /// What it can no longer do.
    pub lost: Vec<String>,
    /// Findings that were not there before.
    pub findings: Vec<FindingRecord>,
    /// Such front matter that differs.
    pub front_matter: Vec<String>,
    /// The texts, as a unified diff.
    pub text: String,
}

impl VersionDiff {
    /// Whether a person has to approve it: it can do more than before, or the scan found something.
    pub fn needs_a_person(&self, verdict: Verdict) -> bool {
        verdict != Verdict::Allow
            || !self.gained.is_empty()
            || !self.findings.is_empty()
            || !self.front_matter.is_empty()
    }
}

/// Compares two trees.
pub(crate) fn between(
    old: (&LockEntry, &SkillTree),
    new: (&str, &SkillTree),
    capabilities: &SkillCapabilities,
    findings: &[FindingRecord],
) -> VersionDiff {
    let (entry, old_tree) = old;
    let (to, new_tree) = new;
    let by_path = |tree: &SkillTree| -> BTreeMap<String, (String, bool)> {
        let records = tree.records().into_iter().filter(|file| file.path != META_FILE);
        records.map(|file| (file.path, (file.sha256, file.executable))).collect()
    };
    let (before, after) = (by_path(old_tree), by_path(new_tree));
    let only = |a: &BTreeMap<String, (String, bool)>, b: &BTreeMap<String, (String, bool)>| {
        a.keys().filter(|path| !b.contains_key(*path)).cloned().collect::<Vec<_>>()
    };
    let changed: Vec<String> = after
        .iter()
        .filter(|(path, now)| before.get(*path).is_some_and(|then| then != *now))
        .map(|(path, _)| path.clone())
        .collect();
    let (could, can) = (abilities(&entry.capabilities), abilities(capabilities));
    let known: BTreeSet<(&str, &str)> =
        entry.scan.findings.iter().map(|f| (f.rule.as_str(), f.file.as_str())).collect();
    VersionDiff {
        from: entry.version.clone(),
        to: to.to_owned(),
        added: only(&after, &before),
        removed: only(&before, &after),
        text: texts(old_tree, new_tree, &changed),
        changed,
        gained: can.difference(&could).cloned().collect(),
        lost: could.difference(&can).cloned().collect(),
        findings: findings
            .iter()
            .filter(|f| !known.contains(&(f.rule.as_str(), f.file.as_str())))
            .cloned()
            .collect(),
        front_matter: steering(old_tree, new_tree),
    }
}

/// Everything a skill can do, each as a kind and a name.
fn abilities(capabilities: &SkillCapabilities) -> BTreeSet<String> {
    let hosts =
        capabilities.hosts.iter().map(|host| format!("host {} ({})", host.host, host.purpose));
    let env = capabilities.env.iter().map(|env| format!("variable {}", env.name));
    let lists = [
        ("program", &capabilities.binaries),
        ("package", &capabilities.packages),
        ("reads", &capabilities.reads),
        ("writes", &capabilities.writes),
        ("runs", &capabilities.exec),
        ("stays by", &capabilities.persistence),
        ("steers agents by", &capabilities.agent_files),
        ("brings", &capabilities.containers),
    ];
    let named = lists
        .iter()
        .flat_map(|(word, names)| names.iter().map(move |name| format!("{word} {name}")));
    hosts.chain(env).chain(named).collect()
}

fn steering(old: &SkillTree, new: &SkillTree) -> Vec<String> {
    let fields = |tree: &SkillTree| -> BTreeMap<String, String> {
        let Some(file) = tree.get("SKILL.md") else { return BTreeMap::new() };
        let Some(skill) = sinew_skill::read(&file.bytes, &ReadOptions::openclaw("")).skill else {
            return BTreeMap::new();
        };
        let shown = |value: &YamlValue| serde_json::to_string(value).unwrap_or_default();
        let mut fields: BTreeMap<String, String> = skill
            .frontmatter
            .iter()
            .filter(|(name, _)| STEERING.contains(name) || name.starts_with("command-"))
            .map(|(name, value)| (name.to_owned(), shown(value)))
            .collect();
        if let Some(metadata) = skill.metadata.filter(|metadata| !metadata.install.is_empty()) {
            let install = serde_json::to_string(&metadata.install).unwrap_or_default();
            fields.insert("metadata.install".to_owned(), install);
        }
        fields
    };
    let (before, after) = (fields(old), fields(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| {
            let shown = |side: &BTreeMap<String, String>| {
                side.get(name).cloned().unwrap_or_else(|| "nothing".to_owned())
            };
            format!("{name}: {} → {}", shown(&before), shown(&after))
        })
        .collect()
}

fn texts(old: &SkillTree, new: &SkillTree, changed: &[String]) -> String {
    let mut text = String::new();
    for path in changed.iter().take(MAX_TEXTS) {
        let side = |tree: &SkillTree| {
            let bytes = &tree.get(path)?.bytes;
            (bytes.len() <= MAX_TEXT).then(|| String::from_utf8(bytes.clone()).ok()).flatten()
        };
        let (Some(before), Some(after)) = (side(old), side(new)) else { continue };
        let diff = similar::TextDiff::from_lines(&before, &after);
        let unified = diff.unified_diff().context_radius(2).header(path, path).to_string();
        let lines: Vec<&str> = unified.lines().collect();
        let shown = &lines[..lines.len().min(MAX_LINES)];
        text.push_str(&shown.join("\n"));
        text.push('\n');
        if lines.len() > MAX_LINES {
            text.push_str(&format!("… {} more lines of {path}\n", lines.len() - MAX_LINES));
        }
    }
    if changed.len() > MAX_TEXTS {
        text.push_str(&format!("… {} more files\n", changed.len() - MAX_TEXTS));
    }
    text
}
