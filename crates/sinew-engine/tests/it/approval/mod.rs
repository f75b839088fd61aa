//! Approvals: who may answer what, what a yes is bound to, and what many processes make of it.

mod properties;
mod remembered;
mod rules;
mod together;

use sinew_engine::Engine;
use sinew_engine::approval::{
    ApprovalContent, ApprovalDecision, ApprovalEvidence, ApprovalScan, ApprovalSubject,
    ApprovalUse, CandidateVerdict, ConsentAct, ConsentAnswer, ConsentChannel, ConsentScope,
    NewApproval,
};
use sinew_settings::Actor;

const YES: ConsentAnswer = ConsentAnswer::Yes(ConsentScope::Listed);

fn person() -> Actor {
    Actor::Person { name: Some("ada".to_owned()), via: None }
}

fn agent() -> Actor {
    Actor::Agent { name: "claude".to_owned() }
}

/// The files of a skill.
fn files(text: &str) -> ApprovalContent {
    ApprovalContent::from_files([
        ("SKILL.md", text.as_bytes()),
        ("scripts/run.sh", b"true".as_slice()),
    ])
}

fn subject(name: &str, text: &str) -> ApprovalSubject {
    ApprovalSubject {
        name: name.to_owned(),
        version: Some("1.2.0".to_owned()),
        content: files(text),
    }
}

fn clean() -> ApprovalScan {
    ApprovalScan { verdict: CandidateVerdict::Allow, critical: 0, warn: 0, info: 1 }
}

fn question(kind: ConsentAct) -> NewApproval {
    let evidence = ApprovalEvidence { scan: Some(clean()), ..ApprovalEvidence::default() };
    NewApproval::new(kind, subject("todoist-cli", "one"), evidence)
}

fn opened(engine: &Engine, kind: ConsentAct) -> String {
    engine.approvals().open(question(kind), &agent()).expect("an approval").id
}

fn said(said: ConsentAnswer) -> ApprovalDecision {
    ApprovalDecision::at_terminal(said, person())
}

fn relayed(said: ConsentAnswer) -> ApprovalDecision {
    ApprovalDecision {
        channel: ConsentChannel::Relay,
        by: agent(),
        quote: Some("yes, go ahead".to_owned()),
        ..self::said(said)
    }
}

fn installing(text: &str) -> ApprovalUse<'static> {
    ApprovalUse {
        kind: ConsentAct::Install,
        subject: "todoist-cli",
        content: files(text),
        scan: Some(clean()),
        by: "run-1",
    }
}
