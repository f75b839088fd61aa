//! Watching the roots: a changed skill is seen without a restart.
//!
//! Folders are watched, not files, through one handle of the system for all of them. When the
//! system has no more to give, watching stops with a reason and the caller looks at each use.

mod settle;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use sinew_skill::{Code, Reason};

use crate::catalog::Catalog;
use crate::discover::SKILL_FILE;
use crate::environment::path_text;

/// Folders whose insides never hold skills, and change all the time.
const IGNORED: &[&str] = &[
    ".git",
    "node_modules",
    "dist",
    ".venv",
    "venv",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    "build",
    ".cache",
];

/// Link targets that are watched: more is a farm of links, and a look at each use finds them too.
const MAX_LINK_TARGETS: usize = 100;

/// However busy a folder is, a change is reported after this long.
const MAX_GATHERING: Duration = Duration::from_secs(5);

/// How often watching is tried again after the system refused.
pub const RETRY: Duration = Duration::from_secs(5 * 60);

/// Asks the system to report changes of a folder.
pub trait Backend {
    /// Starts watching one folder, not what lies below it.
    fn watch(&mut self, folder: &Path) -> Result<(), WatchError>;
    /// Stops watching one folder.
    fn unwatch(&mut self, folder: &Path);
}

/// Why a folder is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system has no more watches or handles.
    #[error("the system has no more watches to give")]
    Exhausted,
    /// This one folder cannot be watched.
    #[error("{0}")]
    Folder(String),
}

/// The system's own way of watching.
#[derive(Debug)]
pub struct SystemBackend(RecommendedWatcher);

impl Backend for SystemBackend {
    fn watch(&mut self, folder: &Path) -> Result<(), WatchError> {
        self.0.watch(folder, RecursiveMode::NonRecursive).map_err(|error| match &error.kind {
            notify::ErrorKind::MaxFilesWatch => WatchError::Exhausted,
            notify::ErrorKind::Io(io) if is_exhausted(io) => WatchError::Exhausted,
            _ => WatchError::Folder(error.to_string()),
        })
    }

    fn unwatch(&mut self, folder: &Path) {
        // A folder that is gone has lost its watch already.
        let _ = self.0.unwatch(folder);
    }
}

/// ENOSPC, EMFILE and ENFILE, as inotify reports that its limits are reached.
fn is_exhausted(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(28 | 24 | 23))
}

/// A watch over the folders of a catalog.
#[derive(Debug)]
pub struct Watch<B = SystemBackend> {
    backend: B,
    events: Receiver<PathBuf>,
    folders: BTreeSet<PathBuf>,
    debounce: Duration,
}

/// What a wait brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited {
    /// These paths changed and hold still now.
    Changed(Vec<PathBuf>),
    /// Nothing happened in the time given.
    Quiet,
}

impl Watch<SystemBackend> {
    /// Starts watching through the system.
    pub fn start(debounce: Duration) -> Result<Self, Reason> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            forward(&sender, event);
        });
        match watcher {
            Ok(watcher) => Ok(Self::with_backend(SystemBackend(watcher), events, debounce)),
            Err(error) => Err(unavailable(&error.to_string())),
        }
    }
}

fn forward(sender: &Sender<PathBuf>, event: notify::Result<notify::Event>) {
    let Ok(event) = event else { return };
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for path in event.paths {
        // The receiver is gone only when the watch is; then nobody needs the event.
        let _ = sender.send(path);
    }
}

impl<B: Backend> Watch<B> {
    /// A watch over another way to learn of changes.
    pub fn with_backend(backend: B, events: Receiver<PathBuf>, debounce: Duration) -> Self {
        Self { backend, events, folders: BTreeSet::new(), debounce }
    }

    /// Watches what the catalog consists of now, and nothing else. An exhausted system is the one
    /// error; a single folder that cannot be watched is a reason.
    pub fn follow(&mut self, catalog: &Catalog) -> Result<Vec<Reason>, Reason> {
        let wanted = folders(catalog);
        let gone: Vec<PathBuf> = self.folders.difference(&wanted).cloned().collect();
        for folder in gone {
            self.backend.unwatch(&folder);
            self.folders.remove(&folder);
        }
        let mut reasons = Vec::new();
        for folder in wanted {
            if self.folders.contains(&folder) {
                continue;
            }
            match self.backend.watch(&folder) {
                Ok(()) => drop(self.folders.insert(folder)),
                Err(WatchError::Exhausted) => {
                    return Err(unavailable(&WatchError::Exhausted.to_string()));
                }
                Err(WatchError::Folder(detail)) => reasons
                    .push(Reason::new(Code::WatchUnavailable, detail).path(path_text(&folder))),
            }
        }
        Ok(reasons)
    }

    /// Waits for changes that concern the catalog, gathers what belongs together, and lets files
    /// that are still being written come to rest.
    pub fn wait(&self, timeout: Duration) -> Waited {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let first = match self.events.recv_timeout(left) {
                Ok(path) => path,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Waited::Quiet;
                }
            };
            if !concerns(&first) {
                continue;
            }
            let mut changed = BTreeSet::from([first]);
            let until = Instant::now() + MAX_GATHERING;
            while Instant::now() < until {
                match self.events.recv_timeout(self.debounce) {
                    Ok(path) if concerns(&path) => drop(changed.insert(path)),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
            settle::settle(&changed);
            return Waited::Changed(changed.into_iter().collect());
        }
    }
}

fn unavailable(detail: &str) -> Reason {
    Reason::new(Code::WatchUnavailable, detail.to_owned()).remedy(
        "raise fs.inotify.max_user_watches or the open-file limit; until then changes are seen at the next use",
    )
}

/// Whether a changed path can matter: a skill file, a note about its origin, or a folder.
fn concerns(path: &Path) -> bool {
    let ignored = |part: &std::ffi::OsStr| IGNORED.iter().any(|name| part == *name);
    let mut parts = path.components().rev().map(std::path::Component::as_os_str);
    let Some(name) = parts.next().map(|name| name.to_string_lossy().into_owned()) else {
        return false;
    };
    if parts.take(8).any(ignored) || ignored(std::ffi::OsStr::new(&name)) {
        return false;
    }
    let is_markdown = name.len() > 3 && name[name.len() - 3..].eq_ignore_ascii_case(".md");
    // Editors write through temporary files; a folder has no ending to tell it by.
    name == SKILL_FILE
        || is_markdown
        || name == "source-origin.json"
        || !name.contains('.')
        || path.is_dir()
}

/// The folders a catalog depends on: roots, or the nearest folder above a missing one; every
/// folder between a root and a skill; the targets of links.
pub fn folders(catalog: &Catalog) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for root in &catalog.roots {
        let existing = root.path.ancestors().find(|folder| folder.is_dir());
        folders.extend(existing.map(Path::to_owned));
        let nested = root.path.join("skills");
        if nested.is_dir() {
            folders.insert(nested);
        }
    }
    let mut targets = 0;
    for entry in &catalog.entries {
        let root = catalog.roots.iter().find(|root| entry.base_dir.starts_with(&root.path));
        for folder in entry.base_dir.ancestors() {
            if root.is_none_or(|root| !folder.starts_with(&root.path)) {
                break;
            }
            folders.insert(folder.to_owned());
        }
        if entry.base_dir.is_symlink()
            && targets < MAX_LINK_TARGETS
            && let Ok(target) = std::fs::canonicalize(&entry.base_dir)
        {
            targets += 1;
            folders.insert(target);
        }
    }
    folders
}
