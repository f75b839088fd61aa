//! Compares the lock with the disk, and with what registries say now.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::digest::{FileRecord, tree_sha256};
use crate::error::HubError;
use crate::hub::Hub;
use crate::lock::{ClawhubLock, LockEntry, LockFile, SkillRetention, UpstreamRecord};
use crate::registry::VerdictRequest;
use crate::tree::records_of;
use crate::workdir::Workdir;

/// Verdicts that are older than this are shown as stale.
const STALE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// How often a long-running server asks registries again.
const ASK_AGAIN_MS: u64 = 24 * 60 * 60 * 1000;

/// How a folder compares with its lock entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TreeStatus {
    /// The files are as approved.
    Ok,
    /// Files differ.
    Modified,
    /// Files or the whole folder are gone.
    Missing,
    /// Files were added.
    Extra,
    /// It cannot be read, or the lock's own records disagree.
    Unknown,
}

impl TreeStatus {
    /// The name that records and messages use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Modified => "modified",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Unknown => "unknown",
        }
    }
}

/// One skill, compared with its lock entry.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillVerification {
    /// Its folder below the skills root.
    pub key: String,
    /// The result.
    pub status: TreeStatus,
    /// Files that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modified: Vec<String>,
    /// Files that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Files that were added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why it must not be loaded, regardless of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// What its registry said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamRecord>,
    /// Whether that verdict is old.
    pub stale: bool,
}

impl SkillVerification {
    /// Whether nothing is wrong with it.
    pub fn is_ok(&self) -> bool {
        self.status == TreeStatus::Ok && self.held.is_none()
    }
}

/// One row of the list of installed skills.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WorkdirSkill {
    /// Its folder below the skills root.
    pub key: String,
    /// `ok`, `missing`, `extraneous`, `modified`, `quarantined`, `pinned` or `upstream-gone`.
    pub status: &'static str,
    /// The version or commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<crate::lock::SourceRecord>,
    /// The digest that was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Why it is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_reason: Option<String>,
    /// How long it is meant to stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained: Option<SkillRetention>,
    /// What its registry said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<UpstreamRecord>,
    /// Anything else worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its folder.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub path: std::path::PathBuf,
}

impl Hub {
    /// Compares installed skills with the lock; all of them if none is named.
    pub fn verify(
        &self,
        wanted: &[String],
        workdir: &Workdir,
    ) -> Result<Vec<SkillVerification>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let keys = selected_keys(&lock, wanted)?;
        Ok(keys.iter().map(|key| self.verified(key, &lock.skills[key], workdir)).collect())
    }

    /// Compares one installed skill with its entry in the lock.
    pub(crate) fn verified(
        &self,
        key: &str,
        entry: &LockEntry,
        workdir: &Workdir,
    ) -> SkillVerification {
        let mut verified = SkillVerification {
            key: key.to_owned(),
            status: TreeStatus::Ok,
            modified: Vec::new(),
            missing: Vec::new(),
            extra: Vec::new(),
            problem: None,
            held: entry.hold_reason(),
            upstream: entry.upstream.clone(),
            stale: entry.upstream.as_ref().is_some_and(|upstream| self.is_stale(upstream)),
        };
        let target = workdir.target(key);
        if std::fs::symlink_metadata(&target).is_err() {
            verified.status = TreeStatus::Missing;
            return verified;
        }
        match records_of(&target) {
            Ok(found) => compare(&entry.files, &found, &mut verified),
            Err(error) => {
                verified.status = TreeStatus::Unknown;
                verified.problem = Some(error.to_string());
            }
        }
        if verified.status == TreeStatus::Ok && tree_sha256(&entry.files) != entry.tree_sha256 {
            verified.status = TreeStatus::Unknown;
            verified.problem = Some("the lock's list of files and its digest disagree".to_owned());
        }
        verified
    }

    fn is_stale(&self, upstream: &UpstreamRecord) -> bool {
        self.age(upstream) > STALE_MS
    }

    /// How long ago the registry was asked.
    fn age(&self, upstream: &UpstreamRecord) -> u64 {
        let checked: Option<jiff::Timestamp> = upstream.checked_at.parse().ok();
        let checked = checked.and_then(|at| u64::try_from(at.as_millisecond()).ok()).unwrap_or(0);
        self.env.clock.now_ms().saturating_sub(checked)
    }

    /// Asks registries again about skills whose verdict is at least a day old. If none is due, no
    /// request is made.
    pub fn refresh_verdicts(&self, workdir: &Workdir) -> Result<Vec<HubError>, HubError> {
        let lock = workdir.lock(&self.env)?;
        let is_due = |entry: &LockEntry| {
            let last = entry.upstream.as_ref();
            last.is_none_or(|last| self.age(last) >= ASK_AGAIN_MS)
        };
        let registered = lock.skills.iter().filter(|(_, entry)| entry.source.kind.is_registry());
        let due = registered.filter(|(_, entry)| is_due(entry)).map(|(key, _)| key.clone());
        let due: Vec<String> = due.collect();
        if due.is_empty() { Ok(Vec::new()) } else { self.check_upstream(&due, workdir) }
    }

    /// Asks registries for their verdicts on installed skills, and records them in the lock. A
    /// skill that turned malicious is held back from then on. Returns the registries that could not
    /// be asked.
    pub fn check_upstream(
        &self,
        wanted: &[String],
        workdir: &Workdir,
    ) -> Result<Vec<HubError>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let mut by_registry: BTreeMap<String, Vec<(String, VerdictRequest)>> = BTreeMap::new();
        for key in selected_keys(&lock, wanted)? {
            let entry = &lock.skills[&key];
            let source = &entry.source;
            let (Some(registry), Some(slug)) = (&source.registry, &source.slug) else { continue };
            if source.kind.is_registry() {
                let item = VerdictRequest {
                    slug: slug.clone(),
                    version: entry.version.clone(),
                    owner_handle: source.owner.clone(),
                };
                by_registry.entry(registry.clone()).or_default().push((key, item));
            }
        }
        let mut problems = Vec::new();
        for (address, requests) in by_registry {
            let items: Vec<VerdictRequest> =
                requests.iter().map(|(_, item)| item.clone()).collect();
            let rows = match self.registry_at(&address).and_then(|r| r.verdicts(&items)) {
                Ok(rows) => rows,
                Err(error) => {
                    problems.push(error);
                    continue;
                }
            };
            let entered = workdir.acquire(&self.env)?;
            for (key, item) in &requests {
                let row = rows.iter().find(|row| {
                    row.requested_slug.as_ref().or(row.slug.as_ref()) == Some(&item.slug)
                        && row.requested_version.as_ref().is_none_or(|v| *v == item.version)
                        && (row.requested_owner_handle.is_none()
                            || row.requested_owner_handle == item.owner_handle)
                });
                let Some(row) = row else { continue };
                let gone = row.reasons.iter().any(|reason| reason == "version.not_found");
                let status = row.security.as_ref().and_then(|security| security.status.as_deref());
                self.record_upstream(&entered, key, status.unwrap_or("unknown"), gone)?;
            }
        }
        Ok(problems)
    }

    /// Everything installed here, and everything that lies here without an entry in our lock.
    pub fn installed(&self, workdir: &Workdir) -> Result<Vec<WorkdirSkill>, HubError> {
        workdir.recover(&self.env)?;
        let lock = workdir.lock(&self.env)?;
        let upstream_lock = ClawhubLock::read(&workdir.root).unwrap_or_default();
        let theirs: BTreeMap<&str, &serde_json::Value> = upstream_lock.entries().collect();
        let mut rows = Vec::new();
        for (key, entry) in &lock.skills {
            let verified = self.verified(key, entry, workdir);
            let gone = entry.upstream.as_ref().is_some_and(|upstream| upstream.gone);
            let status = match verified.status {
                TreeStatus::Missing if verified.missing.is_empty() => "missing",
                _ if verified.held.is_some() => "quarantined",
                TreeStatus::Ok if gone => "upstream-gone",
                TreeStatus::Ok if entry.pinned => "pinned",
                TreeStatus::Ok => "ok",
                _ => "modified",
            };
            let other = theirs.get(key.as_str()).and_then(|entry| entry.get("version")?.as_str());
            let drift = other.filter(|version| *version != entry.version).map(|version| {
                format!("clawhub's lock says {version}, sinew's says {}", entry.version)
            });
            rows.push(WorkdirSkill {
                key: key.clone(),
                status,
                version: Some(entry.version.clone()),
                source: Some(entry.source.clone()),
                digest: Some(entry.tree_sha256.clone()),
                pinned: entry.pinned,
                pin_reason: entry.pin_reason.clone(),
                retained: Some(entry.retained),
                upstream: entry.upstream.clone(),
                note: drift.or(verified.held).or(verified.problem).or_else(|| short_term(entry)),
                path: workdir.target(key),
            });
        }
        for key in folders(workdir).into_iter().filter(|key| !lock.skills.contains_key(key)) {
            let their = theirs.get(key.as_str());
            rows.push(WorkdirSkill {
                status: "extraneous",
                version: their.and_then(|entry| Some(entry.get("version")?.as_str()?.to_owned())),
                source: None,
                digest: None,
                pinned: false,
                pin_reason: None,
                retained: None,
                upstream: None,
                note: their.map(|_| "installed by clawhub".to_owned()),
                path: workdir.target(&key),
                key,
            });
        }
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(rows)
    }
}

/// The keys that are named; all if none is.
pub(crate) fn selected_keys(lock: &LockFile, wanted: &[String]) -> Result<Vec<String>, HubError> {
    match wanted.is_empty() {
        true => Ok(lock.skills.keys().cloned().collect()),
        false => wanted.iter().map(|wanted| lock.find(wanted).map(str::to_owned)).collect(),
    }
}

fn compare(recorded: &[FileRecord], found: &[FileRecord], verified: &mut SkillVerification) {
    let by_path = |files: &[FileRecord]| -> BTreeMap<String, FileRecord> {
        files.iter().map(|file| (file.path.clone(), file.clone())).collect()
    };
    let (recorded, found) = (by_path(recorded), by_path(found));
    let paths: BTreeSet<&String> = recorded.keys().chain(found.keys()).collect();
    for path in paths {
        match (recorded.get(path), found.get(path)) {
            (Some(_), None) => verified.missing.push(path.clone()),
            (None, Some(_)) => verified.extra.push(path.clone()),
            (before, now) if before != now => verified.modified.push(path.clone()),
            _ => {}
        }
    }
    verified.status = if !verified.modified.is_empty() {
        TreeStatus::Modified
    } else if !verified.missing.is_empty() {
        TreeStatus::Missing
    } else if !verified.extra.is_empty() {
        TreeStatus::Extra
    } else {
        TreeStatus::Ok
    };
}

/// Folders below the skills root that hold a skill: `slug` and `@owner/slug`.
pub(crate) fn folders(workdir: &Workdir) -> Vec<String> {
    let list = |folder: &std::path::Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect()
    };
    let mut keys = Vec::new();
    for name in list(&workdir.skills) {
        match name.starts_with('@') {
            true => keys.extend(
                list(&workdir.skills.join(&name))
                    .into_iter()
                    .map(|inner| format!("{name}/{inner}")),
            ),
            false => keys.push(name),
        }
    }
    keys.retain(|key| workdir.target(key).join("SKILL.md").is_file() && crate::lock::is_key(key));
    keys.sort();
    keys
}

/// Why an installed skill's folder must not be loaded as it is; `None` if it may be loaded, or if
/// the lock does not cover it. `scanned` is the digest that the catalog's scan computed.
pub fn hold_reason(
    lock: &LockFile,
    key: &str,
    folder: &std::path::Path,
    scanned: Option<&str>,
) -> Option<String> {
    let entry = lock.skills.get(key)?;
    if let Some(held) = entry.hold_reason() {
        return Some(held);
    }
    if scanned.is_some() && scanned == entry.scan_digest.as_deref() {
        return None;
    }
    // Another tool may have rewritten its note beside the files; only the skill's files count.
    match records_of(folder) {
        Ok(found) if tree_sha256(&found) == entry.tree_sha256 => None,
        Ok(_) => Some("its files are not the ones that were approved".to_owned()),
        Err(error) => Some(format!("its files cannot be checked: {error}")),
    }
}

/// The error for a skill whose folder is missing.
pub(crate) fn missing_folder_error(key: &str) -> HubError {
    HubError::new(ErrorCode::NotFound, format!("the folder of {key} is gone"))
        .hint(format!("`sinew restore` reinstalls it; `sinew uninstall {key}` removes its entry"))
}

/// What an acquisition brought for one task.
fn short_term(entry: &LockEntry) -> Option<String> {
    let run = entry.run.as_deref()?;
    Some(format!("short-term, for the run {run}; it goes when that run ends"))
}
