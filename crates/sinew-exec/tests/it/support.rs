//! A machine, its skills, and what a child of theirs sees.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use sinew_catalog::{Catalog, Entry};
use sinew_exec::child::{Control, Stdin, Stdout, Stream};
use sinew_exec::run::{Report, Request, Retry, RunEnv, run};
use sinew_exec::secret::Commands;
use sinew_exec::{Covered, EnvLease, Leases, Masker, Plan, Rules};
use sinew_skill::Reason;
use sinew_testkit::Machine;

pub(crate) const RULES: Rules<'static> =
    Rules { allow_declared_credentials: true, host_credentials: &[] };

/// One machine with one catalog, asked for plans and runs.
pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) leases: Leases,
}

impl World {
    pub(crate) fn new(machine: Machine) -> Self {
        let catalog = machine.catalog();
        Self { machine, catalog, leases: Leases::default() }
    }

    /// A world with one skill `demo` with that vendor block and that entry.
    pub(crate) fn demo(metadata: &str, entry: &str) -> Self {
        Self::new(
            Machine::new()
                .workspace_skill("demo", &format!("metadata: {{openclaw: {metadata}}}"))
                .config(&format!("{{skills: {{entries: {{demo: {entry}}}}}}}")),
        )
    }

    pub(crate) fn covered(&self, skill: &str) -> Covered<'_> {
        let entry: &Entry = self.catalog.get(skill).expect("the skill is there");
        let settings = self.machine.configuration().entries.get(&entry.skill_key);
        Covered { entry, settings }
    }

    pub(crate) fn plan(&self, skills: &[&str], rules: &Rules<'_>) -> Plan {
        let covered: Vec<Covered<'_>> = skills.iter().map(|skill| self.covered(skill)).collect();
        let commands = Commands::Run(&self.leases);
        Plan::of(&covered, rules, &self.machine.environment(), commands)
    }

    pub(crate) fn lease(&self, skills: &[&str]) -> EnvLease {
        self.leases.acquire(self.plan(skills, &RULES), &self.machine.environment())
    }

    pub(crate) fn run_env(&self, skill: &str, lease: &EnvLease) -> RunEnv {
        RunEnv::of(&self.covered(skill), lease, &RULES, &self.machine.environment())
    }

    /// What a child of a run for that skill sees in its environment.
    pub(crate) fn child_sees(&self, skill: &str) -> BTreeMap<String, String> {
        let lease = self.lease(&[skill]);
        let (text, report) = self.run(skill, &lease, &["/usr/bin/env"]);
        assert_eq!(report.exit_code, Some(0), "{report:?}");
        text.lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// Runs a command for a skill, once; what it wrote to either stream comes back.
    pub(crate) fn run(&self, skill: &str, lease: &EnvLease, argv: &[&str]) -> (String, Report) {
        let mut text = Vec::new();
        let env = self.run_env(skill, lease);
        let report = run(
            request(&self.machine, &words(argv)),
            &env,
            &lease.masker(),
            &self.machine.environment(),
            &Control::default(),
            &mut |_: Stream, bytes: &[u8]| text.extend_from_slice(bytes),
        )
        .expect("it starts");
        (String::from_utf8_lossy(&text).into_owned(), report)
    }
}

pub(crate) fn words(argv: &[&str]) -> Vec<OsString> {
    argv.iter().map(OsString::from).collect()
}

/// A request to run `argv` in the machine's workspace, without a retry.
pub(crate) fn request<'a>(machine: &Machine, argv: &'a [OsString]) -> Request<'a, 'a> {
    Request {
        argv,
        cwd: Box::leak(machine.path("work").into_boxed_path()),
        timeout: None,
        stdin: Stdin::Null,
        stdout: Stdout::Keep,
        retry: Retry::Never,
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

pub(crate) fn no_secrets() -> Masker {
    Masker::default()
}
