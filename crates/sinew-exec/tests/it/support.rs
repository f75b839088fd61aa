//! A test machine, its skills, and what their child processes see.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use sinew_catalog::{Catalog, CatalogEntry};
use sinew_exec::child::{OutputStream, ProcessControl, StdinMode, StdoutMode};
use sinew_exec::run::{RetryPolicy, RunEnv, RunReport, RunRequest, run};
use sinew_exec::secret::SecretCommands;
use sinew_exec::{CoveredSkill, EnvLease, EnvLeases, EnvPlan, EnvRules, SecretMasker};
use sinew_settings::Reason;
use sinew_testkit::TestMachine;

pub(crate) const RULES: EnvRules<'static> =
    EnvRules { allow_declared_credentials: true, host_credentials: &[] };

/// One machine with one catalog, for plans and runs.
pub(crate) struct World {
    pub(crate) machine: TestMachine,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) leases: EnvLeases,
}

impl World {
    pub(crate) fn new(machine: TestMachine) -> Self {
        let catalog = machine.catalog();
        Self { machine, catalog, leases: EnvLeases::default() }
    }

    /// A world with one skill `demo` with that vendor block and that entry.
    pub(crate) fn demo(metadata: &str, entry: &str) -> Self {
        Self::new(
            TestMachine::new()
                .workspace_skill("demo", &format!("metadata: {{openclaw: {metadata}}}"))
                .config(&format!("{{skills: {{entries: {{demo: {entry}}}}}}}")),
        )
    }

    pub(crate) fn covered(&self, skill: &str) -> CoveredSkill<'_> {
        let entry: &CatalogEntry = self.catalog.get(skill).expect("the skill is there");
        let settings = entry.settings(self.machine.configuration());
        CoveredSkill { entry, settings }
    }

    pub(crate) fn plan(&self, skills: &[&str], rules: &EnvRules<'_>) -> EnvPlan {
        let covered: Vec<CoveredSkill<'_>> =
            skills.iter().map(|skill| self.covered(skill)).collect();
        let commands = SecretCommands::Run(&self.leases);
        EnvPlan::of(&covered, rules, &self.machine.environment(), commands)
    }

    pub(crate) fn lease(&self, skills: &[&str]) -> EnvLease {
        self.leases.acquire(self.plan(skills, &RULES), &self.machine.environment())
    }

    pub(crate) fn run_env(&self, skill: &str, lease: &EnvLease) -> RunEnv {
        RunEnv::of(&self.covered(skill), lease, &RULES, &self.machine.environment())
    }

    /// The environment that a child of a run for that skill sees.
    pub(crate) fn child_sees(&self, skill: &str) -> BTreeMap<String, String> {
        let lease = self.lease(&[skill]);
        let (text, report) = self.run(skill, &lease, &["/usr/bin/env"]);
        assert_eq!(report.exit_code, Some(0), "{report:?}");
        text.lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Runs a command for a skill once; returns its output on both streams.
    pub(crate) fn run(&self, skill: &str, lease: &EnvLease, argv: &[&str]) -> (String, RunReport) {
        let mut text = Vec::new();
        let env = self.run_env(skill, lease);
        let report = run(
            request(&self.machine, &words(argv)),
            &env,
            &lease.masker(),
            &self.machine.environment(),
            &ProcessControl::default(),
            &mut |_: OutputStream, bytes: &[u8]| text.extend_from_slice(bytes),
        )
        .expect("it starts");
        (String::from_utf8_lossy(&text).into_owned(), report)
    }
}

pub(crate) fn words(argv: &[&str]) -> Vec<OsString> {
    argv.iter().map(OsString::from).collect()
}

/// A request to run `argv` in the machine's workspace, without a retry.
pub(crate) fn request<'a>(machine: &TestMachine, argv: &'a [OsString]) -> RunRequest<'a, 'a> {
    RunRequest {
        argv,
        cwd: Box::leak(machine.path("work").into_boxed_path()),
        timeout: None,
        stdin: StdinMode::Null,
        stdout: StdoutMode::Keep,
        retry: RetryPolicy::Never,
        sandbox: None,
    }
}

pub(crate) fn codes(records: &[Reason]) -> Vec<String> {
    records
        .iter()
        .map(|record| match &record.key {
            Some(key) => format!("{} {key}", record.code),
            None => record.code.to_string(),
        })
        .collect()
}

pub(crate) fn no_secrets() -> SecretMasker {
    SecretMasker::default()
}
