//! What was scanned and what a person accepted: the scan cache and the audit log of overrides.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::atomic::{self, FileAccess, FileLock};
use crate::scan::{Finding, FindingSeverity, ScanReport, Verdict};

/// The number of reports kept; the oldest are dropped first. A report of an ordinary skill has some 150
/// bytes, and the largest catalogs have 100,000 skills.
const MAX_CACHED: usize = 250_000;

/// When there are too many, this share of them goes at once: finding the oldest looks at all of them.
const DROPPED_SHARE: usize = 10;

/// Reports by content digest, for one rule table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanCache {
    ruleset: String,
    reports: BTreeMap<String, CachedScanReport>,
    next: u64,
}

/// The result of a scan, without the details that only a person at a terminal needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedScanReport {
    /// Allow, warn or block.
    pub verdict: Verdict,
    /// Findings at warn and above.
    pub findings: Vec<Finding>,
    age: u64,
}

impl ScanCache {
    /// An empty cache for a rule table.
    pub fn new(ruleset: &str) -> Self {
        Self { ruleset: ruleset.to_owned(), ..Self::default() }
    }

    /// Loads a cache. One that is missing, unreadable or for other rules counts as empty: it can be
    /// rebuilt, so nothing is lost.
    pub fn load(path: &Path, ruleset: &str) -> Self {
        std::fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok())
            .filter(|cache| cache.ruleset == ruleset)
            .unwrap_or_else(|| Self::new(ruleset))
    }

    /// Writes the cache, readable by its owner alone: a forged entry would let a blocked skill
    /// through.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        let _lock = FileLock::acquire(&path.with_extension("lock"))?;
        atomic::write(path, &bytes, FileAccess::OwnerOnly)
    }

    /// The cached report for this content.
    pub fn get(&self, digest: &str) -> Option<&CachedScanReport> {
        self.reports.get(digest)
    }

    /// Stores a report.
    pub fn put(&mut self, report: &ScanReport) {
        if report.ruleset != self.ruleset || report.findings.iter().any(|f| f.rule == "scan-failed")
        {
            return;
        }
        let entry = CachedScanReport {
            verdict: report.verdict,
            findings: report.at_least(FindingSeverity::Warn).cloned().collect(),
            age: self.next,
        };
        self.next += 1;
        self.reports.insert(report.digest.clone(), entry);
        if self.reports.len() > MAX_CACHED {
            self.drop_oldest(MAX_CACHED / DROPPED_SHARE);
        }
    }

    fn drop_oldest(&mut self, count: usize) {
        let mut ages: Vec<u64> = self.reports.values().map(|report| report.age).collect();
        ages.sort_unstable();
        let Some(&bar) = ages.get(count) else { return };
        self.reports.retain(|_, report| report.age >= bar);
    }

    /// Number of reports.
    pub fn len(&self) -> usize {
        self.reports.len()
    }

    /// Whether there are no reports.
    pub fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }
}

/// A person's acceptance of one rule for one digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingOverride {
    /// The accepted rule.
    pub rule: String,
    /// The digest it is bound to.
    pub digest: String,
    /// Why.
    pub reason: String,
    /// Who.
    pub who: String,
    /// When, RFC 3339.
    pub at: String,
}

/// Why an acceptance is refused.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// This rule can never be accepted.
    #[error("`{0}` cannot be accepted")]
    Never(String),
    /// The digest is not that of the scanned skill.
    #[error("the digest {given} is not that of this skill, {found}")]
    Digest {
        /// What was given.
        given: String,
        /// What was scanned.
        found: String,
    },
    /// The report has no such finding.
    #[error("there is no finding of `{0}` to accept")]
    NoFinding(String),
    /// There is no reason.
    #[error("an acceptance needs a reason")]
    NoReason,
    /// The audit file cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Rules that can never be accepted: what they report was not scanned, or points outside the skill.
const NEVER: &[&str] = &[
    "scan-failed",
    "link-entry",
    "special-file",
    "hardlink-entry",
    "oversize-unscannable",
    "encoding-unscannable",
];

/// Rules about programs in a form that people cannot read; the user may allow all of them at once.
pub const BINARIES: &[&str] = &["bytecode-file", "executable-file", "native-library"];

/// Records an acceptance in the append-only audit file, after checking that it fits the report.
pub fn record_override(
    report: &ScanReport,
    given: &FindingOverride,
    audit: &Path,
) -> Result<(), OverrideError> {
    if NEVER.contains(&given.rule.as_str()) {
        return Err(OverrideError::Never(given.rule.clone()));
    }
    if given.digest != report.digest {
        return Err(OverrideError::Digest {
            given: given.digest.clone(),
            found: report.digest.clone(),
        });
    }
    if !report.findings.iter().any(|finding| finding.rule == given.rule) {
        return Err(OverrideError::NoFinding(given.rule.clone()));
    }
    if given.reason.trim().is_empty() {
        return Err(OverrideError::NoReason);
    }
    Ok(append_audit_record(audit, given)?)
}

/// Adds one record to an append-only audit file that only its owner can read.
pub fn append_audit_record(audit: &Path, record: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
    line.push(b'\n');
    let _lock = FileLock::acquire(&audit.with_extension("lock"))?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(audit)?;
    file.write_all(&line)?;
    file.sync_all()
}

/// The acceptances in an audit file. Malformed lines are skipped, because an append may have been
/// interrupted.
pub fn read_overrides(audit: &Path) -> io::Result<Vec<FindingOverride>> {
    match std::fs::read_to_string(audit) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The verdict with accepted rules counted as info. Changed bytes have another digest, so an
/// acceptance becomes void as soon as anything changes.
pub fn verdict_with_overrides(report: &ScanReport, overrides: &[FindingOverride]) -> Verdict {
    let accepted = |rule: &str| {
        !NEVER.contains(&rule)
            && overrides.iter().any(|o| o.rule == rule && o.digest == report.digest)
    };
    Verdict::from_severities(report.findings.iter().map(|finding| {
        if accepted(&finding.rule) { FindingSeverity::Info } else { finding.severity }
    }))
}
