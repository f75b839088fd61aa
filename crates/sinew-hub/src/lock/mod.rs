//! The lock: what is installed, where it came from, and who approved exactly which bytes.
//!
//! **Must never happen here:** an unreadable lock treated as an empty one; the loss of a field or
//! entry that another program wrote.

mod clawhub;
mod entry;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};
use sinew_guard::atomic::{self, FileAccess};
use sinew_guard::private_files;
use sinew_settings::{Clock, ErrorCode};

pub(crate) use clawhub::notes;
pub use clawhub::{ClawhubLock, SkillsLock};
pub use entry::{
    ApprovalMethod, ArtifactRecord, FindingRecord, LockApproval, LockEntry, ScanRecord,
    SkillRetention, SourceKind, SourceRecord, UpstreamRecord,
};

use crate::error::HubError;

/// The format version that is written.
const VERSION: u64 = 1;

/// What is installed in one workdir.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockFile {
    /// Incremented with every change.
    pub generation: u64,
    /// Skills by their folder below the skills root.
    pub skills: BTreeMap<String, LockEntry>,
    /// Entries that this version cannot read. They are preserved as they are.
    pub unreadable: BTreeMap<String, Value>,
    newer: bool,
    other: Map<String, Value>,
}

impl LockFile {
    /// Reads a lock. A missing lock is empty; one that is not JSON is moved aside and reported.
    pub fn read(path: &Path, clock: &dyn Clock) -> Result<Self, HubError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(HubError::file("read", path, error)),
        };
        match parse(&bytes) {
            Some(lock) => Ok(lock.with_places_of(path)),
            None => Err(put_aside(path, clock)),
        }
    }

    /// Reads a lock and leaves the file where it is; `None` if it is damaged.
    pub fn peek(path: &Path) -> Option<Self> {
        match std::fs::read(path) {
            Ok(bytes) => parse(&bytes).map(|lock| lock.with_places_of(path)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(Self::default()),
            Err(_) => None,
        }
    }

    /// Replaces the lock on disk. The caller holds the workdir's guard.
    pub(crate) fn write(&mut self, path: &Path) -> Result<(), HubError> {
        if self.newer {
            let message = format!("{} was written by a newer sinew", path.display());
            return Err(
                HubError::new(ErrorCode::Lock, message).hint("update sinew, then try again")
            );
        }
        self.generation += 1;
        let mut skills: BTreeMap<&str, Value> = BTreeMap::new();
        let project = project_of(path);
        for (key, entry) in &self.skills {
            let mut entry = entry.clone();
            if let Some(project) = project {
                entry.source.shorten_paths(project);
            }
            skills.insert(key, serde_json::to_value(entry).unwrap_or_default());
        }
        for (key, value) in &self.unreadable {
            skills.entry(key).or_insert_with(|| value.clone());
        }
        let mut root: BTreeMap<String, Value> =
            self.other.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        root.insert("version".to_owned(), VERSION.into());
        root.insert("generation".to_owned(), self.generation.into());
        root.insert("skills".to_owned(), serde_json::to_value(skills).unwrap_or_default());
        let mut value = serde_json::to_value(root).unwrap_or_default();
        value.sort_all_objects();
        let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
        atomic::write(path, text.as_bytes(), FileAccess::Shared)
            .map_err(|error| HubError::file("write", path, error))
    }

    /// A lock of a project names folders of the project by their path in it: it is shared, and others
    /// keep the project elsewhere.
    fn with_places_of(mut self, path: &Path) -> Self {
        if let Some(project) = project_of(path) {
            for entry in self.skills.values_mut() {
                entry.source.restore_paths(project);
            }
        }
        self
    }

    /// The key of an installed skill, given its key, or its slug if only one skill has it.
    pub fn find(&self, wanted: &str) -> Result<&str, HubError> {
        if let Some((key, _)) = self.skills.get_key_value(wanted) {
            return Ok(key);
        }
        let last = |key: &str| key.rsplit('/').next().unwrap_or(key).to_owned();
        let matches: Vec<&String> = self.skills.keys().filter(|key| last(key) == wanted).collect();
        match matches.as_slice() {
            [one] => Ok(one),
            [] => {
                let known = self.skills.keys().map(String::as_str);
                let error =
                    HubError::new(ErrorCode::NotFound, format!("`{wanted}` is not installed"));
                Err(match sinew_settings::nearest(wanted, known).as_slice() {
                    [] => error.hint("`sinew installed` lists what is installed"),
                    near => error.hint(format!("did you mean {}?", near.join(", "))),
                })
            }
            several => {
                let keys: Vec<String> = several.iter().map(|key| (*key).clone()).collect();
                let mut error = HubError::new(
                    ErrorCode::Ambiguous,
                    format!("`{wanted}` is installed more than once"),
                )
                .hint(format!("name one of them: {}", keys.join(", ")));
                error.matches = keys;
                Err(error)
            }
        }
    }
}

/// The project that a lock belongs to: the folder with `.sinew/lock.json` in it.
fn project_of(lock: &Path) -> Option<&Path> {
    let state = lock.parent()?;
    state.parent().filter(|_| state.file_name().is_some_and(|name| name == ".sinew"))
}

fn parse(bytes: &[u8]) -> Option<LockFile> {
    let Value::Object(mut root) = serde_json::from_slice(bytes).ok()? else { return None };
    let newer = root.remove("version").and_then(|v| v.as_u64()).is_some_and(|v| v > VERSION);
    let generation = root.remove("generation").and_then(|v| v.as_u64()).unwrap_or(0);
    let mut lock = LockFile { generation, newer, ..LockFile::default() };
    match root.remove("skills") {
        Some(Value::Object(skills)) => {
            for (key, value) in skills {
                match serde_json::from_value::<LockEntry>(value.clone()) {
                    Ok(entry) if is_key(&key) => drop(lock.skills.insert(key, entry)),
                    _ => drop(lock.unreadable.insert(key, value)),
                }
            }
        }
        None => {}
        Some(_) => return None,
    }
    lock.other = root;
    Some(lock)
}

/// Whether a key is `slug` or `@owner/slug`, so that it stays below the skills root.
pub fn is_key(key: &str) -> bool {
    let Ok(parts) = sinew_guard::archive::components(key) else { return false };
    let plain = |part: &str| !part.starts_with('.');
    match parts.as_slice() {
        [name] => plain(name) && !name.starts_with('@'),
        [owner, name] => owner.starts_with('@') && owner.len() > 1 && plain(name),
        _ => false,
    }
}

/// Moves an unreadable file aside, and returns the error that says so.
pub(crate) fn put_aside(path: &Path, clock: &dyn Clock) -> HubError {
    let time = clock.now_ms().to_string();
    let message = format!("{} is damaged", path.display());
    match private_files::set_aside_corrupt(path, &time) {
        Ok(aside) => HubError::new(ErrorCode::Lock, message)
            .hint(format!("it was kept as {}", aside.display()))
            .hint("no skill was touched; `sinew restore --import` reads them in again"),
        Err(error) => {
            HubError::new(ErrorCode::Lock, format!("{message}, and cannot be moved: {error}"))
                .caused_by(error)
        }
    }
}

/// The current time, as records carry it.
pub fn timestamp(clock: &dyn Clock) -> String {
    let now = i64::try_from(clock.now_ms()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(now).map(|time| time.to_string()).unwrap_or_default()
}
