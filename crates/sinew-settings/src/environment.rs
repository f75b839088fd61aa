//! The machine, as seen by the caller: what receives an [`Environment`] never looks at it directly.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Everything about the machine that a result may depend on.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The user's home; what `~` means.
    pub home: PathBuf,
    /// The folder the caller stands in.
    pub cwd: PathBuf,
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
    /// The platform in OpenClaw's words: `linux`, `darwin`, `win32` …
    pub os: String,
    /// The running program, for finding what lies beside it.
    pub exe: Option<PathBuf>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
}

/// A clock that stands still, for tests and reproducible runs.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub u64);

impl Clock for FixedClock {
    fn now_ms(&self) -> u64 {
        self.0
    }
}

impl Environment {
    /// A variable that is set to more than blanks.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// A variable that names a folder, with `~` expanded.
    pub fn var_path(&self, name: &str) -> Option<PathBuf> {
        self.var(name).map(|value| self.expand_home(value.trim()))
    }

    /// `~` and `~/…` to the home, other paths as they are; relative ones from the current folder.
    pub fn expand_home(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with(['/', '\\']) => self.home.join(&rest[1..]),
            _ => self.cwd.join(path),
        }
    }

    /// The folders of PATH. Empty and relative parts are left out, so that the current folder can
    /// never satisfy a requirement.
    pub fn path_folders(&self) -> Vec<PathBuf> {
        let Some(path) = self.vars.get("PATH") else { return Vec::new() };
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in std::env::split_paths(path) {
            if folder.is_absolute() && !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Where sinew keeps its own things: `SINEW_HOME`, else `~/.sinew`.
    pub fn sinew_home(&self) -> PathBuf {
        self.var_path("SINEW_HOME").unwrap_or_else(|| self.home.join(".sinew"))
    }

    /// OpenClaw's state folder, and whether it was moved from its default place.
    pub fn openclaw_state(&self) -> (PathBuf, FolderRelocation) {
        if let Some(state) = self.var_path("OPENCLAW_STATE_DIR") {
            return (state, FolderRelocation::Yes);
        }
        match self.var_path("OPENCLAW_HOME") {
            Some(home) => (home.join(".openclaw"), FolderRelocation::Yes),
            None => (self.home.join(".openclaw"), FolderRelocation::No),
        }
    }

    /// OpenClaw's configuration file.
    pub fn openclaw_config(&self) -> PathBuf {
        self.var_path("OPENCLAW_CONFIG_PATH")
            .unwrap_or_else(|| self.openclaw_state().0.join("openclaw.json"))
    }

    /// OpenPocket's home: `OPENPOCKET_HOME`, else `~/.openpocket`.
    pub fn openpocket_home(&self) -> PathBuf {
        self.var_path("OPENPOCKET_HOME").unwrap_or_else(|| self.home.join(".openpocket"))
    }
}

/// Whether a folder stands somewhere else than by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderRelocation {
    /// The user named another place.
    Yes,
    /// The default place.
    No,
}

/// The platform's name as OpenClaw writes it, from Rust's own.
pub fn platform_name(rust_os: &str) -> &str {
    match rust_os {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

/// The platform an `os` entry means: any case, with the usual nicknames.
pub fn platform_alias(written: &str) -> String {
    let lower = written.trim().to_ascii_lowercase();
    match lower.as_str() {
        "macos" | "mac" | "osx" => "darwin".to_owned(),
        "windows" | "win" => "win32".to_owned(),
        _ => lower,
    }
}

/// A path as text for records; what is not Unicode is shown as well as it can be.
pub fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A path without `.` and `..`: such paths are shown to models, and compared as text. Links are not resolved.
pub fn tidy_path(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidied.pop()),
            part => tidied.push(part),
        }
    }
    tidied
}
