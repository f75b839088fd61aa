//! Questions of a run as approvals: one for each, found again after a crash.

use sinew_cortex::acquire::{
    AcquireCandidate, AcquireEvent, AcquireRun, ConsentAct, ConsentAnswer, ConsentQuestion,
    ConsentReply,
};
use sinew_settings::{Actor, ErrorCode};

use super::candidate_summary;
use super::flow::{AcquireDriver, AcquireWait, EffectFollowUp};
use super::host::AcquireProgress;
use super::market::FetchedCandidate;
use crate::EngineError;
use crate::approval::{
    Approval, ApprovalAnswer, ApprovalContent, ApprovalDecision, ApprovalEvidence,
    ApprovalQuestion, ApprovalState, ApprovalSubject, ApprovalUse, NewApproval,
};

impl AcquireDriver<'_> {
    /// Asks a person, or finds the answer they gave.
    pub(super) fn ask(
        &mut self,
        run: &AcquireRun,
        question: &ConsentQuestion,
    ) -> Result<EffectFollowUp, EngineError> {
        let mut approval = self.question(run, question)?;
        if approval.is_pending() {
            self.host.on_progress(&AcquireProgress::NeedsApproval { approval: &approval });
            let others = question.act == ConsentAct::Install && !run.others;
            let asked = ApprovalQuestion::Stored { approval: &approval, others };
            let said = match self.host.ask(&asked) {
                ApprovalAnswer::Yes { scope, .. } => ConsentAnswer::Yes(scope),
                ApprovalAnswer::No => ConsentAnswer::No,
                ApprovalAnswer::Absent { .. } => {
                    return Ok(EffectFollowUp::Waits(AcquireWait::Approval {
                        approval: Box::new(approval),
                    }));
                }
                ApprovalAnswer::Cancel => {
                    return Ok(EffectFollowUp::Event(AcquireEvent::Cancelled));
                }
                ApprovalAnswer::Pick(slug) => {
                    let (by, _) = self.respondent();
                    self.engine.approvals().withdraw(&approval.id, &by)?;
                    return Ok(EffectFollowUp::Event(AcquireEvent::Picked(slug)));
                }
                ApprovalAnswer::Others => {
                    let (by, _) = self.respondent();
                    self.engine.approvals().withdraw(&approval.id, &by)?;
                    return Ok(EffectFollowUp::Event(AcquireEvent::OthersWanted));
                }
            };
            let (by, channel) = self.respondent();
            let decision = ApprovalDecision { channel, ..ApprovalDecision::at_terminal(said, by) };
            approval = self.engine.approvals().decide(&approval.id, &decision)?;
        }
        self.host.on_progress(&AcquireProgress::Answered {
            approval: &approval.id,
            state: approval.state.as_str(),
        });
        Ok(EffectFollowUp::Event(match answered(&approval) {
            Some(spoken) => AcquireEvent::Answered(spoken),
            None => AcquireEvent::TimeUp,
        }))
    }

    /// The approval of a question: the one that was opened before, or a new one.
    fn question(
        &mut self,
        run: &AcquireRun,
        question: &ConsentQuestion,
    ) -> Result<Approval, EngineError> {
        let asked = self.engine.approvals().list(false)?.into_iter().rev().find(|approval| {
            approval.run.as_deref() == Some(run.id.as_str())
                && approval.kind == question.act
                && approval.subject.name == question.subject
                && (question.digest.is_none() || approval.subject.content.digest == question.digest)
                && !matches!(approval.state, ApprovalState::Withdrawn { .. })
        });
        match asked {
            Some(approval) => Ok(approval),
            None => {
                let new = self.new_question(run, question)?;
                self.engine.approvals().open(new, &self.speaker_or_system())
            }
        }
    }

    fn new_question(
        &mut self,
        run: &AcquireRun,
        question: &ConsentQuestion,
    ) -> Result<NewApproval, EngineError> {
        let offers = &run.candidates;
        let at = offers.iter().position(|offer| offer.slug == question.subject);
        let (subject, also, mut evidence) = match (question.act, at) {
            (ConsentAct::Dependency, _) | (_, None) => {
                let subject = ApprovalSubject {
                    name: question.subject.clone(),
                    ..ApprovalSubject::default()
                };
                let skill = run.current().map(|offer| offer.slug.clone());
                let evidence = ApprovalEvidence {
                    description: skill.as_ref().map(|skill| format!("{skill} needs it")),
                    name: skill,
                    command: Some(question.subject.clone()),
                    ..ApprovalEvidence::default()
                };
                (subject, Vec::new(), evidence)
            }
            (ConsentAct::Install, Some(at)) => {
                let subject = self.subject_of(&offers[at])?;
                let mut also = Vec::new();
                for offer in offers[at + 1..].iter().filter(|o| o.reviewed && o.failed.is_none()) {
                    also.push(self.subject_of(offer)?);
                }
                (subject, also, self.evidence_of(run, at)?)
            }
            (_, Some(at)) => {
                // What was installed is known by its digest; the files were listed when it was.
                let subject = candidate_summary::subject(&offers[at], None);
                let digest = offers[at].staged.as_ref().map(|staged| staged.digest.clone());
                let content = ApprovalContent { digest, files: Vec::new() };
                (ApprovalSubject { content, ..subject }, Vec::new(), self.evidence_of(run, at)?)
            }
        };
        if question.act == ConsentAct::Plan {
            evidence.steps = self.steps(run, &question.subject)?;
        }
        Ok(NewApproval { kind: question.act, subject, also, evidence, run: Some(run.id.clone()) })
    }

    fn subject_of(&mut self, offer: &AcquireCandidate) -> Result<ApprovalSubject, EngineError> {
        let fetched = self.ensure_fetched(offer)?;
        Ok(candidate_summary::subject(offer, Some(&fetched)))
    }

    fn evidence_of(
        &mut self,
        run: &AcquireRun,
        at: usize,
    ) -> Result<ApprovalEvidence, EngineError> {
        let task = run.task.as_deref().unwrap_or_default();
        let lessons = candidate_summary::lesson_lines(
            &self.cortex.recall(task, run.region.as_deref()).lessons,
        );
        Ok(self.shown_candidates(run)?[at].evidence(&lessons))
    }

    /// Uses the yes that covers an installation, with the bytes that are about to be installed.
    pub(super) fn use_install_approval(
        &mut self,
        run: &AcquireRun,
        slug: &str,
        fetched: &FetchedCandidate,
    ) -> Result<(), EngineError> {
        let mut given = self.engine.approvals().list(false)?.into_iter().rev();
        let covering = given.find(|approval| {
            approval.run.as_deref() == Some(run.id.as_str())
                && approval.kind == ConsentAct::Install
                && approval.is_approved()
                && (approval.subject.name == slug || approval.also.iter().any(|s| s.name == slug))
        });
        let Some(covering) = covering else {
            let message = format!("the installation of {slug} was not approved");
            return Err(EngineError::new(ErrorCode::NeedsApproval, message));
        };
        let used = ApprovalUse {
            kind: ConsentAct::Install,
            subject: slug,
            content: fetched.content.clone(),
            scan: Some(fetched.scan),
            by: &run.id,
        };
        self.engine.approvals().consume(&covering.id, &used).map(drop)
    }

    /// Nothing is left to answer once a run is over.
    pub(super) fn withdraw_questions(&self, run: &AcquireRun) -> Result<(), EngineError> {
        for approval in self.engine.approvals().list(true)? {
            if approval.run.as_deref() == Some(run.id.as_str()) {
                self.engine.approvals().withdraw(&approval.id, &Actor::System)?;
            }
        }
        Ok(())
    }

    fn speaker_or_system(&self) -> Actor {
        match &self.engine.agent {
            Some(name) => Actor::Agent { name: name.clone() },
            None => self.respondent().0,
        }
    }
}

/// A person's answer as an event of the run; `None` where there was none in time.
fn answered(approval: &Approval) -> Option<ConsentReply> {
    let (answer, decided) = match &approval.state {
        ApprovalState::Approved { decided_by, scope, .. } => {
            (ConsentAnswer::Yes(*scope), decided_by)
        }
        ApprovalState::Rejected { decided_by } => (ConsentAnswer::No, decided_by),
        ApprovalState::Pending { .. }
        | ApprovalState::Expired
        | ApprovalState::Withdrawn { .. } => return None,
    };
    Some(ConsentReply {
        answer,
        who: decided.actor.to_string(),
        channel: decided.channel,
        can_elicit: false,
    })
}
