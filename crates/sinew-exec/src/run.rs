//! Running a command for a skill: its environment, the one retry, and the result.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew_catalog::tools;
use sinew_cortex::failure::FailureKind;
use sinew_guard::env;
use sinew_settings::{Environment, Reason};

use crate::child::{
    self, ExitCause, FinishedProgram, OutputStream, ProcessControl, ProgramLimits, ProgramSpec,
    ProgramStartError, StdinMode, StdoutMode,
};
use crate::classify::{FailureEvidence, RunClassification, RunOutcome, classify};
use crate::env_plan::{CoveredSkill, EnvRules, withheld_reason};
use crate::env_value::SecretMasker;
use crate::lease::EnvLease;
use crate::process_group::ProcessSignal;
use crate::sandbox::{PreparedSandbox, SandboxLaunch, SandboxReceipt, SandboxStartError};

/// How long to wait before the one retry of an [`FailureKind::ApiError`].
pub const RETRY_AFTER: Duration = Duration::from_secs(3);

/// The environment of a run, and the host's variables that it does not get.
#[derive(Debug)]
pub struct RunEnv {
    /// Every variable of the child.
    pub vars: BTreeMap<String, String>,
    /// Variables that are not passed on, and why.
    pub withheld: Vec<Reason>,
    /// Declared variables that have no value.
    pub missing: Vec<String>,
}

impl RunEnv {
    /// The environment of a run for `skill`: the host's variables that the guard allows, all
    /// variables of the lease, and a PATH with the programs installed for the skill at its end.
    pub fn of(
        skill: &CoveredSkill<'_>,
        lease: &EnvLease,
        rules: &EnvRules<'_>,
        host: &Environment,
    ) -> Self {
        let declared = skill.declared_names();
        let (mut vars, kept_back) =
            env::inherited_by_skill(&skill.guard_view(&declared, rules), &host.vars);
        for (name, value) in lease.vars() {
            vars.insert(name.to_owned(), value.expose().to_owned());
        }
        if let Some(path) = extended_path(host, &skill.entry.skill_key) {
            vars.insert("PATH".to_owned(), path);
        }
        let blank = |name: &&String| vars.get(*name).is_none_or(|value| value.trim().is_empty());
        let required = skill.entry.primary_env.iter().chain(&skill.entry.requirements.env);
        let mut missing: Vec<String> = required.filter(blank).cloned().collect();
        missing.dedup();
        Self { vars, withheld: kept_back.iter().map(withheld_reason).collect(), missing }
    }
}

/// PATH followed by the folders of installed tools, so that they never hide a program of the
/// system.
fn extended_path(host: &Environment, key: &str) -> Option<String> {
    let path = host.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let before = folders.len();
    for folder in
        tools::shared_folders(host).into_iter().chain(tools::skill_tools_folders(host, key))
    {
        if folder.is_dir() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.len() == before {
        return None;
    }
    std::env::join_paths(folders).ok()?.into_string().ok()
}

/// A command to run.
pub struct RunRequest<'a, 'r> {
    /// The command and its arguments.
    pub argv: &'a [OsString],
    /// Its working folder.
    pub cwd: &'a Path,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Its standard input.
    pub stdin: StdinMode,
    /// Where its standard output goes.
    pub stdout: StdoutMode,
    /// Whether and how a command is run again after an [`FailureKind::ApiError`].
    pub retry: RetryPolicy<'r>,
    /// The box it runs in, if it runs in one.
    pub sandbox: Option<&'a SandboxLaunch>,
}

/// Whether a command is run again.
pub enum RetryPolicy<'a> {
    /// Never.
    Never,
    /// Once, after a while, if its input can be read again.
    Once {
        /// How long to wait.
        after: Duration,
        /// Rewinds the input; `false` if that is not possible.
        rewind: &'a mut dyn FnMut() -> bool,
    },
}

/// The result of a command.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// Success, or the kind of failure.
    pub outcome: RunOutcome,
    /// The rule that decided.
    pub rule: &'static str,
    /// The line that decided, without secrets.
    pub detail: String,
    /// The program, module or variable that is missing, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How often it was started.
    pub attempts: u32,
    /// How long all of it took.
    pub duration_ms: u64,
    /// Whether it was interrupted, which says nothing about the skill.
    pub interrupted: bool,
    /// Why it was not run again, if it would have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_retried: Option<&'static str>,
    /// The box that was in force.
    #[serde(skip)]
    pub sandbox: Option<SandboxReceipt>,
}

/// Runs the command; `observe` gets its standard error, and its standard output if that is
/// captured.
pub fn run(
    mut request: RunRequest<'_, '_>,
    env: &RunEnv,
    masker: &SecretMasker,
    host: &Environment,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> Result<RunReport, ProgramStartError> {
    let started = Instant::now();
    let mut attempts = 1;
    let (mut ended, mut classified, mut receipt) =
        attempt(&request, env, masker, host, control, observe)?;
    let mut not_retried = None;
    if classified.outcome == RunOutcome::Failure(FailureKind::ApiError)
        && !was_interrupted(ended.as_ref(), control)
    {
        match &mut request.retry {
            RetryPolicy::Never => {}
            RetryPolicy::Once { after, rewind } => {
                if !rewind() {
                    not_retried = Some("its input cannot be read a second time");
                } else if wait(*after, control) {
                    attempts = 2;
                    (ended, classified, receipt) =
                        attempt(&request, env, masker, host, control, observe)?;
                }
            }
        }
    }
    let interrupted = was_interrupted(ended.as_ref(), control);
    let how = ended.map(|ended| ended.how);
    Ok(RunReport {
        outcome: classified.outcome,
        rule: classified.rule,
        detail: classified.line,
        missing: classified.key,
        exit_code: match how {
            Some(ExitCause::Exit(code)) => Some(code),
            _ => None,
        },
        signal: match how {
            Some(ExitCause::Signal(signal)) => Some(signal),
            _ => None,
        },
        attempts,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        interrupted,
        not_retried,
        sandbox: receipt,
    })
}

/// How an attempt ended, what that means, and the box it was in.
type Attempt = (Option<FinishedProgram>, RunClassification, Option<SandboxReceipt>);

/// One attempt. A missing program is an outcome; one that cannot be started is an error.
fn attempt(
    request: &RunRequest<'_, '_>,
    env: &RunEnv,
    masker: &SecretMasker,
    host: &Environment,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> Result<Attempt, ProgramStartError> {
    let word = request.argv.first().map_or(OsStr::new(""), OsString::as_os_str);
    let name = Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned();
    let started = child::locate(word, &env.vars, request.cwd, host).and_then(|file| {
        let program = ProgramSpec {
            file,
            args: request.argv.get(1..).unwrap_or_default().to_vec(),
            env: env.vars.clone(),
            cwd: request.cwd.to_owned(),
            stdin: request.stdin.clone(),
            stdout: request.stdout,
            limits: ProgramLimits { time: request.timeout, ..ProgramLimits::default() },
        };
        match request.sandbox {
            None => Ok((child::run(program, control, observe)?, None)),
            Some(launch) => {
                run_in_box(launch, program, control, observe).map(|(end, note)| (end, Some(note)))
            }
        }
    });
    let (ended, receipt) = match started {
        Ok((ended, receipt)) => (Some(ended), receipt),
        Err(ProgramStartError::NotFound(_)) => (None, None),
        Err(error) => return Err(error),
    };
    let how = ended.as_ref().map(|ended| ended.how);
    let text = match &ended {
        // Most runs succeed, and then this text is not needed.
        Some(ended) if ended.how != ExitCause::Exit(0) => ended.stderr.text(masker),
        _ => String::new(),
    };
    let evidence = FailureEvidence { how, program: &name, text: &text, missing: &env.missing };
    Ok((ended, classify(&evidence), receipt))
}

/// Runs the program in a box, or not at all.
fn run_in_box(
    launch: &SandboxLaunch,
    program: ProgramSpec,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> Result<(FinishedProgram, SandboxReceipt), ProgramStartError> {
    let name = program.file.to_string_lossy().into_owned();
    let prepared = PreparedSandbox::of(launch)?;
    let ended = child::run(prepared.wrap(program)?, control, observe)?;
    match prepared.outcome() {
        Ok(receipt) => Ok((ended, receipt)),
        Err(SandboxStartError::Box(error)) => Err(error.into()),
        Err(SandboxStartError::Program { missing: true, .. }) => {
            Err(ProgramStartError::NotFound(name))
        }
        Err(SandboxStartError::Program { error, .. }) => {
            Err(ProgramStartError::Refused { program: name, error: std::io::Error::other(error) })
        }
    }
}

/// Ctrl-C goes directly to a child that holds the terminal, not through us.
const SIGINT: i32 = 2;

fn was_interrupted(ended: Option<&FinishedProgram>, control: &ProcessControl) -> bool {
    let by_terminal = ended.is_some_and(|ended| {
        matches!(ended.how, ExitCause::Signal(SIGINT)) || ended.how == ExitCause::Exit(128 + SIGINT)
    });
    by_terminal
        || ended.is_some_and(|ended| ended.forwarded.is_some())
        || control.last_signal().is_some()
}

/// How often a wait checks whether it was interrupted.
const STEP: Duration = Duration::from_millis(50);

/// Waits, unless it is interrupted.
fn wait(time: Duration, control: &ProcessControl) -> bool {
    let until = Instant::now() + time;
    loop {
        if control.last_signal().is_some_and(|signal| signal != ProcessSignal::Kill) {
            return false;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(STEP));
    }
}
