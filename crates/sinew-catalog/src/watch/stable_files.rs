//! Waiting for files that are still being written until they stop changing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const POLL: Duration = Duration::from_millis(100);
/// A file that has not changed for this long counts as finished.
const STILL: Duration = Duration::from_millis(250);
/// A file that never stops changing is read anyway after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until no path changes its size or time any more.
pub(super) fn settle(paths: &BTreeSet<PathBuf>) {
    let start = Instant::now();
    let mut last = looks(paths);
    // A file whose last change is older than the wait is already stable.
    let mut since = if paths_are_old(&last) { None } else { Some(Instant::now()) };
    while let Some(changed) = since {
        if changed.elapsed() >= STILL || start.elapsed() >= PATIENCE {
            break;
        }
        thread::sleep(POLL);
        let now = looks(paths);
        if now != last {
            since = Some(Instant::now());
            last = now;
        }
    }
}

type FileProbe = Option<(u64, Option<SystemTime>)>;

fn looks(paths: &BTreeSet<PathBuf>) -> Vec<FileProbe> {
    paths
        .iter()
        .map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.len(), metadata.modified().ok()))
        })
        .collect()
}

fn paths_are_old(looks: &[FileProbe]) -> bool {
    looks.iter().all(|look| match look {
        None => true,
        Some((_, modified)) => {
            modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|age| age >= STILL)
        }
    })
}
