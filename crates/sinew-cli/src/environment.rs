//! The one place that looks at the process: its variables, folders, program and clock.

use std::io::Read as _;

use sinew_engine::EngineError;
use sinew_settings::{Environment, ErrorCode};

/// The machine as this process sees it.
pub(crate) fn of_process() -> Result<Environment, EngineError> {
    let env = Environment::of_process().ok_or_else(|| {
        EngineError::new(ErrorCode::NoHome, "there is no home folder")
            .hint("set HOME to an absolute path")
    })?;
    Ok(sinew_engine::environment_before_trial(env))
}

/// A variable that must be known before there is an [`Environment`].
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The time now, as records carry it.
pub(crate) fn now_rfc3339() -> String {
    jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string()
}

/// A message is never longer than this; the rest is not read.
const MAX_INPUT: u64 = 64 << 20;

/// What an agent wrote to a hook; one byte more than allowed says that it was too much.
pub(crate) fn event_input() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(sinew_engine::hook::MAX_EVENT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Text from standard input. What is not UTF-8 becomes a mark that says so.
pub(crate) fn standard_input() -> std::io::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Shows an address or a folder with the program that the system has for it; `false` where none could
/// be started.
pub(crate) fn open_with_system(address: &str) -> bool {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let quiet = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}
