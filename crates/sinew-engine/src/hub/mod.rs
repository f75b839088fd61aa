//! Skills from elsewhere: the hub with this agent's folders, policy, memory and catalog around it.
//!
//! Whoever wants a yes gives a [`InstallApprover`]; the operator's policy is asked before it, on every path.

mod approvals;
mod policy;
mod record;
mod search;
mod trust;

use std::path::PathBuf;

use serde_json::json;
use sinew_catalog::EntryState;
use sinew_hub::lock::LockEntry;

pub use record::HubRecord;
pub use search::{CandidateHistory, SearchCandidate, SearchReport};
pub use sinew_hub::install::{
    ExistingSkill, InstallApprover, InstallConcern, InstallDecision, InstallReceipt, InstallReview,
    InstallRisk, PreparedInstall, ReviewOccasion, RuleAcceptance, SkillInstallRequest, VersionDiff,
};
pub use sinew_hub::lock::{ApprovalMethod, SkillRetention};
pub use sinew_hub::reference::{
    RequestedVersion, ShorthandMeaning, SkillReference, parse_requested_version,
};
pub use sinew_hub::settings::HubOverrides;
pub use sinew_hub::{
    Hub, HubError, NameMatching, RegistryCandidate, RegistryHits, RegistryQuery,
    RemoteSkillDetails, RemoteSkillExtras, RestoreStrictness, RestoredSkill, SearchSources,
    SkillVerification, TreeStatus, UninstalledSkill, UpdateRequest, UpdateResult, UpdateStatus,
    Workdir, WorkdirSkill,
};
pub(crate) use trust::LockTrust;

use sinew_settings::Actor;

use crate::{Engine, EngineError};
use policy::PolicyApprover;

/// Where skills are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallTarget {
    /// In the workspace.
    Workspace,
    /// For every workspace of this user.
    Managed,
}

/// Skills from elsewhere, under this agent's policy.
#[derive(Debug, Clone, Copy)]
pub struct HubHandle<'a> {
    pub(crate) engine: &'a Engine,
}

impl Engine {
    /// Skills from elsewhere: search, install, update, remove, acquire.
    pub fn hub(&self) -> HubHandle<'_> {
        HubHandle { engine: self }
    }
}

impl HubHandle<'_> {
    /// Where installed skills live in this profile.
    pub fn managed_folder(&self) -> PathBuf {
        match self.engine.profile.name {
            "openclaw" => self.engine.env.openclaw_state().0.join("skills"),
            "openpocket" => self.engine.env.openpocket_home().join("skills"),
            _ => self.engine.env.sinew_home().join("skills"),
        }
    }

    /// The hub, with what a command line says.
    pub fn open(&self, said: &HubOverrides) -> Result<Hub, EngineError> {
        Ok(Hub::open(self.engine.env.clone(), &self.engine.config, said)?)
    }

    /// The folder that skills are installed into.
    pub fn workdir(&self, place: InstallTarget) -> Workdir {
        match place {
            InstallTarget::Workspace => Workdir::workspace(&self.engine.places.workspace),
            InstallTarget::Managed => {
                let skills = self.managed_folder();
                match skills.parent() {
                    Some(root) if root != self.engine.env.sinew_home() => {
                        Workdir { root: root.to_owned(), state: root.join(".sinew"), skills }
                    }
                    _ => Workdir::managed(&self.engine.env),
                }
            }
        }
    }

    /// Both folders, the workspace first.
    pub fn workdirs(&self) -> [Workdir; 2] {
        [self.workdir(InstallTarget::Workspace), self.workdir(InstallTarget::Managed)]
    }

    /// The skills that are here already, for noticing that a new one stands in front of one.
    pub fn existing_skills(&self) -> Vec<ExistingSkill> {
        let snapshot = self.engine.snapshot();
        let used = snapshot.catalog.unshadowed().filter(|entry| entry.state != EntryState::Broken);
        used.map(|entry| ExistingSkill {
            name: entry.name.clone(),
            origin: format!("{}, {}", entry.source, entry.base_dir.display()),
            folder: entry.base_dir.clone(),
        })
        .collect()
    }

    /// Does everything up to the question, the operator's policy included.
    pub fn prepare(
        &self,
        hub: &Hub,
        ask: &SkillInstallRequest,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<PreparedInstall, HubError> {
        let ask = SkillInstallRequest { neighbours: self.existing_skills(), ..ask.clone() };
        hub.prepare(&ask, workdir, &mut PolicyApprover::new(self.engine, gate, &ask), progress)
    }

    /// Installs a skill.
    pub fn install(
        &self,
        hub: &Hub,
        ask: &SkillInstallRequest,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<InstallReceipt, HubError> {
        let prepared = self.prepare(hub, ask, workdir, gate, progress)?;
        let approval = hub.request_approval(&prepared, gate)?;
        hub.commit(prepared, approval, workdir)
    }

    /// Removes an installed skill, and writes down who did.
    pub fn uninstall(
        &self,
        hub: &Hub,
        wanted: &str,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<UninstalledSkill, HubError> {
        let removed = hub.uninstall(wanted, workdir)?;
        let set = json!({"key": "installed", "before": removed.version, "after": "(removed)"});
        self.engine.settings().note_set(&removed.key, actor, &[set]);
        Ok(removed)
    }

    /// Keeps an installed skill at its version for a reason, or lets it go on, and writes down who did.
    pub fn pin(
        &self,
        hub: &Hub,
        wanted: &str,
        pin: Option<Option<String>>,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<(String, LockEntry), HubError> {
        let (key, entry) = hub.pin(wanted, pin, workdir)?;
        let (free, held) = ("(free)", entry.version.as_str());
        let (before, after) = if entry.pinned { (free, held) } else { (held, free) };
        let set = json!({"key": "version", "before": before, "after": after});
        self.engine.settings().note_set(&key, actor, &[set]);
        Ok((key, entry))
    }

    /// Brings an installed skill up to date.
    pub fn update(
        &self,
        hub: &Hub,
        key: &str,
        how: &UpdateRequest,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<UpdateResult, HubError> {
        let how = UpdateRequest { neighbours: self.existing_skills(), ..how.clone() };
        let mut gate = PolicyApprover::accepting(
            self.engine,
            gate,
            how.accepted.contains(&InstallRisk::Policy),
        );
        hub.update(key, &how, workdir, &mut gate, progress)
    }

    /// Follows the lock of a folder.
    pub fn restore(
        &self,
        hub: &Hub,
        strictness: RestoreStrictness,
        by: &str,
        workdir: &Workdir,
        gate: &mut dyn InstallApprover,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Vec<RestoredSkill>, HubError> {
        hub.restore(
            strictness,
            by,
            workdir,
            &mut PolicyApprover::accepting(self.engine, gate, false),
            progress,
        )
    }
}

impl From<HubError> for EngineError {
    fn from(error: HubError) -> Self {
        let mut told = Self::new(error.code, error.message.clone());
        told.hints.clone_from(&error.hints);
        told.caused_by(error)
    }
}
