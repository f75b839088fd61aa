//! The catalog's tests, in one binary.

mod commands;
mod golden_prompt;
mod locations;
mod prompt;
mod references;

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
