//! Installing, updating and restoring: the hub prepares, the operator's policy and a person decide,
//! the hub puts it in place.

use sinew_hub::install::{
    InstallPreparation, InstallReceipt, PreparationStep, SkillInstallRequest,
};
use sinew_hub::lock::LockApproval;
use sinew_hub::{
    HubError, RestoreStrictness, RestoredSkill, UpdateRequest, UpdateResult, UpdateStatus, Workdir,
};
use sinew_settings::ErrorCode;

use super::policy::{PolicyHub, VettedInstall};
use crate::approval::{ApprovalAnswer, ApprovalQuestion, Approver, InstallProgress};

/// What a preparation comes to.
enum PreparationEnd {
    /// It waits for approval.
    Vetted(Box<VettedInstall>),
    /// What is installed is already what was wanted.
    Current(Box<UpdateResult>),
}

impl PolicyHub<'_> {
    /// Does everything up to the question, the operator's policy included.
    pub fn prepare(
        &self,
        request: &SkillInstallRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<VettedInstall, HubError> {
        self.engine.check_hub_gate()?;
        let neighbours = self.engine.hub().existing_skills();
        let request = SkillInstallRequest { neighbours, ..request.clone() };
        match self.run(self.hub.prepare_install(request, workdir)?, approver)? {
            PreparationEnd::Vetted(vetted) => Ok(*vetted),
            PreparationEnd::Current(current) => {
                let message = format!("{} is already installed", current.key);
                Err(HubError::new(ErrorCode::Exists, message))
            }
        }
    }

    /// Installs a skill.
    pub fn install(
        &self,
        request: &SkillInstallRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<InstallReceipt, HubError> {
        let vetted = self.prepare(request, workdir, approver)?;
        let approval = self.ask(&vetted, approver)?;
        self.hub.commit(self.permit_install(vetted, approval)?)
    }

    /// Brings an installed skill up to date.
    pub fn update(
        &self,
        key: &str,
        request: &UpdateRequest,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<UpdateResult, HubError> {
        self.engine.check_hub_gate()?;
        let neighbours = self.engine.hub().existing_skills();
        let request = UpdateRequest { neighbours, ..request.clone() };
        let preparation = self.hub.prepare_update(key, &request, workdir)?;
        let vetted = match self.run(preparation, approver)? {
            PreparationEnd::Vetted(vetted) => *vetted,
            PreparationEnd::Current(current) => return Ok(*current),
        };
        let prepared = vetted.prepared();
        if prepared.changes_nothing() {
            return Ok(prepared.update_result(UpdateStatus::Current));
        }
        if request.dry_run {
            return Ok(prepared.update_result(UpdateStatus::Available));
        }
        let updated = prepared.update_result(UpdateStatus::Updated);
        let approval = self.ask(&vetted, approver)?;
        let installed = self.hub.commit(self.permit_install(vetted, approval)?)?;
        Ok(UpdateResult { backup: installed.backup, ..updated })
    }

    /// Installs again what the lock names. Everything is prepared and approved before the first skill
    /// is put in place, so that a failure changes nothing.
    pub fn restore(
        &self,
        strictness: RestoreStrictness,
        by: &str,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<Vec<RestoredSkill>, HubError> {
        self.engine.check_hub_gate()?;
        workdir.recover(&self.engine.env)?;
        let lock = workdir.lock(&self.engine.env)?;
        let keys: Vec<String> = lock.skills.keys().cloned().collect();
        self.restore_some(&keys, strictness, by, workdir, approver)
    }

    /// The same for some of what the lock names.
    pub(super) fn restore_some(
        &self,
        keys: &[String],
        strictness: RestoreStrictness,
        by: &str,
        workdir: &Workdir,
        approver: &mut dyn Approver,
    ) -> Result<Vec<RestoredSkill>, HubError> {
        self.engine.check_hub_gate()?;
        workdir.recover(&self.engine.env)?;
        let lock = workdir.lock(&self.engine.env)?;
        let (mut done, mut waiting) = (Vec::new(), Vec::new());
        for (key, entry) in keys.iter().filter_map(|key| lock.skills.get_key_value(key)) {
            let preparation = self.hub.prepare_restore(key, strictness, by, workdir)?;
            let end = preparation.map(|preparation| self.run(preparation, approver)).transpose()?;
            match end {
                Some(PreparationEnd::Vetted(vetted)) => waiting.push(*vetted),
                Some(PreparationEnd::Current(_)) | None => {
                    let (key, digest) = (key.clone(), entry.tree_sha256.clone());
                    done.push(RestoredSkill { key, status: "ok", digest });
                }
            }
        }
        let mut permits = Vec::new();
        for vetted in waiting {
            let approval = self.ask(&vetted, approver)?;
            permits.push(self.permit_install(vetted, approval)?);
        }
        for permit in permits {
            let InstallReceipt { key, digest, .. } = self.hub.commit(permit)?;
            done.push(RestoredSkill { key, status: "restored", digest });
        }
        done.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(done)
    }

    /// Takes a preparation to its end: each risk goes to the person, the result to the policy.
    fn run(
        &self,
        mut preparation: InstallPreparation<'_>,
        approver: &mut dyn Approver,
    ) -> Result<PreparationEnd, HubError> {
        loop {
            let step = preparation.advance(&mut |bytes, of| {
                approver.progress(&InstallProgress::Downloaded { bytes, of });
            })?;
            preparation = match step {
                PreparationStep::Concern(paused) => {
                    let concern = paused.concern();
                    match approver.ask(&ApprovalQuestion::Risk(concern)) {
                        ApprovalAnswer::Yes { .. } => paused.accept(),
                        ApprovalAnswer::Absent { .. } => return Err(concern.unanswered()),
                        ApprovalAnswer::No
                        | ApprovalAnswer::Others
                        | ApprovalAnswer::Pick(_)
                        | ApprovalAnswer::Cancel => {
                            return Err(concern.declined());
                        }
                    }
                }
                PreparationStep::Ready(prepared) => {
                    let vetted = self.vet(*prepared, approver)?;
                    return Ok(PreparationEnd::Vetted(Box::new(vetted)));
                }
                PreparationStep::Current(current) => return Ok(PreparationEnd::Current(current)),
            };
        }
    }

    /// The approval of an install: one that stands already, or the person's answer.
    fn ask(
        &self,
        vetted: &VettedInstall,
        approver: &mut dyn Approver,
    ) -> Result<LockApproval, HubError> {
        let (prepared, review) = (vetted.prepared(), vetted.review());
        if let Some(approval) = self.hub.standing_approval(prepared) {
            self.engine.record_followed_update(review);
            return Ok(approval);
        }
        match approver.ask(&ApprovalQuestion::Install(review)) {
            ApprovalAnswer::Yes { by, method, reason, .. } => {
                self.engine.record_install_consent(review);
                Ok(self.hub.approval(prepared, by, method, reason))
            }
            ApprovalAnswer::Absent { waits } => Err(review.unanswered(waits.as_deref())),
            ApprovalAnswer::No
            | ApprovalAnswer::Others
            | ApprovalAnswer::Pick(_)
            | ApprovalAnswer::Cancel => Err(review.declined()),
        }
    }
}
