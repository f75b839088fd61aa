//! Questions of a run as approvals: one for each, found again after a crash.

use sinew_cortex::acquire::{Act, Answer, Event, Offer, Question, Run, Spoken};

use super::flow::{Drive, Next, Waits};
use super::host::{Reply, Told};
use super::market::Fetched;
use super::show;
use crate::approval::{
    Approval, Content, Decision, Evidence, NewApproval, Said, Scan, ScanVerdict, State, Subject,
    Use,
};
use crate::{Actor, Error, ErrorKind};

impl Drive<'_> {
    /// Asks a person, or finds what they said.
    pub(super) fn ask(&mut self, run: &Run, question: &Question) -> Result<Next, Error> {
        let mut approval = self.question(run, question)?;
        if approval.is_pending() {
            self.host.told(&Told::NeedsApproval { approval: &approval });
            match self.host.answer(&approval, run) {
                Reply::Later => {
                    return Ok(Next::Waits(Waits::Approval { approval: Box::new(approval) }));
                }
                Reply::Cancel => return Ok(Next::Event(Event::Cancelled)),
                Reply::Others => {
                    let (by, channel) = self.speaker();
                    self.engine.withdraw_approval(&approval.id, &by)?;
                    let who = by.to_string();
                    let answer = Answer::Others;
                    let spoken = Spoken { answer, who, channel, can_elicit: false };
                    return Ok(Next::Event(Event::Answered(spoken)));
                }
                Reply::Said(said) => {
                    let (by, channel) = self.speaker();
                    let decision = Decision { channel, ..Decision::at_terminal(said, by) };
                    approval = self.engine.decide_approval(&approval.id, &decision)?;
                }
            }
        }
        self.host.told(&Told::Answered { approval: &approval.id, state: approval.state.as_str() });
        Ok(Next::Event(match answered(&approval) {
            Some(spoken) => Event::Answered(spoken),
            None => Event::TimeUp,
        }))
    }

    /// The approval of a question: the one that was opened before, or a new one.
    fn question(&mut self, run: &Run, question: &Question) -> Result<Approval, Error> {
        let asked = self.engine.approvals(false)?.into_iter().rev().find(|approval| {
            approval.run.as_deref() == Some(run.id.as_str())
                && approval.kind == question.act
                && approval.subject.name == question.subject
                && (question.digest.is_none() || approval.subject.content.digest == question.digest)
                && !matches!(approval.state, State::Withdrawn { .. })
        });
        match asked {
            Some(approval) => Ok(approval),
            None => {
                let new = self.new_question(run, question)?;
                self.engine.open_approval(new, &self.speaker_or_system())
            }
        }
    }

    fn new_question(&mut self, run: &Run, question: &Question) -> Result<NewApproval, Error> {
        let offers = &run.candidates;
        let at = offers.iter().position(|offer| offer.slug == question.subject);
        let (subject, also, mut evidence) = match (question.act, at) {
            (Act::Dependency, _) | (_, None) => {
                let subject = Subject { name: question.subject.clone(), ..Subject::default() };
                let skill = run.current().map(|offer| offer.slug.clone());
                let evidence = Evidence {
                    description: skill.as_ref().map(|skill| format!("{skill} needs it")),
                    name: skill,
                    command: Some(question.subject.clone()),
                    ..Evidence::default()
                };
                (subject, Vec::new(), evidence)
            }
            (Act::Install, Some(at)) => {
                let subject = self.subject_of(&offers[at])?;
                let mut also = Vec::new();
                for offer in offers[at + 1..].iter().filter(|o| o.reviewed && o.failed.is_none()) {
                    also.push(self.subject_of(offer)?);
                }
                (subject, also, self.evidence_of(run, at)?)
            }
            (_, Some(at)) => {
                // What was installed is known by its digest; the files were listed when it was.
                let subject = show::subject(&offers[at], None);
                let digest = offers[at].staged.as_ref().map(|staged| staged.digest.clone());
                let content = Content { digest, files: Vec::new() };
                (Subject { content, ..subject }, Vec::new(), self.evidence_of(run, at)?)
            }
        };
        if question.act == Act::Plan {
            evidence.steps = self.steps(run, &question.subject)?;
        }
        Ok(NewApproval { kind: question.act, subject, also, evidence, run: Some(run.id.clone()) })
    }

    fn subject_of(&mut self, offer: &Offer) -> Result<Subject, Error> {
        let fetched = self.ensure_fetched(offer)?;
        Ok(show::subject(offer, Some(&fetched)))
    }

    fn evidence_of(&mut self, run: &Run, at: usize) -> Result<Evidence, Error> {
        let task = run.task.as_deref().unwrap_or_default();
        let lessons = show::lesson_lines(&self.cortex.recall(task, run.region.as_deref()).lessons);
        let mut evidence = self.shown_candidates(run)?[at].evidence(&lessons);
        if let (None, Some(staged)) = (evidence.scan, &run.candidates[at].staged) {
            // Of what was fetched by another process the verdict is known, and not how it came about.
            let critical = usize::from(staged.verdict == ScanVerdict::Block);
            evidence.scan = Some(Scan { verdict: staged.verdict, critical, warn: 0, info: 0 });
        }
        Ok(evidence)
    }

    /// Uses the yes that covers an installation, with the bytes that are about to be installed.
    pub(super) fn use_install_approval(
        &mut self,
        run: &Run,
        slug: &str,
        fetched: &Fetched,
    ) -> Result<(), Error> {
        let mut given = self.engine.approvals(false)?.into_iter().rev();
        let covering = given.find(|approval| {
            approval.run.as_deref() == Some(run.id.as_str())
                && approval.kind == Act::Install
                && approval.is_approved()
                && (approval.subject.name == slug || approval.also.iter().any(|s| s.name == slug))
        });
        let Some(covering) = covering else {
            let message = format!("nobody agreed to the installation of {slug}");
            return Err(Error::new(ErrorKind::Refused, "needs-approval", message));
        };
        let used = Use {
            kind: Act::Install,
            subject: slug,
            content: fetched.content.clone(),
            scan: Some(fetched.scan),
            by: &run.id,
        };
        self.engine.use_approval(&covering.id, &used).map(drop)
    }

    /// Nothing is left to answer once a run is over.
    pub(super) fn withdraw_questions(&self, run: &Run) -> Result<(), Error> {
        for approval in self.engine.approvals(true)? {
            if approval.run.as_deref() == Some(run.id.as_str()) {
                self.engine.withdraw_approval(&approval.id, &Actor::System)?;
            }
        }
        Ok(())
    }

    fn speaker_or_system(&self) -> Actor {
        match &self.engine.agent {
            Some(name) => Actor::Agent { name: name.clone() },
            None => self.speaker().0,
        }
    }
}

/// What a person said, as a run hears it; `None` where nobody did in time.
fn answered(approval: &Approval) -> Option<Spoken> {
    let (answer, decided) = match &approval.state {
        State::Approved { decided_by, scope, .. } => (Answer::Yes(*scope), decided_by),
        State::Rejected { decided_by } => (Answer::No, decided_by),
        State::Pending { .. } | State::Expired | State::Withdrawn { .. } => return None,
    };
    Some(Spoken {
        answer,
        who: decided.actor.to_string(),
        channel: decided.channel,
        can_elicit: false,
    })
}

impl Reply {
    /// Yes, to everything that was listed.
    pub const YES: Self = Self::Said(Said::Yes(crate::approval::Scope::Listed));
    /// No.
    pub const NO: Self = Self::Said(Said::No);
}
