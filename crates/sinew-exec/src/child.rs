//! Starting one program: from an argument vector, without a shell, with an explicit environment, in
//! its own process group, under limits.
//!
//! **Must never happen here:** a shell, an inherited environment, a program or its children
//! outliving its limit, unbounded output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sinew_settings::Environment;

use crate::output_excerpt::OutputExcerpt;
use crate::process_group::{LeaderEvent, ProcessGroup, ProcessSignal, prepare};
use crate::sandbox::SandboxError;
use crate::supervise::{ChildEvent, RunningProgram, supervise};

/// Chunks that wait to be read; a full queue slows the program down instead of filling memory.
const QUEUE: usize = 64;
/// Bytes read at a time.
const CHUNK: usize = 16 * 1024;

/// A program to start.
#[derive(Debug)]
pub struct ProgramSpec {
    /// The program's file, as [`locate`] found it.
    pub file: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
    /// Its working folder.
    pub cwd: PathBuf,
    /// Its standard input.
    pub stdin: StdinMode,
    /// Where its standard output goes; standard error is always captured.
    pub stdout: StdoutMode,
    /// When it is stopped.
    pub limits: ProgramLimits,
}

/// A program's standard input.
#[derive(Debug, Clone)]
pub enum StdinMode {
    /// Nothing.
    Null,
    /// That of this process.
    Inherit,
    /// The terminal, which is lent to it.
    Terminal,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// Where a program's standard output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutMode {
    /// To our own standard output, byte for byte.
    Inherit,
    /// It is captured, and passed to the observer.
    Keep,
}

/// When a program is stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramLimits {
    /// After this long.
    pub time: Option<Duration>,
    /// After this long without output.
    pub silence: Option<Duration>,
    /// After this many bytes on one stream.
    pub output: Option<u64>,
}

/// Which stream a chunk came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCause {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long.
    TimedOut,
    /// It wrote nothing for too long.
    Silent,
    /// It wrote too much.
    TooMuchOutput,
}

/// A program that has ended.
#[derive(Debug)]
pub struct FinishedProgram {
    /// How it ended.
    pub how: ExitCause,
    /// A signal that was forwarded to it while it ran.
    pub forwarded: Option<ProcessSignal>,
    /// Its standard output, if that was captured.
    pub stdout: OutputExcerpt,
    /// Its standard error.
    pub stderr: OutputExcerpt,
    /// How long it took.
    pub took: Duration,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProgramStartError {
    /// There is no such program.
    #[error("the program `{0}` was not found")]
    NotFound(String),
    /// It exists but cannot be run.
    #[error("`{program}` cannot be started: {error}")]
    Refused {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// The box that it was to run in could not be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// The file that `word` names for a child with these variables: a path, relative to the folder
/// where the child starts, or a name on the child's own PATH.
pub fn locate(
    word: &OsStr,
    vars: &BTreeMap<String, String>,
    cwd: &Path,
    env: &Environment,
) -> Result<PathBuf, ProgramStartError> {
    let missing = || ProgramStartError::NotFound(word.to_string_lossy().into_owned());
    if Path::new(word).components().count() != 1 || word.to_string_lossy().contains(['/', '\\']) {
        let path = cwd.join(word);
        return if path.exists() { Ok(path) } else { Err(missing()) };
    }
    let name = word.to_str().ok_or_else(missing)?;
    let child = Environment { vars: vars.clone(), ..env.clone() };
    sinew_catalog::find_program(&child, name).ok_or_else(missing)
}

/// A handle for reaching running programs from outside: to forward a signal that this process
/// received, or to cancel a request.
#[derive(Debug, Clone, Default)]
pub struct ProcessControl(Arc<Mutex<ControlState>>);

#[derive(Debug, Default)]
struct ControlState {
    running: Vec<(u64, SyncSender<ChildEvent>)>,
    started: u64,
    last: Option<ProcessSignal>,
}

impl ProcessControl {
    /// Forwards a signal to every running program.
    pub fn signal(&self, signal: ProcessSignal) {
        let mut reach = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reach.last = Some(signal);
        for (_, to) in &reach.running {
            if let Err(TrySendError::Full(event)) = to.try_send(ChildEvent::Signal(signal)) {
                // The program writes faster than its output is read; the signal waits in the queue.
                let to = to.clone();
                thread::spawn(move || to.send(event));
            }
        }
    }

    /// The last signal that was forwarded.
    pub fn last_signal(&self) -> Option<ProcessSignal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last
    }

    fn attach(&self, to: SyncSender<ChildEvent>) -> ControlRegistration {
        let mut reach = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reach.started += 1;
        let number = reach.started;
        reach.running.push((number, to));
        ControlRegistration { control: self.clone(), number }
    }
}

/// A program that can be reached, until this is dropped.
struct ControlRegistration {
    control: ProcessControl,
    number: u64,
}

impl Drop for ControlRegistration {
    fn drop(&mut self) {
        let mut reach = self.control.0.lock().unwrap_or_else(PoisonError::into_inner);
        reach.running.retain(|(number, _)| *number != self.number);
    }
}

/// Starts the program and waits until it has ended; `observe` gets its output as it arrives.
pub fn run(
    program: ProgramSpec,
    control: &ProcessControl,
    observe: &mut dyn FnMut(OutputStream, &[u8]),
) -> Result<FinishedProgram, ProgramStartError> {
    let mut child = start(&program)?;
    let (to, events) = sync_channel(QUEUE);
    let mut open = 0;
    let out = child.stdout.take().map(|pipe| (OutputStream::Out, Box::new(pipe) as OutputPipe));
    let err = child.stderr.take().map(|pipe| (OutputStream::Err, Box::new(pipe) as OutputPipe));
    for (stream, pipe) in out.into_iter().chain(err) {
        open += 1;
        let to = to.clone();
        thread::spawn(move || pump(stream, pipe, &to));
    }
    let terminal = matches!(program.stdin, StdinMode::Terminal);
    if let (StdinMode::Bytes(bytes), Some(mut stdin)) = (program.stdin, child.stdin.take()) {
        // A program that does not read all of its input closes the pipe; that is not an error.
        thread::spawn(move || stdin.write_all(&bytes));
    }
    let group = ProcessGroup::of(&child);
    let watcher = to.clone();
    thread::spawn(move || watch(group, &watcher));
    let _attached = control.attach(to);
    let running = RunningProgram::new(child, group, terminal);
    Ok(supervise(running, &events, program.limits, open, observe))
}

fn start(program: &ProgramSpec) -> Result<Child, ProgramStartError> {
    let mut command = Command::new(&program.file);
    command
        .args(&program.args)
        .env_clear()
        .envs(&program.env)
        .current_dir(&program.cwd)
        .stdin(match program.stdin {
            StdinMode::Null => Stdio::null(),
            StdinMode::Inherit | StdinMode::Terminal => Stdio::inherit(),
            StdinMode::Bytes(_) => Stdio::piped(),
        })
        .stdout(match program.stdout {
            StdoutMode::Inherit => Stdio::inherit(),
            StdoutMode::Keep => Stdio::piped(),
        })
        .stderr(Stdio::piped());
    prepare(&mut command);
    command.spawn().map_err(|error| {
        let program = program.file.to_string_lossy().into_owned();
        match error.kind() {
            // A script whose interpreter is missing counts as not found too.
            io::ErrorKind::NotFound => ProgramStartError::NotFound(program),
            _ => ProgramStartError::Refused { program, error },
        }
    })
}

type OutputPipe = Box<dyn Read + Send>;

fn pump(stream: OutputStream, mut pipe: OutputPipe, to: &SyncSender<ChildEvent>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if to.send(ChildEvent::Chunk(stream, buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = to.send(ChildEvent::Closed);
}

fn watch(group: ProcessGroup, to: &SyncSender<ChildEvent>) {
    while let Ok(seen) = group.wait_for_leader() {
        if to.send(ChildEvent::Seen(seen)).is_err() || seen == LeaderEvent::Ended {
            return;
        }
    }
}
