//! The files of a version: whether they form a skill that every client can unpack, and what they say.

use std::fmt::Write as _;

use sinew_guard::archive;
use sinew_guard::scan::{FindingSeverity, MAX_FILE, MAX_FILES, MAX_SKILL, ScanReport, Verdict};
use sinew_hub::digest::{FileRecord, FingerprintOrder, META_FILE, fingerprint};
use sinew_hub::tree::{SkillTree, TreeFile};
use sinew_hub::version_archive::ArchiveMeta;
use sinew_skill::{ReadOptions, Skill};

use super::model::{FileDoc, FindingDoc, ScanDoc, SetupKey};
use super::refusal::RegistryRefusal;

/// The longest path of a file.
const MAX_PATH: usize = 500;
/// The longest summary that is kept.
const MAX_SUMMARY: usize = 1_024;
/// Topics and tags of one skill.
pub(super) const MAX_WORDS: usize = 20;
/// Findings that are stored and shown; the most severe come first.
const MAX_FINDINGS: usize = 50;

/// What may be the skill's own file, in the order in which it is looked for.
pub(super) const SKILL_FILES: &[&str] = &["SKILL.md", "skill.md", "skills.md", "SKILL.MD"];
/// Made by registries; an upload must not contain one.
const CARD_FILE: &str = "skill-card.md";

/// A file of a bundle.
#[derive(Debug)]
pub(crate) struct RegistryBundleFile {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: String,
}

/// What the skill file says about the skill.
#[derive(Debug, Default)]
pub(super) struct BundleFacts {
    pub(super) summary: Option<String>,
    pub(super) spdx: Option<String>,
    pub(super) setup: Vec<SetupKey>,
    pub(super) os: Vec<String>,
}

impl BundleFacts {
    pub(super) fn read(files: &[RegistryBundleFile], slug: &str) -> Self {
        let path = skill_file(files);
        let Some(file) = files.iter().find(|file| file.path == path) else {
            return Self::default();
        };
        let read = sinew_skill::read(&file.bytes, &ReadOptions::openclaw(slug));
        let Some(skill) = read.skill else { return Self::default() };
        let summary = plain(&skill.description, MAX_SUMMARY);
        let license = skill.frontmatter.get("license").and_then(|value| value.as_str());
        Self {
            summary: Some(summary).filter(|text| !text.is_empty()),
            spdx: license.map(|text| plain(text, 100)).filter(|text| !text.is_empty()),
            setup: setup(&skill),
            os: skill.metadata.map(|metadata| metadata.os).unwrap_or_default(),
        }
    }
}

/// Variables and settings that the skill wants, the required ones first.
fn setup(skill: &Skill) -> Vec<SetupKey> {
    let mut setup: Vec<SetupKey> = Vec::new();
    let Some(metadata) = &skill.metadata else { return setup };
    let required = metadata.requires.env.iter().chain(&metadata.requires.config);
    let optional = metadata.requires.any_env.iter().chain(&metadata.primary_env);
    let keys = required.map(|key| (key, true)).chain(optional.map(|key| (key, false)));
    for (key, required) in keys {
        if !setup.iter().any(|known| known.key == *key) {
            setup.push(SetupKey { key: key.clone(), required });
        }
    }
    setup
}

/// Of the files as published and as installed, in both orders, without repetitions.
pub(super) fn fingerprints(records: &[FileRecord], meta: &ArchiveMeta) -> Vec<String> {
    let mut installed = records.to_vec();
    installed.push(FileRecord::of(META_FILE, &meta.to_bytes()));
    let mut all = Vec::new();
    for files in [records, &installed] {
        for order in [FingerprintOrder::Collation, FingerprintOrder::Bytes] {
            let found = fingerprint(files, order);
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all
}

pub(super) fn file_docs(files: &[RegistryBundleFile], records: &[FileRecord]) -> Vec<FileDoc> {
    let doc = |(file, record): (&RegistryBundleFile, &FileRecord)| FileDoc {
        path: file.path.clone(),
        size: record.size,
        sha256: record.sha256.clone(),
        content_type: file.content_type.clone(),
    };
    let mut docs: Vec<FileDoc> = files.iter().zip(records).map(doc).collect();
    docs.sort_by(|a, b| FingerprintOrder::Collation.compare(&a.path, &b.path));
    docs
}

pub(super) fn scan_doc(report: &ScanReport, now: u64) -> ScanDoc {
    let finding = |finding: &sinew_guard::scan::Finding| FindingDoc {
        code: finding.rule.clone(),
        severity: finding.severity,
        file: finding.file.clone(),
        line: finding.line,
        message: finding.message.clone(),
        evidence: finding.evidence.clone(),
    };
    ScanDoc {
        ruleset: report.ruleset.clone(),
        checked_at: now,
        has_warnings: report.verdict == Verdict::Warn,
        findings: report.at_least(FindingSeverity::Warn).take(MAX_FINDINGS).map(finding).collect(),
    }
}

/// Why a bundle was refused, for the person who wrote it.
pub(super) fn blocked(report: &ScanReport) -> String {
    let mut text = "Blocked by the security scan; nothing was published.".to_owned();
    for finding in report.at_least(FindingSeverity::Critical).take(MAX_FINDINGS) {
        let place = match finding.line {
            0 => finding.file.clone(),
            line => format!("{}:{line}", finding.file),
        };
        let _ = write!(text, "\n- {} {place}: {}", finding.rule, finding.message);
    }
    text
}

/// The path of the skill's own file.
pub(super) fn skill_file(files: &[RegistryBundleFile]) -> &'static str {
    let has = |name: &&&str| files.iter().any(|file| file.path == **name);
    SKILL_FILES.iter().find(has).copied().unwrap_or(SKILL_FILES[0])
}

pub(super) fn check_sizes(sizes: impl Iterator<Item = u64>) -> Result<(), RegistryRefusal> {
    let mut total = 0u64;
    for (count, size) in sizes.enumerate() {
        total = total.saturating_add(size);
        if size > MAX_FILE {
            return Err(RegistryRefusal::too_large("File exceeds 10MB limit"));
        }
        if total > MAX_SKILL {
            return Err(RegistryRefusal::too_large("Skill bundle exceeds 50MB limit"));
        }
        if count >= MAX_FILES {
            return Err(RegistryRefusal::too_large(format!(
                "A skill has at most {MAX_FILES} files"
            )));
        }
    }
    Ok(())
}

/// Whether the files make a skill that every client can unpack.
pub(super) fn check_files(files: &[RegistryBundleFile]) -> Result<(), RegistryRefusal> {
    check_sizes(files.iter().map(|file| file.bytes.len() as u64))?;
    for file in files {
        check_path(&file.path)?;
        if file.path.eq_ignore_ascii_case(CARD_FILE) || file.path == META_FILE {
            return Err(RegistryRefusal::bad(format!(
                "{}: the registry makes this file",
                file.path
            )));
        }
    }
    // Only the names matter here: whether any two would be the same file on some system.
    let named = files.iter().map(|file| TreeFile::new(&*file.path, Vec::new())).collect();
    SkillTree::new(named).map_err(|error| RegistryRefusal::bad(error.to_string()))?;
    if !SKILL_FILES.iter().any(|name| files.iter().any(|file| file.path == *name)) {
        return Err(RegistryRefusal::bad("SKILL.md is required"));
    }
    Ok(())
}

/// Whether a path can be unpacked anywhere without leaving its folder.
pub(crate) fn check_path(path: &str) -> Result<(), RegistryRefusal> {
    let bad = |why: &str| Err(RegistryRefusal::bad(format!("{}: {why}", plain(path, 100))));
    if path.is_empty() || path.chars().count() > MAX_PATH {
        return bad("a path has 1 to 500 characters");
    }
    if path.contains('\\') || path.starts_with('/') {
        return bad("paths are relative, with /");
    }
    if path.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return bad("no part of a path is empty or begins with a dot");
    }
    match archive::components(path) {
        Ok(_) => Ok(()),
        Err(error) => bad(&error.to_string()),
    }
}

/// One line of text without invisible characters.
pub(super) fn plain(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(most).collect()
}
