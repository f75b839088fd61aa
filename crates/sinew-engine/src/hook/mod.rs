//! Hooks: what an agent tells at each moment of a turn, and what it gets back.
//!
//! An agent starts a short process for each event. [`HookEvent::read`] understands what it says,
//! [`HookEvent::answer`] gives the text that is to be added, in the agent's own form, and leaves a line in
//! the session's journal. When the turn is over, the lines become what they mean: a captured
//! correction, a counted turn, outcomes of the skills that were opened. Whatever is late is done by
//! [`settle_all`] in a process that nobody waits for.
//!
//! What must never happen here: an agent that is blocked, told to stop, or kept waiting; a secret in
//! what is kept; text of a skill that reaches a prompt without being escaped.

mod agents;
mod context;
mod explain;
mod input;
mod journal;
mod json_lines;
mod log;
mod settlement;
mod spool;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew_catalog::{Catalog, CatalogEntry, Profile, references};
use sinew_cortex::UtcInstant;
use sinew_route::RouteDecision;
use sinew_settings::{Environment, ErrorKind, path_text};
use sinew_traces::{live_end, live_message, live_trace};

use crate::{
    Engine, EngineError, EngineOptions, LearnSource, ModelChoice, PromptOptions, settings, store,
};
use agents::HookAgent;
pub use agents::HookMoment;
use context::{HookOffer, MAX_OFFERS, OfferConfidence};
use input::{HookInput, MaskedText};
use journal::{EventNovelty, JournalLine, JournalTurn, SessionJournal, SpoolRecord};
use log::{HookDecision, HookDecisionKind, HookLog, LoggedMatch};

/// The largest event that is read. Agents send whole files; a message of megabytes is no message.
pub const MAX_EVENT: u64 = 4 << 20;

/// The tool of the MCP server that finds skills which the index has no room for.
const SEARCH_TOOL: &str = "find_skill";

/// Characters of a message that are routed.
const MAX_ROUTED: usize = 20_000;
/// Characters of a message that the log keeps.
const MAX_LOGGED: usize = 200;
/// Sessions that are looked at for work that was left.
const MAX_LOOKED_AT: usize = 32;
/// Approvals that are named at the start of a session.
const MAX_WAITING: usize = 8;
/// Ranked skills that the log keeps.
const LOGGED_RANKS: usize = 5;

/// An event that was understood.
#[derive(Debug)]
pub struct HookEvent {
    host: &'static HookAgent,
    moment: HookMoment,
    input: HookInput,
    session: String,
    started: Instant,
}

/// What came of an event.
#[derive(Debug, Default)]
pub struct HookReply {
    /// What the agent is to read.
    pub output: Option<Value>,
    /// Whether [`settle_all`] has something to do.
    pub work_left: bool,
}

impl HookEvent {
    /// Understands an event; `event` is a moment's word, or `auto` to take it from what was sent.
    pub fn read(
        agent: &str,
        event: &str,
        bytes: &[u8],
        started: Instant,
    ) -> Result<Self, EngineError> {
        let unread = |what: String| EngineError::new(ErrorKind::Usage, "unknown-event", what);
        let host = HookAgent::find(agent)
            .ok_or_else(|| unread(format!("the agent `{agent}` has no hooks that are known")))?;
        let input = HookInput::read(bytes)
            .ok_or_else(|| unread("standard input holds no JSON object".to_owned()))?;
        let moment = match event {
            "auto" => input.event().and_then(|event| host.moment(event)),
            word => HookMoment::of_word(word),
        };
        let moment = moment.ok_or_else(|| {
            unread(format!("the event `{}` is not known", input.event().unwrap_or(event)))
        })?;
        let session =
            input.session().ok_or_else(|| unread("the event names no session".to_owned()))?;
        Ok(Self { host, moment, input, session, started })
    }

    /// The moment.
    pub fn moment(&self) -> HookMoment {
        self.moment
    }

    /// Where the agent works.
    pub fn workspace(&self) -> Option<PathBuf> {
        self.input.cwd()
    }

    /// Whether the engine is needed for it. Where it is not, the answer takes a millisecond.
    pub fn needs_engine(&self) -> bool {
        let helper = self.input.subagent().is_some();
        match self.moment {
            HookMoment::SessionStart => !helper,
            HookMoment::UserPrompt => !helper && self.input.prompt().is_some(),
            HookMoment::Stop => !self.input.is_stop_loop(),
            HookMoment::SessionEnd => true,
            _ => false,
        }
    }

    /// Keeps what happened; also as a part of a run, where `is_live`.
    pub fn record_event(
        &self,
        env: &Environment,
        workspace: &Path,
        is_live: bool,
    ) -> Result<(), EngineError> {
        let key = self.input.key(self.moment);
        let line = match self.moment {
            HookMoment::UserPrompt if self.input.subagent().is_none() => {
                self.input.masked_prompt().map(|said| JournalLine::Prompt { key, said })
            }
            HookMoment::PostTool | HookMoment::ToolFailure => {
                self.input.tool_call(self.moment).map(|call| JournalLine::Step { key, call })
            }
            HookMoment::SubagentStop => self.input.subagent().map(|subagent| JournalLine::Step {
                key,
                call: input::ToolCall {
                    tool: "subagent".to_owned(),
                    failed: None,
                    used: None,
                    reported: None,
                    subagent: Some(subagent),
                },
            }),
            HookMoment::Stop if !self.input.is_stop_loop() => Some(JournalLine::Stop {
                key,
                at: env.clock.now_ms(),
                agent: self.host.name.to_owned(),
                session: self.session.clone(),
                workspace: workspace.to_owned(),
                said: self.input.masked_last_message(),
            }),
            _ => None,
        };
        match line {
            Some(line) => {
                let traced = is_live.then(|| self.traced(env, workspace)).flatten();
                let added = self.journal(env).add(&line, traced.as_ref());
                added.map(|_: EventNovelty| ()).map_err(|e| kept(&e))
            }
            None => Ok(()),
        }
    }

    /// What the session's trace keeps of it.
    fn traced(&self, env: &Environment, workspace: &Path) -> Option<SpoolRecord> {
        let at = now(env);
        let record = match self.moment {
            HookMoment::UserPrompt => live_message(self.input.prompt()?, &at),
            HookMoment::PostTool | HookMoment::ToolFailure => {
                self.input.live_step(self.moment, self.host.name, &at)?
            }
            HookMoment::Stop => live_end(self.input.last_message()),
            _ => return None,
        };
        let head = live_trace(self.host.name, &self.session, &workspace.to_string_lossy());
        Some(SpoolRecord { head, record })
    }

    /// Keeps what happened, and gives the answer. An error means that nothing is to be said.
    pub fn answer(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let is_live = engine.config.traces.learns_from_hooks();
        let note = || self.record_event(&engine.env, engine.workspace(), is_live);
        if self.moment == HookMoment::UserPrompt {
            // Looking for secrets takes a third as long as finding the skill; neither waits.
            return thread::scope(|scope| {
                let noted = scope.spawn(note);
                let reply = self.user_prompt(engine);
                let broken = |_| Err(kept(&io::Error::other("it broke off")));
                noted.join().unwrap_or_else(broken)?;
                reply
            });
        }
        note()?;
        match self.moment {
            HookMoment::SessionStart => self.session_start(engine),
            HookMoment::Stop | HookMoment::SessionEnd => {
                let journal = self.journal(&engine.env);
                settle(engine, &journal)?;
                let pending = journal.pending().map_err(|error| kept(&error))?;
                if self.moment == HookMoment::SessionEnd {
                    journal.close().map_err(|error| kept(&error))?;
                }
                Ok(HookReply { output: None, work_left: !pending.is_empty() })
            }
            _ => Ok(HookReply::default()),
        }
    }

    fn journal(&self, env: &Environment) -> SessionJournal {
        SessionJournal::of(&sessions(env), self.host.name, &self.session)
    }

    fn session_start(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let snapshot = engine.snapshot();
        let most = engine.config.hook.max_chars;
        let guidance = engine.workshop_guidance().filter(|text| text.chars().count() < most / 2);
        let before: Vec<String> = guidance.into_iter().chain(waiting(engine)).collect();
        let before = before.join("\n\n");
        let room = most.saturating_sub(before.chars().count() + 2);
        let options = PromptOptions {
            max_chars: Some(room),
            search_tool: Some(SEARCH_TOOL.to_owned()),
            ..PromptOptions::default()
        };
        let block = engine.prompt(&snapshot.catalog, &options);
        let (skills, of) = (block.report.included, block.report.total);
        let text = format!("{before}\n\n{}", block.text);
        let text = text.trim();
        if text.chars().count() > most {
            return Err(EngineError::new(ErrorKind::No, "too-long", "the index does not fit"));
        }
        let added = text.chars().count();
        self.log(engine, HookDecisionKind::Indexed { skills, of, added })?;
        let now = engine.env.clock.now_ms();
        let others = SessionJournal::all(&sessions(&engine.env));
        let work_left = others.iter().take(MAX_LOOKED_AT).any(|other| other.has_work(now));
        Ok(HookReply { output: self.added(text), work_left })
    }

    fn user_prompt(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let Some(prompt) = self.input.prompt() else { return Ok(HookReply::default()) };
        let message: String = prompt.chars().take(MAX_ROUTED).collect();
        let snapshot = engine.snapshot();
        let catalog = &snapshot.catalog;
        // The static table: the encoder knows more, and would take half the time an agent waits.
        let router = engine.router(catalog, ModelChoice::Static);
        let result = router.find(&message, None).result;
        let named = references::expand_references(&message, &catalog.commands).skill_names;
        let offering = match (named.is_empty(), result.decision) {
            (false, _) => Some(OfferConfidence::Named),
            (true, RouteDecision::Match) => Some(OfferConfidence::Match),
            (true, RouteDecision::Shortlist) => Some(OfferConfidence::Shortlist),
            (true, RouteDecision::None) => None,
        };
        let ranked = result.matches.iter().take(result.offered).map(|found| found.name.as_str());
        let names: Vec<&str> = match offering {
            Some(OfferConfidence::Named) => {
                named.iter().map(String::as_str).take(MAX_OFFERS).collect()
            }
            _ => ranked.take(MAX_OFFERS).collect(),
        };
        let lessons = router.lessons(&message, &names, engine);
        let offers: Vec<HookOffer<'_>> = names
            .iter()
            .filter_map(|name| find(catalog, name))
            .map(|entry| HookOffer {
                name: &entry.name,
                description: &entry.description,
                location: path_text(&entry.file_path),
                lessons: lessons.get(&entry.name).cloned().unwrap_or_default(),
            })
            .collect();
        let text = match offering {
            Some(offering) => context::offers(offering, &offers, engine.config.hook.max_chars),
            None => String::new(),
        };
        let is_offered = |name: &str| !text.is_empty() && names.contains(&name);
        let ranked = result.matches.iter().take(LOGGED_RANKS);
        let ranked: Vec<LoggedMatch> = ranked
            .map(|found| LoggedMatch {
                name: found.name.clone(),
                probability: found.probability,
                parts: parts(found.parts.each().map(|(name, part)| (name, part.value()))),
                offered: is_offered(&found.name),
            })
            .collect();
        self.log(
            engine,
            HookDecisionKind::Routed {
                message: MaskedText::of(&message, MAX_LOGGED).text,
                decision: match result.decision {
                    RouteDecision::Match => "match",
                    RouteDecision::Shortlist => "shortlist",
                    RouteDecision::None => "none",
                }
                .to_owned(),
                named,
                ranked,
                threshold: result.threshold,
                degraded: result.degraded.iter().map(|gone| gone.message.clone()).collect(),
                added: text.chars().count(),
            },
        )?;
        Ok(HookReply { output: self.added(&text), work_left: false })
    }

    fn added(&self, text: &str) -> Option<Value> {
        if text.is_empty() { None } else { self.host.answer(self.moment, text) }
    }

    /// A decision that cannot be written down is not acted upon: nobody could ask why.
    fn log(&self, engine: &Engine, what: HookDecisionKind) -> Result<(), EngineError> {
        let decided = HookDecision {
            at: now(&engine.env),
            agent: self.host.name.to_owned(),
            event: self.moment.as_str().to_owned(),
            session: Some(self.session.clone()),
            workspace: Some(engine.workspace().to_owned()),
            ms: u64::try_from(self.started.elapsed().as_millis()).ok(),
            what,
        };
        HookLog::below(&home(&engine.env)).add(&decided).map_err(|error| kept(&error))
    }
}

/// How long an agent waited for one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookTiming {
    /// The agent.
    pub agent: &'static str,
    /// The moment.
    pub event: &'static str,
    /// How long.
    pub took: Duration,
}

/// The answers that were logged after a place of the log, and the next place. It begins at 0.
pub fn timings(env: &Environment, from: u64) -> (Vec<HookTiming>, u64) {
    let (decided, after) = HookLog::below(&home(env)).since(from);
    let timing = |decided: HookDecision| {
        Some(HookTiming {
            // Words of ours, whatever somebody called an agent or an event.
            agent: HookAgent::find(&decided.agent)?.name,
            event: HookMoment::of_word(&decided.event)?.as_str(),
            took: Duration::from_millis(decided.ms?),
        })
    };
    (decided.into_iter().filter_map(timing).collect(), after)
}

/// What an answer needs to know of the configuration before there is an engine.
#[derive(Debug, Clone, Copy)]
pub struct EarlyHookConfig {
    /// How long an agent waits for the answer to a message.
    pub deadline: Duration,
    /// Whether runs are learned from as they happen.
    pub is_live: bool,
}

/// The terms, as configured.
pub fn early_config(env: &Environment, options: &EngineOptions) -> EarlyHookConfig {
    let named = options.profile.as_deref().and_then(Profile::find);
    let profile = named.unwrap_or_else(Profile::default_profile);
    let path = options.config.clone().unwrap_or_else(|| settings::default_path(profile, env));
    let config = settings::load(path).config;
    EarlyHookConfig {
        deadline: Duration::from_millis(config.hook.deadline_ms.into()),
        is_live: config.traces.learns_from_hooks(),
    }
}

/// Records that nothing was added, and why.
pub fn note_failure(env: &Environment, agent: &str, event: &str, took: Duration, why: &str) {
    let short = |text: &str, most: usize| MaskedText::of(text, most).text;
    let decided = HookDecision {
        at: now(env),
        agent: short(agent, 40),
        event: short(event, 40),
        session: None,
        workspace: None,
        ms: u64::try_from(took.as_millis()).ok(),
        what: HookDecisionKind::Failed { why: short(why, 300) },
    };
    if let Err(error) = HookLog::below(&home(env)).add(&decided) {
        tracing::warn!(%error, "the hook log could not be written");
    }
}

/// Does what events left behind: turns that could not be settled in time, the reviewer's passes, and
/// the index of `options.workspace`. Nobody waits for it.
pub fn settle_all(env: &Environment, options: &EngineOptions) -> Result<(), EngineError> {
    let mut engines: BTreeMap<PathBuf, Engine> = BTreeMap::new();
    let mut trouble = None;
    for journal in SessionJournal::all(&sessions(env)) {
        if journal.is_forgotten(env.clock.now_ms()) {
            journal.forget().map_err(|error| kept(&error))?;
            continue;
        }
        let workspace = match journal.pending().map_err(|error| kept(&error))? {
            pending if pending.is_empty() => continue,
            pending => {
                let any = pending.turns.first().or(pending.review.as_ref());
                any.or(pending.learn.as_ref()).map(|turn| turn.workspace.clone())
            }
        };
        let Some(workspace) = workspace else { continue };
        if !engines.contains_key(&workspace) {
            let options = EngineOptions { workspace: Some(workspace.clone()), ..options.clone() };
            engines.insert(workspace.clone(), Engine::open(env.clone(), options)?);
        }
        let Some(engine) = engines.get(&workspace) else { continue };
        let done = settle(engine, &journal)
            .and_then(|()| learn(engine, &journal))
            .and_then(|()| review(engine, &journal));
        // One session's trouble is not another's.
        if let Err(error) = done {
            trouble = Some(error);
        }
    }
    let engine = Engine::open(env.clone(), options.clone())?;
    engine.learn(&LearnSource::Sources, None, &|_, _| {})?;
    let snapshot = engine.snapshot();
    drop(engine.router(&snapshot.catalog, ModelChoice::Static));
    trouble.map_or(Ok(()), Err)
}

fn settle(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let _alone = journal.settling().map_err(|error| kept(&error))?;
    for turn in journal.pending().map_err(|error| kept(&error))?.turns {
        let settled = engine.settle_turn(&turn)?;
        let line = JournalLine::Settled { turns: turn.number, review: settled.review };
        journal.mark(&line).map_err(|error| kept(&error))?;
        note(engine, &turn, settled.what)?;
    }
    Ok(())
}

/// Learns from what was done in the turns that are over.
fn learn(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let _alone = journal.settling().map_err(|error| kept(&error))?;
    let Some(turn) = journal.pending().map_err(|error| kept(&error))?.learn else { return Ok(()) };
    let runs = journal.spool().runs().map_err(|error| kept(&error))?;
    let last = runs.last().map(|run| run.started_at.clone());
    let what = engine.learn_live(runs)?;
    journal.mark(&JournalLine::Learned { turns: turn.number }).map_err(|error| kept(&error))?;
    if let Some(start) = last {
        journal.keep_run_from(&start).map_err(|error| kept(&error))?;
    }
    note(engine, &turn, what)
}

fn note(engine: &Engine, turn: &JournalTurn, what: HookDecisionKind) -> Result<(), EngineError> {
    let decided = HookDecision {
        at: now(&engine.env),
        agent: turn.agent.clone(),
        event: HookMoment::Stop.as_str().to_owned(),
        session: Some(turn.session.clone()),
        workspace: Some(turn.workspace.clone()),
        ms: None,
        what,
    };
    HookLog::below(&home(&engine.env)).add(&decided).map_err(|error| kept(&error))
}

fn review(engine: &Engine, journal: &SessionJournal) -> Result<(), EngineError> {
    let Some(turn) = journal.pending().map_err(|error| kept(&error))?.review else { return Ok(()) };
    // Said before it is done: a review that hangs or fails is not tried again.
    journal.mark(&JournalLine::Reviewed { turns: turn.number }).map_err(|error| kept(&error))?;
    engine.review_later(&turn)
}

/// What waits for the user's word. Ids are ours; what they are about is not told here.
fn waiting(engine: &Engine) -> Option<String> {
    if !store::local_exists(&engine.env) {
        return None;
    }
    let pending = engine.approvals(true).ok().filter(|pending| !pending.is_empty())?;
    let ids: Vec<&str> = pending.iter().take(MAX_WAITING).map(|one| one.id.as_str()).collect();
    Some(format!(
        "{} approvals wait for the user, who decides with `sinew approve`: {}",
        pending.len(),
        ids.join(", ")
    ))
}

fn find<'c>(catalog: &'c Catalog, name: &str) -> Option<&'c CatalogEntry> {
    catalog.unshadowed().find(|entry| entry.name == name && entry.model_visible)
}

fn parts<'p>(each: impl Iterator<Item = (&'p str, f64)>) -> Vec<(String, f64)> {
    each.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn home(env: &Environment) -> PathBuf {
    env.sinew_home().join("hooks")
}

fn sessions(env: &Environment) -> PathBuf {
    home(env).join("sessions")
}

fn now(env: &Environment) -> String {
    UtcInstant::from_clock(env.clock.now_ms()).to_string()
}

fn kept(error: &io::Error) -> EngineError {
    EngineError::new(
        ErrorKind::Environment,
        "not-kept",
        format!("the event cannot be kept: {error}"),
    )
}
