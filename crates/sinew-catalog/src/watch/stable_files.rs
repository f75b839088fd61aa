//! Files that are still being written are left alone until they hold still.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const POLL: Duration = Duration::from_millis(100);
/// A file that did not change for this long is taken as finished.
const STILL: Duration = Duration::from_millis(250);
/// A file that never holds still is read all the same after this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until the size and time of every path hold still.
pub(super) fn settle(paths: &BTreeSet<PathBuf>) {
    let start = Instant::now();
    let mut last = looks(paths);
    // A file whose last change is older than the wait has held still already.
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
