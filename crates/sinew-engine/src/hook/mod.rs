//! Hooks: what an agent reports at each moment of a turn, and what it gets back.
//!
//! An agent starts a short process for each event. [`HookEvent::read`] understands what it says,
//! [`Hooks::answer`] gives the text that is to be added, in the agent's own form, and leaves a line in
//! the session's journal. When the turn is over, the lines are evaluated: they become a captured
//! correction, a counted turn, outcomes of the skills that were opened. Whatever is late is done by
//! [`settle_queued`] in a background process, of which there is one at a time.
//!
//! What must never happen here: an agent that is blocked, told to stop, or kept waiting; a secret in
//! what is kept; text of a skill that reaches a prompt without being escaped.

mod agents;
mod answer;
mod context;
mod event;
mod explain;
mod in_use;
mod input;
mod journal;
mod journal_line;
mod json_lines;
mod leftovers;
mod log;
mod message;
mod observed_changes;
mod offer;
mod run_settlement;
mod settlement;
mod skill_text;
mod spool;
mod tool_usage;
mod touched_files;
mod trial;
mod turn_usage;
mod usage;
mod usage_log;
mod work_queue;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use sinew_catalog::Profile;
use sinew_cortex::UtcInstant;
use sinew_settings::config::LoadedConfig;
use sinew_settings::{Environment, ErrorCode};

use crate::{Engine, EngineError, EngineOptions};
use agents::HookAgent;
pub use agents::HookMoment;
pub use event::HookEvent;
pub use explain::RecentMessage;
use input::MaskedText;
pub use leftovers::{request_work, settle_all, settle_queued};
use log::{HookDecision, HookDecisionKind, HookLog};
pub use tool_usage::SkillToolUse;
pub(crate) use trial::{TrialHookLine, trial_lines};
pub use usage::{UsageGrouping, UsageReport, UsageRow};
pub use work_queue::WorkRequest;

/// The largest event that is read. Agents send whole files; larger input is not a message.
pub const MAX_EVENT: u64 = 4 << 20;

/// The word for the moment of an event that was not understood before its deadline.
pub const UNHEARD: &str = "unheard";

/// Answers agents' hooks. Made by [`Engine::hooks`].
#[derive(Debug, Clone, Copy)]
pub struct Hooks<'e> {
    engine: &'e Engine,
}

impl Engine {
    /// Answers agents' hooks, and says afterwards what was answered.
    pub fn hooks(&self) -> Hooks<'_> {
        Hooks { engine: self }
    }
}

/// What came of an event.
#[derive(Debug, Default)]
pub struct HookReply {
    /// What the agent is to read.
    pub output: Option<Value>,
    /// Whether there is work for the background: see [`request_work`].
    pub work_left: bool,
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

/// The answers that were logged after an offset of the log, and the next offset. It begins at 0.
pub fn timings(env: &Environment, from: u64) -> (Vec<HookTiming>, u64) {
    let (decided, after) = HookLog::below(&home(env)).since(from);
    let timing = |decided: HookDecision| {
        Some(HookTiming {
            // Only known names: the log may hold any text for an agent or an event.
            agent: HookAgent::find(&decided.agent)?.name,
            event: HookMoment::of_word(&decided.event)?.as_str(),
            took: Duration::from_millis(decided.ms?),
        })
    };
    (decided.into_iter().filter_map(timing).collect(), after)
}

/// The part of the configuration that an answer needs before there is an engine.
#[derive(Debug, Clone, Copy)]
pub struct EarlyHookConfig {
    /// How long an agent waits for the answer to a message.
    pub deadline: Duration,
    /// Whether runs are learned from as they happen.
    pub is_live: bool,
}

/// Reads that part of the configuration.
pub fn early_config(env: &Environment, options: &EngineOptions) -> EarlyHookConfig {
    let named = options.profile.as_deref().and_then(Profile::find);
    let profile = named.unwrap_or_else(Profile::default_profile);
    let path = options.config.clone().unwrap_or_else(|| env.config_path(profile.name));
    let config = LoadedConfig::read(path).config;
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

/// Where hooks keep their files: with the trial of an agent, where there is one.
fn home(env: &Environment) -> PathBuf {
    crate::agent_trial::TrialFolder::of(env)
        .map_or_else(|| env.sinew_home().join("hooks"), |record| record.folder())
}

fn sessions(env: &Environment) -> PathBuf {
    home(env).join("sessions")
}

fn now(env: &Environment) -> String {
    UtcInstant::from_clock(env.clock.now_ms()).to_string()
}

/// Goes on where the disk is full or may not be written to: the user's message still gets its skill, and
/// only what would be learned from it is lost. `why --last` says so.
fn go_on<T: Default>(done: Result<T, EngineError>) -> Result<T, EngineError> {
    match done {
        Err(error) if matches!(error.code, ErrorCode::DiskFull | ErrorCode::NotKept) => {
            tracing::warn!(%error, "the hook goes on without it");
            Ok(T::default())
        }
        done => done,
    }
}

fn kept(error: io::Error) -> EngineError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let code = match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => ErrorCode::DiskFull,
        _ => ErrorCode::NotKept,
    };
    EngineError::new(code, format!("the event cannot be kept: {error}")).caused_by(error)
}
