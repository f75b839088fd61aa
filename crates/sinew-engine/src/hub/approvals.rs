//! Questions that nobody at hand can answer: they wait as approvals, and an answer that was given to
//! exactly these files counts.

use sinew_hub::install::{InstallDecision, InstallReview};
use sinew_hub::lock::ApprovalMethod;
use sinew_settings::Actor;

use crate::approval::{
    Approval, ApprovalContent, ApprovalEvidence, ApprovalScan, ApprovalState, ApprovalSubject,
    ApprovalUse, CandidateVerdict, ConsentAct, NewApproval,
};
use crate::{EngineError, HubHandle};

impl HubHandle<'_> {
    /// What a person said to these files before; where nobody did, the question waits under an id.
    pub fn answer_from_approvals(
        &self,
        proposal: &InstallReview,
        by: &Actor,
    ) -> Result<InstallDecision, EngineError> {
        let subject = ApprovalSubject {
            name: proposal.key.clone(),
            version: Some(proposal.version.clone()),
            content: ApprovalContent::from_digest(&proposal.digest),
        };
        // The same files for the same folder again are the same use.
        let request = format!("install {} {}", proposal.key, proposal.digest);
        let use_of = |approval: &Approval| {
            let ApprovalState::Approved { decided_by, .. } = &approval.state else { return None };
            let used = ApprovalUse {
                kind: ConsentAct::Install,
                subject: &subject.name,
                content: subject.content.clone(),
                scan: Some(scan(proposal)),
                by: &request,
            };
            self.engine.approvals().consume(&approval.id, &used).ok()?;
            Some(InstallDecision::Yes {
                by: decided_by.actor.to_string(),
                method: ApprovalMethod::Prompt,
                reason: Some(format!("approval {}", approval.id)),
            })
        };
        let given = self.engine.approvals().list(false)?;
        let mut given = given.iter().filter(|approval| is_about(approval, &subject));
        if let Some(yes) = given.find_map(use_of) {
            return Ok(yes);
        }
        let new = NewApproval::new(ConsentAct::Install, subject.clone(), evidence(proposal));
        let asked = self.engine.approvals().open(new, by)?;
        Ok(use_of(&asked).unwrap_or(InstallDecision::Nobody { id: Some(asked.id) }))
    }
}

fn is_about(approval: &Approval, subject: &ApprovalSubject) -> bool {
    approval.kind == ConsentAct::Install
        && approval.run.is_none()
        && approval.subject.name == subject.name
        && approval.subject.content.digest == subject.content.digest
}

fn scan(proposal: &InstallReview) -> ApprovalScan {
    use sinew_guard::scan::{FindingSeverity, Verdict};
    let count = |wanted| proposal.findings.iter().filter(|f| f.severity == wanted).count();
    ApprovalScan {
        verdict: match proposal.verdict {
            Verdict::Allow => CandidateVerdict::Allow,
            Verdict::Warn => CandidateVerdict::Warn,
            Verdict::Block => CandidateVerdict::Block,
        },
        critical: count(FindingSeverity::Critical),
        warn: count(FindingSeverity::Warn),
        info: 0,
    }
}

fn evidence(proposal: &InstallReview) -> ApprovalEvidence {
    let can = &proposal.capabilities;
    let named = |word: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{word}: {}", names.join(", ")))
    };
    let hosts: Vec<String> = can.hosts.iter().map(|host| host.host.clone()).collect();
    let env: Vec<String> = can.env.iter().map(|env| env.name.clone()).collect();
    let capabilities = [
        named("hosts", &hosts),
        named("programs", &can.binaries),
        named("variables", &env),
        named("reads", &can.reads),
        named("writes", &can.writes),
        named("runs", &can.exec),
        named("stays by", &can.persistence),
    ];
    ApprovalEvidence {
        name: Some(proposal.name.clone()),
        description: Some(proposal.description.clone()),
        source: Some(proposal.source.identity()),
        reviewed: Some(proposal.reviewed),
        scan: Some(scan(proposal)),
        capabilities: capabilities.into_iter().flatten().collect(),
        diff: proposal.diff.as_ref().map(|diff| diff.text.clone()),
        ..ApprovalEvidence::default()
    }
}
