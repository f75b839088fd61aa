//! What an agent gets back: the index when a session begins, the right skills when a message is sent.

use std::io;
use std::thread;

use serde_json::Value;
use sinew_catalog::EntryState;
use sinew_route::RouteDecision;
use sinew_settings::config::ModelChoice;
use sinew_settings::{Actor, ErrorCode, path_text};

use super::agents::HookMoment;
use super::context::{self, HookOffer, MAX_OFFERS, OfferConfidence};
use super::event::HookEvent;
use super::input::MaskedText;
use super::journal::SessionJournal;
use super::leftovers::settle;
use super::log::{HookDecision, HookDecisionKind, HookLog, LoggedMatch};
use super::{HookReply, Hooks, home, kept, now, sessions};
use crate::routing::{RouteAnswer, RouteRequest, UnavailableSkill};
use crate::{Engine, EngineError, PromptOptions, store};

/// The tool of the MCP server that finds skills that do not fit into the index.
const SEARCH_TOOL: &str = "find_skill";

/// Characters of a message that are routed.
const MAX_ROUTED: usize = 20_000;
/// Characters of a message that the log keeps.
const MAX_LOGGED: usize = 200;
/// Sessions that are checked for unfinished work.
const MAX_LOOKED_AT: usize = 32;
/// Approvals that are named at the start of a session.
const MAX_WAITING: usize = 8;
/// Ranked skills that the log keeps.
const LOGGED_RANKS: usize = 5;

impl Hooks<'_> {
    /// Keeps what happened, and gives the answer. An error means that nothing is to be said.
    pub fn answer(&self, event: &HookEvent) -> Result<HookReply, EngineError> {
        event.answer(self.engine)
    }
}

impl HookEvent {
    fn answer(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let is_live = engine.config.traces.learns_from_hooks();
        let note = || self.record_event(&engine.env, engine.workspace(), is_live);
        if self.moment == HookMoment::UserPrompt {
            // Searching for secrets takes a third as long as finding the skill, so both run at once.
            return thread::scope(|scope| {
                let noted = scope.spawn(note);
                let reply = self.user_prompt(engine);
                let broken = |_| Err(kept(io::Error::other("it broke off")));
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
                let pending = journal.pending().map_err(kept)?;
                if self.moment == HookMoment::SessionEnd {
                    journal.close().map_err(kept)?;
                }
                Ok(HookReply { output: None, work_left: !pending.is_empty() })
            }
            _ => Ok(HookReply::default()),
        }
    }

    fn session_start(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let snapshot = engine.snapshot();
        let most = engine.config.hook.max_chars;
        let guidance = engine.workshop().guidance().filter(|text| text.chars().count() < most / 2);
        let before: Vec<String> = guidance.into_iter().chain(waiting(engine)).collect();
        let before = before.join("\n\n");
        let room = most.saturating_sub(before.chars().count() + 2);
        let options = PromptOptions {
            max_chars: Some(room),
            search_tool: Some(SEARCH_TOOL.to_owned()),
            ..PromptOptions::default()
        };
        let block = engine.skills().prompt(&snapshot.catalog, &options);
        let (skills, of) = (block.report.included, block.report.total);
        let text = format!("{before}\n\n{}", block.text);
        let text = text.trim();
        if text.chars().count() > most {
            return Err(EngineError::new(ErrorCode::TooLong, "the index does not fit"));
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
        let answer = engine.route(&RouteRequest {
            // The static table: the encoder knows more, and would take half the time an agent waits.
            models: ModelChoice::Static,
            actor: Actor::Agent { name: self.host.name.to_owned() },
            ..RouteRequest::new(message.as_str())
        });
        let (confidence, offers) = offers(&answer);
        let unavailable = unavailable(&answer);
        let most = engine.config.hook.max_chars;
        let text = context::matching_skills(confidence, &offers, &unavailable, most);
        let is_offered =
            |name: &str| !text.is_empty() && offers.iter().any(|offer| offer.name == name);
        let ranked = answer.matches.iter().take(LOGGED_RANKS);
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
                decision: answer.decision.as_str().to_owned(),
                named: answer.named.iter().map(|named| named.name.clone()).collect(),
                ranked,
                unavailable: unavailable.iter().map(|skill| skill.sentence()).collect(),
                threshold: answer.threshold,
                degraded: answer.degraded.iter().map(|gone| gone.message.clone()).collect(),
                added: text.chars().count(),
            },
        )?;
        Ok(HookReply { output: self.added(&text), work_left: false })
    }

    fn added(&self, text: &str) -> Option<Value> {
        if text.is_empty() { None } else { self.host.answer(self.moment, text) }
    }

    /// A decision that cannot be logged is not acted upon: it could not be explained later.
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
        HookLog::below(&home(&engine.env)).add(&decided).map_err(kept)
    }
}

/// The skills that are offered: those that the message names, or those that fit it.
fn offers(answer: &RouteAnswer) -> (OfferConfidence, Vec<HookOffer<'_>>) {
    if !answer.named.is_empty() {
        let named = answer.named.iter().take(MAX_OFFERS).map(|named| HookOffer {
            name: &named.name,
            description: &named.description,
            location: path_text(&named.file_path),
            lessons: &named.lessons,
        });
        return (OfferConfidence::Named, named.collect());
    }
    let confidence = match answer.decision {
        RouteDecision::Match => OfferConfidence::Match,
        RouteDecision::Shortlist | RouteDecision::None => OfferConfidence::Shortlist,
    };
    let offered = answer.offers().iter().take(MAX_OFFERS).map(|found| HookOffer {
        name: &found.name,
        description: &found.description,
        location: path_text(&found.file_path),
        lessons: &found.lessons,
    });
    (confidence, offered.collect())
}

/// The skills that would fit if this machine had what they need. What a person switched off, or the
/// guard holds back, is not brought up at every message.
fn unavailable(answer: &RouteAnswer) -> Vec<&UnavailableSkill> {
    let needs_setup = |skill: &&UnavailableSkill| skill.state == EntryState::NeedsSetup;
    answer.unavailable.iter().filter(needs_setup).take(MAX_OFFERS).collect()
}

/// Approvals that wait for the user, by id only: what they are about is not told here.
fn waiting(engine: &Engine) -> Option<String> {
    if !store::local_exists(&engine.env) {
        return None;
    }
    let pending = engine.approvals().list(true).ok().filter(|pending| !pending.is_empty())?;
    let ids: Vec<&str> = pending.iter().take(MAX_WAITING).map(|one| one.id.as_str()).collect();
    Some(format!(
        "{} approvals wait for the user, who decides with `sinew approve`: {}",
        pending.len(),
        ids.join(", ")
    ))
}

fn parts<'p>(each: impl Iterator<Item = (&'p str, f64)>) -> Vec<(String, f64)> {
    each.filter(|(_, value)| *value != 0.0).map(|(name, value)| (name.to_owned(), value)).collect()
}
