//! `skills.toml` carried out: on one machine, between machines, and after a kill.

mod kill;
mod machines;
mod needs;
mod steps;

use std::collections::BTreeSet;
use std::path::PathBuf;

use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver};
use sinew_engine::hub::{
    ApprovalMethod, ExchangeDirection, ExchangeRequest, GroupChoice, HubError, HubOverrides,
    HubRecord, InstallTarget, MANIFEST_FILE, SyncRequest, Workdir,
};
use sinew_engine::{Engine, EngineOptions};
use sinew_settings::{Actor, Environment};
use sinew_testkit::{ClawHubDouble, GitHubDouble, TestMachine};

/// Answers every install question alike; risks are never accepted.
struct Answers {
    says_yes: bool,
    asked: Vec<String>,
}

impl Answers {
    fn yes() -> Self {
        Self { says_yes: true, asked: Vec::new() }
    }

    fn no() -> Self {
        Self { says_yes: false, asked: Vec::new() }
    }
}

impl Approver for Answers {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        let ApprovalQuestion::Install(review) = question else { return ApprovalAnswer::No };
        self.asked.push(review.key.clone());
        match self.says_yes {
            true => ApprovalAnswer::yes("ada", ApprovalMethod::Prompt),
            false => ApprovalAnswer::No,
        }
    }
}

fn person() -> Actor {
    Actor::Person { name: Some("ada".to_owned()), via: None }
}

fn exchange_of(direction: ExchangeDirection) -> ExchangeRequest {
    let (ours, theirs) = (Vec::new(), Vec::new());
    ExchangeRequest { direction, remote: None, ours, theirs, actor: person() }
}

/// The registries on loopback, which several machines may share.
struct Registries {
    clawhub: ClawHubDouble,
    github: GitHubDouble,
}

impl Registries {
    fn new() -> Self {
        Self { clawhub: ClawHubDouble::new(), github: GitHubDouble::new() }
    }
}

/// A machine that syncs.
struct Syncer {
    machine: TestMachine,
    registry: String,
    github: String,
    root: Option<PathBuf>,
    offline: bool,
}

impl Syncer {
    fn new(registries: &Registries) -> Self {
        Self {
            machine: TestMachine::new(),
            registry: registries.clawhub.address().to_owned(),
            github: registries.github.address().to_owned(),
            root: None,
            offline: false,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path),
            None => self.machine.path(path),
        }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    fn environment(&self) -> Environment {
        let mut env = self.machine.environment();
        for (name, value) in [
            ("SINEW_REGISTRY", &self.registry),
            ("SINEW_GITHUB_API_BASE_URL", &self.github),
            ("SINEW_GITHUB_CODELOAD_BASE_URL", &self.github),
        ] {
            env.vars.insert(name.to_owned(), value.clone());
        }
        env.vars.insert("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        env.home = self.path("home");
        env.cwd = self.path("work");
        env
    }

    fn engine(&self) -> Engine {
        let workspace = Some(self.path("work"));
        let options = EngineOptions { workspace, ..EngineOptions::default() };
        Engine::open(self.environment(), options).expect("an engine")
    }

    fn request(&self, target: InstallTarget) -> SyncRequest {
        let folder = match target {
            InstallTarget::Workspace => self.path("work"),
            InstallTarget::Managed => self.path("home/.sinew"),
        };
        SyncRequest {
            manifest: folder.join(MANIFEST_FILE),
            target,
            groups: GroupChoice::Named(Vec::new()),
            update: false,
            frozen: false,
            overwrite: false,
            prune: Some(person()),
            accepted: BTreeSet::new(),
            acceptance: Vec::new(),
            by: "ada".to_owned(),
        }
    }

    /// A sync of the workspace's manifest.
    fn sync(&self) -> Vec<String> {
        self.sync_with(|_| {}).expect("a sync")
    }

    fn sync_with(&self, change: impl FnOnce(&mut SyncRequest)) -> Result<Vec<String>, HubError> {
        self.sync_asking(change, &mut Answers::yes())
    }

    fn sync_asking(
        &self,
        change: impl FnOnce(&mut SyncRequest),
        answers: &mut Answers,
    ) -> Result<Vec<String>, HubError> {
        let mut request = self.request(InstallTarget::Workspace);
        change(&mut request);
        let engine = self.engine();
        let overrides = HubOverrides { registry: None, offline: self.offline };
        let hub = engine.hub().open(&overrides).expect("a hub");
        let workdir = engine.hub().workdir(request.target);
        let plan = hub.plan_sync(&request, &workdir)?;
        let records = hub.sync(&plan, &request, &workdir, answers)?;
        Ok(self.told(&records))
    }

    /// What is exchanged with the repository at `remote`.
    fn exchange(
        &self,
        direction: ExchangeDirection,
        change: impl FnOnce(&mut ExchangeRequest),
    ) -> Result<Vec<String>, HubError> {
        let mut request = exchange_of(direction);
        change(&mut request);
        let engine = self.engine();
        let hub = engine.hub().open(&HubOverrides::default()).expect("a hub");
        let workdir = self.managed(&engine);
        let records = hub.exchange(&request, &workdir, &mut Answers::yes())?;
        Ok(self.told(&records))
    }

    /// What an exchange would do.
    fn preview(
        &self,
        direction: ExchangeDirection,
        change: impl FnOnce(&mut ExchangeRequest),
    ) -> Result<Vec<String>, HubError> {
        let mut request = exchange_of(direction);
        change(&mut request);
        let engine = self.engine();
        let hub = engine.hub().open(&HubOverrides::default()).expect("a hub");
        let records = hub.preview_exchange(&request, &self.managed(&engine))?;
        Ok(self.told(&records))
    }

    fn managed(&self, engine: &Engine) -> Workdir {
        engine.hub().workdir(InstallTarget::Managed)
    }

    /// `name status`, with where it went or why not.
    fn told(&self, records: &[HubRecord]) -> Vec<String> {
        let root = self.path("").to_string_lossy().into_owned();
        let row = |record: &HubRecord| {
            let reason = record.reason.map(|code| format!(" ({code})")).unwrap_or_default();
            let place = record.path.as_ref().filter(|_| record.digest.is_none());
            let place = place.map(|path| path.to_string_lossy().replace(&root, ""));
            let place = place.map(|path| format!(" {path}")).unwrap_or_default();
            format!("{} {}{reason}{place}", record.reference, record.status)
        };
        records.iter().map(row).collect()
    }

    /// The state of a skill, as the workspace's catalog has it.
    fn state(&self, name: &str) -> String {
        let snapshot = self.engine().snapshot();
        match snapshot.catalog.get(name) {
            Some(entry) => {
                let reason = entry.primary_reason().map(|reason| reason.code.as_str());
                format!("{} {}", entry.state.as_str(), reason.unwrap_or_default()).trim().to_owned()
            }
            None => "absent".to_owned(),
        }
    }
}
