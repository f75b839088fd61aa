//! The transitions: what may become of an approval, and what of an answer.

use std::fmt;

use sinew_cortex::Stamp;
use sinew_cortex::acquire::{
    self as cortex, Act, Answer, Channel, Relay, ScanVerdict, Scope, Spoken, admissible,
};

use super::evidence::{Scan, short};
use super::object::{Approval, Content, Decided, State, can_be_remembered, expires};
use crate::Actor;

/// The longest words of a person that an agent passes on.
const MAX_QUOTE: usize = 500;
/// The longest comment.
const MAX_COMMENT: usize = 300;
/// Changed files that are named; one is enough to look again.
const MAX_CHANGED: usize = 20;

/// What a person said, and how it came here. The surface fills it in, never a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Yes or no.
    pub said: Said,
    /// Who said so; for a relayed answer the agent that passes it on.
    pub by: Actor,
    /// Where.
    pub channel: Channel,
    /// Whether the agent's program could have asked the person itself.
    pub can_elicit: bool,
    /// The person's words; a relayed answer needs them.
    pub quote: Option<String>,
    /// What they had to say about it.
    pub comment: Option<String>,
    /// Whether a yes holds for exactly this content from now on.
    pub remember: bool,
}

impl Decision {
    /// An answer of a person at a terminal.
    pub fn at_terminal(said: Said, by: Actor) -> Self {
        let channel = Channel::Cli;
        Self { said, by, channel, can_elicit: false, quote: None, comment: None, remember: false }
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Yes, to so much.
    Yes(Scope),
    /// No.
    No,
}

/// What somebody is about to do on the strength of an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct Use<'a> {
    /// The act.
    pub kind: Act,
    /// What is used.
    pub subject: &'a str,
    /// Its bytes as they are now.
    pub content: Content,
    /// What the scanner says about them.
    pub scan: Option<Scan>,
    /// The run or request that does it. An approval serves one of them.
    pub by: &'a str,
}

/// Something that happens to an approval.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event<'a> {
    Decided(&'a Decision),
    Withdrawn(&'a Actor),
    Used(&'a Use<'a>),
}

/// What became of an approval.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) approval: Approval,
    /// What the audit trail says; `None` where nothing changed.
    pub(super) happened: Option<&'static str>,
    /// Why the event does not count.
    pub(super) refusal: Option<Refusal>,
}

/// Why an answer or a use does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    NotAPerson,
    NoQuote,
    Rule(cortex::Refused),
    Over(&'static str),
    NotYet,
    SaidNo,
    OtherSubject,
    Changed(Vec<String>),
    Used,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPerson => f.write_str("only a person can answer here"),
            Self::NoQuote => {
                write!(
                    f,
                    "an answer that is passed on needs the person's words, 1 to {MAX_QUOTE} characters"
                )
            }
            Self::Rule(refused) => refused.fmt(f),
            Self::Over(state) => write!(f, "it is {state} already"),
            Self::NotYet => f.write_str("it waits for a person"),
            Self::SaidNo => f.write_str("a person said no"),
            Self::OtherSubject => f.write_str("it is about something else"),
            Self::Changed(files) if files.is_empty() => {
                f.write_str("the content is not what was agreed to")
            }
            Self::Changed(files) => {
                write!(f, "the content is not what was agreed to: {}", files.join(", "))
            }
            Self::Used => f.write_str("it was used already"),
        }
    }
}

/// The approval after an event.
pub(super) fn step(approval: Approval, event: Event<'_>, now: Stamp, relay: Relay) -> Turn {
    let approval = match approval.is_pending() {
        true => approval.at(now),
        false => approval,
    };
    if approval.state == State::Expired {
        let refusal = Some(Refusal::Over("expired"));
        return Turn { approval, happened: Some("expired"), refusal };
    }
    match event {
        Event::Decided(decision) => decide(approval, decision, now, relay),
        Event::Withdrawn(by) => match approval.state {
            State::Pending { .. } => {
                let state = State::Withdrawn { withdrawn_by: by.clone() };
                moved(Approval { state, ..approval }, "withdrawn")
            }
            State::Withdrawn { .. } => same(approval),
            ref other => {
                let over = Refusal::Over(other.as_str());
                refused(approval, over)
            }
        },
        Event::Used(used) => use_up(approval, used, now),
    }
}

fn decide(mut approval: Approval, decision: &Decision, now: Stamp, relay: Relay) -> Turn {
    match (&approval.state, decision.said) {
        (State::Pending { .. }, _) => {}
        // A no to what is remembered: the person is asked again from now on.
        (State::Approved { remember: true, .. }, Said::No) => {
            if let State::Approved { remember, .. } = &mut approval.state {
                *remember = false;
            }
            return moved(approval, "forgotten");
        }
        // The same answer again changes nothing: whoever retries need not look first.
        (State::Approved { .. }, Said::Yes(_)) | (State::Rejected { .. }, Said::No) => {
            return same(approval);
        }
        (other, _) => {
            let over = Refusal::Over(other.as_str());
            return refused(approval, over);
        }
    }
    if let Err(refusal) = may_decide(&approval, decision, relay) {
        return refused(approval, refusal);
    }
    let decided_by = Decided {
        actor: decision.by.clone(),
        channel: decision.channel,
        at: now,
        quote: decision.quote.as_deref().map(|text| short(text.trim(), MAX_QUOTE)),
        comment: decision.comment.as_deref().map(|text| short(text.trim(), MAX_COMMENT)),
    };
    let (state, happened) = match decision.said {
        Said::Yes(scope) => {
            let relayed = decision.channel == Channel::Relay;
            let remember = decision.remember && !relayed && can_be_remembered(approval.kind);
            (State::Approved { decided_by, scope, used_for: None, remember }, "approved")
        }
        Said::No => (State::Rejected { decided_by }, "rejected"),
    };
    approval.state = state;
    moved(approval, happened)
}

fn may_decide(approval: &Approval, decision: &Decision, relay: Relay) -> Result<(), Refusal> {
    let relayed = decision.channel == Channel::Relay;
    if !relayed && !decision.by.can_approve() {
        return Err(Refusal::NotAPerson);
    }
    let words = decision.quote.as_deref().map(str::trim).unwrap_or_default();
    if relayed && !(1..=MAX_QUOTE).contains(&words.chars().count()) {
        return Err(Refusal::NoQuote);
    }
    let Said::Yes(scope) = decision.said else {
        // A no needs nobody's permission, and stops nothing that a yes would not.
        return Ok(());
    };
    let spoken = Spoken {
        answer: Answer::Yes(scope),
        who: decision.by.to_string(),
        channel: decision.channel,
        can_elicit: decision.can_elicit,
    };
    admissible(approval.kind, &spoken, relay, approval.verdict(decision.channel))
        .map_err(Refusal::Rule)
}

fn use_up(mut approval: Approval, used: &Use<'_>, now: Stamp) -> Turn {
    let subject = approval.subjects().find(|subject| subject.name == used.subject);
    let place = subject.cloned();
    let (over, fits_run) =
        (approval.is_over(now), approval.run.as_deref().is_none_or(|run| run == used.by));
    let kind = approval.kind;
    let first = approval.subject.name == used.subject;
    let State::Approved { scope, used_for, .. } = &mut approval.state else {
        let refusal = match approval.state {
            State::Rejected { .. } => Refusal::SaidNo,
            State::Withdrawn { .. } => Refusal::Over("withdrawn"),
            _ => Refusal::NotYet,
        };
        return refused(approval, refusal);
    };
    let covered = first || *scope == Scope::Listed;
    let Some(agreed) = place.filter(|_| kind == used.kind && fits_run && covered) else {
        return refused(approval, Refusal::OtherSubject);
    };
    if used_for.as_deref().is_some_and(|by| by != used.by) {
        return refused(approval, Refusal::Used);
    }
    if over {
        return refused(approval, Refusal::Over("expired"));
    }
    let blocked = used.scan.is_some_and(|scan| scan.verdict == ScanVerdict::Block);
    if agreed.content == used.content && !(blocked && kind == Act::Install) {
        if used_for.is_some() {
            return same(approval);
        }
        *used_for = Some(used.by.to_owned());
        return moved(approval, "used");
    }
    let mut changed = agreed.content.differing(&used.content);
    changed.truncate(MAX_CHANGED);
    void(approval, used, changed, now)
}

/// A yes to other bytes is no yes: the question is asked again, about what is there now.
fn void(mut approval: Approval, used: &Use<'_>, changed: Vec<String>, now: Stamp) -> Turn {
    for subject in std::iter::once(&mut approval.subject).chain(&mut approval.also) {
        if subject.name == used.subject {
            subject.content = used.content.clone();
        }
    }
    approval.evidence.scan = used.scan;
    approval.expires_at = expires(approval.kind, now);
    approval.state = State::Pending { changed: changed.clone() };
    Turn { approval, happened: Some("voided"), refusal: Some(Refusal::Changed(changed)) }
}

fn moved(approval: Approval, happened: &'static str) -> Turn {
    Turn { approval, happened: Some(happened), refusal: None }
}

fn same(approval: Approval) -> Turn {
    Turn { approval, happened: None, refusal: None }
}

fn refused(approval: Approval, refusal: Refusal) -> Turn {
    Turn { approval, happened: None, refusal: Some(refusal) }
}
