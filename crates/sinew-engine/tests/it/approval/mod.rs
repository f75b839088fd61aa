//! Approvals: who may answer what, what a yes is bound to, and what many processes make of it.

mod properties;
mod remembered;
mod rules;
mod together;

use sinew_engine::approval::{
    Act, Channel, Content, Decision, Evidence, NewApproval, Said, Scan, ScanVerdict, Scope,
    Subject, Use,
};
use sinew_engine::{Actor, Engine};

const YES: Said = Said::Yes(Scope::Listed);

fn person() -> Actor {
    Actor::Person { name: Some("ada".to_owned()) }
}

fn agent() -> Actor {
    Actor::Agent { name: "claude".to_owned() }
}

/// The files of a skill.
fn files(text: &str) -> Content {
    Content::of([("SKILL.md", text.as_bytes()), ("scripts/run.sh", b"true".as_slice())])
}

fn subject(name: &str, text: &str) -> Subject {
    Subject { name: name.to_owned(), version: Some("1.2.0".to_owned()), content: files(text) }
}

fn clean() -> Scan {
    Scan { verdict: ScanVerdict::Allow, critical: 0, warn: 0, info: 1 }
}

fn question(kind: Act) -> NewApproval {
    let evidence = Evidence { scan: Some(clean()), ..Evidence::default() };
    NewApproval::new(kind, subject("todoist-cli", "one"), evidence)
}

fn opened(engine: &Engine, kind: Act) -> String {
    engine.open_approval(question(kind), &agent()).expect("an approval").id
}

fn said(said: Said) -> Decision {
    Decision::at_terminal(said, person())
}

fn relayed(said: Said) -> Decision {
    Decision {
        channel: Channel::Relay,
        by: agent(),
        quote: Some("yes, go ahead".to_owned()),
        ..self::said(said)
    }
}

fn installing(text: &str) -> Use<'static> {
    Use {
        kind: Act::Install,
        subject: "todoist-cli",
        content: files(text),
        scan: Some(clean()),
        by: "run-1",
    }
}
