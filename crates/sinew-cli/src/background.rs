//! Work that no person waits for, done by a process of its own.

use std::process::{Command, Stdio};

use sinew_engine::EngineOptions;
use sinew_engine::hook::{self, WorkRequest};
use sinew_settings::Environment;

/// Has turns settled and vectors computed behind the person's back, by one process at a time. If it
/// cannot be started, the next event asks again.
pub(crate) fn request_work(env: &Environment, options: &EngineOptions) {
    match hook::request_work(env, options) {
        Ok(WorkRequest::Start) => start(env),
        Ok(WorkRequest::UnderWay) => {}
        Err(error) => tracing::warn!(%error, "work for the background could not be queued"),
    }
}

fn start(env: &Environment) {
    let Some(program) = &env.exe else { return };
    let mut command = Command::new(program);
    command
        .args(["hook", "settle", "--queued"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    if let Err(error) = command.spawn() {
        tracing::warn!(%error, "the process for the background could not be started");
    }
}

/// Lets everything else on the machine go first: no person waits for this process. A system that refuses
/// runs it as it is.
pub(crate) fn lower_priority() {
    #[cfg(unix)]
    {
        /// The lowest priority that there is.
        const LOWEST: i32 = 19;
        if let Err(error) = rustix::process::nice(LOWEST) {
            tracing::debug!(%error, "the priority stays as it is");
        }
    }
}
