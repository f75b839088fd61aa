//! sinew's own folder: closed to others, and free of what killed processes left.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use sinew_settings::{Environment, Reason, ReasonCode, path_text};

use crate::Engine;

/// A temporary file this old belongs to no process that is still writing it.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// Folders looked into for leftovers: sinew's home is small, and a wrong `SINEW_HOME` may not be.
const MAX_FOLDERS: usize = 500;

/// Closes sinew's home to other users, where it is open. What cannot be closed is told by `doctor`.
pub fn close_home(env: &Environment) {
    let home = env.sinew_home();
    if is_open(&home) {
        close(&home);
        folders_below(&home).iter().for_each(|folder| close(folder));
        return;
    }
    // While the home is closed no other user reaches what is below; an open folder there is closed by a look
    // that costs a command nothing.
    for folder in own_folders(&home) {
        if is_open(&folder) {
            close(&folder);
            folders_below(&folder).iter().for_each(|folder| close(folder));
        }
    }
}

/// Folders of sinew's own in its home; skills keep the modes that they came with.
fn own_folders(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let own = folders.filter(|entry| {
        let name = entry.file_name();
        name != "skills" && name != "bundled"
    });
    own.map(|entry| entry.path()).collect()
}

/// Files that hold what is not for others, where others can read or change them.
pub(crate) fn exposed_files(env: &Environment) -> Vec<PathBuf> {
    const PRIVATE: &[&str] = &["sinew.db", "token", "registry/pepper", "installs.jsonl"];
    let home = env.sinew_home();
    let copies = fs::read_dir(home.join("backups")).into_iter().flatten().flatten();
    let files = PRIVATE.iter().map(|name| home.join(name));
    files.chain(copies.map(|copy| copy.path())).filter(|file| is_open(file)).collect()
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    fs::symlink_metadata(path).ok().filter(|metadata| !metadata.is_symlink()).map(|m| m.mode())
}

/// Windows keeps what lies in a user's folder to that user.
#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}

pub(crate) fn is_open(folder: &Path) -> bool {
    mode(folder).is_some_and(|mode| mode & 0o077 != 0)
}

#[cfg(unix)]
fn close(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    if is_open(folder) {
        // Another user's folder stays as it is, and `doctor` says so.
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
}

#[cfg(not(unix))]
fn close(_folder: &Path) {}

/// Folders of sinew's own below one of them.
fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for below in own_folders(&folder) {
            if found.len() < MAX_FOLDERS {
                waiting.push(below.clone());
                found.push(below);
            }
        }
    }
    found
}

/// Removes temporary files in sinew's home whose process was killed; says how many.
pub fn sweep_leftovers(env: &Environment) -> usize {
    let home = env.sinew_home();
    let now = UNIX_EPOCH + Duration::from_millis(env.clock.now_ms());
    let abandoned = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let temporary = name.starts_with(".sinew-") && name.ends_with(".tmp")
            || [".db.part", ".db.salvage", ".db.repaired", ".db.restoring"]
                .iter()
                .any(|end| name.ends_with(end));
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let old = changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > ABANDONED));
        temporary && old && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    let mut swept = 0;
    for folder in std::iter::once(home.clone()).chain(folders_below(&home)) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(abandoned) {
            swept += usize::from(fs::remove_file(entry.path()).is_ok());
        }
    }
    swept
}

impl Engine {
    /// Why the configuration file is not safe where it lies: others can change it.
    pub(crate) fn exposed_config(&self) -> Option<Reason> {
        let path = &self.config_source.path;
        let mode = mode(path)?;
        let secrets = self.config.entries.values();
        let keys = secrets.filter(|entry| entry.api_key.is_some() || !entry.env.is_empty()).count();
        if mode & 0o022 == 0 || keys == 0 {
            return None;
        }
        let whose = if mode & 0o002 != 0 { "everyone" } else { "its group" };
        let detail = format!("{whose} can change {}, which holds keys", path_text(path));
        Some(
            Reason::new(ReasonCode::ExposedConfig, detail)
                .remedy(format!("run `chmod 600 {}`, and replace the keys", path_text(path)))
                .path(path_text(path)),
        )
    }
}
