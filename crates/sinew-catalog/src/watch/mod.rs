//! Watching the roots: a changed skill is noticed without a restart.
//!
//! Folders are watched, not files, through one system handle for all of them. If the system runs
//! out of watches, watching stops with a reason, and the caller checks for changes at each use.

mod stable_files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use sinew_settings::{Reason, ReasonCode, path_text};

use crate::catalog::Catalog;
use crate::discover::SKILL_FILE;

/// Folders that never contain skills and change all the time.
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

/// Link targets that are watched; beyond that, changes are found by the check at each use.
const MAX_LINK_TARGETS: usize = 100;

/// However busy a folder is, a change is reported after this long at the latest.
const MAX_GATHERING: Duration = Duration::from_secs(5);

/// How long to wait before trying again after the system refused.
pub const RETRY: Duration = Duration::from_secs(5 * 60);

/// Asks the system to report changes of a folder.
pub trait WatchBackend {
    /// Starts watching one folder, without the folders below it.
    fn watch(&mut self, folder: &Path) -> Result<(), WatchError>;
    /// Stops watching one folder.
    fn unwatch(&mut self, folder: &Path);
}

/// Why a folder is not watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system has no more watches or handles.
    #[error("the system has no watches left")]
    Exhausted,
    /// This one folder cannot be watched.
    #[error("{0}")]
    Folder(String),
}

/// The system's own way of watching.
#[derive(Debug)]
pub struct SystemWatchBackend(RecommendedWatcher);

impl WatchBackend for SystemWatchBackend {
    fn watch(&mut self, folder: &Path) -> Result<(), WatchError> {
        self.0.watch(folder, RecursiveMode::NonRecursive).map_err(|error| match &error.kind {
            notify::ErrorKind::MaxFilesWatch => WatchError::Exhausted,
            notify::ErrorKind::Io(io) if is_exhausted(io) => WatchError::Exhausted,
            _ => WatchError::Folder(error.to_string()),
        })
    }

    fn unwatch(&mut self, folder: &Path) {
        // A folder that is gone is no longer watched anyway.
        let _ = self.0.unwatch(folder);
    }
}

/// ENOSPC, EMFILE and ENFILE: how inotify reports that its limits are reached.
fn is_exhausted(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(28 | 24 | 23))
}

/// A watch over the folders of a catalog.
#[derive(Debug)]
pub struct CatalogWatch<B = SystemWatchBackend> {
    backend: B,
    events: Receiver<WatchSignal>,
    /// The watched folders and their identities: a folder that is replaced must be watched anew.
    folders: BTreeMap<PathBuf, Option<(u64, u64)>>,
    /// Watched folders with events: they may be new ones under the old name, and file systems may
    /// give a new folder the inode number of the one just removed.
    touched: BTreeSet<PathBuf>,
    /// Further files to report changes of.
    files: BTreeSet<PathBuf>,
    debounce: Duration,
}

/// What the system reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchSignal {
    /// Something happened to this path.
    Path(PathBuf),
    /// The system dropped events.
    Lost,
}

/// The result of a wait.
#[derive(Debug, PartialEq, Eq)]
pub enum WatchWaitResult {
    /// The system dropped events; anything may have changed.
    Lost,
    /// These paths changed and are stable now.
    Changed(Vec<PathBuf>),
    /// Nothing happened in the time given.
    Quiet,
}

impl CatalogWatch<SystemWatchBackend> {
    /// Starts watching through the system.
    pub fn start(debounce: Duration) -> Result<Self, Reason> {
        let (sender, events) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            forward(&sender, event);
        });
        match watcher {
            Ok(watcher) => Ok(Self::with_backend(SystemWatchBackend(watcher), events, debounce)),
            Err(error) => Err(unavailable(&error.to_string())),
        }
    }
}

/// Sending fails only if the watch is gone; then no one needs the signal.
fn forward(sender: &Sender<WatchSignal>, event: notify::Result<notify::Event>) {
    match event {
        Ok(event) if event.need_rescan() => drop(sender.send(WatchSignal::Lost)),
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
        Ok(event) => {
            for path in event.paths {
                drop(sender.send(WatchSignal::Path(path)));
            }
        }
        Err(_) => drop(sender.send(WatchSignal::Lost)),
    }
}

impl<B: WatchBackend> CatalogWatch<B> {
    /// A watch with another backend.
    pub fn with_backend(backend: B, events: Receiver<WatchSignal>, debounce: Duration) -> Self {
        Self {
            backend,
            events,
            folders: BTreeMap::new(),
            touched: BTreeSet::new(),
            files: BTreeSet::new(),
            debounce,
        }
    }

    /// Also reports changes of this file, from the next [`follow`](Self::follow) on.
    pub fn add_file(&mut self, file: PathBuf) {
        self.files.insert(file);
    }

    /// Watches exactly the folders that the catalog consists of now. The only error is an exhausted
    /// system; a single folder that cannot be watched is a reason.
    pub fn follow(&mut self, catalog: &Catalog) -> Result<Vec<Reason>, Reason> {
        let mut needed = folders_to_watch(catalog);
        needed.extend(self.files.iter().filter_map(|file| nearest_folder(file.parent()?)));
        let known: Vec<PathBuf> = self.folders.keys().cloned().collect();
        for folder in known {
            let is_same = self.folders.get(&folder) == Some(&identity(&folder));
            if !needed.contains(&folder) || !is_same || self.touched.contains(&folder) {
                self.backend.unwatch(&folder);
                self.folders.remove(&folder);
            }
        }
        self.touched.clear();
        let mut reasons = Vec::new();
        for folder in needed {
            if self.folders.contains_key(&folder) {
                continue;
            }
            let identity = identity(&folder);
            match self.backend.watch(&folder) {
                Ok(()) => drop(self.folders.insert(folder, identity)),
                Err(WatchError::Exhausted) => {
                    return Err(unavailable(&WatchError::Exhausted.to_string()));
                }
                Err(WatchError::Folder(detail)) => reasons.push(
                    Reason::new(ReasonCode::WatchUnavailable, detail).path(path_text(&folder)),
                ),
            }
        }
        Ok(reasons)
    }

    /// Waits for changes that affect the catalog, collects changes that belong together, and waits
    /// until the files are completely written.
    pub fn wait(&mut self, timeout: Duration) -> WatchWaitResult {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let first = match self.events.recv_timeout(left) {
                Ok(WatchSignal::Path(path)) => path,
                Ok(WatchSignal::Lost) => return WatchWaitResult::Lost,
                Err(RecvTimeoutError::Timeout) => return WatchWaitResult::Quiet,
                Err(RecvTimeoutError::Disconnected) => return WatchWaitResult::Lost,
            };
            if !self.concerns(&first) {
                continue;
            }
            let mut changed = BTreeSet::from([first]);
            let until = Instant::now() + MAX_GATHERING;
            while Instant::now() < until {
                match self.events.recv_timeout(self.debounce) {
                    Ok(WatchSignal::Path(path)) if self.concerns(&path) => {
                        changed.insert(path);
                    }
                    Ok(WatchSignal::Path(_)) => {}
                    Ok(WatchSignal::Lost) => return WatchWaitResult::Lost,
                    Err(_) => break,
                }
            }
            stable_files::settle(&changed);
            let touched = changed.iter().filter(|path| self.folders.contains_key(*path));
            self.touched.extend(touched.cloned());
            return WatchWaitResult::Changed(changed.into_iter().collect());
        }
    }

    fn concerns(&self, path: &Path) -> bool {
        concerns(path) || self.files.contains(path)
    }
}

/// The path itself or the nearest existing folder above it.
fn nearest_folder(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)
}

/// The identity of the folder that a path points to.
fn identity(folder: &Path) -> Option<(u64, u64)> {
    let dir = cap_std::fs::Dir::open_ambient_dir(folder, cap_std::ambient_authority()).ok()?;
    Some(sinew_guard::containment::stamp_of(&dir, Path::new(".")).ok()?.id)
}

fn unavailable(detail: &str) -> Reason {
    Reason::new(ReasonCode::WatchUnavailable, detail.to_owned()).remedy(
        "raise fs.inotify.max_user_watches or the open-file limit; until then changes are seen at the next use",
    )
}

/// Whether a changed path can matter: a skill file, a note about its origin, or a folder. Paths
/// come from watched folders, so only their last part has to be checked.
fn concerns(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return false;
    };
    if IGNORED.contains(&name.as_str()) {
        // A skill may have such a name; a build folder contains no skill file.
        return path.join(SKILL_FILE).exists();
    }
    let is_markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
    // A folder that is gone cannot be examined; it is recognised by a name without an extension.
    is_markdown || name == "source-origin.json" || !name.contains('.') || path.is_dir()
}

/// The folders to watch for a catalog: those that decided what was found, the nearest existing
/// folder above each missing one, the folders where a registry client leaves notes, and the targets
/// of links.
pub fn folders_to_watch(catalog: &Catalog) -> BTreeSet<PathBuf> {
    let missing = catalog.roots.iter().map(|root| &root.path).chain(&catalog.folders);
    let mut folders: BTreeSet<PathBuf> = missing.filter_map(|path| nearest_folder(path)).collect();
    let mut targets = 0;
    for entry in &catalog.entries {
        let notes = entry.base_dir.join(".openclaw");
        if notes.is_dir() {
            folders.insert(notes);
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
