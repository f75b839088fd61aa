//! What is to be done in the background, and that one process does it.
//!
//! Any number of hooks may find work at the same moment: each adds a line to a queue, and only the first
//! starts a process. That process holds a lock while it works, takes the queue until it is empty, and
//! looks once more after it gave the lock back, so that no line is forgotten between two processes.
//!
//! What must never happen here: a second process at work, a queue that grows without end, a hook that
//! waits for the work of another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sinew_guard::atomic::FileLock;

use super::json_lines;
use crate::EngineOptions;

/// Places that wait at the same time. More are left out: the next event there asks again.
const MAX_QUEUED: usize = 32;

/// A process that was started so long ago and took nothing from the queue has died.
const PATIENCE: Duration = Duration::from_secs(10);

/// A place whose turns are to be settled and whose index is to be completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QueuedWork {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) workspace: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) config: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<String>,
}

impl QueuedWork {
    /// What a caller asks for. The process that does it may have been started elsewhere, so the current
    /// folder is named, except where a profile has a workspace of its own.
    pub(super) fn of(options: &EngineOptions, cwd: &Path) -> Self {
        let here = options.profile.is_none().then(|| cwd.to_owned());
        Self {
            workspace: options.workspace.clone().or(here),
            config: options.config.clone(),
            profile: options.profile.clone(),
        }
    }

    pub(super) fn options(self) -> EngineOptions {
        EngineOptions {
            workspace: self.workspace,
            config: self.config,
            profile: self.profile,
            ..EngineOptions::default()
        }
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkRequest {
    /// The caller is to start a process.
    Start,
    /// A process is at work or on its way.
    UnderWay,
}

/// The queue's files.
#[derive(Debug)]
pub(super) struct WorkQueue {
    path: PathBuf,
}

impl WorkQueue {
    pub(super) fn below(folder: &Path) -> Self {
        Self { path: folder.join("queue.jsonl") }
    }

    fn lock(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.path.with_extension("lock"))
    }

    fn worker(&self) -> PathBuf {
        self.path.with_file_name("worker.lock")
    }

    /// Adds work, and says whether a process is needed for it.
    pub(super) fn add(&self, work: &QueuedWork, now: SystemTime) -> io::Result<WorkRequest> {
        let _lock = self.lock()?;
        let waiting = json_lines::read::<QueuedWork>(&self.path)?;
        let asked = fs::metadata(&self.path).and_then(|facts| facts.modified()).ok();
        let age = asked.map(|asked| now.duration_since(asked).unwrap_or_default());
        let on_its_way = !waiting.is_empty() && age.is_some_and(|age| age < PATIENCE);
        if !waiting.contains(work) {
            if waiting.len() < MAX_QUEUED {
                json_lines::append(&self.path, work)?;
            } else {
                tracing::warn!("the queue of work in the background is full");
            }
        }
        // The lock is given back at once: it says only whether a process has it.
        let at_work = FileLock::try_acquire(&self.worker())?.is_none();
        Ok(if on_its_way || at_work { WorkRequest::UnderWay } else { WorkRequest::Start })
    }

    /// Whether nothing waits. One that cannot be read is looked at by the next who adds to it.
    pub(super) fn is_empty(&self) -> bool {
        json_lines::read::<QueuedWork>(&self.path).map_or(true, |waiting| waiting.is_empty())
    }

    /// Takes everything that waits.
    fn take(&self) -> io::Result<Vec<QueuedWork>> {
        let _lock = self.lock()?;
        let waiting = json_lines::read(&self.path)?;
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(waiting),
        }
    }

    /// Does what waits with `work`, unless another process does it.
    pub(super) fn work_off(&self, work: &mut dyn FnMut(Vec<QueuedWork>)) -> io::Result<()> {
        loop {
            let Some(alone) = self.begin()? else { return Ok(()) };
            let waiting = self.take()?;
            if !waiting.is_empty() {
                work(waiting);
                continue;
            }
            drop(alone);
            if json_lines::read::<QueuedWork>(&self.path)?.is_empty() {
                return Ok(());
            }
        }
    }

    /// The worker's lock, unless another process has it. A hook that looks whether it is taken holds it
    /// for a moment, under the queue's lock; so it is taken under that lock, too.
    fn begin(&self) -> io::Result<Option<FileLock>> {
        let _lock = self.lock()?;
        FileLock::try_acquire(&self.worker())
    }

    /// Waits until no other process is at work, and keeps others from it.
    pub(super) fn alone(&self) -> io::Result<FileLock> {
        FileLock::acquire(&self.worker())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(place: &str) -> QueuedWork {
        QueuedWork { workspace: Some(place.into()), config: None, profile: None }
    }

    #[test]
    fn the_first_starts_a_process_and_the_others_rely_on_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let queue = WorkQueue::below(folder.path());
        let now = SystemTime::now();
        let add = |place: &str, now| queue.add(&work(place), now).expect("writable");
        assert_eq!(add("/a", now), WorkRequest::Start);
        assert_eq!(add("/a", now), WorkRequest::UnderWay);
        assert_eq!(add("/b", now), WorkRequest::UnderWay);
        // The process that was started never came.
        assert_eq!(add("/b", now + 2 * PATIENCE), WorkRequest::Start);
        let mut done = Vec::new();
        queue.work_off(&mut |waiting| done.extend(waiting)).expect("readable");
        assert_eq!(done, [work("/a"), work("/b")]);
        assert_eq!(add("/a", now), WorkRequest::Start);
    }

    #[test]
    fn what_comes_in_during_the_work_is_done_by_the_same_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let queue = WorkQueue::below(folder.path());
        queue.add(&work("/a"), SystemTime::now()).expect("writable");
        let mut done = Vec::new();
        queue
            .work_off(&mut |waiting| {
                if done.is_empty() {
                    let later = queue.add(&work("/b"), SystemTime::now()).expect("writable");
                    assert_eq!(later, WorkRequest::UnderWay);
                    // A second process finds the first at work, and leaves.
                    queue.work_off(&mut |_| panic!("two at work")).expect("readable");
                }
                done.extend(waiting);
            })
            .expect("readable");
        assert_eq!(done, [work("/a"), work("/b")]);
    }

    #[test]
    fn the_queue_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let queue = WorkQueue::below(folder.path());
        for at in 0..2 * MAX_QUEUED {
            queue.add(&work(&format!("/{at}")), SystemTime::now()).expect("writable");
        }
        assert_eq!(queue.take().expect("readable").len(), MAX_QUEUED);
    }
}
