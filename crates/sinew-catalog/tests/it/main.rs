//! The catalog's tests, in one binary.

mod commands;
mod discovery;
mod filters;
mod gate;
mod golden_gate;
mod golden_prompt;
mod locations;
mod lookup;
mod openpocket;
mod prompt;
mod references;
mod snapshot;
mod sources;
mod watch;

use std::path::PathBuf;

/// A file of the shared test data, or a loud note that the test did not run.
#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
fn shared(path: &str) -> Option<String> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let root = std::env::var_os("SINEW_SHARED").map_or_else(beside, PathBuf::from);
    let text = std::fs::read_to_string(root.join(path)).ok();
    if text.is_none() {
        eprintln!("SKIPPED: no {path} under {}; set SINEW_SHARED", root.display());
    }
    text
}
