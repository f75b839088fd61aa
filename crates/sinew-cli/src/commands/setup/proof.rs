//! The proof at the end: a message goes through a connected agent's hook, in a process of its own, as the
//! agent would start it.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Serialize;
use serde_json::json;
use sinew_engine::connect::AgentConnection;
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;

use crate::layout;

/// How much of the message is shown.
const SHOWN_MESSAGE: usize = 60;

/// What a hook answered.
#[derive(Debug, Serialize)]
pub(super) struct SetupProof {
    pub(super) agent: &'static str,
    pub(super) message: String,
    /// The skill that should come with it.
    pub(super) skill: String,
    pub(super) works: bool,
    pub(super) characters: usize,
    pub(super) ms: u64,
    pub(super) detail: String,
}

/// The first connected agent whose hooks are commands.
pub(super) fn agent_to_ask(engine: &Engine) -> Result<Option<AgentConnection>, EngineError> {
    let connections = engine.connect().connections()?;
    let connected = connections.into_iter().filter(|agent| !agent.files.is_empty());
    Ok(connected.filter(|agent| agent.hooks == "commands").min_by_key(|agent| agent.agent))
}

/// Asks that agent; nothing where there is none, or no skill to ask for.
pub(super) fn prove(engine: &Engine) -> Result<Option<SetupProof>, EngineError> {
    let Some(agent) = agent_to_ask(engine)? else { return Ok(None) };
    let Some((message, skill)) = engine.hooks().sample_message() else { return Ok(None) };
    let failed = |error: std::io::Error| {
        EngineError::new(ErrorCode::TrialFailed, format!("the hook cannot be started: {error}"))
            .caused_by(error)
    };
    let trial = tempfile::tempdir().map_err(failed)?;
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "setup", "prompt": message,
        "cwd": engine.workspace(),
    });
    let Some(program) = &engine.environment().exe else { return Ok(None) };
    let started = Instant::now();
    let mut hook = Command::new(program);
    hook.args(["hook", "auto", "--agent", agent.agent])
        // Nothing is counted, learned or logged of a message that no person wrote.
        .env(sinew_engine::connect::TRIAL_VARIABLE, trial.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut hook = hook.spawn().map_err(failed)?;
    if let Some(mut input) = hook.stdin.take() {
        input.write_all(event.to_string().as_bytes()).map_err(failed)?;
    }
    let output = hook.wait_with_output().map_err(failed)?;
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let answer = String::from_utf8_lossy(&output.stdout);
    let works = answer.contains(&skill);
    let characters = answer.chars().count();
    let title = agent.title;
    let said = layout::clipped(&message, SHOWN_MESSAGE);
    let detail = match works {
        true => format!("{title}'s hook answers “{said}” with {skill}, in {ms} ms"),
        false => {
            let next = format!("`sinew doctor --agent {}` looks closer", agent.agent);
            format!("{title}'s hook brings nothing for “{said}”; {next}")
        }
    };
    Ok(Some(SetupProof { agent: agent.agent, message, skill, works, characters, ms, detail }))
}
