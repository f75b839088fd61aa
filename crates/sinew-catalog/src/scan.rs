//! The guard at load time: a skill's files decide whether it is loaded.
//!
//! A scan is cached by the digest of the whole folder and by the rules, so that an unchanged skill
//! costs one look-up. For a folder that contains only its skill file, the digest that loading
//! computes anyway is enough.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use crate::shell_word;
use serde::Serialize;
use sinew_guard::containment::{self, FileStamp};
use sinew_guard::digest;
use sinew_guard::scan::{
    Finding, FindingSeverity, MAX_FILE, Scanner, SkillBundle, Verdict, ruleset_digest,
};
use sinew_guard::scan_records::{FindingOverride, ScanCache};
use sinew_settings::{Reason, ReasonCode};

use crate::discover::DiscoveredSkill;
use crate::listing::{FolderEntryKind, FolderListing, MAX_SURVEYED, ReadAnchor, is_settled};

/// Findings about links and odd files. At load time they do not count: the catalog opens nothing
/// through a link that leaves the skill's folder, so such a file is unreachable and harmless.
const OUT_OF_REACH: &[&str] = &["link-entry", "hardlink-entry", "special-file"];

/// The guard's verdict on a loaded skill.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, borsh::BorshDeserialize, borsh::BorshSerialize,
)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScanSummary {
    /// Allow, warn or block.
    pub verdict: Verdict,
    /// The digest of the skill's folder.
    pub digest: String,
    /// How many findings there are at warn and above.
    #[borsh(
        serialize_with = "crate::catalog_cache::write_count",
        deserialize_with = "crate::catalog_cache::read_count"
    )]
    pub findings: usize,
}

/// Scans skills as they are loaded, and caches the results.
#[derive(Debug)]
pub struct ScanGate {
    scanner: OnceLock<Scanner>,
    /// Where the cached scans are; they are read when the first one is needed.
    file: Option<PathBuf>,
    cache: OnceLock<Mutex<ScanCache>>,
    overrides: RwLock<Vec<FindingOverride>>,
    learned: AtomicBool,
}

impl ScanGate {
    /// A gate with the scans cached in a file and the findings that a person accepted.
    pub fn new(file: Option<PathBuf>, overrides: Vec<FindingOverride>) -> Self {
        Self {
            scanner: OnceLock::new(),
            file,
            cache: OnceLock::new(),
            overrides: RwLock::new(overrides),
            learned: AtomicBool::new(false),
        }
    }

    /// A gate with an empty cache.
    pub fn with_empty_cache() -> Self {
        Self::new(None, Vec::new())
    }

    /// The cache to save, if something was added since the last call.
    pub fn take_unsaved_cache(&self) -> Option<ScanCache> {
        let learned = self.learned.swap(false, Ordering::Relaxed);
        learned.then(|| self.cache().clone())
    }

    /// What its answers depend on besides the content and the rules, which are part of the program:
    /// the accepted findings.
    pub fn tag(&self) -> String {
        let overrides = self.overrides();
        let accepted = overrides.iter().flat_map(|given| [&given.rule, &given.digest]);
        let parts = accepted.flat_map(|part| [part.as_bytes(), b"\n"]);
        sinew_skill::content_hash_of(parts)
    }

    /// Counts a finding that a person has just accepted, without a new gate.
    pub fn accept(&self, given: FindingOverride) {
        self.overrides.write().unwrap_or_else(PoisonError::into_inner).push(given);
    }

    fn overrides(&self) -> RwLockReadGuard<'_, Vec<FindingOverride>> {
        self.overrides.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached findings of a skill's folder, at warn and above.
    pub fn findings_of(&self, digest: &str) -> Vec<Finding> {
        self.cache().get(digest).map(|report| report.findings.clone()).unwrap_or_default()
    }

    fn cache(&self) -> MutexGuard<'_, ScanCache> {
        let cache = self.cache.get_or_init(|| {
            let rules = ruleset_digest();
            let cache = self.file.as_ref().map(|file| ScanCache::load(file, &rules));
            Mutex::new(cache.unwrap_or_else(|| ScanCache::new(&rules)))
        });
        cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges a candidate whose file has this `hash`.
    pub(crate) fn judge(
        &self,
        candidate: &DiscoveredSkill,
        hash: &str,
        now_ms: u64,
    ) -> ScanJudgement {
        let survey = FolderSurvey::of(candidate, now_ms);
        let known = survey
            .is_lone
            .then(|| digest::from_hex(hash))
            .flatten()
            .map(|hash| digest::tree_of_hashes([(candidate.file_name.as_str(), hash)]));
        if let Some(judgement) = known.as_deref().and_then(|digest| self.recall(digest)) {
            return ScanJudgement { survey, ..judgement };
        }
        let bundle = match bundle(candidate) {
            Ok(bundle) => bundle,
            Err(error) => return ScanJudgement::unreadable(survey, &error),
        };
        let found = bundle.digest();
        if let Some(judgement) = self.recall(&found) {
            return ScanJudgement { survey, ..judgement };
        }
        let report = self.scanner.get_or_init(Scanner::new).scan_bundle(&bundle);
        let findings: Vec<Finding> = report.at_least(FindingSeverity::Warn).cloned().collect();
        self.cache().put(&report);
        self.learned.store(true, Ordering::Relaxed);
        ScanJudgement { survey, ..self.weigh(&report.digest, &findings) }
    }

    fn recall(&self, digest: &str) -> Option<ScanJudgement> {
        self.cache().get(digest).map(|report| self.weigh(digest, &report.findings))
    }

    /// The verdict here, without accepted rules and unreachable files.
    fn weigh(&self, digest: &str, findings: &[Finding]) -> ScanJudgement {
        let overrides = self.overrides();
        let accepted =
            |rule: &str| overrides.iter().any(|given| given.rule == rule && given.digest == digest);
        let counts = |finding: &&Finding| {
            !OUT_OF_REACH.contains(&finding.rule.as_str()) && !accepted(&finding.rule)
        };
        let counted: Vec<&Finding> = findings.iter().filter(counts).collect();
        let worst = counted.iter().find(|finding| finding.severity == FindingSeverity::Critical);
        ScanJudgement {
            summary: ScanSummary {
                verdict: Verdict::from_severities(counted.iter().map(|finding| finding.severity)),
                digest: digest.to_owned(),
                findings: counted.len(),
            },
            blocked: worst.map(|finding| quarantined(finding)),
            survey: FolderSurvey::default(),
        }
    }
}

/// The guard's judgement of one skill, and the files it covers.
#[derive(Debug)]
pub(crate) struct ScanJudgement {
    pub(crate) summary: ScanSummary,
    pub(crate) blocked: Option<Reason>,
    pub(crate) survey: FolderSurvey,
}

impl ScanJudgement {
    fn unreadable(survey: FolderSurvey, error: &io::Error) -> Self {
        let reason =
            Reason::new(ReasonCode::Quarantined, format!("its files cannot be scanned: {error}"))
                .remedy("check the permissions of the skill's folder");
        Self {
            summary: ScanSummary { verdict: Verdict::Block, digest: String::new(), findings: 1 },
            blocked: Some(reason),
            survey,
        }
    }
}

fn quarantined(finding: &Finding) -> Reason {
    let place = match finding.line {
        0 => finding.file.clone(),
        line => format!("{}:{line}", finding.file),
    };
    Reason::new(ReasonCode::Quarantined, format!("{} ({}, {place})", finding.message, finding.rule))
}

/// Why a skill is held back, with the command that shows what was found in it. Judgements are kept by
/// content, and the same files may lie under several names.
pub(crate) fn told_of(name: &str, held: Reason) -> Reason {
    match held.remedy {
        Some(_) => held,
        None => held.remedy(format!(
            "`sinew scan {}` shows what was found; do not use the skill unless you wrote it",
            shell_word(name)
        )),
    }
}

/// The bytes to scan: the whole folder, or the one file of a skill that is a file.
fn bundle(candidate: &DiscoveredSkill) -> io::Result<SkillBundle> {
    if candidate.folder.is_some() {
        return SkillBundle::from_dir(&candidate.dir);
    }
    let bytes = candidate.anchor.with(|dir| {
        let file = containment::open_regular(dir, &candidate.file_inside());
        file.map_err(io::Error::other)?.read(MAX_FILE).map_err(io::Error::other)
    })?;
    Ok(SkillBundle::from_files([(candidate.file_name.clone(), bytes)]))
}

/// The files in a skill's folder beside its skill file, and their stamps.
#[derive(Debug, Default)]
pub(crate) struct FolderSurvey {
    /// The folders below it; the skill's own folder is known to the walk.
    pub(crate) folders: Vec<FolderListing>,
    pub(crate) files: Vec<(PathBuf, Option<FileStamp>)>,
    /// Whether the skill file is the only file.
    pub(crate) is_lone: bool,
    pub(crate) at_ms: u64,
}

impl FolderSurvey {
    fn of(candidate: &DiscoveredSkill, now_ms: u64) -> Self {
        let mut survey = Self { at_ms: now_ms, ..Self::default() };
        let Some(top) = &candidate.folder else { return Self { is_lone: true, ..survey } };
        survey.is_lone = top.children.len() == 1;
        let mut waiting = Vec::new();
        survey.look_at(candidate, &candidate.inside, top, &mut waiting);
        while let Some(folder) = waiting.pop() {
            let listed = FolderListing::of(&candidate.anchor, &folder, Path::new(""), now_ms);
            if survey.is_full() {
                break;
            }
            if let Ok(listed) = listed {
                survey.look_at(candidate, &folder, &listed, &mut waiting);
                survey.folders.push(listed);
            }
        }
        survey
    }

    fn look_at(
        &mut self,
        candidate: &DiscoveredSkill,
        folder: &Path,
        listed: &FolderListing,
        waiting: &mut Vec<PathBuf>,
    ) {
        for child in &listed.children {
            if folder == candidate.inside && child.name == candidate.file_name.as_str() {
                continue;
            }
            let path = folder.join(&child.name);
            if child.kind == FolderEntryKind::Folder {
                waiting.push(path);
            } else if !self.is_full() {
                let stamp = candidate.anchor.stamp(&path).ok();
                self.files.push((path, stamp));
            }
        }
    }

    fn is_full(&self) -> bool {
        self.files.len() + self.folders.len() >= MAX_SURVEYED
    }

    /// Whether the same files would be found again, unchanged.
    pub(crate) fn is_unchanged(&self, anchor: &ReadAnchor) -> bool {
        let same = |(path, stamp): &(PathBuf, Option<FileStamp>)| {
            let settled = stamp.is_some_and(|stamp| is_settled(&stamp, self.at_ms));
            settled && anchor.stamp(path).ok() == *stamp
        };
        self.folders.iter().all(FolderListing::is_unchanged) && self.files.iter().all(same)
    }
}
