//! The use: its plan, how it went, what is learned from it, and whether the skill stays.

use super::consent::{AcquireRefusal, ConsentAct, ConsentAnswer, ConsentReply, check_consent};
use super::outcome::{self, UseReport};
use super::run::{
    AcquireEnding, AcquireState, AttemptStage, CandidateVerdict, ConsentQuestion,
    OutcomePrerequisite,
};
use super::step::{AcquireEffect, AcquireEvent, AcquireStepper};
use super::{MAX_SWITCHES, RETRY_AFTER_MS};
use crate::explain::PlanMode;
use crate::failure::FailureKind;
use crate::record::{RecordBody, RegionSkill, StatKey, UseResult};
use crate::time::UtcInstant;

impl AcquireStepper<'_> {
    pub(super) fn planned(&mut self) {
        let Some(offer) = self.run.current().cloned() else {
            return self.fail(AcquireEnding::InstallFailed);
        };
        if self.run.mode == PlanMode::Reflex {
            self.stat(StatKey::ReflexesFired);
            return self.execute(1);
        }
        let question = ConsentQuestion { act: ConsentAct::Plan, subject: offer.slug, digest: None };
        self.effects.push(AcquireEffect::Ask(question));
        self.run.state = AcquireState::Plan { asked: Some(self.context.now) };
    }

    pub(super) fn plan_answered(
        &mut self,
        asked: UtcInstant,
        reply: &ConsentReply,
    ) -> Result<(), AcquireRefusal> {
        match reply.answer {
            _ if self.expired(asked) => self.release(AcquireEnding::Expired),
            ConsentAnswer::No => self.release(AcquireEnding::Declined),
            ConsentAnswer::Yes(_) => {
                let subject = self.run.current().map(|offer| offer.slug.clone());
                let subject = subject.unwrap_or_default();
                check_consent(
                    ConsentAct::Plan,
                    reply,
                    self.context.relay,
                    self.verdict_of(&subject),
                )?;
                self.consent(
                    &ConsentQuestion { act: ConsentAct::Plan, subject, digest: None },
                    reply,
                );
                self.execute(1);
            }
        }
        Ok(())
    }

    fn execute(&mut self, attempt: u32) {
        let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
        self.effects.push(AcquireEffect::Execute(slug));
        self.run.state = AcquireState::Execute { attempt };
    }

    /// The failure table: what happens before an outcome counts.
    pub(super) fn finished(&mut self, finish: UseReport, attempt: u32) {
        let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
        let first = attempt == 1;
        let pending = match (finish.result, finish.failed()) {
            (UseResult::Failure, Some(FailureKind::ApiError)) if first => {
                self.effects.push(AcquireEffect::Wait(RETRY_AFTER_MS));
                Some(OutcomePrerequisite::Wait)
            }
            (UseResult::Failure, Some(FailureKind::DependencyMissing)) if first => {
                let subject = finish.command.clone().or_else(|| finish.key.clone());
                let question = ConsentQuestion {
                    act: ConsentAct::Dependency,
                    subject: subject.unwrap_or_else(|| slug.clone()),
                    digest: None,
                };
                self.effects.push(AcquireEffect::Ask(question));
                Some(OutcomePrerequisite::Dependency)
            }
            (UseResult::Failure, Some(FailureKind::AuthError)) if first => {
                self.effects.push(AcquireEffect::AskCredentials(slug));
                Some(OutcomePrerequisite::Credentials)
            }
            _ => None,
        };
        match pending {
            Some(pending) => self.run.state = AcquireState::Outcome { finish, attempt, pending },
            None => self.learn(finish, attempt),
        }
    }

    pub(super) fn pending(
        &mut self,
        finish: UseReport,
        attempt: u32,
        pending: OutcomePrerequisite,
        event: AcquireEvent,
    ) -> Result<(), AcquireRefusal> {
        match (pending, event) {
            (OutcomePrerequisite::Wait, AcquireEvent::TimeUp) => self.execute(attempt + 1),
            // The agent has tried the skill again meanwhile.
            (
                OutcomePrerequisite::Wait
                | OutcomePrerequisite::Credentials
                | OutcomePrerequisite::Dependency,
                AcquireEvent::Finished(report),
            ) => {
                self.finished(report, attempt + 1);
            }
            (OutcomePrerequisite::HowItWent, AcquireEvent::Finished(report)) => {
                self.learn(report, attempt);
            }
            (OutcomePrerequisite::Installing, AcquireEvent::DependencyInstalled(true)) => {
                self.execute(attempt + 1);
            }
            (OutcomePrerequisite::Installing, AcquireEvent::DependencyInstalled(false)) => {
                self.learn(finish, attempt);
            }
            (OutcomePrerequisite::Dependency, AcquireEvent::Answered(reply)) => {
                match reply.answer {
                    ConsentAnswer::Yes(_) => {
                        let allow = CandidateVerdict::Allow;
                        check_consent(ConsentAct::Dependency, &reply, self.context.relay, allow)?;
                        let command = finish.command.clone().or_else(|| finish.key.clone());
                        let command = command.unwrap_or_default();
                        let question = ConsentQuestion {
                            act: ConsentAct::Dependency,
                            subject: command.clone(),
                            digest: None,
                        };
                        self.consent(&question, &reply);
                        self.effects.push(AcquireEffect::InstallDependency(command));
                        let pending = OutcomePrerequisite::Installing;
                        self.run.state = AcquireState::Outcome { finish, attempt, pending };
                    }
                    ConsentAnswer::No => self.learn(finish, attempt),
                }
            }
            // The person confirms that the credentials are right now; otherwise nothing is retried.
            (OutcomePrerequisite::Credentials, AcquireEvent::Answered(reply)) => {
                match reply.answer {
                    ConsentAnswer::Yes(_) => self.execute(attempt + 1),
                    ConsentAnswer::No => self.learn(finish, attempt),
                }
            }
            _ => return Err(AcquireRefusal::NotNow),
        }
        Ok(())
    }

    /// One outcome per candidate: its record is added to the outbox only here.
    pub(super) fn learn(&mut self, finish: UseReport, attempt: u32) {
        let Some(offer) = self.run.current().cloned() else {
            return self.fail(AcquireEnding::AllCandidates);
        };
        let detail = finish.detail.clone().unwrap_or_default();
        self.note_attempt(&offer, AttemptStage::Execute, finish.failed(), &detail, attempt);
        let outcome = outcome::outcome(&self.run, &offer, &finish, attempt);
        let record = self.run.log(RecordBody::Outcome(Box::new(outcome.clone())), self.context.now);
        // Words are learned only if no pattern matched the task and a search led to success.
        let learns = finish.result == UseResult::Success && !self.run.hit && self.run.searches > 0;
        let task = self.run.task.clone().filter(|_| learns);
        let point = finish.point.clone();
        self.effects.push(AcquireEffect::Learn { record, outcome: Box::new(outcome), task, point });
        self.run.state = AcquireState::Learn { finish, record };
    }

    pub(super) fn learned(&mut self, finish: &UseReport, worth_keeping: bool) {
        match finish.result {
            UseResult::Success if worth_keeping => {
                let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
                let question =
                    ConsentQuestion { act: ConsentAct::Retain, subject: slug, digest: None };
                self.effects.push(AcquireEffect::Ask(question));
                self.run.state = AcquireState::Retain { asked: self.context.now };
            }
            UseResult::Success | UseResult::Unknown => self.release(AcquireEnding::Released),
            UseResult::Failure => self.offer_switch(),
        }
    }

    /// After a failure the skill is uninstalled, and the next one is tried only after an approval.
    fn offer_switch(&mut self) {
        let next = self.run.candidates[(self.run.cursor + 1).min(self.run.candidates.len())..]
            .iter()
            .find(|offer| offer.failed.is_none())
            .cloned();
        let Some(next) = next.filter(|_| self.run.switches < MAX_SWITCHES) else {
            return self.release(AcquireEnding::AllCandidates);
        };
        self.run.mode = PlanMode::Standard;
        // It stays recorded until the person has answered: after a crash it is uninstalled again.
        self.effects.push(AcquireEffect::Uninstall(self.run.installed.clone()));
        // Candidates in between failed at staging; they were never tried.
        let place = self.run.candidates.iter().position(|offer| offer.slug == next.slug);
        self.run.cursor = place.unwrap_or(self.run.cursor + 1) - 1;
        let digest = next.staged.as_ref().map(|staged| staged.digest.clone());
        if self.run.covers(&next) {
            self.ask(ConsentAct::SwitchCandidate, &next.slug, digest);
        } else {
            // An approval to install it is an approval to switch to it.
            self.ask(ConsentAct::Install, &next.slug, digest);
        }
    }

    pub(super) fn retention_answered(
        &mut self,
        asked: UtcInstant,
        reply: &ConsentReply,
    ) -> Result<(), AcquireRefusal> {
        match reply.answer {
            _ if self.expired(asked) => self.release(AcquireEnding::Released),
            ConsentAnswer::No => {
                if let Some(place) = self.place() {
                    self.run.log(RecordBody::KeepDeclined(place), self.context.now);
                }
                self.release(AcquireEnding::Released);
            }
            ConsentAnswer::Yes(_) => {
                let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
                check_consent(
                    ConsentAct::Retain,
                    reply,
                    self.context.relay,
                    self.verdict_of(&slug),
                )?;
                let question =
                    ConsentQuestion { act: ConsentAct::Retain, subject: slug, digest: None };
                self.consent(&question, reply);
                if let Some(place) = self.place() {
                    self.run.log(RecordBody::Retained(place), self.context.now);
                }
                self.run.installed = None;
                self.close(AcquireEnding::Retained);
            }
        }
        Ok(())
    }

    fn place(&self) -> Option<RegionSkill> {
        let slug = self.run.current()?.slug.clone();
        let region = self.run.region_for(&slug);
        Some(RegionSkill { slug, region, run: Some(self.run.id.clone()) })
    }

    pub(super) fn uninstalled(&mut self, then: AcquireEnding) {
        if self.run.installed.take().is_some()
            && let Some(place) = self.place()
        {
            self.run.log(RecordBody::Released(place), self.context.now);
        }
        match then {
            AcquireEnding::AllCandidates => self.fail(then),
            _ => self.close(then),
        }
    }
}
