//! A test machine with its own registry and GitHub, and scripted approvers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sinew_hub::install::{
    InstallConcern, InstallPreparation, InstallReceipt, InstallReview, InstallRisk,
    PreparationStep, PreparedInstall, SkillInstallRequest,
};
use sinew_hub::lock::{ApprovalMethod, LockApproval};
use sinew_hub::net::RequestLimits;
use sinew_hub::reference::{RequestedVersion, ShorthandMeaning, SkillReference};
use sinew_hub::settings::HubOverrides;
use sinew_hub::{
    Hub, HubAuthority, HubError, RestoreStrictness, RestoredSkill, UpdateRequest, UpdateResult,
    UpdateStatus, Workdir,
};
use sinew_settings::{Config, Environment};
use sinew_testkit::{ClawHubDouble, GitHubDouble, TestMachine};

/// Time limits that tests can wait for.
pub(crate) const QUICK: RequestLimits = RequestLimits {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(5),
    download: Duration::from_millis(1500),
    stall: Duration::from_millis(700),
    attempts: 3,
};

/// An approver that answers every question in the same way, and records what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Person {
    pub(crate) says_yes: bool,
    pub(crate) absent: bool,
    pub(crate) concerns: Vec<InstallConcern>,
    pub(crate) proposals: Vec<InstallReview>,
}

impl Person {
    pub(crate) fn yes() -> Self {
        Self { says_yes: true, ..Self::default() }
    }

    pub(crate) fn no() -> Self {
        Self::default()
    }

    pub(crate) fn absent() -> Self {
        Self { absent: true, ..Self::default() }
    }

    fn accept(&mut self, concern: &InstallConcern) -> Result<(), HubError> {
        self.concerns.push(concern.clone());
        match (self.absent, self.says_yes) {
            (true, _) => Err(concern.unanswered()),
            (false, true) => Ok(()),
            (false, false) => Err(concern.declined()),
        }
    }

    pub(crate) fn approve(
        &mut self,
        hub: &Hub,
        prepared: &PreparedInstall,
    ) -> Result<LockApproval, HubError> {
        if let Some(standing) = hub.standing_approval(prepared) {
            return Ok(standing);
        }
        self.proposals.push(prepared.review.clone());
        match (self.absent, self.says_yes) {
            (true, _) => Err(prepared.review.unanswered(None)),
            (false, true) => {
                Ok(hub.approval(prepared, "ada".to_owned(), ApprovalMethod::Prompt, None))
            }
            (false, false) => Err(prepared.review.declined()),
        }
    }

    /// Takes a preparation to its end; a result where nothing is to be done.
    pub(crate) fn prepare(
        &mut self,
        mut preparation: InstallPreparation<'_>,
    ) -> Result<Result<PreparedInstall, UpdateResult>, HubError> {
        loop {
            match preparation.advance(&mut |_, _| {})? {
                PreparationStep::Concern(paused) => {
                    self.accept(paused.concern())?;
                    preparation = paused.accept();
                }
                PreparationStep::Ready(prepared) => return Ok(Ok(*prepared)),
                PreparationStep::Current(current) => return Ok(Err(*current)),
            }
        }
    }
}

/// A machine with a registry and a GitHub.
pub(crate) struct World {
    pub(crate) machine: TestMachine,
    pub(crate) clawhub: ClawHubDouble,
    pub(crate) github: GitHubDouble,
    vars: BTreeMap<String, String>,
    config: String,
    times: RequestLimits,
    /// The machine of the process that started this one.
    parent: Option<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        let (clawhub, github) = (ClawHubDouble::new(), GitHubDouble::new());
        let vars = BTreeMap::from([
            ("SINEW_REGISTRY".to_owned(), clawhub.address().to_owned()),
            ("SINEW_GITHUB_API_BASE_URL".to_owned(), github.address().to_owned()),
            ("SINEW_GITHUB_CODELOAD_BASE_URL".to_owned(), github.address().to_owned()),
            ("SKILLS_API_URL".to_owned(), github.address().to_owned()),
        ]);
        Self {
            machine: TestMachine::new(),
            clawhub,
            github,
            vars,
            config: String::new(),
            times: QUICK,
            parent: None,
        }
    }

    /// The world of the parent process; `None` if this process is not a child.
    pub(crate) fn of_parent() -> Option<Self> {
        let root = PathBuf::from(std::env::var_os("SINEW_CHILD_ROOT")?);
        let registry = std::env::var("SINEW_CHILD_REGISTRY").ok()?;
        let world = Self::new().var("SINEW_REGISTRY", &registry);
        Some(Self { parent: Some(root), ..world })
    }

    fn root(&self) -> &Path {
        self.parent.as_deref().unwrap_or_else(|| self.machine.root())
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn config(mut self, json5: &str) -> Self {
        json5.clone_into(&mut self.config);
        self
    }

    pub(crate) fn environment(&self) -> Environment {
        let mut env = self.machine.environment();
        env.vars.extend(self.vars.clone());
        env.home = self.root().join("home");
        env.cwd = self.root().join("work");
        env
    }

    pub(crate) fn hub(&self) -> Hub {
        self.hub_with(&HubOverrides::default())
    }

    pub(crate) fn hub_with(&self, overrides: &HubOverrides) -> Hub {
        self.open(overrides).0
    }

    /// A hub with the authority to change what is installed.
    pub(crate) fn open(&self, overrides: &HubOverrides) -> (Hub, HubAuthority) {
        let config = Config::from_text(&self.config).0;
        Hub::with_limits(self.environment(), &config, overrides, self.times).expect("a hub")
    }

    pub(crate) fn workdir(&self) -> Workdir {
        Workdir::workspace(&self.root().join("work"))
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join("work").join(path)
    }

    pub(crate) fn install(&self, reference: &str) -> Result<InstallReceipt, HubError> {
        self.install_with(reference, &mut Person::yes(), |_| {})
    }

    pub(crate) fn install_with(
        &self,
        reference: &str,
        person: &mut Person,
        change: impl FnOnce(&mut SkillInstallRequest),
    ) -> Result<InstallReceipt, HubError> {
        let mut ask = ask(reference);
        change(&mut ask);
        install(&self.open(&HubOverrides::default()), ask, &self.workdir(), person)
    }

    pub(crate) fn update(&self, key: &str) -> Result<UpdateResult, HubError> {
        self.update_with(key, &mut Person::yes(), |_| {})
    }

    pub(crate) fn update_with(
        &self,
        key: &str,
        person: &mut Person,
        change: impl FnOnce(&mut UpdateRequest),
    ) -> Result<UpdateResult, HubError> {
        let mut how = UpdateRequest {
            dry_run: false,
            overwrite: false,
            accepted: std::collections::BTreeSet::new(),
            acceptance: Vec::new(),
            wanted: RequestedVersion::Latest,
            by: "ada".to_owned(),
            neighbours: Vec::new(),
        };
        change(&mut how);
        let (hub, authority) = self.open(&HubOverrides::default());
        let prepared = match person.prepare(hub.prepare_update(key, &how, &self.workdir())?)? {
            Ok(prepared) => prepared,
            Err(current) => return Ok(current),
        };
        let result = |status| prepared.update_result(status);
        if prepared.changes_nothing() {
            return Ok(result(UpdateStatus::Current));
        }
        if how.dry_run {
            return Ok(result(UpdateStatus::Available));
        }
        let updated = result(UpdateStatus::Updated);
        let approval = person.approve(&hub, &prepared)?;
        let installed = hub.commit(authority.permit_install(prepared, approval)?)?;
        Ok(UpdateResult { backup: installed.backup, ..updated })
    }

    pub(crate) fn restore(
        &self,
        strictness: RestoreStrictness,
    ) -> Result<Vec<RestoredSkill>, HubError> {
        let (hub, authority) = self.open(&HubOverrides::default());
        let (workdir, mut person) = (self.workdir(), Person::absent());
        let mut permits = Vec::new();
        for key in workdir.lock(&self.environment())?.skills.keys() {
            let Some(preparation) = hub.prepare_restore(key, strictness, "ada", &workdir)? else {
                continue;
            };
            let prepared = person.prepare(preparation)?.expect("something to restore");
            let approval = person.approve(&hub, &prepared)?;
            permits.push(authority.permit_install(prepared, approval)?);
        }
        let restored = permits.into_iter().map(|permit| {
            let done = hub.commit(permit)?;
            Ok(RestoredSkill { key: done.key, status: "restored", digest: done.digest })
        });
        restored.collect()
    }

    pub(crate) fn uninstall(&self, key: &str) -> Result<sinew_hub::UninstalledSkill, HubError> {
        let (hub, authority) = self.open(&HubOverrides::default());
        hub.uninstall(authority.permit_change(key), &self.workdir())
    }

    pub(crate) fn pin(&self, key: &str, pin: Option<Option<String>>) {
        let (hub, authority) = self.open(&HubOverrides::default());
        hub.pin(authority.permit_change(key), pin, &self.workdir()).expect("an installed skill");
    }

    pub(crate) fn import(&self) -> Vec<RestoredSkill> {
        let (hub, authority) = self.open(&HubOverrides::default());
        hub.import(authority.permit_import(), &self.workdir()).expect("a workdir")
    }

    /// Everything below the workspace, as relative paths, without empty lock files.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.root().join("work"), "", &mut found);
        found.retain(|path| {
            !path.ends_with(".lock") && !path.ends_with("/lock") && !path.ends_with("hub.pid")
        });
        found.sort();
        found
    }

    pub(crate) fn lock(&self) -> serde_json::Value {
        json(&self.path(".sinew/lock.json"))
    }

    pub(crate) fn clawhub_lock(&self) -> serde_json::Value {
        json(&self.path(".clawhub/lock.json"))
    }
}

/// Prepares, asks and installs.
pub(crate) fn install(
    (hub, authority): &(Hub, HubAuthority),
    ask: SkillInstallRequest,
    workdir: &Workdir,
    person: &mut Person,
) -> Result<InstallReceipt, HubError> {
    let prepared = person.prepare(hub.prepare_install(ask, workdir)?)?.expect("an install");
    let approval = person.approve(hub, &prepared)?;
    hub.commit(authority.permit_install(prepared, approval)?)
}

pub(crate) fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).expect("the file")).expect("JSON")
}

pub(crate) fn ask(reference: &str) -> SkillInstallRequest {
    SkillInstallRequest::new(
        SkillReference::parse(reference, ShorthandMeaning::GitHub).expect("a reference"),
        "ada",
    )
}

pub(crate) fn accepting(pauses: &[InstallRisk]) -> impl FnOnce(&mut SkillInstallRequest) {
    let pauses = pauses.to_vec();
    move |ask| ask.accepted.extend(pauses)
}

/// The code and the message of an error.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, HubError>) -> (&'static str, String) {
    let error = result.expect_err("a refusal");
    (error.code.as_str(), error.message)
}

fn walk(folder: &Path, at: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if at.is_empty() { name } else { format!("{at}/{name}") };
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => walk(&entry.path(), &path, found),
            false => found.push(path),
        }
    }
}
