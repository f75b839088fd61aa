//! The hub behind the operator's policy. Every permit to change what is installed is made in this
//! file: for an install after the policy let it pass, for other changes on their own.
//!
//! **Must never happen here:** the authority handed out, or an install permitted that the policy has
//! not seen.

use std::ops::Deref;

use serde_json::json;
use sinew_exec::install::{PolicyCheck, PolicyDecision, PolicyRequest};
use sinew_guard::{Untrusted, private_files};
use sinew_hub::install::{InstallConcern, InstallReview, InstallRisk, PreparedInstall};
use sinew_hub::lock::LockApproval;
use sinew_hub::settings::HubOverrides;
use sinew_hub::{ChangePermit, Hub, HubAuthority, HubError, ImportPermit, InstallPermit};
use sinew_settings::ErrorCode;

use super::key_claims::KeyClaims;
use super::skill_needs::needs_in;
use crate::Engine;
use crate::approval::{ApprovalQuestion, Approver};

/// A hub whose changes pass the operator's policy. Looking and fetching need no permit, and go to the
/// [`Hub`] itself.
#[derive(Debug)]
pub struct PolicyHub<'e> {
    pub(super) engine: &'e Engine,
    pub(super) hub: Hub,
    authority: HubAuthority,
}

impl Deref for PolicyHub<'_> {
    type Target = Hub;

    fn deref(&self) -> &Hub {
        &self.hub
    }
}

/// A prepared install that the operator's policy lets pass. Only the check in this file makes one,
/// and only from one a permit is made.
#[derive(Debug)]
pub struct VettedInstall {
    prepared: PreparedInstall,
}

impl VettedInstall {
    /// What was prepared.
    pub fn prepared(&self) -> &PreparedInstall {
        &self.prepared
    }

    /// What is shown for approval.
    pub fn review(&self) -> &InstallReview {
        &self.prepared.review
    }

    /// The same install, on behalf of an acquisition.
    #[must_use]
    pub(crate) fn for_run(mut self, run: &str) -> Self {
        self.prepared.request.run = Some(run.to_owned());
        self
    }
}

impl<'e> PolicyHub<'e> {
    pub(super) fn open(engine: &'e Engine, overrides: &HubOverrides) -> Result<Self, HubError> {
        let (hub, authority) = Hub::open(engine.env.clone(), &engine.config, overrides)?;
        Ok(Self { engine, hub, authority })
    }

    /// Puts a prepared install before the operator's policy; a warning goes to the person.
    pub(super) fn vet(
        &self,
        mut prepared: PreparedInstall,
        approver: &mut dyn Approver,
    ) -> Result<VettedInstall, HubError> {
        let claims = KeyClaims::of(&prepared, &self.engine.config);
        prepared.review.entries = claims.entries;
        prepared.review.warnings.extend(claims.warnings);
        let file = prepared.tree.get("SKILL.md");
        let needs = file.map(|file| needs_in(&file.bytes, &prepared.review.name));
        if let Some(needs) = needs.filter(|needs| !needs.is_empty()) {
            let needs = Untrusted::new(&needs.join(", ")).for_terminal();
            let warning =
                format!("it needs other skills, each with a question of its own: {needs}");
            prepared.review.warnings.push(warning);
        }
        let policy = PolicyCheck {
            config: &self.engine.config.install_policy,
            env: &self.engine.env,
            leases: &self.engine.leases,
        };
        if !policy.applies_to("skill") {
            return Ok(VettedInstall { prepared });
        }
        let review = &prepared.review;
        let acknowledged = prepared.request.accepted.contains(&InstallRisk::Policy);
        match self.ask_policy(&policy, &prepared)? {
            PolicyDecision::Allow => {}
            PolicyDecision::Block(notice) => {
                let text = format!("the installation policy says no: {}", notice.text());
                return Err(policy_refusal(review, text));
            }
            PolicyDecision::Warn(_) if acknowledged => {}
            PolicyDecision::Warn(notice) => {
                let detail = format!("the installation policy warns: {}", notice.text());
                let skill = review.key.clone();
                let concern = InstallConcern { risk: InstallRisk::Policy, skill, detail };
                if !approver.ask(&ApprovalQuestion::Risk(&concern)).is_yes() {
                    let flag = InstallRisk::Policy.flag();
                    return Err(policy_refusal(review, concern.to_string())
                        .hint(format!("run it in a terminal, or with {flag}")));
                }
            }
        }
        Ok(VettedInstall { prepared })
    }

    /// The policy's word on a copy of what would be installed, where nothing loads it.
    fn ask_policy(
        &self,
        policy: &PolicyCheck<'_>,
        prepared: &PreparedInstall,
    ) -> Result<PolicyDecision, HubError> {
        let review = &prepared.review;
        let folder = self.engine.env.sinew_home().join("cache/policy");
        let failed = |error: std::io::Error| HubError::file("write", &folder, error);
        private_files::create_folder(&folder).map_err(failed)?;
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
            target_name: review.name.clone(),
            source_path: copy.path().to_owned(),
            source_path_kind: "directory",
            source: Some(review.source.identity()),
            origin: json!({ "type": review.source.kind.as_str() }),
            request: json!({ "kind": "skill-install", "mode": review.occasion }),
            skill: None,
        });
        decision.map_err(|reason| policy_refusal(review, reason.detail))
    }

    /// Permits an install that the policy let pass, with the approval of exactly its files.
    pub(crate) fn permit_install(
        &self,
        vetted: VettedInstall,
        approval: LockApproval,
    ) -> Result<InstallPermit, HubError> {
        self.authority.permit_install(vetted.prepared, approval)
    }

    /// Permits one change of an installed skill. The policy is about what comes in, so it has no say
    /// in what is removed, pinned or kept.
    pub(crate) fn permit_change(&self, skill: &str) -> ChangePermit {
        self.authority.permit_change(skill)
    }

    /// Permits that skills of other tools are listed in the lock. They stay held back until each is
    /// approved, and then the policy sees them.
    pub(super) fn permit_import(&self) -> ImportPermit {
        self.authority.permit_import()
    }
}

fn policy_refusal(review: &InstallReview, text: String) -> HubError {
    review.refused(ErrorCode::BlockedPolicy, text).hint("ask the person who runs this machine")
}
