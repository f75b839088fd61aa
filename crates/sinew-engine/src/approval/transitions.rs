//! The transitions: what may become of an approval, and what of an answer.

use std::fmt;

use sinew_cortex::UtcInstant;
use sinew_cortex::acquire::{
    self as cortex, CandidateVerdict, ConsentAct, ConsentAnswer, ConsentChannel, ConsentReply,
    ConsentScope, check_consent,
};
use sinew_settings::Actor;
use sinew_settings::config::RelayPolicy;

use super::evidence::{ApprovalScan, short};
use super::record::{
    Approval, ApprovalContent, ApprovalState, DecisionOrigin, can_be_remembered, expires,
};

/// The longest words of a person that an agent passes on.
const MAX_QUOTE: usize = 500;
/// The longest comment.
const MAX_COMMENT: usize = 300;
/// Changed files that are named; one is enough to look again.
const MAX_CHANGED: usize = 20;

/// What a person said, and how it came here. The surface fills it in, never a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub said: ConsentAnswer,
    /// Who said so; for a relayed answer the agent that passes it on.
    pub by: Actor,
    /// Where.
    pub channel: ConsentChannel,
    /// Whether the agent's program could have asked the person itself.
    pub can_elicit: bool,
    /// The agent's program that put the question to the person, where one did.
    pub via: Option<String>,
    /// The person's words; a relayed answer needs them.
    pub quote: Option<String>,
    /// What they had to say about it.
    pub comment: Option<String>,
    /// Whether a yes holds for exactly this content from now on.
    pub remember: bool,
}

impl ApprovalDecision {
    /// An answer of a person at a terminal.
    pub fn at_terminal(said: ConsentAnswer, by: Actor) -> Self {
        let channel = ConsentChannel::Cli;
        Self {
            said,
            by,
            channel,
            can_elicit: false,
            via: None,
            quote: None,
            comment: None,
            remember: false,
        }
    }
}

/// What is about to be done on the strength of an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalUse<'a> {
    /// The act.
    pub kind: ConsentAct,
    /// What is used.
    pub subject: &'a str,
    /// Its bytes as they are now.
    pub content: ApprovalContent,
    /// What the scanner says about them.
    pub scan: Option<ApprovalScan>,
    /// The run or request that does it. An approval serves one of them.
    pub by: &'a str,
}

/// Something that happens to an approval.
#[derive(Debug, Clone, Copy)]
pub(super) enum ApprovalEvent<'a> {
    Decided(&'a ApprovalDecision),
    Withdrawn(&'a Actor),
    Used(&'a ApprovalUse<'a>),
}

/// What became of an approval.
#[derive(Debug)]
pub(super) struct ApprovalTransition {
    pub(super) approval: Approval,
    /// What the audit trail says; `None` where nothing changed.
    pub(super) happened: Option<&'static str>,
    /// Why the event does not count.
    pub(super) refusal: Option<ApprovalRefusal>,
}

/// Why an answer or a use does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ApprovalRefusal {
    NotAPerson,
    NoQuote,
    Rule(cortex::AcquireRefusal),
    Over(&'static str),
    NotYet,
    SaidNo,
    OtherSubject,
    Changed(Vec<String>),
    Used,
}

impl fmt::Display for ApprovalRefusal {
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
pub(super) fn step(
    approval: Approval,
    event: ApprovalEvent<'_>,
    now: UtcInstant,
    relay: RelayPolicy,
) -> ApprovalTransition {
    let approval = match approval.is_pending() {
        true => approval.as_of(now),
        false => approval,
    };
    if approval.state == ApprovalState::Expired {
        let refusal = Some(ApprovalRefusal::Over("expired"));
        return ApprovalTransition { approval, happened: Some("expired"), refusal };
    }
    match event {
        ApprovalEvent::Decided(decision) => decide(approval, decision, now, relay),
        // An agent takes back what it asked itself; a person, anything.
        ApprovalEvent::Withdrawn(by)
            if matches!(by, Actor::Agent { .. }) && approval.asked_by != *by =>
        {
            refused(approval, ApprovalRefusal::NotAPerson)
        }
        ApprovalEvent::Withdrawn(by) => match approval.state {
            ApprovalState::Pending { .. } => {
                let state = ApprovalState::Withdrawn { withdrawn_by: by.clone() };
                moved(Approval { state, ..approval }, "withdrawn")
            }
            ApprovalState::Withdrawn { .. } => same(approval),
            ref other => {
                let over = ApprovalRefusal::Over(other.as_str());
                refused(approval, over)
            }
        },
        ApprovalEvent::Used(used) => use_up(approval, used, now),
    }
}

fn decide(
    mut approval: Approval,
    decision: &ApprovalDecision,
    now: UtcInstant,
    relay: RelayPolicy,
) -> ApprovalTransition {
    let relayed = decision.channel == ConsentChannel::Relay;
    if !relayed && !decision.by.is_person() {
        return refused(approval, ApprovalRefusal::NotAPerson);
    }
    match (&approval.state, decision.said) {
        (ApprovalState::Pending { .. }, _) => {}
        // What a person said for good, only a person takes back.
        (ApprovalState::Approved { remember: true, .. }, ConsentAnswer::No) if relayed => {
            return refused(approval, ApprovalRefusal::NotAPerson);
        }
        // A no to what is remembered: the person is asked again from now on.
        (ApprovalState::Approved { remember: true, .. }, ConsentAnswer::No) => {
            if let ApprovalState::Approved { remember, .. } = &mut approval.state {
                *remember = false;
            }
            return moved(approval, "forgotten");
        }
        // The same answer again changes nothing, so a retry need not look first.
        (ApprovalState::Approved { .. }, ConsentAnswer::Yes(_))
        | (ApprovalState::Rejected { .. }, ConsentAnswer::No) => {
            return same(approval);
        }
        (other, _) => {
            let over = ApprovalRefusal::Over(other.as_str());
            return refused(approval, over);
        }
    }
    if let Err(refusal) = may_decide(&approval, decision, relay) {
        return refused(approval, refusal);
    }
    let decided_by = DecisionOrigin {
        actor: decision.by.clone(),
        channel: decision.channel,
        via: decision.via.clone(),
        at: now,
        quote: decision.quote.as_deref().map(|text| short(text.trim(), MAX_QUOTE)),
        comment: decision.comment.as_deref().map(|text| short(text.trim(), MAX_COMMENT)),
    };
    let (state, happened) = match decision.said {
        ConsentAnswer::Yes(scope) => {
            let remember = decision.remember && !relayed && can_be_remembered(approval.kind);
            (ApprovalState::Approved { decided_by, scope, used_for: None, remember }, "approved")
        }
        ConsentAnswer::No => (ApprovalState::Rejected { decided_by }, "rejected"),
    };
    approval.state = state;
    moved(approval, happened)
}

fn may_decide(
    approval: &Approval,
    decision: &ApprovalDecision,
    relay: RelayPolicy,
) -> Result<(), ApprovalRefusal> {
    let relayed = decision.channel == ConsentChannel::Relay;
    let words = decision.quote.as_deref().map(str::trim).unwrap_or_default();
    if relayed && !(1..=MAX_QUOTE).contains(&words.chars().count()) {
        return Err(ApprovalRefusal::NoQuote);
    }
    let reply = |scope| ConsentReply {
        answer: ConsentAnswer::Yes(scope),
        who: decision.by.to_string(),
        channel: decision.channel,
        can_elicit: decision.can_elicit,
    };
    match decision.said {
        ConsentAnswer::Yes(scope) => {
            let verdict = approval.verdict(decision.channel);
            check_consent(approval.kind, &reply(scope), relay, verdict)
                .map_err(ApprovalRefusal::Rule)
        }
        // A person's no needs no permission. One that an agent passes on ends a question for good, so
        // it counts where its yes would, and for what the agent asked itself.
        ConsentAnswer::No if !relayed || approval.asked_by == decision.by => Ok(()),
        ConsentAnswer::No => {
            let scope = ConsentScope::default();
            check_consent(approval.kind, &reply(scope), relay, CandidateVerdict::Allow)
                .map_err(|_| ApprovalRefusal::NotAPerson)
        }
    }
}

fn use_up(mut approval: Approval, used: &ApprovalUse<'_>, now: UtcInstant) -> ApprovalTransition {
    let subject = approval.subjects().find(|subject| subject.name == used.subject);
    let place = subject.cloned();
    let (over, fits_run) =
        (approval.is_over(now), approval.run.as_deref().is_none_or(|run| run == used.by));
    let kind = approval.kind;
    let first = approval.subject.name == used.subject;
    let ApprovalState::Approved { scope, used_for, .. } = &mut approval.state else {
        let refusal = match approval.state {
            ApprovalState::Rejected { .. } => ApprovalRefusal::SaidNo,
            ApprovalState::Withdrawn { .. } => ApprovalRefusal::Over("withdrawn"),
            _ => ApprovalRefusal::NotYet,
        };
        return refused(approval, refusal);
    };
    let covered = first || *scope == ConsentScope::Listed;
    let Some(agreed) = place.filter(|_| kind == used.kind && fits_run && covered) else {
        return refused(approval, ApprovalRefusal::OtherSubject);
    };
    if used_for.as_deref().is_some_and(|by| by != used.by) {
        return refused(approval, ApprovalRefusal::Used);
    }
    if over {
        return refused(approval, ApprovalRefusal::Over("expired"));
    }
    let blocked = used.scan.is_some_and(|scan| scan.verdict == CandidateVerdict::Block);
    if agreed.content == used.content && !(blocked && kind == ConsentAct::Install) {
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
fn void(
    mut approval: Approval,
    used: &ApprovalUse<'_>,
    changed: Vec<String>,
    now: UtcInstant,
) -> ApprovalTransition {
    for subject in std::iter::once(&mut approval.subject).chain(&mut approval.also) {
        if subject.name == used.subject {
            subject.content = used.content.clone();
        }
    }
    approval.evidence.scan = used.scan;
    approval.expires_at = expires(approval.kind, now);
    approval.state = ApprovalState::Pending { changed: changed.clone() };
    ApprovalTransition {
        approval,
        happened: Some("voided"),
        refusal: Some(ApprovalRefusal::Changed(changed)),
    }
}

fn moved(approval: Approval, happened: &'static str) -> ApprovalTransition {
    ApprovalTransition { approval, happened: Some(happened), refusal: None }
}

fn same(approval: Approval) -> ApprovalTransition {
    ApprovalTransition { approval, happened: None, refusal: None }
}

fn refused(approval: Approval, refusal: ApprovalRefusal) -> ApprovalTransition {
    ApprovalTransition { approval, happened: None, refusal: Some(refusal) }
}
