//! Reading candidates: each file is opened once, checked on its handle, and cached.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew_guard::containment::{self, FileOpenError, FileReadError, FileStamp, OpenFile};
use sinew_settings::{Reason, ReasonCode, path_text};
use sinew_skill::validate::{RuleSet, ValidationFile, validate};
use sinew_skill::{ReadOptions, Skill, SkillDialect};

use crate::catalog_cache::{CacheRecord, CachedRecords};
use crate::discover::{DiscoveredSkill, SKILL_FILE};
use crate::listing::{FolderListing, ReadAnchor, is_settled};
use crate::parallel;
use crate::profile::{LinkPolicy, Tier};
use crate::reading_progress;
use crate::scan::{ScanGate, ScanJudgement};

/// How files are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadRules<'a> {
    pub(crate) dialect: SkillDialect,
    /// The guard; `None` loads without a scan.
    pub(crate) scan: Option<&'a ScanGate>,
    pub(crate) now_ms: u64,
    pub(crate) tier: Tier,
    pub(crate) links: LinkPolicy,
    pub(crate) max_bytes: u64,
    /// Whether to reject files that do not pass OpenPocket's strict rules.
    pub(crate) strict: bool,
}

/// A candidate's file after reading.
#[derive(Debug)]
pub(crate) struct LoadedSkillFile {
    pub(crate) stamp: Option<FileStamp>,
    pub(crate) dialect: SkillDialect,
    pub(crate) max_bytes: u64,
    pub(crate) strict: bool,
    pub(crate) skill: Option<Arc<Skill>>,
    pub(crate) hash: String,
    pub(crate) reasons: Vec<Reason>,
    /// Where it was installed from, if a client left a note.
    pub(crate) origin: Option<InstallOrigin>,
    /// The guard's judgement.
    pub(crate) judgement: Option<ScanJudgement>,
    /// The location of the file; `None` if it could not be opened.
    pub(crate) place: Option<(ReadAnchor, PathBuf)>,
    pub(crate) folder: Option<Arc<FolderListing>>,
    pub(crate) read_at_ms: u64,
}

/// Files that were read before, by path. A file whose stamp is unchanged is not opened again.
#[derive(Debug, Default)]
pub(crate) struct SkillFileCache {
    read: Mutex<HashMap<PathBuf, Arc<LoadedSkillFile>>>,
    /// Files read by an earlier process.
    pub(crate) saved: CachedRecords,
    /// Whether something was read that is worth saving.
    pub(crate) learned: AtomicBool,
}

impl SkillFileCache {
    /// Reads the candidates in parallel, in their order.
    pub(crate) fn load(
        &self,
        candidates: &[DiscoveredSkill],
        rules: LoadRules<'_>,
    ) -> Vec<Arc<LoadedSkillFile>> {
        let reading = reading_progress::begin(candidates.len());
        let loaded = parallel::map_with_buffer(candidates, |candidate, buffer| {
            let file = self.known(candidate, rules);
            let file = file.unwrap_or_else(|| self.read(candidate, rules, buffer));
            reading.add_one();
            file
        });
        drop(reading);
        let mut cache = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        cache.reserve(loaded.len());
        for (candidate, file) in candidates.iter().zip(&loaded) {
            match cache.get_mut(&candidate.file) {
                Some(slot) if Arc::ptr_eq(slot, file) => {}
                Some(slot) => *slot = Arc::clone(file),
                None => drop(cache.insert(candidate.file.clone(), Arc::clone(file))),
            }
        }
        loaded
    }

    /// Everything that this process read, by path.
    pub(crate) fn read_files(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<LoadedSkillFile>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops what was cached below a folder, for changes that leave the skill file itself alone.
    pub(crate) fn forget_below(&self, folder: &Path) {
        let mut cache = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        cache.retain(|path, _| !path.starts_with(folder));
        self.saved.forget_below(folder);
    }

    /// The file as this process or an earlier one read it, if it is unchanged.
    fn known(
        &self,
        candidate: &DiscoveredSkill,
        rules: LoadRules<'_>,
    ) -> Option<Arc<LoadedSkillFile>> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let known = read.get(&candidate.file).cloned();
        drop(read);
        known.filter(|known| known.is_fresh(candidate, rules)).or_else(|| {
            let wake = |record: &[u8]| LoadedSkillFile::from_record(record, candidate, rules);
            self.saved.with_record(&candidate.file, wake).map(Arc::new)
        })
    }

    fn read(
        &self,
        candidate: &DiscoveredSkill,
        rules: LoadRules<'_>,
        buffer: &mut Vec<u8>,
    ) -> Arc<LoadedSkillFile> {
        let file = load(candidate, rules, buffer);
        if file.stamp.is_some_and(|stamp| is_settled(&stamp, file.read_at_ms)) {
            self.learned.store(true, Ordering::Relaxed);
        }
        Arc::new(file)
    }

    /// The records of everything that was read, for the next process.
    pub(crate) fn records(&self) -> Vec<CacheRecord> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = read.iter().filter_map(|(path, file)| Some((path.clone(), file.to_record()?)));
        self.saved.merged_records(now.collect())
    }
}

impl LoadedSkillFile {
    /// Whether reading the candidate again would give the same.
    pub(crate) fn is_fresh(&self, candidate: &DiscoveredSkill, rules: LoadRules<'_>) -> bool {
        let same_folder = match (&candidate.folder, &self.folder) {
            (Some(now), Some(then)) => now.is_same_as(then),
            (None, None) => true,
            _ => false,
        };
        same_folder
            && (self.dialect, self.max_bytes, self.strict)
                == (rules.dialect, rules.max_bytes, rules.strict)
            && self.is_unchanged()
    }

    /// Whether the file, and everything below its folder that was scanned with it, is unchanged.
    /// The walk notices folders that gained or lost an entry.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Some((anchor, inside)) = &self.place else { return false };
        self.stamp.is_some_and(|stamp| is_settled(&stamp, self.read_at_ms))
            && anchor.stamp(inside).ok() == self.stamp
            && self.judgement.as_ref().is_none_or(|judgement| judgement.survey.is_unchanged(anchor))
    }

    /// A file that was opened and can be checked again.
    fn seen(
        candidate: &DiscoveredSkill,
        stamp: FileStamp,
        rules: LoadRules<'_>,
        reasons: Vec<Reason>,
    ) -> Self {
        Self {
            stamp: Some(stamp),
            place: Some((candidate.anchor.clone(), candidate.file_inside())),
            folder: candidate.folder.clone(),
            ..Self::refused(rules, reasons)
        }
    }

    fn refused(rules: LoadRules<'_>, reasons: Vec<Reason>) -> Self {
        Self {
            stamp: None,
            dialect: rules.dialect,
            max_bytes: rules.max_bytes,
            strict: rules.strict,
            skill: None,
            hash: String::new(),
            reasons,
            origin: None,
            judgement: None,
            place: None,
            folder: None,
            read_at_ms: rules.now_ms,
        }
    }
}

fn load(candidate: &DiscoveredSkill, rules: LoadRules<'_>, bytes: &mut Vec<u8>) -> LoadedSkillFile {
    let opened = match open(candidate, rules) {
        Ok(opened) => opened,
        Err(reason) => return LoadedSkillFile::refused(rules, vec![reason]),
    };
    let stamp = opened.stamp;
    match opened.read_into(bytes, rules.max_bytes) {
        Ok(()) => {}
        Err(FileReadError::TooLarge { size, limit }) => {
            let reason = Reason::new(
                ReasonCode::FileTooLarge,
                format!("the file has at least {size} bytes, more than {limit}"),
            )
            .remedy("move long text to references/, or raise skills.limits.maxSkillFileBytes");
            return LoadedSkillFile::seen(candidate, stamp, rules, vec![reason]);
        }
        Err(FileReadError::Io(error)) => {
            return LoadedSkillFile::refused(rules, vec![unreadable(&error.to_string())]);
        }
    }
    let options = ReadOptions {
        default_name: &candidate.id,
        dialect: rules.dialect,
        generated: candidate.generated,
    };
    let outcome = sinew_skill::read(bytes, &options);
    let mut reasons = outcome.reasons;
    let mut skill = outcome.skill;
    if rules.strict
        && let Some(reason) = strict_reason(candidate, bytes)
    {
        reasons.push(reason);
        skill = None;
    }
    if let Some(skill) = &mut skill
        && candidate.folder.as_ref().is_some_and(|folder| folder.holds(OPENAI_FOLDER))
    {
        reasons.extend(apply_openai_policy(candidate, skill));
    }
    let hash = sinew_skill::content_hash(bytes);
    let judgement = match rules.scan {
        Some(gate) if skill.is_some() => Some(gate.judge(candidate, &hash, rules.now_ms)),
        _ => None,
    };
    // A folder that is known to contain nothing else needs no second check.
    let may_have_note = judgement.as_ref().is_none_or(|judgement| !judgement.survey.is_lone);
    LoadedSkillFile {
        skill: skill.map(Arc::new),
        hash,
        origin: if may_have_note { origin(candidate) } else { None },
        judgement,
        ..LoadedSkillFile::seen(candidate, stamp, rules, reasons)
    }
}

fn open(candidate: &DiscoveredSkill, rules: LoadRules<'_>) -> Result<OpenFile, Reason> {
    let opened = match open_inside(candidate, &candidate.file_inside()) {
        Ok(opened) => opened,
        Err(FileOpenError::Link) => open_link(candidate, rules)?,
        Err(FileOpenError::NotRegular(kind)) => {
            return Err(Reason::new(
                ReasonCode::NotRegularFile,
                format!("{} is {kind}", candidate.file_name),
            )
            .remedy(format!("{SKILL_FILE} must be a regular file")));
        }
        Err(error) => return Err(unreadable(&error.to_string())),
    };
    if opened.links > 1 && rules.tier != Tier::Bundled && !is_in_read_only_store(candidate) {
        return Err(Reason::new(
            ReasonCode::HardLink,
            format!("the file has {} hard links; it can be changed from outside", opened.links),
        )
        .remedy("copy the file instead of linking it"));
    }
    Ok(opened)
}

fn open_inside(candidate: &DiscoveredSkill, path: &Path) -> Result<OpenFile, FileOpenError> {
    let opened = candidate.anchor.with(|dir| Ok(containment::open_regular(dir, path)));
    opened.unwrap_or_else(|error| Err(FileOpenError::Io(error)))
}

/// Nix shares equal files of its store through hard links; that store is read-only.
fn is_in_read_only_store(candidate: &DiscoveredSkill) -> bool {
    fs::canonicalize(&candidate.file).is_ok_and(|real| real.starts_with("/nix/store"))
}

/// A linked skill file is read only if the link stays inside the skill's own folder.
fn open_link(candidate: &DiscoveredSkill, rules: LoadRules<'_>) -> Result<OpenFile, Reason> {
    let escape = |to: String| {
        let code = match rules.tier {
            Tier::Bundled => ReasonCode::BundledSymlinkEscape,
            _ => ReasonCode::SymlinkEscape,
        };
        Reason::new(code, format!("{} is a link to {to}", candidate.file_name))
            .remedy("copy the file into the skill's folder")
    };
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| unreadable(&error.to_string()));
    let (real_dir, target) = (real(&candidate.dir)?, real(&candidate.file)?);
    match target.strip_prefix(&real_dir) {
        Ok(below) if rules.links != LinkPolicy::None => {
            open_inside(candidate, &candidate.inside.join(below))
                .map_err(|error| unreadable(&error.to_string()))
        }
        _ => Err(escape(path_text(&target))),
    }
}

fn unreadable(detail: &str) -> Reason {
    Reason::new(ReasonCode::Unreadable, format!("the file cannot be read: {detail}"))
        .remedy("check that the file exists and can be read")
}

fn strict_reason(candidate: &DiscoveredSkill, bytes: &[u8]) -> Option<Reason> {
    let target =
        ValidationFile { directory: &candidate.id, file_name: &candidate.file_name, bytes };
    let issues = validate(&target, RuleSet::OpenPocketStrict).issues;
    let codes: Vec<&str> = issues.iter().map(|issue| issue.code).collect();
    (!codes.is_empty()).then(|| {
        Reason::new(ReasonCode::StrictInvalid, codes.join(", "))
            .remedy("run `sinew validate --rules openpocket-strict` on the file")
    })
}

/// Where Codex keeps what it needs to know of a skill.
const OPENAI_FOLDER: &str = "agents";
const OPENAI_FILE: &str = "agents/openai.yaml";

/// Applies `agents/openai.yaml`: a skill that Codex uses only when it is named is hidden from every
/// model, and its display name is shown.
fn apply_openai_policy(candidate: &DiscoveredSkill, skill: &mut Skill) -> Option<Reason> {
    let path = candidate.inside.join(OPENAI_FILE);
    let bytes = open_inside(candidate, &path).ok()?.read(MAX_ORIGIN).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let Ok(parsed) = sinew_skill::parse_front_matter(&text, 1) else {
        return Some(
            Reason::new(ReasonCode::BadMetadataField, format!("{OPENAI_FILE} is not valid YAML"))
                .remedy("correct the file; until then it counts as absent"),
        );
    };
    let part = |name: &str, key: &str| {
        parsed.fields.get(name)?.as_map()?.get(key).and_then(sinew_skill::YamlValue::flattened)
    };
    if let Some(shown) = part("interface", "display_name").filter(|shown| !shown.trim().is_empty())
    {
        skill.display_name = shown;
    }
    let implicit = part("policy", "allow_implicit_invocation")?;
    if !implicit.eq_ignore_ascii_case("false") {
        return None;
    }
    skill.invocation.disable_model_invocation = true;
    let detail = format!("{OPENAI_FILE} says that it is used only when it is named");
    Some(Reason::new(ReasonCode::ModelInvocationDisabled, detail))
}

/// Where a skill was installed from.
#[derive(Debug, Clone, PartialEq, Eq, borsh::BorshDeserialize, borsh::BorshSerialize)]
pub(crate) struct InstallOrigin {
    /// The slug it was installed under.
    pub(crate) slug: Option<String>,
    /// Whether its source reviews skills.
    pub(crate) vouched: bool,
}

/// A larger file is not a note of ours.
const MAX_ORIGIN: u64 = 16 * 1024;

/// Sources without a review between the author and this machine.
const UNREVIEWED: &[&str] = &["git", "github", "url", "skills-sh", "well-known"];

fn origin(candidate: &DiscoveredSkill) -> Option<InstallOrigin> {
    let note = |path: &str| {
        let path = candidate.inside.join(path);
        let bytes = open_inside(candidate, &path).ok()?.read(MAX_ORIGIN).ok()?;
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()
    };
    let text = |note: &serde_json::Value, key: &str| {
        let text = note.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let direct = note(".openclaw/source-origin.json");
    let registry = note(".clawhub/origin.json");
    let unreviewed = |source: Option<String>| {
        source.is_some_and(|source| UNREVIEWED.contains(&source.to_ascii_lowercase().as_str()))
    };
    let kind = |note: &serde_json::Value, key: &str| unreviewed(text(note, key));
    let vouched = !(direct.as_ref().is_some_and(|note| kind(note, "source"))
        || registry.as_ref().is_some_and(|note| kind(note, "sourceKind")));
    let found = direct.is_some() || registry.is_some();
    found.then(|| InstallOrigin {
        slug: direct.as_ref().and_then(|note| text(note, "slug")),
        vouched,
    })
}
