//! Changing the configuration file, and bringing OpenClaw's over.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use sinew_guard::atomic::{self, FileAccess, FileLock};
use sinew_settings::config::read_config_text;
use sinew_settings::{Environment, ErrorCode};

use crate::EngineError;

/// What an import brought over.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigImport {
    /// The file that was read.
    pub from: PathBuf,
    /// The file that was written, or would be.
    pub to: PathBuf,
    /// The sections that came over.
    pub sections: Vec<String>,
    /// Whether the file was written.
    pub written: bool,
    /// The copy of the file as it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// What was written, or would be, with secrets masked.
    pub config: Value,
}

/// Sections that mean the same to both programs.
const SECTIONS: &[&str] = &["skills", "agents", "plugins"];

/// Merges the sections that both programs share from OpenClaw's configuration into `to`.
pub(crate) fn import_openclaw(
    env: &Environment,
    to: PathBuf,
    write: bool,
) -> Result<ConfigImport, EngineError> {
    let from = env.openclaw_config();
    let theirs = read_map(&from)?.ok_or_else(|| {
        EngineError::new(ErrorCode::NothingToImport, format!("there is no {}", from.display()))
            .hint("set OPENCLAW_CONFIG_PATH when OpenClaw keeps its configuration elsewhere")
    })?;
    let _lock = match write {
        true => Some(
            FileLock::acquire(&to.with_extension("lock"))
                .map_err(|error| EngineError::file("lock", &to, error))?,
        ),
        false => None,
    };
    let existing = read_map(&to)?;
    let mut ours = existing.clone().unwrap_or_default();
    let mut sections = Vec::new();
    for section in SECTIONS {
        if let Some(value) = theirs.get(*section) {
            merge(ours.entry((*section).to_owned()).or_insert(Value::Null), value);
            sections.push((*section).to_owned());
        }
    }
    if sections.is_empty() {
        return Err(EngineError::new(
            ErrorCode::NothingToImport,
            format!("{} says nothing about skills, agents or plugins", from.display()),
        ));
    }
    let text = serde_json::to_string_pretty(&ours).unwrap_or_default() + "\n";
    let mut config = Value::Object(ours);
    mask(&mut config);
    let mut import = ConfigImport { from, to, sections, written: write, backup: None, config };
    if write {
        let failed = |error: io::Error| EngineError::file("write", &import.to, error);
        if existing.is_some() {
            import.backup = Some(atomic::backup(&import.to).map_err(failed)?);
        }
        atomic::write(&import.to, text.as_bytes(), FileAccess::OwnerOnly)
            .map_err(|error| EngineError::file("write", &import.to, error))?;
    }
    Ok(import)
}

/// The map in a JSON5 file; `None` where there is no file.
fn read_map(path: &Path) -> Result<Option<Map<String, Value>>, EngineError> {
    let text = match read_config_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(EngineError::file("read", path, error)),
    };
    match json5::from_str(&text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        _ => Err(EngineError::new(
            ErrorCode::BadConfig,
            format!("{} is not a JSON5 map", path.display()),
        )
        .hint("correct or remove it, then import again")),
    }
}

/// Changes a configuration file through `change`, which gives up with `None` where a map is expected
/// and something else stands. Comments stay, and the file as it was stays beside it as a backup.
pub(crate) fn update(
    path: &Path,
    change: impl FnOnce(&mut Value) -> Option<()>,
) -> Result<(), EngineError> {
    let _lock = lock(path)?;
    let existing = read_map(path)?;
    let mut root = Value::Object(existing.clone().unwrap_or_default());
    change(&mut root).ok_or_else(|| {
        EngineError::new(
            ErrorCode::BadConfig,
            format!("{} holds something else where a map is expected", path.display()),
        )
        .hint("`sinew config show` says what is wrong with it")
    })?;
    let kept = existing.and_then(|_| read_config_text(path).ok());
    let kept = kept.and_then(|text| sinew_connect::json5_with_values(&text, &root));
    let text =
        kept.unwrap_or_else(|| serde_json::to_string_pretty(&root).unwrap_or_default() + "\n");
    write_with_backup(path, &text)
}

/// Nothing else changes the file while this is held.
pub(super) fn lock(path: &Path) -> Result<FileLock, EngineError> {
    FileLock::acquire(&path.with_extension("lock"))
        .map_err(|error| EngineError::file("lock", path, error))
}

/// Writes the whole file in one step; the one before stays beside it.
pub(super) fn write_with_backup(path: &Path, text: &str) -> Result<(), EngineError> {
    let failed = |error: io::Error| EngineError::file("write", path, error);
    if path.exists() {
        atomic::backup(path).map_err(failed)?;
    }
    atomic::write(path, text.as_bytes(), FileAccess::OwnerOnly).map_err(failed)
}

/// The map in a value; nothing there yet is an empty one.
pub(crate) fn map_in(value: &mut Value) -> Option<&mut Map<String, Value>> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut()
}

/// Takes over theirs, value by value; what only we have stays.
fn merge(ours: &mut Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in theirs {
                merge(ours.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (ours, theirs) => *ours = theirs.clone(),
    }
}

/// Replaces every value under `skills.entries.*` that may be a secret.
fn mask(config: &mut Value) {
    let Some(Value::Object(entries)) = config.pointer_mut("/skills/entries") else { return };
    for entry in entries.values_mut() {
        if let Some(key) = entry.get_mut("apiKey") {
            *key = MASKED.into();
        }
        if let Some(Value::Object(env)) = entry.get_mut("env") {
            env.values_mut().for_each(|value| *value = MASKED.into());
        }
    }
}

/// What stands where a secret is.
const MASKED: &str = "(set)";
