//! What a builder caches, so that checking an unchanged machine again costs one system call per
//! folder and file.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sinew_settings::config::SecretSetting;
use sinew_settings::{Config, Reason, ReasonCode};

use crate::bins::ProgramFolders;
use crate::catalog::{Catalog, CatalogRequest};
use crate::catalog_cache::{CacheRecord, CachedRecords};
use crate::discover::{self, WalkResult, WalkRules};
use crate::filter::SessionOverrides;
use crate::hosts::{self, SwitchTable};
use crate::load::LoadedSkillFile;
use crate::parallel;
use crate::remote::RemoteMachines;
use crate::roots::{CallerFolders, SkillRoot};

/// The walks of earlier builds, by root.
#[derive(Debug, Default)]
pub(crate) struct WalkMemory {
    walks: Mutex<HashMap<PathBuf, Arc<RememberedWalk>>>,
    /// Listings of an earlier process.
    pub(crate) saved: CachedRecords,
}

/// One root's walk, with the folders it listed.
#[derive(Debug)]
pub(crate) struct RememberedWalk {
    root: SkillRoot,
    rules: WalkRules,
    pub(crate) found: WalkResult,
}

impl WalkMemory {
    /// Walks a root, or returns the last walk if every folder it listed is unchanged.
    pub(crate) fn walk(
        &self,
        root: &SkillRoot,
        rules: &WalkRules,
        now_ms: u64,
    ) -> Arc<RememberedWalk> {
        let walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = walks.get(&root.path).cloned();
        drop(walks);
        if let Some(known) = known
            && known.root == *root
            && known.rules == *rules
            && known.is_unchanged()
        {
            return known;
        }
        let walked = Arc::new(RememberedWalk {
            root: root.clone(),
            rules: rules.clone(),
            found: discover::walk(root, rules, now_ms, &self.saved),
        });
        let mut walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        walks.insert(root.path.clone(), Arc::clone(&walked));
        walked
    }

    /// The records of everything that was listed, for the next process.
    pub(crate) fn records(&self) -> Vec<CacheRecord> {
        let walks = self.walks.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = walks.values().flat_map(|walked| &walked.found.listed);
        let now = listed.filter_map(|listed| Some((listed.shown.clone(), listed.to_record()?)));
        self.saved.merged_records(now.collect())
    }
}

impl RememberedWalk {
    pub(crate) fn root_path(&self) -> &Path {
        &self.root.path
    }

    fn is_unchanged(&self) -> bool {
        let Some(top) = self.found.listed.first() else {
            // The root could not be opened; only a missing root can count as unchanged.
            return self.found.reasons.iter().all(|reason| reason.code == ReasonCode::RootMissing)
                && !self.root.path.exists();
        };
        let leads_there = |(link, target): &(PathBuf, PathBuf)| {
            std::fs::canonicalize(link).is_ok_and(|now| now == *target)
        };
        // The handle stays on the folder it was opened on; the path may point to another one by
        // now.
        top.is_at(&self.root.path)
            && self.found.links.iter().all(leads_there)
            && parallel::all(&self.found.listed, |listed| listed.is_unchanged())
    }
}

/// Everything a catalog was built from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CatalogInputs {
    profile: &'static str,
    places: CallerFolders,
    config: Config,
    vars: BTreeMap<String, String>,
    home: PathBuf,
    os: String,
    agent: Option<String>,
    overrides: SessionOverrides,
    remote: RemoteMachines,
    reserved_commands: Vec<String>,
    scanned: bool,
    vouched: Option<String>,
    /// What the host's own settings say about single skills.
    switches: Option<SwitchTable>,
}

impl CatalogInputs {
    /// `None` if the result also depends on files that are not checked for changes.
    pub(crate) fn of(request: &CatalogRequest<'_>) -> Option<Self> {
        let in_file = |secret: &SecretSetting| matches!(secret, SecretSetting::Reference { source, .. } if source == "file");
        let reads_files = request
            .config
            .entries
            .values()
            .any(|entry| entry.api_key.iter().chain(entry.env.values()).any(in_file));
        // The files of a plugin's plain commands are not checked, and neither are programs that
        // OpenPocket's skills name by their absolute path.
        let has_unchecked_inputs =
            !request.config.plugins.paths.is_empty() || request.profile.is_openpocket();
        if reads_files || has_unchecked_inputs {
            return None;
        }
        Some(Self {
            profile: request.profile.name,
            places: request.places.clone(),
            config: request.config.clone(),
            vars: request.env.vars.clone(),
            home: request.env.home.clone(),
            os: request.env.os.clone(),
            agent: request.agent.map(str::to_owned),
            overrides: request.overrides.clone(),
            remote: request.remote.clone(),
            reserved_commands: request.reserved_commands.clone(),
            scanned: request.scan.is_some(),
            vouched: request.vouch.map(|vouch| vouch.tag().to_owned()),
            switches: request.profile.switches.map(|host| {
                let workspace = &request.places.workspace;
                hosts::read_switches(host, workspace, request.env, &mut Vec::new())
            }),
        })
    }
}

impl CatalogInputs {
    /// What a kept catalog has to agree with: not the variables, of which most have nothing to do with
    /// skills, and not the agent where no agent has a list of its own.
    pub(crate) fn for_keeping(mut self) -> Self {
        self.vars.clear();
        if self.config.agents.entries.is_empty() {
            self.agent = None;
            // Its folders are among the roots, which are compared on their own.
            self.places.agent_id = None;
        }
        self
    }
}

/// The last catalog, and its inputs.
#[derive(Debug)]
pub(crate) struct RememberedCatalog {
    pub(crate) inputs: CatalogInputs,
    pub(crate) roots: (Vec<SkillRoot>, Vec<Reason>),
    pub(crate) walks: Vec<Arc<RememberedWalk>>,
    pub(crate) bins: Arc<ProgramFolders>,
    pub(crate) files: Vec<Arc<LoadedSkillFile>>,
    pub(crate) catalog: Arc<Catalog>,
}

/// Caches the last catalog.
#[derive(Debug, Default)]
pub(crate) struct CatalogMemory(Mutex<Option<RememberedCatalog>>);

impl CatalogMemory {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<RememberedCatalog>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last catalog, if a new build would give the same.
    pub(crate) fn unchanged_catalog(
        &self,
        inputs: &CatalogInputs,
        roots: &(Vec<SkillRoot>, Vec<Reason>),
        walks: &[Arc<RememberedWalk>],
        bins: &Arc<ProgramFolders>,
    ) -> Option<Arc<Catalog>> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = memory.as_ref()?;
        let same_walks = last.walks.len() == walks.len()
            && last.walks.iter().zip(walks).all(|(last, now)| Arc::ptr_eq(last, now));
        let same = same_walks
            && Arc::ptr_eq(&last.bins, bins)
            && last.roots == *roots
            && last.inputs == *inputs
            && parallel::all(&last.files, |file| file.is_unchanged());
        same.then(|| Arc::clone(&last.catalog))
    }

    pub(crate) fn remember(&self, remembered: RememberedCatalog) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(remembered);
    }

    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
