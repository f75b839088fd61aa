//! Other programs' files: what the engine lends to `sinew-connect`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sinew_catalog::Snapshot;
use sinew_connect::{ConnectHost, Connector, ListedSkill};
use sinew_settings::{CodedError, ErrorCode, path_text};

use crate::approval::{ApprovalAnswer, ApprovalQuestion, Approver};
use crate::hub::{
    ApprovalMethod, HubOverrides, InstallRisk, InstallTarget, SkillInstallRequest, SkillReference,
};
use crate::{Engine, EngineError, EngineOptions, store};

pub use sinew_connect::{
    AgentConnection, AgentContext, ConnectParts, ConnectPlan, ConnectRequest, ConnectScope,
    ConnectionFile, ContextCost, DisconnectReport, DisconnectedFile, FileChange, FileChangeStatus,
    ImportReport, ImportRequest, ImportRoot, ImportStatus, ImportedSkill, ServerCheck, SkillCost,
    SkillImportMode, SkillLinks, TRIAL_VARIABLE,
};

/// How many of the most used skills agents go on listing in library mode: with the pinned ones, what a
/// person works with day by day.
const MOST_USED: usize = 8;

/// Who installs, as records carry it.
const IMPORTED: &str = "a person, by `sinew import`";

impl Engine {
    /// Other programs' files: connecting agents, disconnecting them, taking their skills in.
    pub fn connect(&self) -> Connector<'_> {
        Connector {
            env: &self.env,
            workspace: self.workspace(),
            managed_folder: self.hub().managed_folder(),
            config_path: &self.settings().config_source().path,
            host: self,
        }
    }
}

/// A word by which the server knows a client that a person connects.
pub fn new_client_word() -> Result<String, EngineError> {
    let mut bytes = [0_u8; 12];
    getrandom::fill(&mut bytes).map_err(|error| {
        EngineError::new(ErrorCode::NoEntropy, format!("no random numbers: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Engine {
    /// An engine over the skills of one agent, as its profile finds them.
    pub fn for_profile(&self, profile: &str) -> Result<Self, EngineError> {
        // OpenClaw names its workspace itself, in a file that is also its configuration here.
        let is_openclaw = profile == "openclaw";
        let options = EngineOptions {
            profile: Some(profile.to_owned()),
            workspace: (!is_openclaw).then(|| self.workspace().to_owned()),
            config: self.options.config.clone().filter(|_| !is_openclaw),
            ..EngineOptions::default()
        };
        Self::open(self.env.clone(), options)
    }
}

impl ConnectHost for Engine {
    fn snapshot(&self) -> Arc<Snapshot> {
        Self::snapshot(self)
    }

    fn look_at(&self, folder: &Path) -> Result<Arc<Snapshot>, CodedError> {
        let options = EngineOptions {
            profile: Some("directory".to_owned()),
            workspace: Some(folder.to_owned()),
            config: self.options.config.clone(),
            ..EngineOptions::default()
        };
        Ok(Self::open(self.env.clone(), options)?.snapshot())
    }

    fn listed_skills(&self, profile: &str) -> Result<Vec<ListedSkill>, CodedError> {
        if sinew_catalog::Profile::find(profile).is_none() {
            return Ok(Vec::new());
        }
        let snapshot = self.for_profile(profile)?.snapshot();
        let readable = snapshot.catalog.unshadowed().filter(|entry| !entry.description.is_empty());
        let listed = readable.map(|entry| ListedSkill {
            name: entry.name.clone(),
            description: entry.description.clone(),
            file: entry.file_path.clone(),
        });
        Ok(listed.collect())
    }

    fn core_skills(&self) -> Vec<String> {
        let mut core = self.config.prompt.pin.clone();
        core.extend(self.most_used_skills());
        core
    }

    fn install_copy(&self, name: &str, source: &Path) -> Result<(), CodedError> {
        let workdir = self.hub().workdir(InstallTarget::Managed);
        if workdir.skills.join(name).exists() {
            return Ok(());
        }
        let reference = SkillReference::Local(path_text(source));
        let mut request = SkillInstallRequest::new(reference, IMPORTED);
        request.name = Some(name.to_owned());
        // It shadows the very skill that it is a copy of.
        request.accepted.insert(InstallRisk::Shadows);
        let hub = self.hub().open(&HubOverrides::default())?;
        hub.install(&request, &workdir, &mut ImportApprover).map_err(EngineError::from)?;
        Ok(())
    }
}

impl Engine {
    /// The skills with the most recorded uses, the most used first.
    fn most_used_skills(&self) -> Vec<String> {
        // A machine without records gets no database for this question.
        if !store::local_exists(&self.env) {
            return Vec::new();
        }
        let memory = self.cortex().and_then(|cortex| cortex.memory());
        let mut uses: BTreeMap<String, u64> = BTreeMap::new();
        for candidate in memory
            .iter()
            .flat_map(|memory| memory.motor.values())
            .flat_map(|region| &region.candidates)
        {
            *uses.entry(candidate.slug.clone()).or_default() += candidate.success + candidate.fail;
        }
        let mut uses: Vec<(String, u64)> =
            uses.into_iter().filter(|(_, count)| *count > 0).collect();
        uses.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        uses.into_iter().take(MOST_USED).map(|(name, _)| name).collect()
    }
}

/// The person who imports has agreed to the install; a risk beyond that keeps a skill out.
struct ImportApprover;

impl Approver for ImportApprover {
    fn ask(&mut self, question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        match question {
            ApprovalQuestion::Install(_) => ApprovalAnswer::yes(IMPORTED, ApprovalMethod::Flag),
            _ => ApprovalAnswer::No,
        }
    }
}
