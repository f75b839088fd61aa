//! A proposal that a model wants to apply, and the person who has to agree.

use sinew_settings::Actor;
use sinew_workshop::{ApplyConsent, ProposalUpdate};

use crate::approval::{
    Approval, ApprovalContent, ApprovalEvidence, ApprovalScan, ApprovalSubject, ApprovalUse,
    ConsentAct, NewApproval,
};
use crate::{EngineError, WorkshopHandle};

impl WorkshopHandle<'_> {
    /// Asks a person to agree to a proposal as it would be written now.
    pub fn ask_to_apply(&self, id: &str, by: &Actor) -> Result<Approval, EngineError> {
        let preview = self.with(|workshop| workshop.preview(id))?;
        let report = self
            .engine
            .scanner
            .get_or_init(sinew_guard::scan::Scanner::new)
            .scan_proposal_text(&preview.after);
        let subject = ApprovalSubject {
            name: preview.proposal.id.clone(),
            version: None,
            content: ApprovalContent::from_digest(&preview.result_sha256),
        };
        let evidence = ApprovalEvidence {
            name: Some(preview.proposal.skill_name.clone()),
            description: Some(preview.proposal.title.clone()),
            history: Some(preview.proposal.reason.clone()),
            scan: Some(ApprovalScan::of(&report)),
            diff: Some(preview.diff()),
            ..ApprovalEvidence::default()
        };
        self.engine
            .approvals()
            .open(NewApproval::new(ConsentAct::ProposalApply, subject, evidence), by)
    }

    /// Writes a proposal that a person agreed to. Anything else than what was shown is not written:
    /// the question is asked again.
    pub fn apply_approved(&self, approval: &str) -> Result<ProposalUpdate, EngineError> {
        let id = self.engine.approvals().get(approval)?.subject.name;
        let preview = self.with(|workshop| workshop.preview(&id))?;
        let used = ApprovalUse {
            kind: ConsentAct::ProposalApply,
            subject: &id,
            content: ApprovalContent::from_digest(&preview.result_sha256),
            scan: None,
            by: &id,
        };
        let agreed = self.engine.approvals().consume(approval, &used)?;
        let by = match &agreed.state {
            crate::approval::ApprovalState::Approved { decided_by, .. } => decided_by.actor.clone(),
            _ => Actor::System,
        };
        let consent = ApplyConsent {
            result_sha256: Some(preview.result_sha256),
            // What the gates had to say was part of what the person saw.
            accept_stolen: true,
            not_a_duplicate: true,
        };
        self.with(|workshop| workshop.apply(&id, &by, &consent))
    }
}
