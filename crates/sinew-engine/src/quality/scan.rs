//! Scanning on request, and what a person accepts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_catalog::{Catalog, ScanGate};
use sinew_guard::eval::{ScanEvalError, ScanEvalReport, evaluate, read_rows};
use sinew_guard::scan::{ScanReport, ScanRuleInfo, Scanner, SkillBundle, Verdict};
use sinew_guard::scan_records::{
    FindingOverride, OverrideError, read_overrides, record_override, verdict_with_overrides,
};
use sinew_settings::{Actor, ErrorCode};

use crate::{EngineError, QualityHandle};

/// A larger archive is refused before it is read.
const MAX_ARCHIVE: u64 = 100_000_000;

/// One thing that was scanned.
#[derive(Debug, Serialize)]
pub struct ScannedTarget {
    /// What was asked for.
    pub target: String,
    /// Its path.
    pub path: PathBuf,
    /// The verdict, once what a person accepted counts as info.
    pub verdict: Verdict,
    /// Everything the scan says.
    pub report: ScanReport,
}

/// What a person accepts, and why.
#[derive(Debug, Clone)]
pub struct ScanAcceptance {
    /// The rule.
    pub rule: String,
    /// The digest of exactly what was scanned.
    pub digest: String,
    /// Why it is fine.
    pub reason: String,
}

/// Where scans are remembered and acceptances recorded.
#[derive(Debug)]
pub(crate) struct ScanFiles {
    cache: PathBuf,
    pub(crate) audit: PathBuf,
}

impl ScanFiles {
    pub(crate) fn below(home: &Path) -> Self {
        Self { cache: home.join("cache/scan.json"), audit: home.join("audit/overrides.jsonl") }
    }

    pub(crate) fn gate(&self) -> ScanGate {
        // An audit that cannot be read accepts nothing: the strict side is the safe one.
        ScanGate::new(Some(self.cache.clone()), read_overrides(&self.audit).unwrap_or_default())
    }

    /// Saves what was learned. A cache that cannot be written only costs time, so it is no error.
    pub(crate) fn remember(&self, gate: &ScanGate) {
        if let Some(cache) = gate.take_unsaved_cache()
            && let Err(error) = cache.save(&self.cache)
        {
            tracing::warn!(%error, "the scan cache was not saved");
        }
    }
}

impl QualityHandle<'_> {
    /// Scans a skill by its name, a skill's folder or file, or an archive.
    pub fn scan(&self, catalog: &Catalog, target: &str) -> Result<ScannedTarget, EngineError> {
        if let Some(scanned) = self.scan_path(target) {
            return scanned;
        }
        let path = self.engine.find(catalog, target)?.base_dir.clone();
        let bundle = read_bundle(&path)?;
        Ok(self.judged(target, path, &Scanner::new(), &bundle))
    }

    /// Scans a folder, a file or an archive and looks at nothing else; nothing if `target` is the
    /// name of a skill.
    pub fn scan_path(&self, target: &str) -> Option<Result<ScannedTarget, EngineError>> {
        let path = self.engine.env.expand_home(target);
        if !target.contains(['/', '\\']) && !path.exists() {
            return None;
        }
        let bundle = read_bundle(&path);
        Some(bundle.map(|bundle| self.judged(target, path, &Scanner::new(), &bundle)))
    }

    /// Scans a skill of the catalog, for a person who looks at what was found.
    pub fn scan_skill(&self, catalog: &Catalog, name: &str) -> Result<ScannedTarget, EngineError> {
        let entry = self.engine.find(catalog, name)?;
        let bundle = read_bundle(&entry.base_dir)?;
        let scanner = self.engine.scanner.get_or_init(Scanner::new);
        Ok(self.judged(&entry.name, entry.base_dir.clone(), scanner, &bundle))
    }

    /// Scans a text as if it were a `SKILL.md`, for a person who looks at what was found.
    pub fn scan_text(&self, text: &str) -> ScannedTarget {
        let name = sinew_catalog::SKILL_FILE;
        let bundle = SkillBundle::from_files([(name.to_owned(), text.as_bytes().to_vec())]);
        self.judged(
            name,
            PathBuf::from(name),
            self.engine.scanner.get_or_init(Scanner::new),
            &bundle,
        )
    }

    /// Scans every skill of the catalog; `progress` is told how many are done.
    pub fn scan_all(
        &self,
        catalog: &Catalog,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<ScannedTarget>, EngineError> {
        let scanner = Scanner::new();
        let mut scanned = Vec::new();
        for entry in catalog.unshadowed() {
            let bundle = read_bundle(&entry.base_dir)?;
            scanned.push(self.judged(&entry.name, entry.base_dir.clone(), &scanner, &bundle));
            progress(scanned.len());
        }
        Ok(scanned)
    }

    pub(super) fn judged(
        &self,
        target: &str,
        path: PathBuf,
        scanner: &Scanner,
        bundle: &SkillBundle,
    ) -> ScannedTarget {
        let report = scanner.scan_bundle(bundle);
        let overrides = read_overrides(&self.engine.scan_files.audit).unwrap_or_default();
        let verdict = verdict_with_overrides(&report, &overrides);
        ScannedTarget { target: target.to_owned(), path, verdict, report }
    }

    /// Records that a person accepts a finding of exactly these bytes. An agent cannot.
    pub fn accept_finding(
        &self,
        scanned: &ScannedTarget,
        acceptance: &ScanAcceptance,
        actor: &Actor,
        at: &str,
    ) -> Result<(), EngineError> {
        if !actor.is_person() {
            return Err(EngineError::new(
                ErrorCode::NeedsPerson,
                "only a person can accept a finding",
            )
            .hint("run the command yourself, in a terminal"));
        }
        let given = FindingOverride {
            rule: acceptance.rule.clone(),
            digest: acceptance.digest.clone(),
            reason: acceptance.reason.clone(),
            who: actor.to_string(),
            at: at.to_owned(),
        };
        record_override(&scanned.report, &given, &self.engine.scan_files.audit).map_err(
            |error| {
                let code = match &error {
                    OverrideError::Io(_) => ErrorCode::FileError,
                    _ => ErrorCode::NotAccepted,
                };
                EngineError::new(code, error.to_string())
                    .caused_by(error)
                    .hint("`sinew scan` shows the digest and the rules that were found")
            },
        )?;
        // An engine that stays open judges the skill anew at its next look.
        self.engine.scan_gate.accept(given);
        self.engine.forget_below(&scanned.path);
        Ok(())
    }

    /// How often each rule of the scanner matches in the catalog, with its severity.
    pub fn finding_counts(&self, catalog: &Catalog) -> BTreeMap<(String, &'static str), usize> {
        let scans = catalog.entries.iter().filter_map(|entry| entry.scan.as_ref());
        let mut counts = BTreeMap::new();
        for finding in scans.flat_map(|scan| self.engine.scan_gate.findings_of(&scan.digest)) {
            *counts.entry((finding.rule, finding.severity.as_str())).or_default() += 1;
        }
        counts
    }

    /// The scanner's rules.
    pub fn scan_rules(&self) -> Vec<ScanRuleInfo> {
        Scanner::new().rules()
    }

    /// The scanner against labelled skills; `clock` gives the time since any fixed moment.
    pub fn eval_scan(
        &self,
        data: &Path,
        clock: &dyn Fn() -> std::time::Duration,
    ) -> Result<ScanEvalReport, EngineError> {
        let path = self.engine.env.cwd.join(data);
        let file =
            fs::File::open(&path).map_err(|error| EngineError::file("read", &path, error))?;
        let bad = |error: ScanEvalError| {
            EngineError::new(ErrorCode::BadData, format!("{}: {error}", path.display()))
                .caused_by(error)
                .hint("each line is one JSON object with id, label, tier and files")
        };
        evaluate(&Scanner::new(), read_rows(file).map_err(bad)?, clock).map_err(bad)
    }
}

/// A folder, the folder of a SKILL.md, or an archive.
pub(crate) fn read_bundle(path: &Path) -> Result<SkillBundle, EngineError> {
    let metadata = fs::metadata(path).map_err(|error| {
        EngineError::new(ErrorCode::NoSuchPath, format!("cannot scan {}: {error}", path.display()))
            .caused_by(error)
            .hint("name a skill, a skill's folder, a SKILL.md, or a .zip or .tar.gz")
    })?;
    let unreadable = |error: std::io::Error| EngineError::file("scan", path, error);
    if metadata.is_dir() {
        return SkillBundle::from_dir(path).map_err(unreadable);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_archive =
        [".zip", ".tar", ".tar.gz", ".tgz", ".skill"].iter().any(|end| name.ends_with(end));
    if !metadata.is_file() || metadata.len() > MAX_ARCHIVE {
        return Err(EngineError::new(
            ErrorCode::NotScannable,
            format!("{} is no regular file, or too large", path.display()),
        ));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    if is_archive {
        return SkillBundle::from_archive(&bytes).map_err(|error| {
            EngineError::new(ErrorCode::BadArchive, format!("{}: {error}", path.display()))
                .caused_by(error)
                .hint("nothing was unpacked; do not install it")
        });
    }
    Ok(SkillBundle::from_files([(name, bytes)]))
}
