//! The guard's scan of what was fetched, the findings that were accepted, and the copy that is kept
//! of what the guard blocks.

use std::path::PathBuf;

use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::scan::{FindingSeverity, ScanReport, Verdict};
use sinew_guard::scan_records::{
    FindingOverride, append_audit_record, read_overrides, record_override, verdict_with_overrides,
};
use sinew_guard::{archive, private_files};
use sinew_settings::ErrorCode;

use super::review::SkillInstallRequest;
use crate::error::HubError;
use crate::fetch::FetchedVersion;
use crate::hub::Hub;
use crate::lock::timestamp;
use crate::tree::SkillTree;
use crate::version_archive;

/// What the guard says about fetched files.
pub(super) struct InstallScan {
    pub(super) report: ScanReport,
    /// Findings that were accepted, now or for the same files before.
    pub(super) accepted: Vec<FindingOverride>,
    /// The verdict with what was accepted.
    pub(super) verdict: Verdict,
}

impl Hub {
    /// Scans what was fetched; an error where the guard blocks it.
    pub(super) fn scan(
        &self,
        request: &SkillInstallRequest,
        fetched: &FetchedVersion,
        key: &str,
        digest: &str,
    ) -> Result<InstallScan, HubError> {
        let known = request.neighbours.iter().map(|neighbour| neighbour.name.clone());
        let known = known.filter(|name| !name.eq_ignore_ascii_case(&fetched.found.name));
        let scanner = self.scanner().clone().with_known_names(known);
        let report = scanner.scan_bundle(&fetched.tree.bundle(super::review::slug_of(key)));
        let audit = self.audit_path();
        let mut accepted = Vec::new();
        for given in &request.acceptance {
            let given = FindingOverride {
                rule: given.rule.clone(),
                // The user sees the tree's digest; the audit uses the scan's.
                digest: match given.digest == digest {
                    true => report.digest.clone(),
                    false => given.digest.clone(),
                },
                reason: given.reason.clone(),
                who: request.by.clone(),
                at: timestamp(&*self.env.clock),
            };
            private_files::create_folder(&self.env.sinew_home().join("audit"))
                .map_err(|error| HubError::file("write", &audit, error))?;
            record_override(&report, &given, &audit).map_err(|error| {
                let mut error = HubError::new(ErrorCode::BlockedGuard, error.to_string())
                    .caused_by(error)
                    .hint(format!("the digest of these files is {digest}"));
                error.digest = Some(digest.to_owned());
                error
            })?;
            accepted.push(given);
        }
        let before = read_overrides(&audit).unwrap_or_default();
        accepted.extend(before.into_iter().filter(|given| given.digest == report.digest));
        accepted.dedup_by(|a, b| a.rule == b.rule);
        let verdict = verdict_with_overrides(&report, &accepted);
        if verdict != Verdict::Block {
            return Ok(InstallScan { report, accepted, verdict });
        }
        let worst: Vec<_> = report.at_least(FindingSeverity::Critical).cloned().collect();
        let shown: Vec<&str> = worst.iter().map(|finding| finding.rule.as_str()).take(3).collect();
        let mut error = HubError::new(
            ErrorCode::BlockedGuard,
            format!("{key}: the guard blocks it ({})", shown.join(", ")),
        );
        if request.quarantine
            && let Some(path) = self.quarantine(key, digest, &fetched.tree)
        {
            error =
                error.hint(format!("a copy is kept for inspection: sinew scan {}", path.display()));
        }
        error.findings = worst;
        error.digest = Some(digest.to_owned());
        Err(error)
    }

    /// Keeps a blocked skill as an archive that only its owner can read; nothing loads it.
    fn quarantine(&self, key: &str, digest: &str, tree: &SkillTree) -> Option<PathBuf> {
        let folder = self.env.sinew_home().join("quarantine");
        private_files::create_folder(&folder).ok()?;
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        let name = format!("{}-{}.zip", key.replace('/', "--"), &hex[..12]);
        archive::components(&name).ok()?;
        let path = folder.join(name);
        let files = tree.files().iter().map(|file| (file.path.as_str(), file.bytes.as_slice()));
        let bytes = version_archive::pack(files, None).ok()?;
        atomic::write(&path, &bytes, FileAccess::OwnerOnly).ok()?;
        Some(path)
    }

    pub(crate) fn audit_path(&self) -> PathBuf {
        self.env.sinew_home().join("audit/overrides.jsonl")
    }

    /// Records the accepted findings again for the bytes as they are on disk.
    pub(crate) fn record_overrides(
        &self,
        accepted: &[FindingOverride],
        digest: &str,
    ) -> Result<(), HubError> {
        let audit = self.audit_path();
        for given in accepted {
            let given = FindingOverride { digest: digest.to_owned(), ..given.clone() };
            append_audit_record(&audit, &given)
                .map_err(|error| HubError::file("write", &audit, error))?;
        }
        Ok(())
    }
}
