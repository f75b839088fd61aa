//! The operator's policy stands before every other gate.

use serde_json::json;
use sinew_exec::install::{PolicyCheck, PolicyDecision, PolicyRequest};
use sinew_guard::private_files;
use sinew_hub::HubError;
use sinew_hub::install::{
    InstallApprover, InstallConcern, InstallDecision, InstallReview, InstallRisk, PreparedInstall,
    SkillInstallRequest,
};
use sinew_settings::ErrorCode;

use crate::Engine;

/// A gate with the operator's policy before it.
pub(super) struct PolicyApprover<'a> {
    engine: &'a Engine,
    inner: &'a mut dyn InstallApprover,
    acknowledged: bool,
}

impl<'a> PolicyApprover<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        inner: &'a mut dyn InstallApprover,
        ask: &SkillInstallRequest,
    ) -> Self {
        Self::accepting(engine, inner, ask.accepted.contains(&InstallRisk::Policy))
    }

    pub(super) fn accepting(
        engine: &'a Engine,
        inner: &'a mut dyn InstallApprover,
        acknowledged: bool,
    ) -> Self {
        Self { engine, inner, acknowledged }
    }
}

impl InstallApprover for PolicyApprover<'_> {
    fn concern(&mut self, concern: &InstallConcern) -> InstallDecision {
        self.inner.concern(concern)
    }

    fn approve(&mut self, proposal: &InstallReview) -> InstallDecision {
        self.inner.approve(proposal)
    }

    fn policy(&mut self, prepared: &PreparedInstall) -> Result<(), HubError> {
        let engine = self.engine;
        let policy = PolicyCheck {
            config: &engine.config.install_policy,
            env: &engine.env,
            leases: &engine.leases,
        };
        if !policy.applies_to("skill") {
            return Ok(());
        }
        let proposal = &prepared.proposal;
        let folder = engine.env.sinew_home().join("cache/policy");
        let failed = |error: std::io::Error| HubError::file("write", &folder, error);
        private_files::create_folder(&folder).map_err(failed)?;
        // A copy of what would be installed, where nothing loads it.
        let copy = tempfile::Builder::new().prefix("skill-").tempdir_in(&folder).map_err(failed)?;
        for file in prepared.tree.files() {
            let path = copy.path().join(&file.path);
            let parent = path.parent().unwrap_or(copy.path());
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&path, &file.bytes))
                .map_err(failed)?;
        }
        let decision = policy.ask(&PolicyRequest {
            target_type: "skill",
            target_name: proposal.name.clone(),
            source_path: copy.path().to_owned(),
            source_path_kind: "directory",
            source: Some(proposal.source.identity()),
            origin: json!({ "type": proposal.source.kind.as_str() }),
            request: json!({ "kind": "skill-install", "mode": proposal.occasion }),
            skill: None,
        });
        let refused = |text: String| {
            let mut error = HubError::new(ErrorCode::BlockedPolicy, text);
            error.digest = Some(proposal.digest.clone());
            error.hint("ask whoever runs this machine")
        };
        match decision {
            Err(reason) => Err(refused(reason.detail)),
            Ok(PolicyDecision::Allow) => Ok(()),
            Ok(PolicyDecision::Block(notice)) => {
                Err(refused(format!("the installation policy says no: {}", notice.text())))
            }
            Ok(PolicyDecision::Warn(_)) if self.acknowledged => Ok(()),
            Ok(PolicyDecision::Warn(notice)) => {
                let detail = format!("the installation policy warns: {}", notice.text());
                let skill = proposal.key.clone();
                let concern = InstallConcern { pause: InstallRisk::Policy, skill, detail };
                match self.inner.concern(&concern) {
                    InstallDecision::Yes { .. } => Ok(()),
                    _ => Err(refused(concern.to_string()).hint(format!(
                        "run it in a terminal, or with {}",
                        InstallRisk::Policy.flag()
                    ))),
                }
            }
        }
    }
}
