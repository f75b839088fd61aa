//! Which programs can be run: those on PATH and those that sinew installed; one listing per folder,
//! shared by all skills.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::environment::Environment;
use crate::tools;

/// Remembers listings between builds, while PATH and the folders' times are unchanged.
#[derive(Debug, Default)]
pub(crate) struct BinCache(Mutex<Option<Arc<Bins>>>);

/// The programs that were found.
#[derive(Debug)]
pub(crate) struct Bins {
    folders: Vec<(PathBuf, Option<SystemTime>)>,
    /// Folders that serve a single skill: not listed here, but a change in them is a change.
    own: Vec<(PathBuf, Option<SystemTime>)>,
    extensions: Vec<String>,
    found: HashMap<String, PathBuf>,
}

impl BinCache {
    /// The programs that this environment can run.
    pub(crate) fn get(&self, env: &Environment) -> Arc<Bins> {
        let stamped = |folder: PathBuf| {
            let modified = fs::metadata(&folder).and_then(|metadata| metadata.modified()).ok();
            (folder, modified)
        };
        let folders: Vec<_> = env.program_folders().into_iter().map(stamped).collect();
        let own: Vec<_> = tools::all_own_folders(env).into_iter().map(stamped).collect();
        let extensions = extensions(env);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bins) = &*cached
            && bins.folders == folders
            && bins.own == own
            && bins.extensions == extensions
        {
            return Arc::clone(bins);
        }
        let bins = Arc::new(Bins::list(folders, own, extensions));
        *cached = Some(Arc::clone(&bins));
        bins
    }
}

impl Bins {
    fn list(
        folders: Vec<(PathBuf, Option<SystemTime>)>,
        own: Vec<(PathBuf, Option<SystemTime>)>,
        extensions: Vec<String>,
    ) -> Self {
        let mut found = HashMap::new();
        for (folder, _) in &folders {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                if let Ok(name) = entry.file_name().into_string() {
                    found.entry(name).or_insert_with(|| entry.path());
                }
            }
        }
        Self { folders, own, extensions, found }
    }

    /// Whether a program of that name can be run.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Where a program lies.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let with_extension = |extension: &String| format!("{name}{extension}");
        let names =
            std::iter::once(name.to_owned()).chain(self.extensions.iter().map(with_extension));
        for name in names {
            let Some(first) = self.found.get(&name) else { continue };
            if is_executable(first) {
                return Some(first.clone());
            }
            // A file that cannot be run does not hide one further down PATH that can.
            let later = self.folders.iter().map(|(folder, _)| folder.join(&name));
            if let Some(path) = later.into_iter().find(|path| is_executable(path)) {
                return Some(path);
            }
        }
        None
    }
}

/// The first of `folders` that holds a program of that name.
pub(crate) fn find_in(
    folders: impl IntoIterator<Item = PathBuf>,
    name: &str,
    env: &Environment,
) -> Option<PathBuf> {
    let extensions = extensions(env);
    let names: Vec<String> = std::iter::once(name.to_owned())
        .chain(extensions.iter().map(|extension| format!("{name}{extension}")))
        .collect();
    folders.into_iter().find_map(|folder| {
        names.iter().map(|name| folder.join(name)).find(|path| is_executable(path))
    })
}

/// Endings that make a file a program: none but on Windows.
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

/// Whether a path is a regular file that may be run.
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
