//! The transitions.

use super::consent::{Act, Answer, Refused, Relay, Scope, Spoken, admissible};
use super::outcome::{self, Finish, Report};
use super::run::{Attempt, End, Offer, Pending, Question, Run, ScanVerdict, Stage, Staged, State};
use super::{ANSWER_WITHIN_MS, MAX_SHOWN, MAX_SWITCHES, RETRY_AFTER_MS};
use crate::explain::Mode;
use crate::failure::FailureKind;
use crate::id::Id;
use crate::memory::Memory;
use crate::policy::{Policy, ReflexInstall};
use crate::record::{Body, Consent, Outcome, Place, StatKey, Verdict};
use crate::reflex::{self, Moment};
use crate::time::Stamp;

/// What a step may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What is remembered.
    pub memory: &'a Memory,
    /// The settings.
    pub policy: &'a Policy,
    /// Which answers an agent may pass on.
    pub relay: Relay,
    /// The time.
    pub now: Stamp,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An installed skill, or the agent itself, can do the task.
    Handled,
    /// The memory was asked. Without offers, or without a memory, the run searches.
    Recalled {
        /// The region that fits, or the name of a new one.
        region: Option<String>,
        /// Whether a pattern knew the task.
        hit: bool,
        /// What may be offered, best first.
        offers: Vec<Offer>,
    },
    /// A registry was searched.
    Found(Vec<Offer>),
    /// Candidates were fetched and scanned, by slug; or why that failed.
    Fetched(Vec<(String, Result<Staged, String>)>),
    /// The time to cancel a reflex, or to wait before a retry, is over.
    TimeUp,
    /// A person answered.
    Answered(Spoken),
    /// The approved bytes are in place; with their digest.
    Installed(String),
    /// They are not, because of this.
    InstallFailed(String),
    /// The plan is made and can be shown.
    Planned,
    /// The skill was used.
    Finished(Finish),
    /// The missing program was installed, or not.
    DependencyInstalled(bool),
    /// The outcome was learned; whether the skill is worth keeping.
    Learned {
        /// Whether the person is asked.
        worth_keeping: bool,
    },
    /// Nothing of this run is installed any more.
    Uninstalled,
    /// A person cancelled.
    Cancelled,
}

/// Something that must be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the memory.
    Recall,
    /// Search registries.
    Search {
        /// Three to five English keywords.
        keywords: Vec<String>,
        /// Skills that were seen already.
        without: Vec<String>,
    },
    /// Fetch, verify and scan these candidates where no catalog sees them.
    Fetch(Vec<String>),
    /// Tell the person, and let so many milliseconds pass.
    Notify {
        /// The two lines.
        text: String,
        /// How long the person may cancel.
        ms: u64,
    },
    /// Ask a person.
    Ask(Question),
    /// Put the staged bytes with this digest in place, unless the lock says they are.
    Install {
        /// The skill.
        slug: String,
        /// The digest that was approved.
        digest: String,
    },
    /// Read SKILL.md and make a plan.
    MakePlan(String),
    /// Use the skill.
    Execute(String),
    /// Let so many milliseconds pass.
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
        record: Id,
        /// The outcome.
        outcome: Box<Outcome>,
        /// The task, when its words are to be learned.
        task: Option<String>,
    },
    /// Uninstall this skill, if it is one, and say so.
    Uninstall(Option<String>),
    /// Tell the person what was tried.
    Tell(Report),
}

/// A run after a step, and what must be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The run. It is stored, then its outbox is written, then the effects are carried out.
    pub run: Run,
    /// What must be done.
    pub effects: Vec<Effect>,
}

/// The run after an event.
pub fn step(run: &Run, event: Event, context: &Context<'_>) -> Result<Step, Refused> {
    let mut stepper = Stepper { run: run.clone(), effects: Vec::new(), context: *context };
    stepper.run.updated = context.now;
    stepper.handle(event)?;
    if matches!(stepper.run.state, State::Closed { .. }) {
        // No word of the person outlives the run.
        stepper.run.task = None;
    }
    Ok(Step { run: stepper.run, effects: stepper.effects })
}

struct Stepper<'a> {
    run: Run,
    effects: Vec<Effect>,
    context: Context<'a>,
}

impl Stepper<'_> {
    fn handle(&mut self, event: Event) -> Result<(), Refused> {
        let state = std::mem::replace(&mut self.run.state, State::Recall);
        match (state, event) {
            (State::Closed { .. }, _) => return Err(Refused::NotNow),
            (_, Event::Cancelled) => self.release(End::Cancelled),
            (State::Recall, Event::Handled) => self.close(End::Handled),
            (State::Recall, Event::Recalled { region, hit, offers }) => {
                self.recalled(region, hit, offers);
            }
            (State::Search, Event::Found(offers)) => self.found(offers),
            (State::Present, Event::Fetched(results)) => self.fetched(results),
            (State::Notice { .. }, Event::TimeUp) => self.install(),
            (State::Approve { question, asked }, Event::Answered(spoken)) => {
                self.answered(&question, asked, &spoken)?;
            }
            (State::Approve { asked, .. } | State::Plan { asked: Some(asked) }, Event::TimeUp)
                if self.expired(asked) =>
            {
                self.release(End::Expired);
            }
            (State::Retain { asked }, Event::TimeUp) if self.expired(asked) => {
                self.release(End::Released);
            }
            (State::Install, Event::Installed(digest)) => self.installed(&digest),
            (State::Install, Event::InstallFailed(detail)) => self.install_failed(&detail),
            (State::Plan { asked: None }, Event::Planned) => self.planned(),
            (State::Plan { asked: Some(asked) }, Event::Answered(spoken)) => {
                self.plan_answered(asked, &spoken)?;
            }
            (State::Execute { attempt }, Event::Finished(finish)) => self.finished(finish, attempt),
            (State::Outcome { finish, attempt, pending }, event) => {
                self.pending(finish, attempt, pending, event)?;
            }
            (State::Learn { finish, .. }, Event::Learned { worth_keeping }) => {
                self.learned(&finish, worth_keeping);
            }
            (State::Retain { asked }, Event::Answered(spoken)) => self.kept(asked, &spoken)?,
            (State::Release { then }, Event::Uninstalled) => self.uninstalled(then),
            _ => return Err(Refused::NotNow),
        }
        Ok(())
    }

    fn stat(&mut self, key: StatKey) {
        self.run.log(Body::Stat { key, by: 1 }, self.context.now);
    }

    fn recalled(&mut self, region: Option<String>, hit: bool, offers: Vec<Offer>) {
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
        self.effects.push(Effect::Search { keywords, without });
        self.run.state = State::Search;
    }

    fn found(&mut self, mut offers: Vec<Offer>) {
        // Searches are counted per run, not per question.
        if self.run.searches == 0 {
            self.stat(StatKey::Searches);
        }
        self.run.searches += 1;
        let memory = self.context.memory;
        offers.retain(|offer| !memory.is_blacklisted(&offer.slug));
        if offers.is_empty() {
            return self.close(End::NoCandidates);
        }
        self.present(offers);
    }

    fn present(&mut self, mut offers: Vec<Offer>) {
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
                let place = Place {
                    slug: offer.slug.clone(),
                    region: region.clone(),
                    run: Some(self.run.id.clone()),
                };
                self.run.log(Body::Offered(place), self.context.now);
            }
        }
        self.fetch();
    }

    fn fetch(&mut self) {
        let slugs = self.run.candidates.iter().map(|offer| offer.slug.clone()).collect();
        self.effects.push(Effect::Fetch(slugs));
        self.run.state = State::Present;
    }

    fn fetched(&mut self, results: Vec<(String, Result<Staged, String>)>) {
        for (slug, result) in results {
            let Some(offer) = self.run.candidates.iter_mut().find(|offer| offer.slug == slug)
            else {
                continue;
            };
            match result {
                Ok(staged) => {
                    offer.failed = (staged.verdict == ScanVerdict::Block)
                        .then(|| Refused::Blocked.to_string());
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
        // Before anybody is asked: another version is another skill.
        for offer in self.run.candidates.clone() {
            if let (Some(stored), Some(staged)) = (offer.learned, offer.staged)
                && stored != staged.version
            {
                let body = Body::VersionSeen { slug: offer.slug, stored, found: staged.version };
                self.run.log(body, self.context.now);
            }
        }
        if self.turn_to_usable() {
            self.offer();
        }
    }

    /// Turns to the first candidate that can be installed, or ends the run.
    fn turn_to_usable(&mut self) -> bool {
        while let Some(offer) = self.run.current().cloned() {
            let Some(detail) = offer.failed.clone() else { return true };
            self.note_attempt(&offer, Stage::Install, Some(FailureKind::RuntimeError), &detail, 0);
            if !self.turn_to_next() {
                break;
            }
        }
        self.fail(End::InstallFailed);
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

    /// Shows the candidates: by reflex where it fires, else with a question.
    fn offer(&mut self) {
        let Some(offer) = self.run.current().cloned() else { return };
        match self.reflex(&offer) {
            Some(text) => {
                self.run.mode = Mode::Reflex;
                let policy = self.context.policy;
                if policy.install == ReflexInstall::Notify && self.was_approved(&offer) {
                    let ms = policy.cancel_window_ms;
                    let until = self.context.now.plus_ms(i64::try_from(ms).unwrap_or(i64::MAX));
                    self.effects.push(Effect::Notify { text, ms });
                    self.run.state = State::Notice { until };
                } else {
                    self.effects.push(Effect::Notify { text, ms: 0 });
                    self.ask_install(&offer);
                }
            }
            None => {
                self.run.mode = Mode::Standard;
                self.ask_install(&offer);
            }
        }
    }

    /// Whether a person agreed to exactly these bytes before, and the scanner still does.
    fn was_approved(&self, offer: &Offer) -> bool {
        let region = self.run.region_for(&offer.slug);
        offer.staged.as_ref().is_some_and(|staged| {
            staged.verdict == ScanVerdict::Allow
                && self.context.memory.is_approved(&region, &offer.slug, &staged.digest)
        })
    }

    /// The notice of the candidate's reflex, if it fires with the files that would be installed.
    fn reflex(&self, offer: &Offer) -> Option<String> {
        let region = self.run.region.as_deref()?;
        let candidate = self.context.memory.candidate(region, &offer.slug)?;
        let staged = offer.staged.as_ref()?;
        let idle = self.context.memory.motor.get(region)?.idle(
            candidate,
            self.context.now.day(),
            self.context.policy,
        );
        let moment = Moment { idle, found: Some(&staged.version), shown: &staged.side_effects };
        let decided = reflex::decide(candidate, &moment, self.context.policy);
        decided.fires.then(|| reflex::notice(candidate, &self.run.signals))
    }

    fn ask(&mut self, act: Act, subject: &str, digest: Option<String>) {
        let question = Question { act, subject: subject.to_owned(), digest };
        self.effects.push(Effect::Ask(question.clone()));
        self.run.state = State::Approve { question, asked: self.context.now };
    }

    fn ask_install(&mut self, offer: &Offer) {
        let digest = offer.staged.as_ref().map(|staged| staged.digest.clone());
        self.ask(Act::Install, &offer.slug, digest);
    }

    fn expired(&self, asked: Stamp) -> bool {
        self.context.now.ms() - asked.ms() > ANSWER_WITHIN_MS
    }

    fn answered(
        &mut self,
        question: &Question,
        asked: Stamp,
        spoken: &Spoken,
    ) -> Result<(), Refused> {
        // Whatever failed before was uninstalled before the question was asked.
        self.run.installed = None;
        if self.expired(asked) {
            self.release(End::Expired);
            return Ok(());
        }
        match spoken.answer {
            Answer::No => self.release(End::Declined),
            Answer::Others if question.act != Act::Install => return Err(Refused::NotNow),
            Answer::Others if self.run.others => return Err(Refused::OthersOnce),
            Answer::Others => {
                self.run.others = true;
                self.search();
            }
            Answer::Yes(scope) => {
                let verdict = self.verdict_of(&question.subject);
                admissible(question.act, spoken, self.context.relay, verdict)?;
                // After an execution failure the question is about the next candidate.
                if self.run.current().is_some_and(|offer| offer.slug != question.subject) {
                    self.turn_to_next();
                }
                match question.act {
                    Act::SwitchCandidate => self.consent(question, spoken),
                    _ => self.consent_install(question, scope, spoken),
                }
                self.install();
            }
        }
        Ok(())
    }

    fn verdict_of(&self, slug: &str) -> ScanVerdict {
        let offer = self.run.candidates.iter().find(|offer| offer.slug == slug);
        let staged = offer.and_then(|offer| offer.staged.as_ref());
        staged.map_or(ScanVerdict::Allow, |staged| staged.verdict)
    }

    /// A yes covers the listed candidates in order; a source that nobody reviews needs its own.
    fn consent_install(&mut self, question: &Question, scope: Scope, spoken: &Spoken) {
        self.consent(question, spoken);
        if scope == Scope::OnlyThis {
            return;
        }
        let rest: Vec<Question> = self.run.candidates[self.run.cursor..]
            .iter()
            .skip(1)
            .filter(|offer| offer.reviewed && offer.failed.is_none())
            .filter_map(|offer| {
                let digest = offer.staged.as_ref()?.digest.clone();
                Some(Question {
                    act: Act::Install,
                    subject: offer.slug.clone(),
                    digest: Some(digest),
                })
            })
            .collect();
        for question in rest {
            self.consent(&question, spoken);
        }
    }

    fn consent(&mut self, question: &Question, spoken: &Spoken) {
        let consent = Consent {
            run: self.run.id.clone(),
            act: question.act,
            region: Some(self.run.region_for(&question.subject)),
            subject: question.subject.clone(),
            digest: question.digest.clone(),
            who: spoken.who.clone(),
            channel: spoken.channel,
            at: self.context.now,
        };
        self.run.consents.push(consent.clone());
        self.run.log(Body::Consent(consent), self.context.now);
    }

    /// Installs the current candidate, or asks first where no yes covers it.
    fn install(&mut self) {
        let Some(offer) = self.run.current().cloned() else { return self.fail(End::InstallFailed) };
        let Some(staged) = offer.staged.clone() else { return self.ask_install(&offer) };
        let by_reflex = self.run.mode == Mode::Reflex
            && self.context.policy.install == ReflexInstall::Notify
            && self.was_approved(&offer);
        if self.run.covers(&offer) || by_reflex {
            self.effects.push(Effect::Install { slug: offer.slug, digest: staged.digest });
            self.run.state = State::Install;
        } else {
            self.ask_install(&offer);
        }
    }

    fn installed(&mut self, digest: &str) {
        let Some(offer) = self.run.current().cloned() else { return self.fail(End::InstallFailed) };
        if offer.staged.as_ref().map(|staged| staged.digest.as_str()) != Some(digest) {
            return self.install_failed("the installed bytes are not those that were approved");
        }
        self.stat(StatKey::Installs);
        self.run.installed = Some(offer.slug.clone());
        self.effects.push(Effect::MakePlan(offer.slug));
        self.run.state = State::Plan { asked: None };
    }

    fn install_failed(&mut self, detail: &str) {
        if let Some(offer) = self.run.candidates.get_mut(self.run.cursor) {
            offer.failed = Some(detail.to_owned());
        }
        // Another candidate is another skill: its plan is asked about.
        self.run.mode = Mode::Standard;
        if self.turn_to_usable() {
            self.install();
        }
    }

    fn note_attempt(
        &mut self,
        offer: &Offer,
        stage: Stage,
        kind: Option<FailureKind>,
        detail: &str,
        attempts: u32,
    ) {
        self.run.attempts.push(Attempt {
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
        let Some(offer) = self.run.current().cloned() else { return self.fail(End::InstallFailed) };
        if self.run.mode == Mode::Reflex {
            self.stat(StatKey::ReflexesFired);
            return self.execute(1);
        }
        let question = Question { act: Act::Plan, subject: offer.slug, digest: None };
        self.effects.push(Effect::Ask(question));
        self.run.state = State::Plan { asked: Some(self.context.now) };
    }

    fn plan_answered(&mut self, asked: Stamp, spoken: &Spoken) -> Result<(), Refused> {
        match spoken.answer {
            _ if self.expired(asked) => self.release(End::Expired),
            Answer::No => self.release(End::Declined),
            Answer::Others => return Err(Refused::NotNow),
            Answer::Yes(_) => {
                let subject = self.run.current().map(|offer| offer.slug.clone());
                let subject = subject.unwrap_or_default();
                admissible(Act::Plan, spoken, self.context.relay, self.verdict_of(&subject))?;
                self.consent(&Question { act: Act::Plan, subject, digest: None }, spoken);
                self.execute(1);
            }
        }
        Ok(())
    }

    fn execute(&mut self, attempt: u32) {
        let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
        self.effects.push(Effect::Execute(slug));
        self.run.state = State::Execute { attempt };
    }

    /// The failure table: what happens before an outcome counts.
    fn finished(&mut self, finish: Finish, attempt: u32) {
        let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
        let first = attempt == 1;
        let pending = match (finish.result, finish.failed()) {
            (Verdict::Failure, Some(FailureKind::ApiError)) if first => {
                self.effects.push(Effect::Wait(RETRY_AFTER_MS));
                Some(Pending::Wait)
            }
            (Verdict::Failure, Some(FailureKind::DependencyMissing)) if first => {
                let subject = finish.command.clone().or_else(|| finish.key.clone());
                let question = Question {
                    act: Act::Dependency,
                    subject: subject.unwrap_or_else(|| slug.clone()),
                    digest: None,
                };
                self.effects.push(Effect::Ask(question));
                Some(Pending::Dependency)
            }
            (Verdict::Failure, Some(FailureKind::AuthError)) if first => {
                self.effects.push(Effect::AskCredentials(slug));
                Some(Pending::Credentials)
            }
            _ => None,
        };
        match pending {
            Some(pending) => self.run.state = State::Outcome { finish, attempt, pending },
            None => self.learn(finish, attempt),
        }
    }

    fn pending(
        &mut self,
        finish: Finish,
        attempt: u32,
        pending: Pending,
        event: Event,
    ) -> Result<(), Refused> {
        match (pending, event) {
            (Pending::Wait, Event::TimeUp) => self.execute(attempt + 1),
            // Whoever uses the skill has tried it again meanwhile.
            (Pending::Wait | Pending::Credentials | Pending::Dependency, Event::Finished(told)) => {
                self.finished(told, attempt + 1);
            }
            (Pending::HowItWent, Event::Finished(told)) => self.learn(told, attempt),
            (Pending::Installing, Event::DependencyInstalled(true)) => self.execute(attempt + 1),
            (Pending::Installing, Event::DependencyInstalled(false)) => self.learn(finish, attempt),
            (Pending::Dependency, Event::Answered(spoken)) => match spoken.answer {
                Answer::Yes(_) => {
                    let allow = ScanVerdict::Allow;
                    admissible(Act::Dependency, &spoken, self.context.relay, allow)?;
                    let command = finish.command.clone().or_else(|| finish.key.clone());
                    let command = command.unwrap_or_default();
                    let question =
                        Question { act: Act::Dependency, subject: command.clone(), digest: None };
                    self.consent(&question, &spoken);
                    self.effects.push(Effect::InstallDependency(command));
                    let pending = Pending::Installing;
                    self.run.state = State::Outcome { finish, attempt, pending };
                }
                Answer::No => self.learn(finish, attempt),
                Answer::Others => return Err(Refused::NotNow),
            },
            // The person says whether the credentials are right now; nothing is retried otherwise.
            (Pending::Credentials, Event::Answered(spoken)) => match spoken.answer {
                Answer::Yes(_) => self.execute(attempt + 1),
                Answer::No => self.learn(finish, attempt),
                Answer::Others => return Err(Refused::NotNow),
            },
            _ => return Err(Refused::NotNow),
        }
        Ok(())
    }

    /// One outcome per candidate: its record goes into the outbox here and nowhere else.
    fn learn(&mut self, finish: Finish, attempt: u32) {
        let Some(offer) = self.run.current().cloned() else { return self.fail(End::AllCandidates) };
        let detail = finish.detail.clone().unwrap_or_default();
        self.note_attempt(&offer, Stage::Execute, finish.failed(), &detail, attempt);
        let outcome = outcome::outcome(&self.run, &offer, &finish, attempt);
        let record = self.run.log(Body::Outcome(Box::new(outcome.clone())), self.context.now);
        // Words are learned only where no pattern knew the task and a search brought it to a good end.
        let learns = finish.result == Verdict::Success && !self.run.hit && self.run.searches > 0;
        let task = self.run.task.clone().filter(|_| learns);
        self.effects.push(Effect::Learn { record, outcome: Box::new(outcome), task });
        self.run.state = State::Learn { finish, record };
    }

    fn learned(&mut self, finish: &Finish, worth_keeping: bool) {
        match finish.result {
            Verdict::Success if worth_keeping => {
                let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
                let question = Question { act: Act::Retain, subject: slug, digest: None };
                self.effects.push(Effect::Ask(question));
                self.run.state = State::Retain { asked: self.context.now };
            }
            Verdict::Success | Verdict::Unknown => self.release(End::Released),
            Verdict::Failure => self.offer_switch(),
        }
    }

    /// After a failure the skill goes, and the next one is tried only after a yes.
    fn offer_switch(&mut self) {
        let next = self.run.candidates[(self.run.cursor + 1).min(self.run.candidates.len())..]
            .iter()
            .find(|offer| offer.failed.is_none())
            .cloned();
        let Some(next) = next.filter(|_| self.run.switches < MAX_SWITCHES) else {
            return self.release(End::AllCandidates);
        };
        self.run.mode = Mode::Standard;
        // It stays noted until the person has answered: after a crash it is uninstalled again.
        self.effects.push(Effect::Uninstall(self.run.installed.clone()));
        // Candidates between here and there failed at staging; they were never tried.
        let place = self.run.candidates.iter().position(|offer| offer.slug == next.slug);
        self.run.cursor = place.unwrap_or(self.run.cursor + 1) - 1;
        let digest = next.staged.as_ref().map(|staged| staged.digest.clone());
        if self.run.covers(&next) {
            self.ask(Act::SwitchCandidate, &next.slug, digest);
        } else {
            // A yes to installing it is a yes to switching to it.
            self.ask(Act::Install, &next.slug, digest);
        }
    }

    fn kept(&mut self, asked: Stamp, spoken: &Spoken) -> Result<(), Refused> {
        match spoken.answer {
            _ if self.expired(asked) => self.release(End::Released),
            Answer::No => self.release(End::Released),
            Answer::Others => return Err(Refused::NotNow),
            Answer::Yes(_) => {
                let slug = self.run.current().map(|offer| offer.slug.clone()).unwrap_or_default();
                admissible(Act::Retain, spoken, self.context.relay, self.verdict_of(&slug))?;
                let question = Question { act: Act::Retain, subject: slug, digest: None };
                self.consent(&question, spoken);
                if let Some(place) = self.place() {
                    self.run.log(Body::Retained(place), self.context.now);
                }
                self.run.installed = None;
                self.close(End::Retained);
            }
        }
        Ok(())
    }

    fn place(&self) -> Option<Place> {
        let slug = self.run.current()?.slug.clone();
        let region = self.run.region_for(&slug);
        Some(Place { slug, region, run: Some(self.run.id.clone()) })
    }

    fn release(&mut self, then: End) {
        self.effects.push(Effect::Uninstall(self.run.installed.clone()));
        self.run.state = State::Release { then };
    }

    fn uninstalled(&mut self, then: End) {
        if self.run.installed.take().is_some()
            && let Some(place) = self.place()
        {
            self.run.log(Body::Released(place), self.context.now);
        }
        match then {
            End::AllCandidates => self.fail(then),
            _ => self.close(then),
        }
    }

    /// Ends the run with a report.
    fn fail(&mut self, end: End) {
        self.effects.push(Effect::Tell(Report::of(&self.run)));
        self.close(end);
    }

    fn close(&mut self, end: End) {
        self.run.state = State::Closed { end };
    }
}
