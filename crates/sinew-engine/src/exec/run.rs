//! Running a command with a skill's variables, and learning from how it went.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_catalog::{Catalog, CatalogEntry, EntryState};
use sinew_cortex::CortexMemory;
use sinew_cortex::acquire::UseReport;
use sinew_cortex::record::OutcomeReporter;
use sinew_cortex::signals::clean_region;
use sinew_exec::child::{OutputStream, ProcessControl, ProgramStartError, StdinMode, StdoutMode};
use sinew_exec::classify::RunOutcome;
use sinew_exec::run::{self, RetryPolicy, RunEnv};
use sinew_exec::secret::SecretCommands;
use sinew_exec::{
    CoveredSkill, EnvLease, EnvPlan, EnvRules, EnvState, EnvValue, PlannedVar, env_states,
};
use sinew_guard::effects::ScriptEffects;
use sinew_guard::secrets;
use sinew_settings::config::{EnvScope, SecretSetting};
use sinew_settings::{ErrorCode, Reason, ReasonCode};

use super::sandbox::{self, SandboxChoice, SandboxGrants, SandboxReport};
use crate::{EngineError, ExecHandle, NewOutcome, OutcomeEffect};

/// The variable in which a skill's scripts find what the user configured for it.
const CONFIGURATION_VARIABLE: &str = "SINEW_SKILL_CONFIG";
/// Systems refuse a program whose variables are much longer.
const MAX_CONFIGURATION: usize = 64 * 1024;

/// Variables that hold sinew's own credentials, beyond those that look like it.
const OWN_CREDENTIALS: &[&str] = &["SINEW_DATABASE_URL", "SINEW_TOKEN"];

/// A command to run for a skill.
pub struct ExecRequest<'a> {
    /// The command and its arguments.
    pub argv: &'a [OsString],
    /// The area of the task; the skill's own where absent.
    pub region: Option<&'a str>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Its standard input.
    pub stdin: StdinMode,
    /// What becomes of its standard output.
    pub stdout: StdoutMode,
    /// Whether and how an API error is tried again.
    pub retry: RetryPolicy<'a>,
    /// Whether it runs in a box.
    pub sandbox: SandboxChoice,
    /// What the caller adds to the box.
    pub grants: SandboxGrants,
}

/// What became of a command.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecReport {
    /// The skill.
    pub skill: String,
    /// What became of it.
    #[serde(flatten)]
    pub run: run::RunReport,
    /// The box that it ran in, or why there was none.
    pub sandbox: SandboxReport,
    /// Variables that the skill's configuration wanted to set and did not, or that are suspicious.
    pub records: Vec<Reason>,
    /// Variables of the host that the command did not get.
    pub withheld: Vec<Reason>,
    /// Declared variables that are not set.
    pub missing_env: Vec<String>,
    /// What was learned from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<OutcomeEffect>,
    /// Why nothing was learned, where that is an error and not configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_learned: Option<EngineError>,
}

impl ExecHandle<'_> {
    /// Runs a command with a skill's variables. What the command does wrong is in the report; an
    /// error means that it was not started.
    pub fn run(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        request: ExecRequest<'_>,
        control: &ProcessControl,
        observe: &mut dyn FnMut(OutputStream, &[u8]),
    ) -> Result<ExecReport, EngineError> {
        let region = request.region;
        let observed = changes(request.argv);
        let mut report = self.run_for(catalog, entry, request, control, observe)?;
        // An interrupted command says nothing about the skill.
        if self.engine.config.cortex.enabled && !report.run.interrupted {
            // The command has run; an unavailable memory does not change that.
            match self.learn_from(entry, region, observed, &report) {
                Ok(learned) => report.learned = Some(learned),
                Err(error) => report.not_learned = Some(error),
            }
        }
        Ok(report)
    }

    /// Opens the cortex ahead of its use by [`run`](Self::run). An error is reported when something is
    /// learned.
    pub fn prepare_cortex(&self) {
        if self.engine.config.cortex.enabled {
            let _ = self.engine.cortex().and_then(|cortex| cortex.with_memory(|_| ()));
            // The patterns of secrets are compiled by the first question.
            let _ = secrets::find_strict("");
        }
    }

    /// Runs a command as the use of a skill that an acquisition put into this folder; how it went is
    /// for the run to learn from.
    pub fn run_in_acquisition(
        &self,
        folder: &Path,
        request: ExecRequest<'_>,
        control: &ProcessControl,
        observe: &mut dyn FnMut(OutputStream, &[u8]),
    ) -> Result<UseReport, EngineError> {
        let snapshot = self.engine.snapshot();
        let entry = snapshot.catalog.entries.iter().find(|entry| entry.base_dir == folder);
        let Some(entry) = entry else {
            let message = format!("the catalog has no skill in {}", folder.display());
            return Err(EngineError::new(ErrorCode::UnknownSkill, message));
        };
        let side_effects = changes(request.argv);
        let run = self.run_for(&snapshot.catalog, entry, request, control, observe)?.run;
        let finish = match run.outcome.failure() {
            _ if run.interrupted => UseReport::unknown(),
            Some(kind) => UseReport::failure(kind),
            None => UseReport::success(),
        };
        Ok(UseReport {
            detail: Some(run.detail).filter(|detail| !detail.is_empty()),
            key: run.missing,
            ms: Some(run.duration_ms),
            side_effects,
            ..finish
        })
    }

    fn run_for(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        request: ExecRequest<'_>,
        control: &ProcessControl,
        observe: &mut dyn FnMut(OutputStream, &[u8]),
    ) -> Result<ExecReport, EngineError> {
        usable(entry)?;
        let plan = self.sandbox_plan(entry, &request.sandbox, &request.grants)?;
        let lease = self.lease(catalog, &[entry]);
        let own = self.host_credentials();
        let env = RunEnv::of(&self.covered(entry), &lease, &self.rules(&own), &self.engine.env);
        let command = run::RunRequest {
            argv: request.argv,
            cwd: &self.engine.env.cwd,
            timeout: request.timeout,
            stdin: request.stdin,
            stdout: request.stdout,
            retry: request.retry,
            sandbox: plan.launch.as_ref(),
        };
        let mut run = run::run(command, &env, &lease.masker(), &self.engine.env, control, observe)
            .map_err(not_started)?;
        Ok(ExecReport {
            skill: entry.name.clone(),
            sandbox: plan.report(run.sandbox.take()),
            run,
            records: lease.records.clone(),
            withheld: env.withheld,
            missing_env: env.missing,
            learned: None,
            not_learned: None,
        })
    }

    /// Records how it went.
    fn learn_from(
        &self,
        entry: &CatalogEntry,
        region: Option<&str>,
        observed: Vec<String>,
        report: &ExecReport,
    ) -> Result<OutcomeEffect, EngineError> {
        let run = &report.run;
        let known = self.engine.skill_identity(entry);
        let usual = || {
            let cortex = self.engine.cortex()?;
            cortex.with_memory(|memory| usual_region(memory, entry, &known.slug))
        };
        let (region, task) = match region.map_or_else(usual, |region| Ok(Some(region.to_owned()))) {
            Ok(region) => (region, None),
            // What is kept meanwhile finds its region by what the skill is for.
            Err(error) if error.code == ErrorCode::DatabaseUnreachable => {
                (None, Some(entry.description.clone()))
            }
            Err(error) => return Err(error),
        };
        let outcome = NewOutcome {
            region,
            task,
            slug: known.slug,
            version: known.version,
            source: Some(known.source),
            digest: known.digest,
            worked: Some(run.outcome == RunOutcome::Success),
            kind: run.outcome.failure(),
            detail: Some(run.detail.clone()).filter(|detail| !detail.is_empty()),
            key: run.missing.clone(),
            observed,
            origin: OutcomeReporter::Engine,
            agent: self.engine.agent.clone(),
            attempts: Some(run.attempts),
            ms: Some(run.duration_ms),
            ..NewOutcome::default()
        };
        self.engine.report_outcome(&outcome)?.recorded()
    }

    /// The variables of a run in which these skills take part; with `skills.env.scope` set to
    /// `snapshot`, of every eligible skill.
    pub fn lease(&self, catalog: &Catalog, used: &[&CatalogEntry]) -> EnvLease {
        let mut entries: Vec<&CatalogEntry> = used.to_vec();
        if self.engine.config.env.scope == EnvScope::Snapshot {
            let others = catalog.unshadowed().filter(|entry| entry.eligible);
            entries
                .extend(others.filter(|entry| !used.iter().any(|one| std::ptr::eq(*one, *entry))));
        }
        let covered: Vec<CoveredSkill<'_>> = entries.into_iter().map(|e| self.covered(e)).collect();
        let own = self.host_credentials();
        let commands = SecretCommands::Run(&self.engine.leases);
        let mut plan = EnvPlan::of(&covered, &self.rules(&own), &self.engine.env, commands);
        if let Some(first) = used.first() {
            self.add_configuration(first, &mut plan);
        }
        self.engine.leases.acquire(plan, &self.engine.env)
    }

    /// What `skills.entries` keeps for the skill under `config`, as JSON in one variable: the skill's
    /// scripts read it as they like.
    fn add_configuration(&self, entry: &CatalogEntry, plan: &mut EnvPlan) {
        let Some(value) = entry.configuration(&self.engine.config) else { return };
        let text = value.to_string();
        if text.len() > MAX_CONFIGURATION {
            let detail = format!("skills.entries.{}.config is longer than 64 KiB", entry.skill_key);
            let reason = Reason::new(ReasonCode::EnvSuspicious, detail).skill(&*entry.name);
            plan.records.push(reason.remedy("keep large data in a file, and its path here"));
            return;
        }
        let (name, value) = (CONFIGURATION_VARIABLE.to_owned(), EnvValue::new(text));
        plan.vars.push(PlannedVar { name, value, skill: entry.name.clone() });
    }

    /// The names that runs of this engine have now; no other program may inherit them.
    pub fn active_env_keys(&self) -> Vec<String> {
        self.engine.leases.active_env_keys()
    }

    /// Where each variable that a skill declares would come from.
    pub fn env_states(&self, entry: &CatalogEntry) -> Vec<EnvState> {
        let own = self.host_credentials();
        env_states(&self.covered(entry), &self.rules(&own), &self.engine.env)
    }

    fn covered<'a>(&'a self, entry: &'a CatalogEntry) -> CoveredSkill<'a> {
        CoveredSkill { entry, settings: entry.settings(&self.engine.config) }
    }

    fn rules<'a>(&self, host_credentials: &'a [String]) -> EnvRules<'a> {
        let allow_declared_credentials = self.engine.config.env.allow_declared_credentials;
        EnvRules { allow_declared_credentials, host_credentials }
    }

    /// Names that this host uses for itself: no skill gets them without declaring them.
    fn host_credentials(&self) -> Vec<String> {
        let mut names: Vec<String> =
            OWN_CREDENTIALS.iter().map(|name| (*name).to_owned()).collect();
        if let Some(SecretSetting::Reference { source, id }) =
            &self.engine.config.route.remote.api_key
            && source == "env"
        {
            names.push(id.clone());
        }
        names
    }
}

/// What a command certainly changes, as the memory names it.
fn changes(argv: &[OsString]) -> Vec<String> {
    let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    ScriptEffects::of_arguments(&words).changes()
}

/// The one region in which the skill is known, else a region of its own: a run by name does not state
/// a task.
fn usual_region(memory: &CortexMemory, entry: &CatalogEntry, slug: &str) -> Option<String> {
    let mut known = memory.motor.keys().filter(|region| memory.candidate(region, slug).is_some());
    match (known.next(), known.next()) {
        (Some(region), None) => Some(region.clone()),
        _ => clean_region(&entry.name),
    }
}

/// A skill that lacks something may still be tried: what it lacks is part of what is learned. One
/// that is held back, switched off or meant for others may not.
fn usable(entry: &CatalogEntry) -> Result<(), EngineError> {
    let (code, what) = match entry.state {
        EntryState::Ready | EntryState::NeedsSetup => return Ok(()),
        EntryState::Broken => (ErrorCode::SkillNotLoaded, "could not be loaded"),
        EntryState::Shadowed => (ErrorCode::SkillNotLoaded, "is not used; another of that name is"),
        EntryState::Disabled => (ErrorCode::SkillNotUsable, "is switched off"),
        EntryState::Blocked => (ErrorCode::SkillNotUsable, "is held back"),
        EntryState::Excluded => (ErrorCode::SkillNotUsable, "is not for this agent"),
    };
    let error = EngineError::new(code, format!("{} {what}", entry.name));
    Err(match entry.primary_reason() {
        Some(reason) => error.hint(reason.to_string()),
        None => error,
    }
    .hint(format!("`sinew why {}` tells the whole story", shell_word(&entry.name))))
}

fn not_started(error: ProgramStartError) -> EngineError {
    if let ProgramStartError::Sandbox(error) = &error {
        return sandbox::unavailable(error);
    }
    EngineError::new(ErrorCode::NotStarted, error.to_string())
        .caused_by(error)
        .hint("check that the file is a program and that you may run it")
}
