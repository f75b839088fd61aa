use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use sinew_engine::hook::{self, EarlyHookConfig, HookEvent, HookMoment, HookReply, MAX_EVENT};
use sinew_engine::{Engine, EngineError, EngineOptions};
use sinew_settings::{Environment, ErrorCode};

use crate::background;
use crate::environment;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;

/// Answer an agent's hook: one JSON object on standard input, at most one on standard output
///
/// Agents call this once `sinew connect <agent>` has set it up. It never blocks an agent, and
/// prints nothing when something fails or takes too long: `sinew why --last` says what happened.
///
/// Examples:
///   sinew hook auto --agent claude-code < event.json
///   sinew hook settle
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct HookArgs {
    /// session-start, user-prompt, pre-tool, post-tool, tool-failure, stop, subagent-start, subagent-stop, session-end, compacted, auto (as the input says), or settle (do what was left over)
    #[arg(default_value = "auto")]
    event: String,
    /// With settle: only what waits in the queue, and only if no other process is at it
    #[arg(long, hide = true)]
    queued: bool,
}

/// What the thread that works tells the one that watches the clock.
enum HookWorkerMessage {
    /// How long it may take, once that is known.
    Deadline(Duration),
    /// What the event is about.
    Heard {
        moment: HookMoment,
        workspace: Option<PathBuf>,
    },
    Done(Result<HookReply, EngineError>),
}

/// Until it is known how long the agent waits.
const FIRST_DEADLINE: Duration = Duration::from_millis(300);

/// Agents wait for many events about tools: each has this share of the time.
const TOOL_SHARE: u32 = 3;

/// Whether a command line that cannot be understood was meant to be a hook.
pub(crate) fn is_hook_command(args: impl Iterator<Item = OsString>) -> bool {
    args.skip(1)
        .find(|arg| !arg.to_string_lossy().starts_with('-'))
        .is_some_and(|arg| arg == "hook")
}

pub(crate) fn run(args: &HookArgs, options: &EngineOptions, out: &mut Printer) -> CommandResult {
    let started = Instant::now();
    let Ok(env) = environment::of_process() else { return Ok(Exit::Done) };
    let agent = options.agent.clone().unwrap_or_default();
    if args.event == "settle" {
        // It runs in the background, with its output thrown away: only the log can tell of a failure.
        let settled = match args.queued {
            true => {
                background::lower_priority();
                hook::settle_queued(&env)
            }
            false => hook::settle_all(&env, options),
        };
        if let Err(error) = settled {
            hook::note_failure(&env, &agent, &args.event, started.elapsed(), &error.message);
            return Err(error.into());
        }
        return Ok(Exit::Done);
    }
    let (tell, told) = mpsc::channel();
    let worker = (args.event.clone(), env.clone(), options.clone());
    thread::spawn(move || {
        let (event, env, options) = worker;
        let done = work(&event, env, options, started, &tell);
        // If the receiver is gone, the deadline has passed.
        let _ = tell.send(HookWorkerMessage::Done(done));
    });
    let (mut deadline, mut event) = (FIRST_DEADLINE, args.event.clone());
    let mut options = options.clone();
    let failure = loop {
        match told.recv_timeout(deadline.saturating_sub(started.elapsed())) {
            Ok(HookWorkerMessage::Deadline(known)) => deadline = known,
            Ok(HookWorkerMessage::Heard { moment, workspace }) => {
                moment.as_str().clone_into(&mut event);
                options.workspace = options.workspace.or(workspace);
            }
            Ok(HookWorkerMessage::Done(Ok(reply))) => {
                if let Some(output) = reply.output {
                    out.raw(&format!("{output}\n"))?;
                }
                if reply.work_left {
                    background::request_work(&env, &options);
                }
                return Ok(Exit::Done);
            }
            Ok(HookWorkerMessage::Done(Err(error))) => break error.to_string(),
            Err(RecvTimeoutError::Timeout) => {
                background::request_work(&env, &options);
                if event == "auto" {
                    hook::UNHEARD.clone_into(&mut event);
                }
                break format!("it took longer than {} ms", deadline.as_millis());
            }
            Err(RecvTimeoutError::Disconnected) => break "it broke off".to_owned(),
        }
    };
    hook::note_failure(&env, &agent, &event, started.elapsed(), &failure);
    Ok(Exit::Done)
}

fn work(
    event: &str,
    env: Environment,
    mut options: EngineOptions,
    started: Instant,
    tell: &Sender<HookWorkerMessage>,
) -> Result<HookReply, EngineError> {
    let EarlyHookConfig { deadline, is_live } = hook::early_config(&env, &options);
    // If the receiver is gone, the deadline has passed; the same holds below.
    let _ = tell.send(HookWorkerMessage::Deadline(deadline));
    let unread = |what: &str| EngineError::new(ErrorCode::UnreadableEvent, what);
    let bytes = environment::event_input().map_err(|error| unread(&error.to_string()))?;
    if bytes.len() as u64 > MAX_EVENT {
        return Err(unread("the event is too large"));
    }
    let agent = options.agent.clone().unwrap_or_default();
    let hook = HookEvent::read(&agent, event, &bytes, started)?;
    let (moment, workspace) = (hook.moment(), hook.workspace());
    let _ = tell.send(HookWorkerMessage::Heard { moment, workspace: workspace.clone() });
    options.workspace = options.workspace.or(workspace);
    if !hook.needs_engine() {
        if hook.moment().is_about_a_tool() {
            let _ = tell.send(HookWorkerMessage::Deadline(deadline / TOOL_SHARE));
        }
        let workspace = options.workspace.as_deref().unwrap_or(&env.cwd);
        hook.record_event(&env, workspace, is_live)?;
        return Ok(HookReply::default());
    }
    let engine = std::mem::ManuallyDrop::new(Engine::open(env, options)?);
    engine.hooks().answer(&hook)
}
