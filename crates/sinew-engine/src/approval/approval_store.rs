//! Approvals in the database: each change is one transaction with its entry in the audit trail, and
//! happens to the approval as it was read, or not at all.

use serde_json::json;
use sinew_cortex::UtcInstant;
use sinew_cortex::acquire::ConsentScope;
use sinew_settings::config::RelayPolicy;
use sinew_settings::{Actor, ErrorCode};
use sinew_store::{DocumentVersion, ExpectedVersion, JsonText, KeyRange, StoreError, StoreOp};

use super::record::{Approval, ApprovalState, DecisionOrigin, NewApproval, expires};
use super::transitions::{ApprovalDecision, ApprovalEvent, ApprovalRefusal, ApprovalUse, step};
use crate::cortex::entropy;
use crate::store::audit;
use crate::{ApprovalsHandle, EngineError};

/// The approvals, by id.
const APPROVALS: &str = "approvals";
/// Approvals read at a time.
const PAGE: usize = 500;
/// A person does not answer more questions than this; the next one must wait or withdraw another.
const MAX_PENDING: usize = 200;
/// A person cannot look through a skill with more files.
const MAX_FILES: usize = 10_000;
/// How long one that is over can still be looked at here; the audit trail keeps it for good.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;
/// Tries to change an approval that others change as well. Each failed try means that another process made progress.
const MAX_TRIES: usize = 50;
/// Digits of ids: no letters that are taken for others.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_CHARS: usize = 12;

impl ApprovalsHandle<'_> {
    /// Asks for an approval. A question that waits already is not asked twice, and one that a person
    /// answered for good is answered by that.
    pub fn open(&self, asked: NewApproval, by: &Actor) -> Result<Approval, EngineError> {
        let files: usize = std::iter::once(&asked.subject)
            .chain(&asked.also)
            .map(|subject| subject.content.files.len())
            .sum();
        if files > MAX_FILES {
            let message =
                format!("{files} files are too many to agree to; {MAX_FILES} are allowed");
            return Err(EngineError::new(ErrorCode::TooManyFiles, message));
        }
        let now = self.approval_time();
        let known = self.all_approvals()?;
        let pending = known.iter().filter(|(approval, _)| approval.is_pending());
        if let Some((same, _)) = pending.clone().find(|(other, _)| asked.is_asked_by(other)) {
            return Ok(same.clone());
        }
        if pending.count() >= MAX_PENDING {
            return Err(EngineError::new(
                ErrorCode::TooManyApprovals,
                format!("{MAX_PENDING} questions wait for a person already"),
            )
            .hint("`sinew approve` goes through them"));
        }
        let remembered = known.iter().find(|(yes, _)| asked.is_answered_by(yes));
        let (state, happened) = match remembered.map(|(yes, _)| yes) {
            Some(Approval { id, state: ApprovalState::Approved { decided_by, .. }, .. }) => {
                (answered_before(id, decided_by), "remembered")
            }
            _ => (ApprovalState::Pending { changed: Vec::new() }, "asked"),
        };
        let approval = Approval {
            id: new_id()?,
            kind: asked.kind,
            subject: asked.subject,
            also: asked.also,
            evidence: asked.evidence.trimmed(),
            run: asked.run,
            asked_by: by.clone(),
            asked_at: now,
            expires_at: expires(asked.kind, now),
            state,
        };
        let mut ops = save(&approval, happened, by, now, ExpectedVersion::Absent)?;
        ops.extend(known.iter().filter_map(|(old, version)| {
            let over =
                !old.is_pending() && !old.is_remembered() && now.ms() - old.asked_at.ms() > KEPT_MS;
            over.then(|| StoreOp::delete(APPROVALS, &old.id, ExpectedVersion::Version(*version)))
        }));
        self.engine.store()?.transact(&ops)?;
        Ok(approval)
    }

    /// Every approval, or those that wait, oldest first.
    pub fn list(&self, only_pending: bool) -> Result<Vec<Approval>, EngineError> {
        let all = self.all_approvals()?.into_iter().map(|(approval, _)| approval);
        let mut found: Vec<Approval> =
            all.filter(|approval| !only_pending || approval.is_pending()).collect();
        found.sort_by(|a, b| (a.asked_at, &a.id).cmp(&(b.asked_at, &b.id)));
        Ok(found)
    }

    /// One approval.
    pub fn get(&self, id: &str) -> Result<Approval, EngineError> {
        let (approval, _) = self.load_approval(id)?;
        Ok(approval.as_of(self.approval_time()))
    }

    /// Takes a person's answer, or refuses it. The same answer again changes nothing.
    pub fn decide(&self, id: &str, decision: &ApprovalDecision) -> Result<Approval, EngineError> {
        self.turn(id, ApprovalEvent::Decided(decision), &decision.by)
    }

    /// Withdraws an unanswered question.
    pub fn withdraw(&self, id: &str, by: &Actor) -> Result<Approval, EngineError> {
        self.turn(id, ApprovalEvent::Withdrawn(by), by)
    }

    /// Uses a yes for what it was given for, with the bytes that are there now. Other bytes make it
    /// void: it waits for a person again, with what is there now. The same use again changes nothing.
    pub fn consume(&self, id: &str, used: &ApprovalUse<'_>) -> Result<Approval, EngineError> {
        self.turn(id, ApprovalEvent::Used(used), &Actor::System)
    }

    /// Which answers an agent may pass on.
    pub fn relay(&self) -> RelayPolicy {
        self.engine.config.approvals.relay
    }

    fn turn(
        &self,
        id: &str,
        event: ApprovalEvent<'_>,
        by: &Actor,
    ) -> Result<Approval, EngineError> {
        self.engine.check_gate()?;
        let store = self.engine.store()?;
        for _ in 0..MAX_TRIES {
            let (approval, version) = self.load_approval(id)?;
            let now = self.approval_time();
            let turn = step(approval, event, now, self.relay());
            if let Some(happened) = turn.happened {
                let ops =
                    save(&turn.approval, happened, by, now, ExpectedVersion::Version(version))?;
                match store.transact(&ops) {
                    // Another process was faster: look again at what it left.
                    Err(StoreError::Conflict { .. }) => continue,
                    saved => saved?,
                };
            }
            return match turn.refusal {
                None => Ok(turn.approval),
                Some(refusal) => Err(told(&turn.approval, &refusal)),
            };
        }
        Err(EngineError::new(
            ErrorCode::ChangedMeanwhile,
            format!("the approval {id} keeps changing"),
        )
        .hint("try again"))
    }

    fn load_approval(&self, id: &str) -> Result<(Approval, DocumentVersion), EngineError> {
        let unknown = || {
            let message = format!("there is no approval `{}`", short_id(id));
            EngineError::new(ErrorCode::UnknownApproval, message)
                .hint("`sinew approve --list` shows what waits")
        };
        if id.len() != ID_CHARS || !id.bytes().all(|byte| DIGITS.contains(&byte)) {
            return Err(unknown());
        }
        let found = self.engine.store()?.get(APPROVALS, id)?.ok_or_else(unknown)?;
        Ok((found.body.read()?, found.version))
    }

    fn all_approvals(&self) -> Result<Vec<(Approval, DocumentVersion)>, EngineError> {
        let (store, now) = (self.engine.store()?, self.approval_time());
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let page = store.list(APPROVALS, KeyRange::ALL.after(&after), PAGE)?;
            let Some(last) = page.last() else { return Ok(all) };
            after.clone_from(&last.key);
            all.extend(page.iter().filter_map(|found| {
                let approval: Approval = found.body.read().ok()?;
                Some((approval.as_of(now), found.version))
            }));
        }
    }

    fn approval_time(&self) -> UtcInstant {
        UtcInstant::from_clock(self.engine.env.clock.now_ms())
    }
}

/// The state of a question that a remembered yes answers: for what it names first, and nothing else.
fn answered_before(id: &str, decided_by: &DecisionOrigin) -> ApprovalState {
    let comment = Some(format!("remembered; `sinew approve {id} --reject` asks again"));
    ApprovalState::Approved {
        decided_by: DecisionOrigin { comment, ..decided_by.clone() },
        scope: ConsentScope::OnlyThis,
        used_for: None,
        remember: false,
    }
}

fn save(
    approval: &Approval,
    happened: &str,
    by: &Actor,
    now: UtcInstant,
    expect: ExpectedVersion,
) -> Result<Vec<StoreOp>, EngineError> {
    let entry = json!({
        "approval": approval.id,
        "event": happened,
        "kind": approval.kind,
        "subject": approval.subject.name,
        "version": approval.subject.version,
        "digest": approval.subject.content.digest,
        "run": approval.run,
        "by": by,
        "decided_by": match &approval.state {
            ApprovalState::Approved { decided_by, .. } | ApprovalState::Rejected { decided_by } => Some(decided_by),
            _ => None,
        },
    });
    let put = StoreOp::put(APPROVALS, &approval.id, expect, JsonText::of(approval)?);
    Ok(vec![put, audit("approval", now, &entry)?])
}

fn told(approval: &Approval, refusal: &ApprovalRefusal) -> EngineError {
    let (code, hint) = match refusal {
        ApprovalRefusal::NotAPerson | ApprovalRefusal::Rule(_) => {
            (ErrorCode::NotApproved, format!("`sinew approve {}`, in a terminal", approval.id))
        }
        ApprovalRefusal::NoQuote => {
            (ErrorCode::QuoteMissing, "ask the person, and quote the answer".to_owned())
        }
        ApprovalRefusal::Over(_) => {
            (ErrorCode::AlreadyDecided, "ask again, if it is still needed".to_owned())
        }
        ApprovalRefusal::SaidNo => {
            (ErrorCode::Rejected, "leave it, or ask the person again".to_owned())
        }
        ApprovalRefusal::NotYet | ApprovalRefusal::Changed(_) => {
            (ErrorCode::NeedsApproval, format!("`sinew approve {}` decides it", approval.id))
        }
        ApprovalRefusal::OtherSubject => {
            (ErrorCode::OtherSubject, "ask for what is to be done".to_owned())
        }
        ApprovalRefusal::Used => {
            (ErrorCode::ApprovalUsed, "a yes serves once; ask again".to_owned())
        }
    };
    EngineError::new(code, format!("the approval {}: {refusal}", approval.id)).hint(hint)
}

/// Sixty random bits, short enough to type.
fn new_id() -> Result<String, EngineError> {
    let mut chance = entropy()?;
    let digits = (0..ID_CHARS).map(|_| {
        let digit = DIGITS[usize::try_from(chance & 31).unwrap_or(0)];
        chance >>= 5;
        char::from(digit)
    });
    Ok(digits.collect())
}

/// An id that was given, short enough for a message.
fn short_id(id: &str) -> String {
    id.chars().take(40).collect()
}
