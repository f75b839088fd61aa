//! The answer and the install: what a yes covers, and what is put in place on the strength of it.

use sinew_settings::config::ReflexInstall;

use super::consent::{
    AcquireRefusal, ConsentAct, ConsentAnswer, ConsentReply, ConsentScope, check_consent,
};
use super::run::{AcquireCandidate, AcquireEnding, AcquireState, ConsentQuestion};
use super::step::{AcquireEffect, AcquireStepper};
use crate::explain::PlanMode;
use crate::record::{ConsentRecord, RecordBody, StatKey};
use crate::time::UtcInstant;

impl AcquireStepper<'_> {
    pub(super) fn ask(&mut self, act: ConsentAct, subject: &str, digest: Option<String>) {
        let question = ConsentQuestion { act, subject: subject.to_owned(), digest };
        self.effects.push(AcquireEffect::Ask(question.clone()));
        self.run.state = AcquireState::Approve { question, asked: self.context.now };
    }

    pub(super) fn ask_install(&mut self, offer: &AcquireCandidate) {
        let digest = offer.staged.as_ref().map(|staged| staged.digest.clone());
        self.ask(ConsentAct::Install, &offer.slug, digest);
    }

    pub(super) fn answered(
        &mut self,
        question: &ConsentQuestion,
        asked: UtcInstant,
        reply: &ConsentReply,
    ) -> Result<(), AcquireRefusal> {
        // Whatever failed before was uninstalled before the question was asked.
        self.run.installed = None;
        if self.expired(asked) {
            self.release(AcquireEnding::Expired);
            return Ok(());
        }
        match reply.answer {
            ConsentAnswer::No => self.release(AcquireEnding::Declined),
            ConsentAnswer::Yes(scope) => {
                let verdict = self.verdict_of(&question.subject);
                check_consent(question.act, reply, self.context.relay, verdict)?;
                // After an execution failure the question is about the next candidate.
                if self.run.current().is_some_and(|offer| offer.slug != question.subject) {
                    self.turn_to_next();
                }
                match question.act {
                    ConsentAct::SwitchCandidate => self.consent(question, reply),
                    _ => self.consent_install(question, scope, reply),
                }
                self.install();
            }
        }
        Ok(())
    }

    /// The person wants other candidates than those that were listed, which can happen once.
    pub(super) fn others_wanted(
        &mut self,
        question: &ConsentQuestion,
        asked: UtcInstant,
    ) -> Result<(), AcquireRefusal> {
        self.run.installed = None;
        if self.expired(asked) {
            self.release(AcquireEnding::Expired);
            return Ok(());
        }
        if question.act != ConsentAct::Install {
            return Err(AcquireRefusal::NotNow);
        }
        if self.run.others {
            return Err(AcquireRefusal::OthersOnce);
        }
        self.run.others = true;
        self.search();
        Ok(())
    }

    /// The person wants another one of those that were shown: it is next, and is asked about.
    pub(super) fn picked(
        &mut self,
        question: &ConsentQuestion,
        asked: UtcInstant,
        slug: &str,
    ) -> Result<(), AcquireRefusal> {
        if self.expired(asked) {
            self.release(AcquireEnding::Expired);
            return Ok(());
        }
        let shown = &self.run.candidates[self.run.cursor.min(self.run.candidates.len())..];
        let place = shown.iter().position(|offer| offer.slug == slug && offer.failed.is_none());
        let Some(place) = place.filter(|_| question.act == ConsentAct::Install) else {
            return Err(AcquireRefusal::NotNow);
        };
        let offer = self.run.candidates.remove(self.run.cursor + place);
        self.run.candidates.insert(self.run.cursor, offer.clone());
        // It was not the first, so it has no reflex here.
        self.run.mode = PlanMode::Standard;
        self.ask_install(&offer);
        Ok(())
    }

    /// An approval covers the listed candidates in order; an unreviewed source needs its own.
    fn consent_install(
        &mut self,
        question: &ConsentQuestion,
        scope: ConsentScope,
        reply: &ConsentReply,
    ) {
        self.consent(question, reply);
        if scope == ConsentScope::OnlyThis {
            return;
        }
        let rest: Vec<ConsentQuestion> = self.run.candidates[self.run.cursor..]
            .iter()
            .skip(1)
            .filter(|offer| offer.reviewed && offer.failed.is_none())
            .filter_map(|offer| {
                let digest = offer.staged.as_ref()?.digest.clone();
                Some(ConsentQuestion {
                    act: ConsentAct::Install,
                    subject: offer.slug.clone(),
                    digest: Some(digest),
                })
            })
            .collect();
        for question in rest {
            self.consent(&question, reply);
        }
    }

    pub(super) fn consent(&mut self, question: &ConsentQuestion, reply: &ConsentReply) {
        let consent = ConsentRecord {
            run: self.run.id.clone(),
            act: question.act,
            region: Some(self.run.region_for(&question.subject)),
            subject: question.subject.clone(),
            digest: question.digest.clone(),
            who: reply.who.clone(),
            channel: reply.channel,
            at: self.context.now,
        };
        self.run.consents.push(consent.clone());
        self.run.log(RecordBody::Consent(consent), self.context.now);
    }

    /// Installs the current candidate, or asks first if no approval covers it.
    pub(super) fn install(&mut self) {
        let Some(offer) = self.run.current().cloned() else {
            return self.fail(AcquireEnding::InstallFailed);
        };
        let Some(staged) = offer.staged.clone() else { return self.ask_install(&offer) };
        let by_reflex = self.run.mode == PlanMode::Reflex
            && self.context.policy.install == ReflexInstall::Notify
            && self.was_approved(&offer);
        if self.run.covers(&offer) || by_reflex {
            self.effects.push(AcquireEffect::Install { slug: offer.slug, digest: staged.digest });
            self.run.state = AcquireState::Install;
        } else {
            self.ask_install(&offer);
        }
    }

    pub(super) fn installed(&mut self, digest: &str) {
        let Some(offer) = self.run.current().cloned() else {
            return self.fail(AcquireEnding::InstallFailed);
        };
        if offer.staged.as_ref().map(|staged| staged.digest.as_str()) != Some(digest) {
            return self.install_failed("the installed bytes are not the approved ones");
        }
        self.stat(StatKey::Installs);
        self.run.installed = Some(offer.slug.clone());
        self.effects.push(AcquireEffect::MakePlan(offer.slug));
        self.run.state = AcquireState::Plan { asked: None };
    }

    pub(super) fn install_failed(&mut self, detail: &str) {
        if let Some(offer) = self.run.candidates.get_mut(self.run.cursor) {
            offer.failed = Some(detail.to_owned());
        }
        // Another candidate is another skill: the user is asked about its plan.
        self.run.mode = PlanMode::Standard;
        if self.turn_to_usable() {
            self.install();
        }
    }
}
