//! Installing what a skill needs: checked, agreed to, run, and looked at again.
//!
//! The order is fixed: the guard, the operator's policy, the person, the policy again where it
//! warned, and only then a program. **Must never happen here:** something started before all of them
//! said yes.

mod attempt;

use std::fs;

use serde::Serialize;
use serde_json::json;
use sinew_catalog::install::InstallOption;
use sinew_catalog::shell_word;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, RefreshCause, SkillRequirements, tools};
use sinew_exec::child::ProcessControl;
use sinew_exec::install::{InstallResult, program_search_folders};
use sinew_guard::scan::{FindingSeverity, Verdict};
use sinew_guard::scan_records;
use sinew_settings::{ErrorCode, Reason, ReasonCode};

use attempt::{InstallerAttempt, refused};

use crate::approval::Approver;
use crate::{EngineError, ExecHandle};

/// What is to be installed.
#[derive(Debug, Clone, Default)]
pub struct DepsInstallRequest {
    /// The installer, by its name within the skill; the best one where absent.
    pub option: Option<String>,
    /// How long each installer may take, in seconds.
    pub timeout: Option<u64>,
}

/// What would be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallStep {
    /// The manager, which the system lacks.
    Manager,
    /// A tap, which is a source of more than this.
    Tap,
    /// What the skill needs.
    Need,
}

/// What a person needs to know before a program is installed for a skill.
#[derive(Debug)]
pub struct DependencyQuestion<'a> {
    /// The skill.
    pub skill: &'a str,
    /// Where the skill comes from.
    pub source: &'a str,
    /// What it is about.
    pub step: InstallStep,
    /// What people see.
    pub label: String,
    /// What would be run.
    pub argv: &'a [String],
    /// What it may touch.
    pub touches: &'static str,
    /// What is worth knowing before saying yes.
    pub warnings: Vec<String>,
}

/// What an installation did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DepsInstallReport {
    /// The skill.
    pub skill: String,
    /// What was run, in order.
    pub results: Vec<InstallResult>,
    /// Whether the skill can be used now.
    pub state: EntryState,
    /// What it still lacks.
    pub missing: SkillRequirements,
    /// Every skill that can be used now and could not before.
    pub became_ready: Vec<String>,
}

impl DepsInstallReport {
    /// Whether everything that was run worked.
    pub fn ok(&self) -> bool {
        self.results.iter().all(|result| result.ok)
    }
}

impl ExecHandle<'_> {
    /// What would be installed: the option that is asked for, else the best ones. An error where
    /// there is nothing to choose from.
    pub fn chosen_options(
        &self,
        entry: &CatalogEntry,
        request: &DepsInstallRequest,
    ) -> Result<Vec<InstallOption>, EngineError> {
        let all = self.install_options(entry);
        let known: Vec<&str> = all.iter().map(|option| option.id.as_str()).collect();
        let known = known.join(", ");
        let chosen: Vec<InstallOption> = match &request.option {
            Some(id) => all.into_iter().filter(|option| option.id == *id).collect(),
            None => all.into_iter().filter(|option| option.preferred).collect(),
        };
        if !chosen.is_empty() {
            return Ok(chosen);
        }
        let name = &entry.name;
        Err(match &request.option {
            Some(id) => {
                EngineError::new(ErrorCode::UnknownOption, format!("{name} has no installer {id}"))
                    .hint(format!("it has: {}", if known.is_empty() { "none" } else { &known }))
            }
            None if entry.platform_incompatible => {
                let message = format!("{name} is not for {}", self.engine.env.os);
                EngineError::new(ErrorCode::OsMismatch, message)
            }
            None => EngineError::new(
                ErrorCode::NoInstaller,
                format!("{name} says nothing about how to get what it needs"),
            )
            .hint("install it by hand and make sure that it is on PATH"),
        })
    }

    /// Installs what a skill needs. Refusals and failures are results; the last one says why it
    /// stopped.
    pub fn install_deps(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        request: &DepsInstallRequest,
        approver: &mut dyn Approver,
        control: &ProcessControl,
    ) -> Result<DepsInstallReport, EngineError> {
        self.engine.check_gate()?;
        let chosen = self.chosen_options(entry, request)?;
        let ready = |catalog: &Catalog| -> Vec<String> {
            let ready = catalog.unshadowed().filter(|entry| entry.state == EntryState::Ready);
            ready.map(|entry| entry.name.clone()).collect()
        };
        let before = ready(catalog);
        let mut results = Vec::new();
        match self.checked(catalog, entry) {
            Err(reason) => results.extend(chosen.iter().map(|option| refused(option, &reason))),
            Ok(warnings) => {
                for option in &chosen {
                    let warnings = &warnings;
                    let attempt = InstallerAttempt {
                        engine: self.engine,
                        entry,
                        option,
                        warnings,
                        request,
                        control,
                    };
                    attempt.run(approver, &mut results);
                    if results.last().is_some_and(|result| !result.ok) {
                        break;
                    }
                }
            }
        }
        // Folders of tools are noticed by their times; within one tick they do not change.
        self.engine.forget_below(&tools::tools_root(&self.engine.env));
        let now = self.engine.refresh(RefreshCause::Files).snapshot;
        let after = now.catalog.get(&entry.name).unwrap_or(entry);
        self.look_for_bins(entry, &chosen, after, &mut results);
        for result in &results {
            self.write_down(entry, result)?;
        }
        let became_ready = ready(&now.catalog);
        Ok(DepsInstallReport {
            skill: entry.name.clone(),
            results,
            state: after.state,
            missing: after.missing.clone(),
            became_ready: became_ready.into_iter().filter(|name| !before.contains(name)).collect(),
        })
    }

    /// The guard's word on the skill: what it warns of, or why nothing is started.
    fn checked(&self, catalog: &Catalog, entry: &CatalogEntry) -> Result<Vec<String>, Reason> {
        let file = entry.file_path.to_string_lossy();
        let folder = entry.base_dir.to_string_lossy();
        let is_folder = entry.file_path.file_name().is_some_and(|n| n == sinew_catalog::SKILL_FILE);
        let target = if is_folder { folder } else { file };
        let blocked = |detail: String| {
            Reason::new(ReasonCode::ScanBlocked, detail)
                .skill(entry.name.as_str())
                .remedy(format!("`sinew scan {}` shows what was found", shell_word(&entry.name)))
        };
        let scanned = self
            .engine
            .quality()
            .scan(catalog, &target)
            .map_err(|error| blocked(error.to_string()))?;
        let of = |wanted| scanned.report.findings.iter().filter(move |f| f.severity == wanted);
        if scanned.verdict == Verdict::Block {
            let worst = of(FindingSeverity::Critical).next();
            let what = worst
                .map_or_else(|| "the skill".to_owned(), |f| format!("{} ({})", f.message, f.rule));
            return Err(blocked(format!("the guard holds the skill back: {what}")));
        }
        Ok(of(FindingSeverity::Warn)
            .map(|f| format!("the guard warns: {} ({})", f.message, f.rule))
            .collect())
    }

    /// An installer that says it is done and brings nothing has not worked.
    fn look_for_bins(
        &self,
        entry: &CatalogEntry,
        chosen: &[InstallOption],
        after: &CatalogEntry,
        results: &mut [InstallResult],
    ) {
        let folders = program_search_folders(&self.engine.env, &entry.skill_key);
        let found = |bin: &String| {
            folders.iter().any(|folder| fs::metadata(folder.join(bin)).is_ok_and(|m| m.is_file()))
                && !after.missing.bins.contains(bin)
        };
        for result in results.iter_mut().filter(|result| result.ok) {
            let Some(option) = chosen.iter().find(|option| option.id == result.spec_id) else {
                continue;
            };
            let absent: Vec<&str> =
                option.bins.iter().filter(|bin| !found(bin)).map(String::as_str).collect();
            if !absent.is_empty() {
                let looked: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
                result.ok = false;
                result.code = Some(ReasonCode::InstalledButMissingBin);
                result.message = format!("{} is not in {}", absent.join(", "), looked.join(", "));
            }
        }
    }

    /// Records every attempt: what was run, and how it ended.
    fn write_down(&self, entry: &CatalogEntry, result: &InstallResult) -> Result<(), EngineError> {
        let path = self.engine.env.sinew_home().join("audit").join("installs.jsonl");
        let line = json!({
            "at": self.engine.env.clock.now_ms(),
            "skill": entry.name,
            "digest": entry.scan.as_ref().map(|scan| scan.digest.as_str()),
            "specId": result.spec_id,
            "argv": result.argv,
            "outcome": result.code.map_or("installed", ReasonCode::as_str),
        });
        scan_records::append_audit_record(&path, &line)
            .map_err(|error| EngineError::file("write", &path, error))
    }
}
