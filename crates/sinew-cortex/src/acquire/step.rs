//! The state transitions.

use sinew_settings::config::{ReflexInstall, RelayPolicy};

use super::consent::{
    AcquireRefusal, ConsentAct, ConsentAnswer, ConsentReply, ConsentScope, check_consent,
};
use super::outcome::{self, AcquireReport, UseReport};
use super::run::{
    AcquireCandidate, AcquireEnding, AcquireRun, AcquireState, AttemptStage, CandidateAttempt,
    CandidateVerdict, ConsentQuestion, OutcomePrerequisite, StagedCandidate,
};
use super::{ANSWER_WITHIN_MS, MAX_SHOWN, MAX_SWITCHES, RETRY_AFTER_MS};
use crate::explain::PlanMode;
use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::memory::CortexMemory;
use crate::policy::CortexPolicy;
use crate::record::{ConsentRecord, RecordBody, RegionSkill, SkillOutcome, StatKey, UseResult};
use crate::reflex::{self, ReflexContext};
use crate::time::UtcInstant;

/// What a step may read.
#[derive(Debug, Clone, Copy)]
pub struct AcquireContext<'a> {
    /// The memory.
    pub memory: &'a CortexMemory,
    /// The settings.
    pub policy: &'a CortexPolicy,
    /// Which answers an agent may relay.
    pub relay: RelayPolicy,
    /// The time.
    pub now: UtcInstant,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub enum AcquireEvent {
    /// An installed skill, or the agent itself, can do the task.
    Handled,
    /// The memory was queried. Without offers, or without a memory, the run searches.
    Recalled {
        /// The matching region, or the name of a new one.
        region: Option<String>,
        /// Whether a pattern matched the task.
        hit: bool,
        /// The candidates to offer, best first.
        offers: Vec<AcquireCandidate>,
    },
    /// A registry was searched.
    Found(Vec<AcquireCandidate>),
    /// Candidates were fetched and scanned, by slug; or why that failed.
    Fetched(Vec<(String, Result<StagedCandidate, String>)>),
    /// The time to cancel a reflex, or the wait before a retry, is over.
    TimeUp,
    /// A person answered.
    Answered(ConsentReply),
    /// The approved bytes are installed; with their digest.
    Installed(String),
    /// The installation failed, for this reason.
    InstallFailed(String),
    /// The plan is made and can be shown.
    Planned,
    /// The skill was used.
    Finished(UseReport),
    /// Whether the missing program was installed.
    DependencyInstalled(bool),
    /// The outcome was learned.
    Learned {
        /// Whether the skill is worth retaining, so that the person is asked.
        worth_keeping: bool,
    },
    /// Nothing of this run is installed any more.
    Uninstalled,
    /// A person cancelled.
    Cancelled,
}

/// Something for the engine to do.
#[derive(Debug, Clone, PartialEq)]
pub enum AcquireEffect {
    /// Query the memory.
    Recall,
    /// Search registries.
    Search {
        /// Three to five English keywords.
        keywords: Vec<String>,
        /// Skills that were already seen.
        without: Vec<String>,
    },
    /// Fetch, verify and scan these candidates where no catalog can see them.
    Fetch(Vec<String>),
    /// Notify the person, and wait this many milliseconds.
    Notify {
        /// The two lines.
        text: String,
        /// How long the person may cancel.
        ms: u64,
    },
    /// Ask a person.
    Ask(ConsentQuestion),
    /// Install the staged bytes with this digest, unless the lock says they are installed.
    Install {
        /// The skill.
        slug: String,
        /// The approved digest.
        digest: String,
    },
    /// Read SKILL.md and make a plan.
    MakePlan(String),
    /// Use the skill.
    Execute(String),
    /// Wait this many milliseconds.
    Wait(u64),
    /// Install a program; the command was approved.
    InstallDependency(String),
    /// Ask the person to check the credentials.
    AskCredentials(String),
    /// Ask the person how it went.
    AskOutcome(String),
    /// Learn from an outcome whose record is in the outbox.
    Learn {
        /// The record.
        record: Ulid,
        /// The outcome.
        outcome: Box<SkillOutcome>,
        /// The task, if its words are to be learned.
        task: Option<String>,
    },
    /// Uninstall this skill, if there is one, and confirm it.
    Uninstall(Option<String>),
    /// Report to the person what was tried.
    Tell(AcquireReport),
}

/// A run after a step, and what must be done.
#[derive(Debug, Clone, PartialEq)]
pub struct AcquireStep {
    /// The run. It is stored, then its outbox is written, then the effects are carried out.
    pub run: AcquireRun,
    /// What must be done.
    pub effects: Vec<AcquireEffect>,
}

/// The run after an event.
pub fn step(
    run: &AcquireRun,
    event: AcquireEvent,
    context: &AcquireContext<'_>,
) -> Result<AcquireStep, AcquireRefusal> {
    let mut stepper = AcquireStepper { run: run.clone(), effects: Vec::new(), context: *context };
    stepper.run.updated = context.now;
    stepper.handle(event)?;
    if matches!(stepper.run.state, AcquireState::Closed { .. }) {
        // The user's words are deleted when the run ends.
        stepper.run.task = None;
    }
    Ok(AcquireStep { run: stepper.run, effects: stepper.effects })
}

struct AcquireStepper<'a> {
    run: AcquireRun,
    effects: Vec<AcquireEffect>,
    context: AcquireContext<'a>,
}

impl AcquireStepper<'_> {
    fn handle(&mut self, event: AcquireEvent) -> Result<(), AcquireRefusal> {
        let state = std::mem::replace(&mut self.run.state, AcquireState::Recall);
        match (state, event) {
            (AcquireState::Closed { .. }, _) => return Err(AcquireRefusal::NotNow),
            (_, AcquireEvent::Cancelled) => self.release(AcquireEnding::Cancelled),
            (AcquireState::Recall, AcquireEvent::Handled) => self.close(AcquireEnding::Handled),
            (AcquireState::Recall, AcquireEvent::Recalled { region, hit, offers }) => {
                self.recalled(region, hit, offers);
            }
            (AcquireState::Search, AcquireEvent::Found(offers)) => self.found(offers),
            (AcquireState::Present, AcquireEvent::Fetched(results)) => self.fetched(results),
            (AcquireState::Notice { .. }, AcquireEvent::TimeUp) => self.install(),
            (AcquireState::Approve { question, asked }, AcquireEvent::Answered(reply)) => {
                self.answered(&question, asked, &reply)?;
            }
            (
                AcquireState::Approve { asked, .. } | AcquireState::Plan { asked: Some(asked) },
                AcquireEvent::TimeUp,
            ) if self.expired(asked) => {
                self.release(AcquireEnding::Expired);
            }
            (AcquireState::Retain { asked }, AcquireEvent::TimeUp) if self.expired(asked) => {
                self.release(AcquireEnding::Released);
            }
            (AcquireState::Install, AcquireEvent::Installed(digest)) => self.installed(&digest),
            (AcquireState::Install, AcquireEvent::InstallFailed(detail)) => {
                self.install_failed(&detail);
            }
            (AcquireState::Plan { asked: None }, AcquireEvent::Planned) => self.planned(),
            (AcquireState::Plan { asked: Some(asked) }, AcquireEvent::Answered(reply)) => {
                self.plan_answered(asked, &reply)?;
            }
            (AcquireState::Execute { attempt }, AcquireEvent::Finished(finish)) => {
                self.finished(finish, attempt);
            }
            (AcquireState::Outcome { finish, attempt, pending }, event) => {
                self.pending(finish, attempt, pending, event)?;
            }
            (AcquireState::Learn { finish, .. }, AcquireEvent::Learned { worth_keeping }) => {
                self.learned(&finish, worth_keeping);
            }
            (AcquireState::Retain { asked }, AcquireEvent::Answered(reply)) => {
                self.retention_answered(asked, &reply)?;
            }
            (AcquireState::Release { then }, AcquireEvent::Uninstalled) => self.uninstalled(then),
            _ => return Err(AcquireRefusal::NotNow),
        }
        Ok(())
    }

    fn stat(&mut self, key: StatKey) {
        self.run.log(RecordBody::Stat { key, by: 1 }, self.context.now);
    }

    fn recalled(&mut self, region: Option<String>, hit: bool, offers: Vec<AcquireCandidate>) {
        self.run.region = region;
        self.run.hit = hit;
        if offers.is_empty() {
            return self.search();
        }
        self.stat(StatKey::CacheHits);
        self.present(offers);
    }

    fn search(&mut self) {
        let keywords = self.run.keywords();
        let without = self.run.candidates.iter().map(|offer| offer.slug.clone()).collect();
        self.effects.push(AcquireEffect::Search { keywords, without });
        self.run.state = AcquireState::Search;
    }

    fn found(&mut self, mut offers: Vec<AcquireCandidate>) {
        // Searches are counted per run, not per question.
        if self.run.searches == 0 {
            self.stat(StatKey::Searches);
        }
        self.run.searches += 1;
        let memory = self.context.memory;
        offers.retain(|offer| !memory.is_blacklisted(&offer.slug));
        if offers.is_empty() {
            return self.close(AcquireEnding::NoCandidates);
        }
        self.present(offers);
    }

    fn present(&mut self, mut offers: Vec<AcquireCandidate>) {
        offers.truncate(MAX_SHOWN);
        self.run.candidates = offers;
        self.run.cursor = 0;
        let region = self.run.region.clone();
        for at in 0..self.run.candidates.len() {
            let offer = &mut self.run.candidates[at];
            let known =
                region.as_deref().and_then(|name| self.context.memory.candidate(name, &offer.slug));
            offer.learned = known.map(|candidate| candidate.version.clone());
            if offer.last_resort
                && let Some(region) = &region
            {
                let place = RegionSkill {
                    slug: offer.slug.clone(),
                    region: region.clone(),
                    run: Some(self.run.id.clone()),
                };
                self.run.log(RecordBody::Offered(place), self.context.now);
            }
        }
        self.fetch();
    }

    fn fetch(&mut self) {
        let slugs = self.run.candidates.iter().map(|offer| offer.slug.clone()).collect();
        self.effects.push(AcquireEffect::Fetch(slugs));
        self.run.state = AcquireState::Present;
    }

    fn fetched(&mut self, results: Vec<(String, Result<StagedCandidate, String>)>) {
        for (slug, result) in results {
            let Some(offer) = self.run.candidates.iter_mut().find(|offer| offer.slug == slug)
            else {
                continue;
            };
            match result {
                Ok(staged) => {
                    offer.failed = (staged.verdict == CandidateVerdict::Block)
                        .then(|| AcquireRefusal::Blocked.to_string());
                    offer.staged = Some(staged);
                }
                Err(detail) => offer.failed = Some(detail),
            }
        }
        for offer in &mut self.run.candidates {
            if offer.staged.is_none() && offer.failed.is_none() {
                offer.failed = Some("it was not fetched".to_owned());
            }
        }
        // Before a person is asked: another version is another skill.
        for offer in self.run.candidates.clone() {
            if let (Some(stored), Some(staged)) = (offer.learned, offer.staged)
                && stored != staged.version
            {
                let body =
                    RecordBody::VersionSeen { slug: offer.slug, stored, found: staged.version };
                self.run.log(body, self.context.now);
            }
        }
        if self.turn_to_usable() {
            self.offer();
        }
    }

    /// Moves to the first candidate that can be installed, or ends the run.
    fn turn_to_usable(&mut self) -> bool {
        while let Some(offer) = self.run.current().cloned() {
            let Some(detail) = offer.failed.clone() else { return true };
            self.note_attempt(
                &offer,
                AttemptStage::Install,
                Some(FailureKind::RuntimeError),
                &detail,
                0,
            );
            if !self.turn_to_next() {
                break;
            }
        }
        self.fail(AcquireEnding::InstallFailed);
        false
    }

    fn turn_to_next(&mut self) -> bool {
        let has_next = self.run.cursor + 1 < self.run.candidates.len();
        if !has_next || self.run.switches >= MAX_SWITCHES {
            return false;
        }
        self.run.cursor += 1;
        self.run.switches += 1;
        true
    }

    /// Offers the candidates: by reflex if it fires, otherwise with a question.
    fn offer(&mut self) {
        let Some(offer) = self.run.current().cloned() else { return };
        match self.reflex(&offer) {
            Some(text) => {
                self.run.mode = PlanMode::Reflex;
                let policy = self.context.policy;
                if policy.install == ReflexInstall::Notify && self.was_approved(&offer) {
                    let ms = policy.cancel_window_ms;
                    let until = self.context.now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX));
                    self.effects.push(AcquireEffect::Notify { text, ms });
                    self.run.state = AcquireState::Notice { until };
                } else {
                    self.effects.push(AcquireEffect::Notify { text, ms: 0 });
                    self.ask_install(&offer);
                }
            }
            None => {
                self.run.mode = PlanMode::Standard;
                self.ask_install(&offer);
            }
        }
    }

    /// Whether a person approved exactly these bytes before, and the scanner still allows them.
    fn was_approved(&self, offer: &AcquireCandidate) -> bool {
        let region = self.run.region_for(&offer.slug);
        offer.staged.as_ref().is_some_and(|staged| {
            staged.verdict == CandidateVerdict::Allow
                && self.context.memory.is_approved(&region, &offer.slug, &staged.digest)
        })
    }

    /// The notice of the candidate's reflex, if it fires for the files that would be installed.
    fn reflex(&self, offer: &AcquireCandidate) -> Option<String> {
        let region = self.run.region.as_deref()?;
        let candidate = self.context.memory.candidate(region, &offer.slug)?;
        let staged = offer.staged.as_ref()?;
        let idle = self.context.memory.motor.get(region)?.idle_days(
            candidate,
            self.context.now.day(),
            self.context.policy,
        );
        let moment =
            ReflexContext { idle, found: Some(&staged.version), shown: &staged.side_effects };
        let decided = reflex::decide(candidate, &moment, self.context.policy);
        decided.fires.then(|| reflex::notice(candidate, &self.run.signals))
    }

    fn ask(&mut self, act: ConsentAct, subject: &str, digest: Option<String>) {
        let question = ConsentQuestion { act, subject: subject.to_owned(), digest };
        self.effects.push(AcquireEffect::Ask(question.clone()));
        self.run.state = AcquireState::Approve { question, asked: self.context.now };
    }

    fn ask_install(&mut self, offer: &AcquireCandidate) {
        let digest = offer.staged.as_ref().map(|staged| staged.digest.clone());
        self.ask(ConsentAct::Install, &offer.slug, digest);
    }

    fn expired(&self, asked: UtcInstant) -> bool {
        self.context.now.ms() - asked.ms() > ANSWER_WITHIN_MS
    }

    fn answered(
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
            ConsentAnswer::Others if question.act != ConsentAct::Install => {
                return Err(AcquireRefusal::NotNow);
            }
            ConsentAnswer::Others if self.run.others => return Err(AcquireRefusal::OthersOnce),
            ConsentAnswer::Others => {
                self.run.others = true;
                self.search();
            }
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

    fn verdict_of(&self, slug: &str) -> CandidateVerdict {
        let offer = self.run.candidates.iter().find(|offer| offer.slug == slug);
        let staged = offer.and_then(|offer| offer.staged.as_ref());
        staged.map_or(CandidateVerdict::Allow, |staged| staged.verdict)
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

    fn consent(&mut self, question: &ConsentQuestion, reply: &ConsentReply) {
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
    fn install(&mut self) {
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

    fn installed(&mut self, digest: &str) {
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

    fn install_failed(&mut self, detail: &str) {
        if let Some(offer) = self.run.candidates.get_mut(self.run.cursor) {
            offer.failed = Some(detail.to_owned());
        }
        // Another candidate is another skill: the user is asked about its plan.
        self.run.mode = PlanMode::Standard;
        if self.turn_to_usable() {
            self.install();
        }
    }

    fn note_attempt(
        &mut self,
        offer: &AcquireCandidate,
        stage: AttemptStage,
        kind: Option<FailureKind>,
        detail: &str,
        attempts: u32,
    ) {
        self.run.attempts.push(CandidateAttempt {
            slug: offer.slug.clone(),
            source: offer.source.clone(),
            version: offer.version().to_owned(),
            stage,
            kind,
            detail: detail.to_owned(),
            attempts,
        });
    }

    fn planned(&mut self) {
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

    fn plan_answered(
        &mut self,
        asked: UtcInstant,
        reply: &ConsentReply,
    ) -> Result<(), AcquireRefusal> {
        match reply.answer {
            _ if self.expired(asked) => self.release(AcquireEnding::Expired),
            ConsentAnswer::No => self.release(AcquireEnding::Declined),
            ConsentAnswer::Others => return Err(AcquireRefusal::NotNow),
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
    fn finished(&mut self, finish: UseReport, attempt: u32) {
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

    fn pending(
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
                    ConsentAnswer::Others => return Err(AcquireRefusal::NotNow),
                }
            }
            // The person confirms that the credentials are right now; otherwise nothing is retried.
            (OutcomePrerequisite::Credentials, AcquireEvent::Answered(reply)) => {
                match reply.answer {
                    ConsentAnswer::Yes(_) => self.execute(attempt + 1),
                    ConsentAnswer::No => self.learn(finish, attempt),
                    ConsentAnswer::Others => return Err(AcquireRefusal::NotNow),
                }
            }
            _ => return Err(AcquireRefusal::NotNow),
        }
        Ok(())
    }

    /// One outcome per candidate: its record is added to the outbox only here.
    fn learn(&mut self, finish: UseReport, attempt: u32) {
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
        self.effects.push(AcquireEffect::Learn { record, outcome: Box::new(outcome), task });
        self.run.state = AcquireState::Learn { finish, record };
    }

    fn learned(&mut self, finish: &UseReport, worth_keeping: bool) {
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

    fn retention_answered(
        &mut self,
        asked: UtcInstant,
        reply: &ConsentReply,
    ) -> Result<(), AcquireRefusal> {
        match reply.answer {
            _ if self.expired(asked) => self.release(AcquireEnding::Released),
            ConsentAnswer::No => self.release(AcquireEnding::Released),
            ConsentAnswer::Others => return Err(AcquireRefusal::NotNow),
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

    fn release(&mut self, then: AcquireEnding) {
        self.effects.push(AcquireEffect::Uninstall(self.run.installed.clone()));
        self.run.state = AcquireState::Release { then };
    }

    fn uninstalled(&mut self, then: AcquireEnding) {
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

    /// Ends the run with a report.
    fn fail(&mut self, end: AcquireEnding) {
        self.effects.push(AcquireEffect::Tell(AcquireReport::of(&self.run)));
        self.close(end);
    }

    fn close(&mut self, end: AcquireEnding) {
        self.run.state = AcquireState::Closed { end };
    }
}
