//! `Engine`: one agent's view of its skills.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use sinew_catalog::{
    CallerFolders, Catalog, CatalogBuilder, CatalogChange, CatalogEntry, CatalogRequest,
    LARGE_CATALOG, LiveCatalog, Profile, RefreshCause, RemoteMachines, ScanGate, SessionOverrides,
    Snapshot,
};
use sinew_cortex::signals::SignalVocabulary;
use sinew_exec::EnvLeases;
use sinew_guard::scan::Scanner;
use sinew_route::RouterModels;
use sinew_settings::config::{ConfigSource, LoadedConfig};
use sinew_settings::{Config, Environment, ErrorCode, Reason, ReasonCode, tidy_path};
use sinew_store::Store;

use crate::catalog_cache::CatalogCache;
use crate::cortex::CortexState;
use crate::hub::LockTrust;
use crate::quality::ScanFiles;
use crate::routing::{QuestionFindings, RouterPool};
use crate::{EngineError, bundled};

/// How a surface wants to see the skills.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// The profile's name; sinew's own where absent.
    pub profile: Option<String>,
    /// The agent's workspace; the current folder where absent.
    pub workspace: Option<PathBuf>,
    /// Where commands run, when that is another folder.
    pub execution_workspace: Option<PathBuf>,
    /// Load the workspace's own skills alone.
    pub workspace_only: bool,
    /// The agent whose list applies.
    pub agent: Option<String>,
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// The session's own switches.
    pub overrides: SessionOverrides,
    /// Commands that the host reserves.
    pub reserved_commands: Vec<String>,
    /// What the machines have that the host is connected to.
    pub remote: RemoteMachines,
    /// The program that puts others into a box: sinew itself, as `sinew sandbox-launch`.
    pub sandbox_launcher: Option<PathBuf>,
}

/// Answers every question about the skills of one agent on one machine.
#[derive(Debug)]
pub struct Engine {
    pub(crate) env: Environment,
    pub(crate) profile: &'static Profile,
    pub(crate) config: Config,
    pub(crate) places: CallerFolders,
    pub(crate) agent: Option<String>,
    pub(crate) options: EngineOptions,
    pub(crate) config_source: ConfigSource,
    /// Problems that occurred before the roots were first read.
    pub(crate) opening: Vec<Reason>,
    live: Arc<LiveCatalog>,
    pub(crate) kept: Option<CatalogCache>,
    /// From how many skills on a catalog is large.
    pub(crate) large_from: usize,
    /// What a question about a large catalog found out beside its answer.
    findings: Mutex<Option<QuestionFindings>>,
    pub(crate) scan_files: ScanFiles,
    /// The variables that runs of this engine have.
    pub(crate) leases: EnvLeases,
    pub(crate) scan_gate: ScanGate,
    /// What the locks say, cached until they change.
    pub(crate) trusted: Mutex<Option<Arc<LockTrust>>>,
    /// Opened when a message is routed for the first time.
    pub(crate) models: OnceLock<RouterModels>,
    /// Stay open between questions.
    pub(crate) routers: Arc<RouterPool>,
    pub(crate) store: OnceLock<Arc<dyn Store>>,
    pub(crate) cortex: OnceLock<CortexState>,
    pub(crate) vocabulary: OnceLock<SignalVocabulary>,
    pub(crate) scanner: OnceLock<Scanner>,
    /// Whether it was reported that the reviewer has no model; once is enough.
    pub(crate) said_no_provider: AtomicBool,
}

impl Engine {
    /// Opens the engine. Only a request that makes no sense fails; whatever is missing on the
    /// machine is an issue of the catalog.
    pub fn open(env: Environment, options: EngineOptions) -> Result<Self, EngineError> {
        Self::over(Arc::default(), env, options)
    }

    /// The same skills as another agent of this machine sees them.
    pub fn for_agent(&self, agent: &str) -> Result<Arc<Self>, EngineError> {
        let options = EngineOptions { agent: Some(agent.to_owned()), ..self.options.clone() };
        Self::open(self.env.clone(), options).map(Arc::new)
    }

    /// The same view under the configuration as it is now; `None` where it did not change.
    ///
    /// Version numbers continue, and what was read stays cached.
    pub(crate) fn reload_if_changed(&self) -> Result<Option<Self>, EngineError> {
        let mut now = Self::over(Arc::clone(&self.live), self.env.clone(), self.options.clone())?;
        let same = now.config == self.config && now.opening == self.opening;
        if same {
            return Ok(None);
        }
        now.leases = self.leases.clone();
        now.routers = Arc::clone(&self.routers);
        now.routers.forget_failures();
        Ok(Some(now))
    }

    fn over(
        live: Arc<LiveCatalog>,
        env: Environment,
        options: EngineOptions,
    ) -> Result<Self, EngineError> {
        let profile = find_profile(options.profile.as_deref(), &env)?;
        if let Some(path) = &options.config
            && !path.is_file()
        {
            return Err(EngineError::new(
                ErrorCode::NoSuchConfig,
                format!("there is no configuration file {}", path.display()),
            )
            .hint("`sinew config path` shows the file that is read by default"));
        }
        let path = options.config.clone().unwrap_or_else(|| env.config_path(profile.name));
        let loaded = LoadedConfig::read(path);
        let mut opening = loaded.reasons;
        let agent = selected_agent(profile, &options, &loaded.config);
        let workspace = workspace(profile, &options, agent.as_deref(), &loaded.config, &env);
        let agent_is_one_of_several =
            agent.as_deref().is_some_and(|id| !owns_host(id, &loaded.config));
        if !workspace.is_dir() {
            opening.push(
                Reason::new(ReasonCode::RootMissing, "the workspace does not exist")
                    .severity(sinew_settings::ReasonSeverity::Warn)
                    .path(sinew_settings::path_text(&workspace))
                    .remedy(
                        "name another folder with --workspace; skills from elsewhere are shown",
                    ),
            );
        }
        let scan_files = ScanFiles::below(&env.sinew_home());
        let bundled = match bundled::locate(&env, profile, &workspace) {
            Ok(folder) => Some(folder),
            Err(reason) => {
                opening.push(reason);
                None
            }
        };
        Ok(Self {
            profile,
            config: loaded.config,
            places: CallerFolders {
                // Hooks and servers, which work with sinew's own profile, look at no whole project.
                look_below: options.profile.is_some(),
                workspace,
                execution_workspace: options.execution_workspace.clone(),
                bundled,
                workspace_only: options.workspace_only,
                agent_is_one_of_several,
                agent_id: agent.clone(),
            },
            agent,
            options,
            config_source: loaded.source,
            opening,
            live,
            kept: CatalogCache::below(&env, profile),
            large_from: LARGE_CATALOG,
            findings: Mutex::new(None),
            models: OnceLock::new(),
            routers: Arc::default(),
            scan_gate: scan_files.gate(),
            trusted: Mutex::new(None),
            scan_files,
            scanner: OnceLock::new(),
            said_no_provider: AtomicBool::new(false),
            leases: EnvLeases::default(),
            env,
            store: OnceLock::new(),
            cortex: OnceLock::new(),
            vocabulary: OnceLock::new(),
        })
    }

    /// Takes catalogs for large from another number of skills on: a question then looks at the skills that
    /// it is about, and leaves the others to a process in the background.
    #[must_use]
    pub fn large_from(mut self, skills: usize) -> Self {
        self.large_from = skills;
        self
    }

    /// The skills as they are now. Files that did not change are not read again.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.refresh(RefreshCause::Files).snapshot
    }

    /// The skills as of the last refresh, for observers; refreshes first where there was none.
    pub fn current(&self) -> Arc<Snapshot> {
        self.live.current().unwrap_or_else(|| self.snapshot())
    }

    /// Reads the roots again and returns what differs.
    pub(crate) fn refresh(&self, cause: RefreshCause) -> CatalogChange {
        let trust = self.trust();
        if let Some(kept) = &self.kept {
            kept.load(&self.live, &self.scan_gate);
        }
        let started = Instant::now();
        let change = self.live.refresh(&self.request(&trust), cause);
        tracing::info!(
            ?cause,
            version = change.snapshot.version,
            skills = change.snapshot.catalog.entries.len(),
            issues = change.snapshot.catalog.issues.len(),
            ms = started.elapsed().as_millis(),
            "loaded the catalog"
        );
        self.scan_files.remember(&self.scan_gate);
        if let Some(kept) = &self.kept {
            kept.save(&self.live, &self.scan_gate);
        }
        change
    }

    /// Whether this process has looked at every file already.
    pub(crate) fn has_snapshot(&self) -> bool {
        self.live.current().is_some()
    }

    pub(crate) fn builder(&self) -> &CatalogBuilder {
        self.live.builder()
    }

    pub(crate) fn findings(&self) -> MutexGuard<'_, Option<QuestionFindings>> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process stays up and follows the files itself.
    pub(crate) fn is_served(&self) -> bool {
        self.routers.is_in_background()
    }

    /// Drops what was cached below a folder, before a refresh that must not trust it.
    pub(crate) fn forget_below(&self, folder: &Path) {
        self.live.forget_below(folder);
    }

    pub(crate) fn request<'a>(&'a self, trust: &'a LockTrust) -> CatalogRequest<'a> {
        CatalogRequest {
            profile: self.profile,
            places: self.places.clone(),
            config: &self.config,
            env: &self.env,
            agent: self.agent.as_deref(),
            overrides: self.options.overrides.clone(),
            remote: self.remote_machines(),
            reserved_commands: self.options.reserved_commands.clone(),
            scan: Some(&self.scan_gate),
            vouch: Some(trust),
        }
    }

    /// The skill that `wanted` names.
    pub fn find<'a>(
        &self,
        catalog: &'a Catalog,
        wanted: &str,
    ) -> Result<&'a CatalogEntry, EngineError> {
        catalog.lookup(wanted).map_err(|error| {
            // A folder that was read and left out has a record; that is the answer.
            let record = catalog.issues.iter().find(|issue| {
                let path = issue.path.as_deref().map(Path::new);
                path.is_some_and(|path| {
                    path.components().rev().take(2).any(|part| part.as_os_str() == wanted)
                })
            });
            match record {
                Some(record) => EngineError::from(error).hint(record.to_string()),
                None => error.into(),
            }
        })
    }

    /// Whose habits apply.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// The agent's workspace.
    pub fn workspace(&self) -> &Path {
        &self.places.workspace
    }

    /// The agent whose list applies.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How the surface wants to see the skills.
    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// The machine.
    pub fn environment(&self) -> &Environment {
        &self.env
    }
}

fn find_profile(name: Option<&str>, env: &Environment) -> Result<&'static Profile, EngineError> {
    let Some(name) = name else { return Ok(Profile::default_profile()) };
    let configured = || {
        // A host that sinew does not know, from sinew's own configuration.
        let config = LoadedConfig::read(env.config_path(Profile::default_profile().name)).config;
        config.hosts.get(name).map(|host| sinew_catalog::configured_profile(name, host))
    };
    Profile::find(name).or_else(configured).ok_or_else(|| {
        let known = || sinew_catalog::all_profiles().map(|profile| profile.name);
        let error =
            EngineError::new(ErrorCode::UnknownProfile, format!("there is no profile `{name}`"));
        let error = match sinew_settings::nearest(name, known()).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("profiles: {}", known().collect::<Vec<_>>().join(", ")))
    })
}

/// The folder an agent works in: named, configured, OpenClaw's default, or the current one.
fn workspace(
    profile: &Profile,
    options: &EngineOptions,
    agent: Option<&str>,
    config: &Config,
    env: &Environment,
) -> PathBuf {
    if let Some(named) = &options.workspace {
        return tidy_path(&env.cwd.join(named));
    }
    match profile.name {
        "openclaw" => openclaw_workspace(agent, config, env).unwrap_or_else(|| env.cwd.clone()),
        "openpocket" => openpocket_workspace(agent, config, env).unwrap_or_else(|| env.cwd.clone()),
        _ => env.cwd.clone(),
    }
}

/// OpenClaw's agent where none is configured.
const MAIN_AGENT: &str = "main";

/// The agent whose list and folders apply: the one that is named, else OpenClaw's own choice.
fn selected_agent(profile: &Profile, options: &EngineOptions, config: &Config) -> Option<String> {
    let chosen = || match profile.name {
        "openclaw" => config.agents.default_agent().map(str::to_owned),
        _ => None,
    };
    options.agent.clone().or_else(chosen)
}

/// Whether what belongs to OpenClaw, and to no agent of its own, is this agent's.
fn owns_host(id: &str, config: &Config) -> bool {
    let agents = &config.agents;
    match agents.default_agent() {
        Some(default) => id == default,
        None if agents.is_explicit() => !agents.entries.contains_key(id),
        None => id == MAIN_AGENT || !agents.entries.contains_key(id),
    }
}

/// The workspace of OpenClaw's agent: its own, else the shared one for the agent that is the host's own,
/// else a folder beside it that carries the agent's name.
fn openclaw_workspace(agent: Option<&str>, config: &Config, env: &Environment) -> Option<PathBuf> {
    let id = agent.unwrap_or(MAIN_AGENT);
    let own = config.agents.entries.get(id).and_then(|agent| agent.workspace.as_deref());
    if let Some(own) = own {
        return Some(env.expand_home(own));
    }
    let is_main = owns_host(id, config);
    let shared = config.agents.workspace.as_deref().map(|path| env.expand_home(path));
    let state = env.openclaw_state().0;
    match (is_main, shared) {
        (true, Some(shared)) => Some(shared),
        (true, None) => Some(state.join("workspace")).filter(|usual| usual.is_dir()),
        (false, Some(shared)) => Some(shared.join(id)),
        (false, None) => Some(state.join(format!("workspace-{id}"))),
    }
}

/// The workspace that OpenPocket's own configuration names for an agent, or for all of them.
fn openpocket_workspace(
    agent: Option<&str>,
    config: &Config,
    env: &Environment,
) -> Option<PathBuf> {
    let own = agent.and_then(|id| config.agents.entries.get(id)?.workspace.as_deref());
    let shared = || config.tree.get("workspaceDir").and_then(serde_json::Value::as_str);
    own.or_else(shared).map(|path| env.expand_home(path))
}
