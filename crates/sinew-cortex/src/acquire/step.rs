//! What can happen to a run, what it asks the engine to do, and which step an event is.
//!
//! The steps themselves are in `candidate_steps` (from a task to a candidate), `install_steps` (the
//! answer and the install) and `use_steps` (plan, use, outcome, release).

use sinew_settings::config::RelayPolicy;

use super::ANSWER_WITHIN_MS;
use super::consent::{AcquireRefusal, ConsentReply};
use super::outcome::{AcquireReport, UseReport};
use super::run::{
    AcquireCandidate, AcquireEnding, AcquireRun, AcquireState, CandidateVerdict, ConsentQuestion,
    StagedCandidate,
};
use crate::id::Ulid;
use crate::memory::CortexMemory;
use crate::policy::CortexPolicy;
use crate::record::{RecordBody, SkillOutcome, StatKey};
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
    /// A person wants other candidates instead of an answer.
    OthersWanted,
    /// A person chose another one of those that were shown.
    Picked(String),
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
    /// The session in which the skill was used says how it went. No person is asked first.
    Settled(UseReport),
    /// Nothing was heard of the run for too long.
    Overdue,
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
        /// What was said about the skill's description.
        point: Option<String>,
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

/// A run in the middle of a step.
pub(super) struct AcquireStepper<'a> {
    pub(super) run: AcquireRun,
    pub(super) effects: Vec<AcquireEffect>,
    pub(super) context: AcquireContext<'a>,
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
            (AcquireState::Approve { question, asked }, AcquireEvent::OthersWanted) => {
                self.others_wanted(&question, asked)?;
            }
            (AcquireState::Approve { question, asked }, AcquireEvent::Picked(slug)) => {
                self.picked(&question, asked, &slug)?;
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
            (
                AcquireState::Execute { attempt } | AcquireState::Outcome { attempt, .. },
                AcquireEvent::Settled(finish),
            ) => self.learn(finish, attempt),
            (
                AcquireState::Execute { attempt } | AcquireState::Outcome { attempt, .. },
                AcquireEvent::Overdue,
            ) => self.learn(UseReport::unknown(), attempt),
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
            (AcquireState::Retain { .. }, AcquireEvent::Overdue) => {
                self.release(AcquireEnding::Released);
            }
            (
                AcquireState::Recall
                | AcquireState::Search
                | AcquireState::Present
                | AcquireState::Notice { .. }
                | AcquireState::Approve { .. }
                | AcquireState::Install
                | AcquireState::Plan { .. },
                AcquireEvent::Overdue,
            ) => self.release(AcquireEnding::Expired),
            _ => return Err(AcquireRefusal::NotNow),
        }
        Ok(())
    }

    pub(super) fn stat(&mut self, key: StatKey) {
        self.run.log(RecordBody::Stat { key, by: 1 }, self.context.now);
    }

    pub(super) fn expired(&self, asked: UtcInstant) -> bool {
        self.context.now.ms() - asked.ms() > ANSWER_WITHIN_MS
    }

    pub(super) fn verdict_of(&self, slug: &str) -> CandidateVerdict {
        let offer = self.run.candidates.iter().find(|offer| offer.slug == slug);
        let staged = offer.and_then(|offer| offer.staged.as_ref());
        staged.map_or(CandidateVerdict::Allow, |staged| staged.verdict)
    }

    pub(super) fn release(&mut self, then: AcquireEnding) {
        self.effects.push(AcquireEffect::Uninstall(self.run.installed.clone()));
        self.run.state = AcquireState::Release { then };
    }

    /// Ends the run with a report.
    pub(super) fn fail(&mut self, end: AcquireEnding) {
        self.effects.push(AcquireEffect::Tell(AcquireReport::of(&self.run)));
        self.close(end);
    }

    pub(super) fn close(&mut self, end: AcquireEnding) {
        self.run.state = AcquireState::Closed { end };
    }
}
