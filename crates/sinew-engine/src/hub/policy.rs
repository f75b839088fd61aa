//! The operator's policy stands before every other gate.

use serde_json::json;
use sinew_exec::install::{Decision, Policy, PolicyRequest};
use sinew_guard::private;
use sinew_hub::HubError;
use sinew_hub::Word;
use sinew_hub::install::{Answer, Ask, Concern, Gate, Pause, Prepared, Proposal};

use crate::Engine;

/// A gate with the operator's policy before it.
pub(super) struct Guarded<'a> {
    engine: &'a Engine,
    inner: &'a mut dyn Gate,
    acknowledged: bool,
}

impl<'a> Guarded<'a> {
    pub(super) fn new(engine: &'a Engine, inner: &'a mut dyn Gate, ask: &Ask) -> Self {
        Self::accepting(engine, inner, ask.accepted.contains(&Pause::Policy))
    }

    pub(super) fn accepting(
        engine: &'a Engine,
        inner: &'a mut dyn Gate,
        acknowledged: bool,
    ) -> Self {
        Self { engine, inner, acknowledged }
    }
}

impl Gate for Guarded<'_> {
    fn concern(&mut self, concern: &Concern) -> Answer {
        self.inner.concern(concern)
    }

    fn approve(&mut self, proposal: &Proposal) -> Answer {
        self.inner.approve(proposal)
    }

    fn policy(&mut self, prepared: &Prepared) -> Result<(), HubError> {
        let engine = self.engine;
        let policy = Policy {
            config: &engine.config.install_policy,
            env: &engine.env,
            leases: &engine.leases,
        };
        if !policy.applies_to("skill") {
            return Ok(());
        }
        let proposal = &prepared.proposal;
        let folder = engine.env.sinew_home().join("cache/policy");
        let failed = |error: std::io::Error| HubError::file("write", &folder, &error);
        private::create_folder(&folder).map_err(failed)?;
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
            let mut error = HubError::new(Word::BlockedPolicy, text);
            error.digest = Some(proposal.digest.clone());
            error.hint("ask whoever runs this machine")
        };
        match decision {
            Err(reason) => Err(refused(reason.detail)),
            Ok(Decision::Allow) => Ok(()),
            Ok(Decision::Block(notice)) => {
                Err(refused(format!("the installation policy says no: {}", notice.text())))
            }
            Ok(Decision::Warn(_)) if self.acknowledged => Ok(()),
            Ok(Decision::Warn(notice)) => {
                let detail = format!("the installation policy warns: {}", notice.text());
                let skill = proposal.key.clone();
                let concern = Concern { pause: Pause::Policy, skill, detail };
                match self.inner.concern(&concern) {
                    Answer::Yes { .. } => Ok(()),
                    _ => Err(refused(concern.to_string())
                        .hint(format!("run it in a terminal, or with {}", Pause::Policy.flag()))),
                }
            }
        }
    }
}
