//! What an agent gets back: what it cannot see when a session begins, the right skill when a message is
//! sent or a helper starts.

use std::io;
use std::thread;

use serde_json::Value;
use sinew_guard::own_frames::{SESSION_FRAME, framed};
use sinew_settings::ErrorCode;

use super::agents::HookMoment;
use super::event::HookEvent;
use super::journal_line::JournalLine;
use super::leftovers::{end, settle};
use super::log::{HookDecision, HookDecisionKind, HookLog};
use super::{HookReply, Hooks, go_on, home, kept, now, trial};
use crate::agent_trial::is_trial;
use crate::{Engine, EngineError, PromptOptions, store};

/// The tool of the MCP server that finds skills that do not fit into the index.
const SEARCH_TOOL: &str = "find_skill";

/// Approvals that are named at the start of a session.
const MAX_WAITING: usize = 8;

impl Hooks<'_> {
    /// Keeps what happened, and gives the answer. An error means that nothing is to be said.
    pub fn answer(&self, event: &HookEvent) -> Result<HookReply, EngineError> {
        let reply = event.answer(self.engine)?;
        trial::keep(&self.engine.env, event, &reply);
        Ok(reply)
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
                go_on(noted.join().unwrap_or_else(broken))?;
                reply
            });
        }
        note()?;
        match self.moment {
            HookMoment::SessionStart => self.session_start(engine),
            HookMoment::SubagentStart => self.helper_start(engine),
            // Nothing is learned from an agent that is only tried.
            HookMoment::Stop | HookMoment::SessionEnd if is_trial(&engine.env) => {
                Ok(HookReply::default())
            }
            HookMoment::Stop | HookMoment::SessionEnd => {
                let journal = self.journal(&engine.env);
                let is_over = self.moment == HookMoment::SessionEnd;
                if is_over && journal.exists() {
                    journal.mark(&JournalLine::Ended).map_err(kept)?;
                }
                settle(engine, &journal)?;
                let pending = journal.pending().map_err(kept)?;
                if is_over {
                    end(engine, &journal)?;
                }
                Ok(HookReply { output: None, work_left: !pending.is_empty() })
            }
            _ => Ok(HookReply::default()),
        }
    }

    /// What the agent cannot see by itself: skills that it does not list, and after its conversation was
    /// shortened the skills that were in use.
    fn session_start(&self, engine: &Engine) -> Result<HookReply, EngineError> {
        let snapshot = engine.snapshot();
        let most = engine.config.hook.max_chars;
        let in_use = self.skills_in_use(engine, &snapshot.catalog)?;
        let guidance = engine.workshop().guidance().filter(|text| text.chars().count() < most / 2);
        let before: Vec<String> = guidance.into_iter().chain(waiting(engine)).collect();
        let before = before.join("\n\n");
        let listing = engine.skills().host_listing(self.host.name);
        let visible = snapshot.catalog.unshadowed().filter(|entry| entry.model_visible);
        let left_out = listing.names(visible);
        let listed = left_out.len();
        // The frame, and the empty lines between the parts.
        let overhead = before.chars().count() + 2 * SESSION_FRAME.len() + 16;
        let free = engine.config.hook.max_body.saturating_sub(in_use.text.chars().count());
        let mut options = PromptOptions {
            max_chars: Some(most.min(free).saturating_sub(overhead)),
            search_tool: Some(SEARCH_TOOL.to_owned()),
            left_out,
            ..PromptOptions::default()
        };
        let mut block = engine.skills().prompt(&snapshot.catalog, &options);
        let bytes = self.host.most_bytes.map(|bytes| {
            bytes.saturating_sub(before.len() + in_use.text.len() + 2 * SESSION_FRAME.len() + 16)
        });
        while let Some(bytes) = bytes.filter(|bytes| block.text.len() > *bytes) {
            let chars = block.text.chars().count() * bytes / block.text.len();
            options.max_chars = Some(chars.saturating_sub(1));
            block = engine.skills().prompt(&snapshot.catalog, &options);
            if chars == 0 {
                break;
            }
        }
        let (skills, of) = (block.report.included, block.report.total);
        let parts = [before.as_str(), block.text.trim(), in_use.text.trim()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let text = match parts.as_slice() {
            [] => String::new(),
            parts => framed(SESSION_FRAME, &parts.join("\n\n")),
        };
        let added = text.chars().count();
        if added > most.max(engine.config.hook.max_body) {
            return Err(EngineError::new(ErrorCode::TooLong, "the index does not fit"));
        }
        self.note_offers(engine, &in_use.offers);
        let again = in_use.offers.into_iter().map(|offer| offer.skill).collect();
        self.log(engine, HookDecisionKind::Indexed { skills, of, added, listed, again })?;
        // Whether anything is left over takes as long to find out as to do: the first message is to find
        // its vectors, and sessions that broke off are settled.
        Ok(HookReply { output: self.added(&text), work_left: true })
    }

    pub(super) fn added(&self, text: &str) -> Option<Value> {
        if text.is_empty() { None } else { self.host.answer(self.moment, text) }
    }

    /// A decision that cannot be logged is not acted upon: it could not be explained later. Only a full disk
    /// is no reason to leave a message without its skill.
    pub(super) fn log(&self, engine: &Engine, what: HookDecisionKind) -> Result<(), EngineError> {
        let decided = HookDecision {
            at: now(&engine.env),
            agent: self.host.name.to_owned(),
            event: self.moment.as_str().to_owned(),
            session: Some(self.session.clone()),
            workspace: Some(engine.workspace().to_owned()),
            ms: u64::try_from(self.started.elapsed().as_millis()).ok(),
            what,
        };
        go_on(HookLog::below(&home(&engine.env)).add(&decided).map_err(kept))
    }
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
