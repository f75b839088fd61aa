//! Questions that nobody at hand can answer: they wait as approvals, and an answer that was given to
//! exactly these files counts.

use sinew_hub::install::{Answer, Proposal};
use sinew_hub::lock::Method;

use crate::approval::{
    Act, Approval, Content, Evidence, NewApproval, Scan, ScanVerdict, State, Subject, Use,
};
use crate::{Actor, Engine, Error};

impl Engine {
    /// What a person said to these files before; where nobody did, the question waits under an id.
    pub fn kept_answer(&self, proposal: &Proposal, by: &Actor) -> Result<Answer, Error> {
        let subject = Subject {
            name: proposal.key.clone(),
            version: Some(proposal.version.clone()),
            content: Content::digest(&proposal.digest),
        };
        // The same files for the same folder again are the same use.
        let request = format!("install {} {}", proposal.key, proposal.digest);
        let use_of = |approval: &Approval| {
            let State::Approved { decided_by, .. } = &approval.state else { return None };
            let used = Use {
                kind: Act::Install,
                subject: &subject.name,
                content: subject.content.clone(),
                scan: Some(scan(proposal)),
                by: &request,
            };
            self.use_approval(&approval.id, &used).ok()?;
            Some(Answer::Yes {
                by: decided_by.actor.to_string(),
                method: Method::Prompt,
                reason: Some(format!("approval {}", approval.id)),
            })
        };
        let given = self.approvals(false)?;
        let mut given = given.iter().filter(|approval| is_about(approval, &subject));
        if let Some(yes) = given.find_map(use_of) {
            return Ok(yes);
        }
        let new = NewApproval::new(Act::Install, subject.clone(), evidence(proposal));
        let asked = self.open_approval(new, by)?;
        Ok(use_of(&asked).unwrap_or(Answer::Nobody { id: Some(asked.id) }))
    }
}

fn is_about(approval: &Approval, subject: &Subject) -> bool {
    approval.kind == Act::Install
        && approval.run.is_none()
        && approval.subject.name == subject.name
        && approval.subject.content.digest == subject.content.digest
}

fn scan(proposal: &Proposal) -> Scan {
    use sinew_guard::scan::{Severity, Verdict};
    let count = |wanted| proposal.findings.iter().filter(|f| f.severity == wanted).count();
    Scan {
        verdict: match proposal.verdict {
            Verdict::Allow => ScanVerdict::Allow,
            Verdict::Warn => ScanVerdict::Warn,
            Verdict::Block => ScanVerdict::Block,
        },
        critical: count(Severity::Critical),
        warn: count(Severity::Warn),
        info: 0,
    }
}

fn evidence(proposal: &Proposal) -> Evidence {
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
    Evidence {
        name: Some(proposal.name.clone()),
        description: Some(proposal.description.clone()),
        source: Some(proposal.source.identity()),
        reviewed: Some(proposal.reviewed),
        scan: Some(scan(proposal)),
        capabilities: capabilities.into_iter().flatten().collect(),
        diff: proposal.diff.as_ref().map(|diff| diff.text.clone()),
        ..Evidence::default()
    }
}
