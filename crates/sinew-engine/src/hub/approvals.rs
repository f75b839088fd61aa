//! Install questions without a person at hand: they wait as approvals, and an answer that was given
//! to exactly these files counts.

use sinew_hub::install::InstallReview;
use sinew_hub::lock::ApprovalMethod;
use sinew_settings::Actor;

use crate::approval::{
    Approval, ApprovalAnswer, ApprovalContent, ApprovalEvidence, ApprovalScan, ApprovalState,
    ApprovalSubject, ApprovalUse, CandidateVerdict, ConsentAct, NewApproval,
};
use crate::{EngineError, HubHandle};

impl HubHandle<'_> {
    /// What a person answered about these files before; otherwise the question waits under an id.
    pub fn answer_from_approvals(
        &self,
        review: &InstallReview,
        by: &Actor,
    ) -> Result<ApprovalAnswer, EngineError> {
        let subject = ApprovalSubject {
            name: review.key.clone(),
            version: Some(review.version.clone()),
            content: ApprovalContent::from_digest(&review.digest),
        };
        // The same files for the same folder again are the same use.
        let request = format!("install {} {}", review.key, review.digest);
        let use_of = |approval: &Approval| {
            let ApprovalState::Approved { decided_by, scope, .. } = &approval.state else {
                return None;
            };
            let used = ApprovalUse {
                kind: ConsentAct::Install,
                subject: &subject.name,
                content: subject.content.clone(),
                scan: Some(scan(review)),
                by: &request,
            };
            self.engine.approvals().consume(&approval.id, &used).ok()?;
            Some(ApprovalAnswer::Yes {
                by: decided_by.to_string(),
                method: ApprovalMethod::Prompt,
                reason: Some(format!("approval {}", approval.id)),
                scope: *scope,
            })
        };
        let given = self.engine.approvals().list(false)?;
        let mut given = given.iter().filter(|approval| is_about(approval, &subject));
        if let Some(yes) = given.find_map(use_of) {
            return Ok(yes);
        }
        let new = NewApproval::new(ConsentAct::Install, subject.clone(), evidence(review));
        let asked = self.engine.approvals().open(new, by)?;
        Ok(use_of(&asked).unwrap_or(ApprovalAnswer::Absent { waits: Some(asked.id) }))
    }
}

fn is_about(approval: &Approval, subject: &ApprovalSubject) -> bool {
    approval.kind == ConsentAct::Install
        && approval.run.is_none()
        && approval.subject.name == subject.name
        && approval.subject.content.digest == subject.content.digest
}

fn scan(review: &InstallReview) -> ApprovalScan {
    use sinew_guard::scan::{FindingSeverity, Verdict};
    let count = |wanted| review.findings.iter().filter(|f| f.severity == wanted).count();
    ApprovalScan {
        verdict: match review.verdict {
            Verdict::Allow => CandidateVerdict::Allow,
            Verdict::Warn => CandidateVerdict::Warn,
            Verdict::Block => CandidateVerdict::Block,
        },
        critical: count(FindingSeverity::Critical),
        warn: count(FindingSeverity::Warn),
        info: 0,
    }
}

fn evidence(review: &InstallReview) -> ApprovalEvidence {
    let can = &review.capabilities;
    let named = |word: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{word}: {}", names.join(", ")))
    };
    let hosts: Vec<String> = can.hosts.iter().map(|host| host.host.clone()).collect();
    let env: Vec<String> = can.env.iter().map(|env| env.name.clone()).collect();
    let capabilities = [
        named("hosts", &hosts),
        named("programs", &can.binaries),
        named("variables", &env),
        named("is given", &review.entries),
        named("reads", &can.reads),
        named("writes", &can.writes),
        named("runs", &can.exec),
        named("stays by", &can.persistence),
        (!review.signature.is_unsigned()).then(|| review.signature.sentence()),
    ];
    ApprovalEvidence {
        name: Some(review.name.clone()),
        description: Some(review.description.clone()),
        source: Some(review.source.identity()),
        reviewed: Some(review.reviewed),
        scan: Some(scan(review)),
        capabilities: capabilities.into_iter().flatten().collect(),
        diff: review.diff.as_ref().map(|diff| diff.text.clone()),
        ..ApprovalEvidence::default()
    }
}
