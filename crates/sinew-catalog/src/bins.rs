//! Which programs can be run: those on PATH and those that sinew installed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use sinew_settings::Environment;

use crate::tools;

/// Caches the list of program folders between builds, while PATH and the folders' times are
/// unchanged.
#[derive(Debug, Default)]
pub(crate) struct ProgramFolderCache(Mutex<Option<Arc<ProgramFolders>>>);

/// The folders with programs, and their times when they were checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProgramFolders {
    folders: Vec<(PathBuf, Option<SystemTime>)>,
    /// Folders that serve a single skill: not searched here, but a change in them counts.
    own: Vec<(PathBuf, Option<SystemTime>)>,
    extensions: Vec<String>,
}

impl ProgramFolderCache {
    /// The programs that this environment can run.
    pub(crate) fn get(&self, env: &Environment) -> Arc<ProgramFolders> {
        let stamped = |folder: PathBuf| {
            let modified = fs::metadata(&folder).and_then(|metadata| metadata.modified()).ok();
            (folder, modified)
        };
        let now = ProgramFolders {
            folders: program_folders(env).into_iter().map(stamped).collect(),
            own: tools::all_own_folders(env).into_iter().map(stamped).collect(),
            extensions: extensions(env),
        };
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some(bins) if **bins == now => Arc::clone(bins),
            _ => Arc::clone(cached.insert(Arc::new(now))),
        }
    }
}

/// Lookups for one build: many skills need the same few programs, and each is searched for once.
#[derive(Debug)]
pub(crate) struct ProgramLookup<'a> {
    bins: &'a ProgramFolders,
    answers: RefCell<HashMap<String, bool>>,
}

impl<'a> ProgramLookup<'a> {
    pub(crate) fn of(bins: &'a ProgramFolders) -> Self {
        Self { bins, answers: RefCell::default() }
    }

    /// Whether a program of that name can be run.
    pub(crate) fn has(&self, name: &str) -> bool {
        if let Some(answer) = self.answers.borrow().get(name) {
            return *answer;
        }
        // A file that is not executable does not hide an executable one later in PATH.
        let there = self.bins.folders.iter().filter(|(_, modified)| modified.is_some());
        let found = find(there.map(|(folder, _)| folder), name, &self.bins.extensions);
        self.answers.borrow_mut().insert(name.to_owned(), found.is_some());
        found.is_some()
    }
}

/// The folders searched for programs: those of PATH, then those that sinew installs into.
pub fn program_folders(env: &Environment) -> Vec<PathBuf> {
    let mut folders = env.path_folders();
    for folder in tools::shared_folders(env) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The path of a program on PATH.
pub fn find_program(env: &Environment, name: &str) -> Option<PathBuf> {
    find_in(env.path_folders(), name, env)
}

/// The first of `folders` that contains a program of that name.
pub(crate) fn find_in(
    folders: impl IntoIterator<Item = PathBuf>,
    name: &str,
    env: &Environment,
) -> Option<PathBuf> {
    find(folders, name, &extensions(env))
}

fn find(
    folders: impl IntoIterator<Item = impl AsRef<Path>>,
    name: &str,
    extensions: &[String],
) -> Option<PathBuf> {
    let names: Vec<String> = std::iter::once(name.to_owned())
        .chain(extensions.iter().map(|extension| format!("{name}{extension}")))
        .collect();
    folders.into_iter().find_map(|folder| {
        names.iter().map(|name| folder.as_ref().join(name)).find(|path| is_executable(path))
    })
}

/// Extensions that make a file a program; only Windows has them.
fn extensions(env: &Environment) -> Vec<String> {
    if env.os != "win32" {
        return Vec::new();
    }
    let listed = env.var("PATHEXT").unwrap_or(".EXE;.CMD;.BAT;.COM");
    let mut extensions: Vec<String> = Vec::new();
    for extension in listed.split(';').filter(|extension| !extension.is_empty()) {
        extensions.push(extension.to_owned());
        extensions.push(extension.to_ascii_lowercase());
    }
    extensions
}

/// Whether a path is a regular, executable file.
pub(crate) fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}
