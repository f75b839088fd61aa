//! Starting one program: from an argument vector, without a shell, with an explicit environment, in a
//! group of its own, under limits.
//!
//! **Must never happen here:** a shell, an inherited environment, a program that outlives its limit
//! together with its children, output without bounds.

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
use crate::supervise::{ChildEvent, RunningProgram, supervise};

/// Chunks that wait to be taken; a full queue slows the program down instead of filling memory.
const QUEUE: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// A program to start.
#[derive(Debug)]
pub struct ProgramSpec {
    /// The program's file, as [`locate`] found it.
    pub file: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All of its environment.
    pub env: BTreeMap<String, String>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// What it reads.
    pub stdin: StdinMode,
    /// What becomes of its standard output; standard error is always kept.
    pub stdout: StdoutMode,
    /// When it is ended.
    pub limits: ProgramLimits,
}

/// What a program reads.
#[derive(Debug, Clone)]
pub enum StdinMode {
    /// Nothing.
    Null,
    /// What this process would read.
    Inherit,
    /// The terminal, which is lent to it.
    Terminal,
    /// These bytes.
    Bytes(Vec<u8>),
}

/// What becomes of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutMode {
    /// It goes where ours goes, byte for byte.
    Inherit,
    /// It is kept, and shown to the observer.
    Keep,
}

/// When a program is ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramLimits {
    /// After so long.
    pub time: Option<Duration>,
    /// After so long without a word.
    pub silence: Option<Duration>,
    /// After so many bytes on one stream.
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
    /// It said nothing for too long.
    Silent,
    /// It said too much.
    TooLoud,
}

/// A program that has ended.
#[derive(Debug)]
pub struct FinishedProgram {
    /// How it ended.
    pub how: ExitCause,
    /// A signal that was handed on while it ran.
    pub forwarded: Option<ProcessSignal>,
    /// What it wrote to standard output, where that was kept.
    pub stdout: OutputExcerpt,
    /// What it wrote to standard error.
    pub stderr: OutputExcerpt,
    /// How long it took.
    pub took: Duration,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProgramStartError {
    /// There is no such program.
    #[error("there is no program `{0}`")]
    NotFound(String),
    /// It is there and cannot be run.
    #[error("`{program}` cannot be started: {error}")]
    Refused {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
}

/// The file that `word` names for a child with these variables: a path as it is, from the folder
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

/// A handle through which others reach the programs that are running: signals that this process
/// received, a request that was cancelled.
#[derive(Debug, Clone, Default)]
pub struct ProcessControl(Arc<Mutex<ControlState>>);

#[derive(Debug, Default)]
struct ControlState {
    running: Vec<(u64, SyncSender<ChildEvent>)>,
    started: u64,
    last: Option<ProcessSignal>,
}

impl ProcessControl {
    /// Hands a signal on to every program that is running.
    pub fn signal(&self, signal: ProcessSignal) {
        let mut reach = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reach.last = Some(signal);
        for (_, to) in &reach.running {
            if let Err(TrySendError::Full(event)) = to.try_send(ChildEvent::Signal(signal)) {
                // The program talks faster than it is listened to; the signal waits its turn.
                let to = to.clone();
                thread::spawn(move || to.send(event));
            }
        }
    }

    /// The last signal that was handed on.
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

/// A program within reach, until this is dropped.
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

/// Starts the program and stays with it until it has ended; `observe` sees its output as it comes.
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
        // A program that does not read everything closes the pipe; that is its business.
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
            // A script whose interpreter is missing is not found either.
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
