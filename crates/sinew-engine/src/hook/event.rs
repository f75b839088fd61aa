//! An event that an agent sent: what it is about, and what is kept of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sinew_settings::{Environment, ErrorCode};
use sinew_traces::{live_end, live_message, live_trace};

use super::agents::{HookAgent, HookMoment};
use super::input::{HookInput, ToolCall};
use super::journal::{EventNovelty, SessionJournal, SpoolRecord};
use super::journal_line::JournalLine;
use super::{kept, now, sessions};
use crate::EngineError;

/// An event that was understood.
#[derive(Debug)]
pub struct HookEvent {
    pub(super) host: &'static HookAgent,
    pub(super) moment: HookMoment,
    pub(super) input: HookInput,
    pub(super) session: String,
    pub(super) started: Instant,
}

impl HookEvent {
    /// Understands an event; `event` is a moment's word, or `auto` to take it from what was sent.
    pub fn read(
        agent: &str,
        event: &str,
        bytes: &[u8],
        started: Instant,
    ) -> Result<Self, EngineError> {
        let unread = |what: String| EngineError::new(ErrorCode::UnknownEvent, what);
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
            HookMoment::SubagentStart => helper,
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
            HookMoment::PreTool => self
                .input
                .delegation()
                .map(|(helper_kind, task)| JournalLine::Delegation { key, helper_kind, task }),
            HookMoment::PostTool | HookMoment::ToolFailure => {
                let call = self.input.tool_call(self.moment);
                call.filter(ToolCall::is_step).map(|call| JournalLine::Step { key, call })
            }
            HookMoment::SubagentStop => self
                .input
                .subagent()
                .map(|subagent| JournalLine::Step { key, call: ToolCall::of_helper(subagent) }),
            HookMoment::Stop if !self.input.is_stop_loop() => Some(JournalLine::Stop {
                key,
                at: env.clock.now_ms(),
                agent: self.host.name.to_owned(),
                session: self.session.clone(),
                workspace: workspace.to_owned(),
                said: self.input.masked_last_message(),
            }),
            HookMoment::Compacted if self.input.subagent().is_none() => {
                Some(JournalLine::Compacted { owed: true })
            }
            _ => None,
        };
        match line {
            Some(line) => {
                let traced = is_live.then(|| self.traced(env, workspace)).flatten();
                let added = self.journal(env).add(&line, traced.as_ref());
                added.map(|_: EventNovelty| ()).map_err(kept)
            }
            None => Ok(()),
        }
    }

    /// What the session's trace keeps of it.
    fn traced(&self, env: &Environment, workspace: &Path) -> Option<SpoolRecord> {
        let at = now(env);
        let record = match self.moment {
            HookMoment::UserPrompt => live_message(&self.input.prompt()?, &at),
            HookMoment::PostTool | HookMoment::ToolFailure => {
                self.input.tool_call(self.moment).filter(ToolCall::is_step)?;
                self.input.live_step(self.moment, self.host.name, &at)?
            }
            HookMoment::Stop => live_end(self.input.last_message()),
            _ => return None,
        };
        let head = live_trace(self.host.name, &self.session, &workspace.to_string_lossy());
        Some(SpoolRecord { head, record })
    }

    pub(super) fn journal(&self, env: &Environment) -> SessionJournal {
        SessionJournal::of(&sessions(env), self.host.name, &self.session)
    }
}
