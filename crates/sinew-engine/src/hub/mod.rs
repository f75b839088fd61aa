//! Skills from elsewhere: the hub with this agent's folders, policy, memory and catalog around it.
//!
//! [`HubHandle::open`] gives a [`PolicyHub`]. Its changes ask the operator's policy first, then an
//! [`Approver`](crate::approval::Approver), and only then get a permit.

mod approvals;
mod bill_of_materials;
mod install;
mod key_claims;
mod manage;
mod other_machines;
mod policy;
mod record;
mod search;
mod signature;
mod skill_needs;
mod sync;
mod trust;

use std::path::PathBuf;

use sinew_catalog::{Catalog, EntryState};
use sinew_settings::{Reason, ReasonCode, path_text};

pub use other_machines::{ExchangeDirection, ExchangeRequest};
pub use policy::{PolicyHub, VettedInstall};
pub use record::{HubRecord, NeededRecord};
pub use search::{CandidateHistory, SearchCandidate, SearchReport};
pub use sinew_hub::install::{
    ExistingSkill, InstallConcern, InstallReceipt, InstallReview, InstallRisk, PreparedInstall,
    ReviewOccasion, RuleAcceptance, SkillInstallRequest, VersionDiff,
};
pub use sinew_hub::lock::{ApprovalMethod, SkillRetention, SourceRecord};
pub use sinew_hub::manifest::{
    ForeignImport, GroupChoice, MANIFEST_FILE, SkillsManifest, read_foreign_manifests,
};
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
pub use skill_needs::NeededSkill;
pub use sync::{SyncAction, SyncPlan, SyncRequest};
pub(crate) use trust::LockTrust;

use crate::{Engine, EngineError};

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

impl<'e> HubHandle<'e> {
    /// Where installed skills live in this profile.
    pub fn managed_folder(&self) -> PathBuf {
        match self.engine.profile.name {
            "openclaw" => self.engine.env.openclaw_state().0.join("skills"),
            "openpocket" => self.engine.env.openpocket_home().join("skills"),
            _ => self.engine.env.sinew_home().join("skills"),
        }
    }

    /// Folders that take the name of an installed skill, each in a sentence.
    pub fn taken_names(&self, catalog: &Catalog) -> Vec<String> {
        let reasons = catalog.entries.iter().flat_map(|entry| {
            let taken = |reason: &&Reason| reason.code == ReasonCode::InstalledNameTaken;
            entry.reasons.iter().filter(taken).map(move |reason| (entry, reason))
        });
        let told =
            reasons.map(|(entry, why)| format!("{}: {}", path_text(&entry.base_dir), why.detail));
        told.collect()
    }

    /// The hub, with what a command line says.
    pub fn open(&self, overrides: &HubOverrides) -> Result<PolicyHub<'e>, EngineError> {
        Ok(PolicyHub::open(self.engine, overrides)?)
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

    /// The skills that are here already, so that an install notices when it would shadow one.
    pub fn existing_skills(&self) -> Vec<ExistingSkill> {
        let snapshot = self.engine.snapshot();
        // A copy that sinew put into an agent's folder is the same skill once more.
        let used = snapshot.catalog.unshadowed().filter(|entry| {
            entry.state != EntryState::Broken && !entry.base_dir.join(".sinew-origin.json").exists()
        });
        used.map(|entry| ExistingSkill {
            name: entry.name.clone(),
            origin: format!("{}, {}", entry.source, entry.base_dir.display()),
            folder: entry.base_dir.clone(),
        })
        .collect()
    }
}

impl From<HubError> for EngineError {
    fn from(error: HubError) -> Self {
        let told = Self::new(error.code, error.message.clone());
        error.hints.iter().fold(told, Self::hint).caused_by(error)
    }
}
