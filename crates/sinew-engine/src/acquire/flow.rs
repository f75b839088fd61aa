//! The loop: what must be done is done, what came of it takes the run on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use sinew_cortex::acquire::{
    ANSWER_WITHIN_MS, AcquireEffect, AcquireEnding, AcquireEvent, AcquireRun, AcquireState,
    AcquireStep, ChosenSkill, ConsentAnswer, ConsentChannel, ConsentReply, ConsentScope, UseReport,
};
use sinew_cortex::failure::FailureKind;
use sinew_settings::{Actor, ErrorCode};

use super::host::{AcquireHost, AcquireProgress, PauseEnd, ReadySkill, UnattendedHost};
use super::market::{FetchedCandidate, MarketListing, SkillMarket};
use super::plan;
use crate::approval::{Approval, ConsentAct, PlanStep};
use crate::routing::read_skill;
use crate::{Cortex, Engine, EngineError, HubHandle};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// What is to be done, and what the caller knows about it.
#[derive(Debug, Clone, Default)]
pub struct AcquireRequest {
    /// The task, in their words.
    pub task: String,
    /// Its area, where the caller knows better than the memory.
    pub region: Option<String>,
    /// English words to search with: three to five, or none.
    pub keywords: Vec<String>,
    /// Go on although an installed skill seems to fit.
    pub anyway: bool,
    /// The one skill that is wanted, by its reference; nothing else is offered then.
    pub chosen: Option<ChosenSkill>,
    /// The task only reads: a skill that changes anything is no candidate.
    pub read_only: bool,
}

/// A run, and what it waits for.
#[derive(Debug, Clone, Serialize)]
pub struct AcquireStatus {
    /// The run.
    pub run: AcquireRun,
    /// What it waits for.
    pub waits: AcquireWait,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "for", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AcquireWait {
    /// A person's answer.
    Approval {
        /// The question.
        approval: Box<Approval>,
    },
    /// The end of the time in which a reflex can be cancelled.
    Notice,
    /// A use of the skill, and a report of it.
    Use {
        /// The skill.
        slug: String,
        /// Its folder.
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        folder: PathBuf,
    },
    /// The outcome of a use that was cut short.
    Outcome {
        /// The skill.
        slug: String,
    },
    /// Credentials.
    Credentials {
        /// The skill.
        slug: String,
    },
    /// The one retry.
    Retry,
    /// Nothing: it is over.
    Nothing {
        /// How it ended.
        end: AcquireEnding,
    },
}

/// The flow over a market.
pub struct AcquireFlow<'a> {
    engine: &'a Engine,
    market: &'a dyn SkillMarket,
}

impl<'a> HubHandle<'a> {
    /// The acquisition flow over a market.
    pub fn acquisition(&self, market: &'a dyn SkillMarket) -> AcquireFlow<'a> {
        AcquireFlow { engine: self.engine, market }
    }
}

impl AcquireFlow<'_> {
    /// Begins a run for a task, and takes it as far as the host can.
    pub fn begin(
        &self,
        wish: &AcquireRequest,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        self.close_overdue()?;
        let cortex = self.engine.cortex()?;
        let run = cortex.begin_run(wish)?;
        let step = AcquireStep { run, effects: vec![AcquireEffect::Recall] };
        self.drive(cortex, host).go(step)
    }

    /// Takes up a run where it stands.
    pub fn resume(
        &self,
        run: &str,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        let step = cortex.resume_run(run)?;
        self.drive(cortex, host).go(step)
    }

    /// Goes on after a notice that was shown and not cancelled in time.
    pub fn resume_after_notice(
        &self,
        run: &str,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        match cortex.run(run)?.state {
            AcquireState::Notice { until } if cortex.now() >= until => {
                self.drive(cortex, host).event(run, &AcquireEvent::TimeUp)
            }
            AcquireState::Notice { until } => Err(EngineError::new(
                ErrorCode::NotYet,
                format!("the person may cancel until {until}"),
            )),
            _ => self.resume(run, host),
        }
    }

    /// Tells a run how the use of its skill went, and goes on: to learn, to ask, to take it away.
    pub fn report(
        &self,
        run: &str,
        finish: UseReport,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        let standing = cortex.run(run)?;
        let mut drive = self.drive(cortex, host);
        let finish = drive.complete_report(&standing, finish)?;
        drive.event(run, &AcquireEvent::Finished(finish))
    }

    /// Puts another one of the shown candidates first, and asks about it.
    pub fn pick(
        &self,
        run: &str,
        slug: &str,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        let standing = cortex.run(run)?;
        let drive = self.drive(cortex, host);
        if matches!(standing.state, AcquireState::Approve { .. }) {
            drive.withdraw_questions(&standing)?;
        }
        drive.event(run, &AcquireEvent::Picked(slug.to_owned()))
    }

    /// Stops a run. What it installed is taken away.
    pub fn cancel(
        &self,
        run: &str,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        self.drive(cortex, host).event(run, &AcquireEvent::Cancelled)
    }

    /// Tells a run what the session in which its skill was used came to. No person is asked first, so that
    /// this may happen behind an agent's back.
    pub(crate) fn settle(
        &self,
        run: &str,
        finish: UseReport,
        host: &mut dyn AcquireHost,
    ) -> Result<AcquireStatus, EngineError> {
        let cortex = self.engine.cortex()?;
        let standing = cortex.run(run)?;
        let mut drive = self.drive(cortex, host);
        let finish = drive.complete_report(&standing, finish)?;
        drive.event(run, &AcquireEvent::Settled(finish))
    }

    /// Ends runs that nothing was heard of for longer than `cortex.runTimeout`, and those whose question
    /// expired: nothing is learned of them, and what they installed is taken away. Gives those that ended.
    pub fn close_overdue(&self) -> Result<Vec<AcquireRun>, EngineError> {
        let cortex = self.engine.cortex()?;
        self.close_expired(&cortex)?;
        let most = i64::from(self.engine.config.cortex.run_timeout).saturating_mul(HOUR_MS);
        let mut closed = Vec::new();
        for run in cortex.open_runs()? {
            if cortex.now().ms() - run.updated.ms() <= most {
                continue;
            }
            let ended = match run.state {
                AcquireState::Learn { .. } | AcquireState::Release { .. } => {
                    self.resume(&run.id, &mut UnattendedHost)
                }
                _ => self.drive(cortex, &mut UnattendedHost).event(&run.id, &AcquireEvent::Overdue),
            };
            match ended {
                Ok(standing) => closed.push(standing.run),
                Err(error) => {
                    tracing::warn!(run = run.id, %error, "an overdue run could not be ended");
                }
            }
        }
        Ok(closed)
    }

    /// Runs that are not over, oldest first.
    pub fn open_runs(&self) -> Result<Vec<AcquireRun>, EngineError> {
        self.engine.cortex()?.open_runs()
    }

    /// Closes runs whose question expired without an answer.
    fn close_expired(&self, cortex: &Cortex<'_>) -> Result<(), EngineError> {
        let now = cortex.now();
        for run in cortex.open_runs()? {
            let asked = match run.state {
                AcquireState::Approve { asked, .. }
                | AcquireState::Plan { asked: Some(asked) }
                | AcquireState::Retain { asked } => asked,
                _ => continue,
            };
            if now.ms() - asked.ms() > ANSWER_WITHIN_MS {
                // One that cannot be closed now stays open, and does no harm.
                let _ =
                    self.drive(*cortex, &mut UnattendedHost).event(&run.id, &AcquireEvent::TimeUp);
            }
        }
        Ok(())
    }

    fn drive<'d>(&'d self, cortex: Cortex<'d>, host: &'d mut dyn AcquireHost) -> AcquireDriver<'d> {
        AcquireDriver {
            engine: self.engine,
            market: self.market,
            cortex,
            host,
            listings: BTreeMap::new(),
            fetched: BTreeMap::new(),
            shown: false,
        }
    }
}

/// What follows from an effect.
pub(super) enum EffectFollowUp {
    /// Nothing by itself.
    Nothing,
    /// The run goes on.
    Event(AcquireEvent),
    /// Something has to happen outside.
    Waits(AcquireWait),
}

/// A run on its way through this process.
pub(super) struct AcquireDriver<'a> {
    pub(super) engine: &'a Engine,
    pub(super) market: &'a dyn SkillMarket,
    pub(super) cortex: Cortex<'a>,
    pub(super) host: &'a mut dyn AcquireHost,
    /// What the search said about each candidate.
    pub(super) listings: BTreeMap<String, MarketListing>,
    /// What was fetched of each.
    pub(super) fetched: BTreeMap<String, FetchedCandidate>,
    /// Whether the candidates were shown.
    pub(super) shown: bool,
}

impl AcquireDriver<'_> {
    pub(super) fn event(
        self,
        run: &str,
        event: &AcquireEvent,
    ) -> Result<AcquireStatus, EngineError> {
        let step = self.cortex.step_run(run, event, self.engine.approvals().relay())?;
        self.go(step)
    }

    fn go(mut self, mut step: AcquireStep) -> Result<AcquireStatus, EngineError> {
        self.host.on_progress(&AcquireProgress::Run {
            run: &step.run.id,
            state: step.run.state.name(),
            signals: &step.run.signals,
        });
        loop {
            let AcquireStep { run, effects } = step;
            let mut next = None;
            for effect in &effects {
                match self.perform(&run, effect)? {
                    EffectFollowUp::Nothing => {}
                    EffectFollowUp::Event(event) => next = Some(event),
                    EffectFollowUp::Waits(waits) => return Ok(AcquireStatus { run, waits }),
                }
            }
            match (next, &run.state) {
                (Some(event), _) => {
                    step =
                        self.cortex.step_run(&run.id, &event, self.engine.approvals().relay())?;
                }
                (None, AcquireState::Closed { end }) => {
                    let end = *end;
                    if let (AcquireEnding::Retained, Some(kept)) = (end, run.current()) {
                        self.market.retain(&kept.slug, &run.id)?;
                    }
                    self.withdraw_questions(&run)?;
                    self.host.on_progress(&AcquireProgress::Closed { run: &run.id, end });
                    return Ok(AcquireStatus { run, waits: AcquireWait::Nothing { end } });
                }
                (None, state) => {
                    let state = state.name();
                    let message = format!("the run {} is stuck in {state}", run.id);
                    return Err(EngineError::new(ErrorCode::RunStuck, message));
                }
            }
        }
    }

    fn perform(
        &mut self,
        run: &AcquireRun,
        effect: &AcquireEffect,
    ) -> Result<EffectFollowUp, EngineError> {
        Ok(match effect {
            AcquireEffect::Recall => EffectFollowUp::Event(self.recall(run)),
            AcquireEffect::Search { keywords, without } => {
                EffectFollowUp::Event(AcquireEvent::Found(self.search(run, keywords, without)?))
            }
            AcquireEffect::Fetch(slugs) => EffectFollowUp::Event(self.fetch(run, slugs)),
            AcquireEffect::Notify { text, ms } => self.notify(run, text, *ms)?,
            AcquireEffect::Ask(question) => {
                if question.act == ConsentAct::Install {
                    self.present(run)?;
                }
                self.ask(run, question)?
            }
            AcquireEffect::Install { slug, digest } => {
                EffectFollowUp::Event(self.install(run, slug, digest)?)
            }
            AcquireEffect::MakePlan(slug) => {
                let steps = self.steps(run, slug)?;
                self.host.on_progress(&AcquireProgress::Plan { slug, steps: &steps });
                EffectFollowUp::Event(AcquireEvent::Planned)
            }
            AcquireEffect::Execute(slug) => self.execute(run, slug)?,
            AcquireEffect::Wait(ms) => {
                self.host.on_progress(&AcquireProgress::Waiting { ms: *ms });
                match self.host.wait(*ms) {
                    PauseEnd::Passed => EffectFollowUp::Event(AcquireEvent::TimeUp),
                    PauseEnd::Cancelled => EffectFollowUp::Event(AcquireEvent::Cancelled),
                    PauseEnd::Later => EffectFollowUp::Waits(AcquireWait::Retry),
                }
            }
            AcquireEffect::InstallDependency(command) => {
                let installed = self.install_dependency(run, command)?;
                self.host.on_progress(&AcquireProgress::Dependency { command, installed });
                EffectFollowUp::Event(AcquireEvent::DependencyInstalled(installed))
            }
            AcquireEffect::AskCredentials(slug) => self.ask_credentials(run, slug)?,
            AcquireEffect::AskOutcome(slug) => match self.host.ask_outcome(slug) {
                Some(finish) => EffectFollowUp::Event(AcquireEvent::Finished(
                    self.complete_report(run, finish)?,
                )),
                None => EffectFollowUp::Waits(AcquireWait::Outcome { slug: slug.clone() }),
            },
            AcquireEffect::Learn { record, outcome, task, point } => {
                let learned = self.cortex.learn_from_run_with(
                    *record,
                    outcome,
                    task.as_deref(),
                    point.as_deref(),
                )?;
                let (region, slug) = (outcome.region.as_str(), outcome.slug.as_str());
                let known = self.cortex.with_memory(|memory| {
                    memory.candidate(region, slug).map(|found| (found.weight, found.reflex))
                })?;
                let (weight, reflex) = known.unzip();
                let reflex = reflex.unwrap_or(false);
                self.host.on_progress(&AcquireProgress::Learned { region, slug, weight, reflex });
                EffectFollowUp::Event(learned)
            }
            AcquireEffect::Uninstall(slug) => self.uninstall(run, slug.as_deref())?,
            AcquireEffect::Tell(report) => {
                self.host.on_progress(&AcquireProgress::Report { report });
                EffectFollowUp::Nothing
            }
        })
    }

    fn notify(
        &mut self,
        run: &AcquireRun,
        text: &str,
        ms: u64,
    ) -> Result<EffectFollowUp, EngineError> {
        self.present(run)?;
        self.host.on_progress(&AcquireProgress::Notice { text, cancel_window_ms: ms });
        // With a question behind it, it is the question that waits.
        if !matches!(run.state, AcquireState::Notice { .. }) {
            return Ok(EffectFollowUp::Nothing);
        }
        Ok(match self.host.offer_cancel(ms) {
            PauseEnd::Passed => EffectFollowUp::Event(AcquireEvent::TimeUp),
            PauseEnd::Cancelled => EffectFollowUp::Event(AcquireEvent::Cancelled),
            PauseEnd::Later => EffectFollowUp::Waits(AcquireWait::Notice),
        })
    }

    /// The steps of a skill, from its text as it is on disk.
    pub(super) fn steps(
        &mut self,
        run: &AcquireRun,
        slug: &str,
    ) -> Result<Vec<PlanStep>, EngineError> {
        let on_disk = self.market.installed(slug)?.and_then(|placed| {
            let bytes = read_skill(&placed.folder.join(sinew_catalog::SKILL_FILE))?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        });
        let text = match (on_disk, run.current()) {
            (Some(text), _) => text,
            (None, Some(offer)) => self.ensure_fetched(&offer.clone())?.skill_md,
            (None, None) => String::new(),
        };
        Ok(plan::steps(&text))
    }

    fn execute(&mut self, run: &AcquireRun, slug: &str) -> Result<EffectFollowUp, EngineError> {
        let agreed =
            run.current().and_then(|offer| offer.staged.as_ref()).map(|s| s.digest.as_str());
        let placed = self.market.installed(slug)?;
        let Some(placed) = placed.filter(|placed| Some(placed.digest.as_str()) == agreed) else {
            let finish = UseReport {
                detail: Some("its files changed after they were approved".to_owned()),
                ..UseReport::failure(FailureKind::RuntimeError)
            };
            return Ok(EffectFollowUp::Event(AcquireEvent::Finished(finish)));
        };
        let folder = placed.folder.display().to_string();
        self.host.on_progress(&AcquireProgress::Use { slug, folder });
        let ready = ReadySkill { run: &run.id, slug, folder: &placed.folder };
        let Some(finish) = self.host.use_skill(&ready) else {
            return Ok(EffectFollowUp::Waits(AcquireWait::Use {
                slug: slug.to_owned(),
                folder: placed.folder,
            }));
        };
        let finish = self.complete_report(run, finish)?;
        self.host.on_progress(&AcquireProgress::Finished { finish: &finish });
        Ok(EffectFollowUp::Event(AcquireEvent::Finished(finish)))
    }

    /// A report with what this machine knows: what hooks saw change meanwhile, whether the variables and
    /// programs are there that lessons are about, and how a missing program is installed.
    pub(super) fn complete_report(
        &mut self,
        run: &AcquireRun,
        mut finish: UseReport,
    ) -> Result<UseReport, EngineError> {
        let Some(offer) = run.current().cloned() else { return Ok(finish) };
        if let Some(placed) = self.market.installed(&offer.slug)? {
            let since = u64::try_from(run.started.ms()).unwrap_or_default();
            for seen in self.engine.changes_seen_by_hooks(&placed.folder, since) {
                if !finish.side_effects.contains(&seen) {
                    finish.side_effects.push(seen);
                }
            }
        }
        let region = run.region_for(&offer.slug);
        let mut tags = finish.side_effects.clone();
        tags.extend(offer.staged.into_iter().flat_map(|staged| staged.side_effects));
        for (probe, found) in self.cortex.probes(&region, &tags, finish.key.as_deref())? {
            finish.probes.entry(probe).or_insert(found);
        }
        if finish.command.is_none() && finish.failed() == Some(FailureKind::DependencyMissing) {
            finish.command = self.install_command(&offer.slug, finish.key.as_deref())?;
        }
        Ok(finish)
    }

    fn ask_credentials(
        &mut self,
        run: &AcquireRun,
        slug: &str,
    ) -> Result<EffectFollowUp, EngineError> {
        let tags = run.current().and_then(|offer| offer.staged.as_ref());
        let names: Vec<String> = tags
            .iter()
            .flat_map(|staged| &staged.side_effects)
            .filter_map(|tag| tag.strip_prefix("read:env:").map(str::to_owned))
            .collect();
        self.host.on_progress(&AcquireProgress::Credentials { slug, names: &names });
        let (who, channel) = self.host.respondent();
        Ok(match self.host.confirm_credentials(slug, &names) {
            Some(right) => EffectFollowUp::Event(AcquireEvent::Answered(ConsentReply {
                answer: if right {
                    ConsentAnswer::Yes(ConsentScope::OnlyThis)
                } else {
                    ConsentAnswer::No
                },
                who: who.to_string(),
                channel,
                can_elicit: false,
            })),
            None => EffectFollowUp::Waits(AcquireWait::Credentials { slug: slug.to_owned() }),
        })
    }

    pub(super) fn respondent(&self) -> (Actor, ConsentChannel) {
        self.host.respondent()
    }
}
