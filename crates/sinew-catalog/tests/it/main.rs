//! The catalog's tests, in one binary.

mod commands;
mod discovery;
mod dispatch;
mod filters;
mod gate;
mod golden_gate;
mod golden_prompt;
mod hosts;
mod install;
mod keep;
mod locations;
mod lookup;
mod openpocket;
mod prompt;
mod references;
mod scan;
mod snapshot;
mod sources;
mod watch;

/// The text of a shared data file; if it is missing, the skipped test is reported.
fn shared(path: &str) -> Option<String> {
    let path = sinew_testkit::shared_data(path)?;
    Some(std::fs::read_to_string(path).expect("shared data can be read"))
}
