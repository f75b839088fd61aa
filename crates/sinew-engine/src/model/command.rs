//! A program as a model: the prompt on its input, the answer on its output.
//!
//! It runs without a shell, in an empty folder, with the few variables it was given, and in a process
//! group of its own: whatever it started is gone when the answer is in or the time is up.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sinew_settings::Environment;

use super::{CompletionRequest, LanguageModel, LanguageModelError, MAX_ANSWER, told};

/// How often to check whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Bytes of its error output that are kept.
const MAX_COMPLAINT: u64 = 4 * 1024;

#[derive(Debug)]
pub(super) struct CommandModel {
    argv: Vec<String>,
    variables: Vec<(String, String)>,
    home: PathBuf,
}

impl CommandModel {
    pub(super) fn new(argv: &[String], named: &[String], env: &Environment) -> Self {
        let wanted = std::iter::once("PATH").chain(named.iter().map(String::as_str));
        let variables = wanted
            .filter_map(|name| Some((name.to_owned(), env.vars.get(name)?.clone())))
            .collect();
        Self { argv: argv.to_vec(), variables, home: env.home.clone() }
    }

    fn start(&self, folder: &std::path::Path) -> Result<Child, LanguageModelError> {
        let program = self.argv.first().map(String::as_str).unwrap_or_default();
        let mut command = Command::new(program);
        command
            .args(&self.argv[1..])
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env("HOME", &self.home)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
        }
        command.spawn().map_err(|error| LanguageModelError::Unreachable {
            address: program.to_owned(),
            detail: error.to_string(),
        })
    }
}

impl LanguageModel for CommandModel {
    fn complete(&self, request: &CompletionRequest) -> Result<String, LanguageModelError> {
        let start = Instant::now();
        let folder = tempfile::tempdir().map_err(|error| LanguageModelError::Unreachable {
            address: "an empty folder".to_owned(),
            detail: error.to_string(),
        })?;
        let mut child = self.start(folder.path())?;
        let (input, output, complaints) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let prompt = format!("{}\n\n{}", request.system, request.prompt);
        // A program that does not read its input must not keep us from reading its answer.
        thread::spawn(move || input.map(|mut input| input.write_all(prompt.as_bytes())));
        let flooded = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&flooded);
        let answer = thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(output) = output {
                let _ = output.take(MAX_ANSWER as u64 + 1).read_to_end(&mut bytes);
            }
            tell.store(bytes.len() > MAX_ANSWER, Ordering::Release);
            bytes
        });
        let complaint = thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut complaints) = complaints {
                let _ = complaints.by_ref().take(MAX_COMPLAINT).read_to_end(&mut bytes);
                // The rest is read and dropped, so that the program does not hang on it.
                let _ = std::io::copy(&mut complaints, &mut std::io::sink());
            }
            bytes
        });
        let status = wait(&mut child, || {
            start.elapsed() < request.deadline && !flooded.load(Ordering::Acquire)
        });
        let bytes = answer.join().unwrap_or_default();
        let complaint = complaint.join().unwrap_or_default();
        if bytes.len() > MAX_ANSWER {
            return Err(LanguageModelError::TooLong);
        }
        let Some(status) = status else {
            return Err(LanguageModelError::Timeout(request.deadline));
        };
        if !status.success() {
            return Err(LanguageModelError::Failed {
                program: self.argv.first().cloned().unwrap_or_default(),
                code: status.code().map_or("a signal".to_owned(), |code| code.to_string()),
                detail: told(&String::from_utf8_lossy(&complaint), None),
            });
        }
        String::from_utf8(bytes).map_err(|error| LanguageModelError::Unreadable(error.to_string()))
    }
}

/// Waits for the program while `patient` holds, then ends it with everything it started. `None` when
/// it had to be ended.
#[cfg(unix)]
fn wait(child: &mut Child, patient: impl Fn() -> bool) -> Option<ExitStatus> {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
    // Seen but not yet collected, its number still belongs to it and its group.
    let seen = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let mut ended = false;
    while !ended && patient() {
        ended = !matches!(waitid(WaitId::Pid(pid), seen), Ok(None));
        if !ended {
            thread::sleep(LOOK);
        }
    }
    let _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait().ok();
    status.filter(|_| ended)
}

/// Elsewhere there is no group to end: the program itself is.
#[cfg(not(unix))]
fn wait(child: &mut Child, patient: impl Fn() -> bool) -> Option<ExitStatus> {
    while patient() {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}
