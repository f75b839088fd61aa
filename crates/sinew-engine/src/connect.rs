//! Other programs' files: what the engine lends to `sinew-connect`.

use std::path::Path;
use std::sync::Arc;

use sinew_catalog::Snapshot;
use sinew_connect::{ConnectHost, Connector};
use sinew_settings::path_text;

use crate::approval::{ApprovalAnswer, ApprovalQuestion, Approver};
use crate::hub::{
    ApprovalMethod, HubOverrides, InstallRisk, InstallTarget, SkillInstallRequest, SkillReference,
};
use crate::{Engine, EngineError, EngineOptions};

pub use sinew_connect::{
    AgentConnection, ConnectError, ConnectParts, ConnectPlan, ConnectRequest, ConnectScope,
    ConnectionFile, DisconnectReport, DisconnectedFile, FileChange, FileChangeStatus, ImportReport,
    ImportRequest, ImportRoot, ImportStatus, ImportedSkill, SkillImportMode, SkillLinks,
};

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

impl ConnectHost for Engine {
    fn snapshot(&self) -> Arc<Snapshot> {
        Self::snapshot(self)
    }

    fn look_at(&self, folder: &Path) -> Result<Arc<Snapshot>, ConnectError> {
        let options = EngineOptions {
            profile: Some("directory".to_owned()),
            workspace: Some(folder.to_owned()),
            config: self.options.config.clone(),
            ..EngineOptions::default()
        };
        Ok(Self::open(self.env.clone(), options)?.snapshot())
    }

    fn install_copy(&self, name: &str, source: &Path) -> Result<(), ConnectError> {
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

impl From<ConnectError> for EngineError {
    fn from(error: ConnectError) -> Self {
        let mut told = Self::new(error.code, error.message.clone());
        told.hints.clone_from(&error.hints);
        told.caused_by(error)
    }
}

impl From<EngineError> for ConnectError {
    fn from(error: EngineError) -> Self {
        let mut told = Self::new(error.code, error.message.clone());
        told.hints.clone_from(&error.hints);
        told.caused_by(error)
    }
}
