//! The loop: what must be done is done, what came of it takes the run on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use sinew_cortex::acquire::{
    ANSWER_WITHIN_MS, Answer, Channel, Chosen, Effect, End, Event, Finish, Run, Scope, Spoken,
    State, Step,
};
use sinew_cortex::failure::FailureKind;

use super::host::{Host, Paused, Ready, Told, Unattended};
use super::market::{Fetched, Listing, Market};
use super::plan;
use crate::approval::{Act, Approval, PlanStep};
use crate::route::read_skill;
use crate::{Actor, Cortex, Engine, Error, ErrorKind};

/// What somebody wants to be done, and what they know about it.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// The task, in their words.
    pub task: String,
    /// Its area, where the caller knows better than the memory.
    pub region: Option<String>,
    /// English words to search with: three to five, or none.
    pub keywords: Vec<String>,
    /// Go on although an installed skill seems to fit.
    pub anyway: bool,
    /// The one skill that is wanted, by its reference; nothing else is offered then.
    pub chosen: Option<Chosen>,
    /// The task only reads: a skill that changes anything is no candidate.
    pub read_only: bool,
}

/// A run, and what it waits for.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The run.
    pub run: Run,
    /// What it waits for.
    pub waits: Waits,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Waits {
    /// A person's answer.
    Approval {
        /// The question.
        approval: Box<Approval>,
    },
    /// The end of the time in which a reflex can be cancelled.
    Notice,
    /// Whoever uses the skill, and reports.
    Use {
        /// The skill.
        slug: String,
        /// Its folder.
        folder: PathBuf,
    },
    /// Somebody who knows how a use went that was cut short.
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
        end: End,
    },
}

/// The flow over a market.
pub struct Acquisition<'a> {
    engine: &'a Engine,
    market: &'a dyn Market,
}

impl Engine {
    /// The acquisition flow over a market.
    pub fn acquisition<'a>(&'a self, market: &'a dyn Market) -> Acquisition<'a> {
        Acquisition { engine: self, market }
    }
}

impl Acquisition<'_> {
    /// Begins a run for a task, and takes it as far as the host can.
    pub fn begin(&self, wish: &Wish, host: &mut dyn Host) -> Result<Standing, Error> {
        let cortex = self.engine.cortex()?;
        self.close_expired(&cortex)?;
        let run = cortex.begin_run(wish)?;
        let step = Step { run, effects: vec![Effect::Recall] };
        self.drive(cortex, host).go(step)
    }

    /// Takes up a run where it stands.
    pub fn carry_on(&self, run: &str, host: &mut dyn Host) -> Result<Standing, Error> {
        let cortex = self.engine.cortex()?;
        let step = cortex.resume_run(run)?;
        self.drive(cortex, host).go(step)
    }

    /// Goes on after a notice that somebody saw and did not cancel in time.
    pub fn after_notice(&self, run: &str, host: &mut dyn Host) -> Result<Standing, Error> {
        let cortex = self.engine.cortex()?;
        match cortex.run(run)?.state {
            State::Notice { until } if cortex.now() >= until => {
                self.drive(cortex, host).event(run, &Event::TimeUp)
            }
            State::Notice { until } => Err(Error::new(
                ErrorKind::Refused,
                "not-yet",
                format!("the person may cancel until {until}"),
            )),
            _ => self.carry_on(run, host),
        }
    }

    /// Tells a run how the use of its skill went, and goes on: to learn, to ask, to take it away.
    pub fn report(
        &self,
        run: &str,
        finish: Finish,
        host: &mut dyn Host,
    ) -> Result<Standing, Error> {
        let cortex = self.engine.cortex()?;
        let standing = cortex.run(run)?;
        let mut drive = self.drive(cortex, host);
        let finish = drive.looked_at(&standing, finish)?;
        drive.event(run, &Event::Finished(finish))
    }

    /// Stops a run. What it installed is taken away.
    pub fn cancel(&self, run: &str, host: &mut dyn Host) -> Result<Standing, Error> {
        let cortex = self.engine.cortex()?;
        self.drive(cortex, host).event(run, &Event::Cancelled)
    }

    /// Runs that are not over, oldest first.
    pub fn open(&self) -> Result<Vec<Run>, Error> {
        self.engine.cortex()?.open_runs()
    }

    /// Questions that nobody answered end their runs; the next one to begin cleans up.
    fn close_expired(&self, cortex: &Cortex<'_>) -> Result<(), Error> {
        let now = cortex.now();
        for run in cortex.open_runs()? {
            let asked = match run.state {
                State::Approve { asked, .. }
                | State::Plan { asked: Some(asked) }
                | State::Retain { asked } => asked,
                _ => continue,
            };
            if now.ms() - asked.ms() > ANSWER_WITHIN_MS {
                // One that cannot be closed now stays open, and stands in nobody's way.
                let _ = self.drive(*cortex, &mut Unattended).event(&run.id, &Event::TimeUp);
            }
        }
        Ok(())
    }

    fn drive<'d>(&'d self, cortex: Cortex<'d>, host: &'d mut dyn Host) -> Drive<'d> {
        Drive {
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
pub(super) enum Next {
    /// Nothing by itself.
    Nothing,
    /// The run goes on.
    Event(Event),
    /// Somebody else must do something.
    Waits(Waits),
}

/// A run on its way through this process.
pub(super) struct Drive<'a> {
    pub(super) engine: &'a Engine,
    pub(super) market: &'a dyn Market,
    pub(super) cortex: Cortex<'a>,
    pub(super) host: &'a mut dyn Host,
    /// What the search said about each candidate.
    pub(super) listings: BTreeMap<String, Listing>,
    /// What was fetched of each.
    pub(super) fetched: BTreeMap<String, Fetched>,
    /// Whether the candidates were shown.
    pub(super) shown: bool,
}

impl Drive<'_> {
    pub(super) fn event(self, run: &str, event: &Event) -> Result<Standing, Error> {
        let step = self.cortex.step_run(run, event, self.engine.approval_relay())?;
        self.go(step)
    }

    fn go(mut self, mut step: Step) -> Result<Standing, Error> {
        self.host.told(&Told::Run {
            run: &step.run.id,
            state: step.run.state.name(),
            signals: &step.run.signals,
        });
        loop {
            let Step { run, effects } = step;
            let mut next = None;
            for effect in &effects {
                match self.perform(&run, effect)? {
                    Next::Nothing => {}
                    Next::Event(event) => next = Some(event),
                    Next::Waits(waits) => return Ok(Standing { run, waits }),
                }
            }
            match (next, &run.state) {
                (Some(event), _) => {
                    step = self.cortex.step_run(&run.id, &event, self.engine.approval_relay())?;
                }
                (None, State::Closed { end }) => {
                    let end = *end;
                    if let (End::Retained, Some(kept)) = (end, run.current()) {
                        self.market.retain(&kept.slug, &run.id)?;
                    }
                    self.withdraw_questions(&run)?;
                    self.host.told(&Told::Closed { run: &run.id, end });
                    return Ok(Standing { run, waits: Waits::Nothing { end } });
                }
                (None, state) => {
                    let state = state.name();
                    let message = format!("the run {} stands still in {state}", run.id);
                    return Err(Error::new(ErrorKind::Environment, "stands-still", message));
                }
            }
        }
    }

    fn perform(&mut self, run: &Run, effect: &Effect) -> Result<Next, Error> {
        Ok(match effect {
            Effect::Recall => Next::Event(self.recall(run)),
            Effect::Search { keywords, without } => {
                Next::Event(Event::Found(self.search(run, keywords, without)?))
            }
            Effect::Fetch(slugs) => Next::Event(self.fetch(run, slugs)),
            Effect::Notify { text, ms } => self.notify(run, text, *ms)?,
            Effect::Ask(question) => {
                if question.act == Act::Install {
                    self.present(run)?;
                }
                self.ask(run, question)?
            }
            Effect::Install { slug, digest } => Next::Event(self.install(run, slug, digest)?),
            Effect::MakePlan(slug) => {
                let steps = self.steps(run, slug)?;
                self.host.told(&Told::Plan { slug, steps: &steps });
                Next::Event(Event::Planned)
            }
            Effect::Execute(slug) => self.execute(run, slug)?,
            Effect::Wait(ms) => {
                self.host.told(&Told::Waiting { ms: *ms });
                match self.host.wait(*ms) {
                    Paused::Passed => Next::Event(Event::TimeUp),
                    Paused::Cancelled => Next::Event(Event::Cancelled),
                    Paused::Later => Next::Waits(Waits::Retry),
                }
            }
            Effect::InstallDependency(command) => {
                let installed = self.install_dependency(run, command)?;
                self.host.told(&Told::Dependency { command, installed });
                Next::Event(Event::DependencyInstalled(installed))
            }
            Effect::AskCredentials(slug) => self.ask_credentials(run, slug)?,
            Effect::AskOutcome(slug) => match self.host.how_it_went(slug) {
                Some(finish) => Next::Event(Event::Finished(self.looked_at(run, finish)?)),
                None => Next::Waits(Waits::Outcome { slug: slug.clone() }),
            },
            Effect::Learn { record, outcome, task } => {
                let learned = self.cortex.learn_from_run(*record, outcome, task.as_deref())?;
                let (region, slug) = (outcome.region.as_str(), outcome.slug.as_str());
                let known = self.cortex.with_memory(|memory| {
                    memory.candidate(region, slug).map(|found| (found.weight, found.reflex))
                })?;
                let (weight, reflex) = known.unzip();
                let reflex = reflex.unwrap_or(false);
                self.host.told(&Told::Learned { region, slug, weight, reflex });
                Next::Event(learned)
            }
            Effect::Uninstall(slug) => self.uninstall(run, slug.as_deref())?,
            Effect::Tell(report) => {
                self.host.told(&Told::Report { report });
                Next::Nothing
            }
        })
    }

    fn notify(&mut self, run: &Run, text: &str, ms: u64) -> Result<Next, Error> {
        self.present(run)?;
        self.host.told(&Told::Notice { text, cancel_window_ms: ms });
        // With a question behind it, it is the question that waits.
        if !matches!(run.state, State::Notice { .. }) {
            return Ok(Next::Nothing);
        }
        Ok(match self.host.may_cancel(ms) {
            Paused::Passed => Next::Event(Event::TimeUp),
            Paused::Cancelled => Next::Event(Event::Cancelled),
            Paused::Later => Next::Waits(Waits::Notice),
        })
    }

    /// The steps of a skill, from its text as it is on disk.
    pub(super) fn steps(&mut self, run: &Run, slug: &str) -> Result<Vec<PlanStep>, Error> {
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

    fn execute(&mut self, run: &Run, slug: &str) -> Result<Next, Error> {
        let agreed =
            run.current().and_then(|offer| offer.staged.as_ref()).map(|s| s.digest.as_str());
        let placed = self.market.installed(slug)?;
        let Some(placed) = placed.filter(|placed| Some(placed.digest.as_str()) == agreed) else {
            let finish = Finish {
                detail: Some("its files changed after they were approved".to_owned()),
                ..Finish::failure(FailureKind::RuntimeError)
            };
            return Ok(Next::Event(Event::Finished(finish)));
        };
        let folder = placed.folder.display().to_string();
        self.host.told(&Told::Use { slug, folder });
        let ready = Ready { run: &run.id, slug, folder: &placed.folder };
        let Some(finish) = self.host.use_skill(&ready) else {
            return Ok(Next::Waits(Waits::Use { slug: slug.to_owned(), folder: placed.folder }));
        };
        let finish = self.looked_at(run, finish)?;
        self.host.told(&Told::Finished { finish: &finish });
        Ok(Next::Event(Event::Finished(finish)))
    }

    /// A report with what this machine knows: whether the variables and programs are there that
    /// lessons are about, and how a missing program is installed.
    pub(super) fn looked_at(&mut self, run: &Run, mut finish: Finish) -> Result<Finish, Error> {
        let Some(offer) = run.current().cloned() else { return Ok(finish) };
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

    fn ask_credentials(&mut self, run: &Run, slug: &str) -> Result<Next, Error> {
        let tags = run.current().and_then(|offer| offer.staged.as_ref());
        let names: Vec<String> = tags
            .iter()
            .flat_map(|staged| &staged.side_effects)
            .filter_map(|tag| tag.strip_prefix("read:env:").map(str::to_owned))
            .collect();
        self.host.told(&Told::Credentials { slug, names: &names });
        let (who, channel) = self.host.speaker();
        Ok(match self.host.credentials(slug, &names) {
            Some(right) => Next::Event(Event::Answered(Spoken {
                answer: if right { Answer::Yes(Scope::OnlyThis) } else { Answer::No },
                who: who.to_string(),
                channel,
                can_elicit: false,
            })),
            None => Next::Waits(Waits::Credentials { slug: slug.to_owned() }),
        })
    }

    pub(super) fn speaker(&self) -> (Actor, Channel) {
        self.host.speaker()
    }
}
