//! Data that tests share and the repo does not hold, because its text belongs to others.
//!
//! It is looked for in `$SINEW_SHARED`, else in a folder `shared` beside the workspace. A test that
//! cannot find it says so and passes: silence would look like coverage.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The path of a shared file or folder, or a loud `SKIPPED` on stderr.
///
/// ```
/// if let Some(path) = sinew_testkit::shared_data("data/golden/openclaw-skills.json") {
///     assert!(path.is_file());
/// }
/// ```
pub fn shared_data(path: &str) -> Option<PathBuf> {
    let found = shared_root().join(path);
    if found.exists() {
        return Some(found);
    }
    report_skip(&format!("{} does not exist; set SINEW_SHARED to the folder of shared data", path));
    None
}

/// The rows of a shared JSON-lines file, unpacked where its name ends in `.gz`.
///
/// A row that is not JSON is a broken data set, not a missing one, so it panics.
pub fn shared_rows(path: &str) -> Option<Vec<serde_json::Value>> {
    let found = shared_data(path)?;
    let file = File::open(&found).expect("a shared file that exists can be opened");
    let is_packed = found.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if is_packed { Box::new(flate2::read::GzDecoder::new(file)) } else { Box::new(file) };
    let lines = BufReader::new(reader).lines().map(|line| line.expect("shared rows are UTF-8"));
    let rows = lines.filter(|line| !line.trim().is_empty());
    Some(rows.map(|row| serde_json::from_str(&row).expect("shared rows are JSON")).collect())
}

fn shared_root() -> PathBuf {
    match std::env::var_os("SINEW_SHARED") {
        Some(root) if !root.is_empty() => PathBuf::from(root),
        _ => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    }
}

/// Says loudly that a test did not run, and why.
#[allow(clippy::print_stderr)]
pub fn report_skip(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("SKIPPED {test}: {why}");
}
