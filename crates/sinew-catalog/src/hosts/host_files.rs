//! Reading the files in which hosts keep their settings and records.

use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use sinew_guard::containment;
use sinew_settings::config::is_nested_too_deeply;
use sinew_settings::{Environment, Reason, ReasonCode, ReasonSeverity, path_text};

/// Settings and lists of plugins are written by hand or by installers; real ones have some kilobytes.
const MAX_HOST_FILE: u64 = 1024 * 1024;

/// A path of the whole machine, such as `/etc/codex`. `SINEW_SYSTEM_ROOT` puts another folder before
/// it, for images of machines and for tests.
pub(crate) fn system_path(env: &Environment, path: &str) -> PathBuf {
    match env.var_path("SINEW_SYSTEM_ROOT") {
        Some(root) => root.join(path.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

/// A file's bytes; `None` where it does not exist. Never waits for a pipe or a device.
pub(super) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, Reason> {
    // People keep settings in a folder of dot files and link them from their place; the target must be
    // a regular file like any other.
    let real = match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(unreadable(path, &error.to_string())),
    };
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return Ok(None) };
    let read = || {
        let dir = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|e| e.to_string())?;
        let file = containment::open_regular(&dir, Path::new(name)).map_err(|e| e.to_string())?;
        file.read(MAX_HOST_FILE).map_err(|e| e.to_string())
    };
    read().map(Some).map_err(|problem| unreadable(path, &problem))
}

/// A file of JSON, with comments and trailing commas where its host allows them.
pub(super) fn read_json(path: &Path) -> Result<Option<Value>, Reason> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    if let Ok(value) = serde_json::from_slice(&bytes) {
        return Ok(Some(value));
    }
    let text = String::from_utf8_lossy(&bytes);
    if is_nested_too_deeply(&text) {
        return Err(unreadable(path, "it has too many levels"));
    }
    json5::from_str(&text).map(Some).map_err(|error| unreadable(path, &error.to_string()))
}

/// A file of TOML, as the JSON that means the same.
pub(super) fn read_toml(path: &Path) -> Result<Option<Value>, Reason> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let document: toml_edit::DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| unreadable(path, error.message()))?;
    Ok(Some(table_value(document.as_table())))
}

fn table_value(table: &toml_edit::Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect())
}

fn item_value(item: &toml_edit::Item) -> Value {
    match item {
        toml_edit::Item::None => Value::Null,
        toml_edit::Item::Value(value) => plain_value(value),
        toml_edit::Item::Table(table) => table_value(table),
        toml_edit::Item::ArrayOfTables(tables) => tables.iter().map(table_value).collect(),
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(plain_value).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(
            table.iter().map(|(key, value)| (key.to_owned(), plain_value(value))).collect(),
        ),
    }
}

fn unreadable(path: &Path, problem: &str) -> Reason {
    Reason::new(ReasonCode::HostFileUnreadable, format!("{}: {problem}", path_text(path)))
        .severity(ReasonSeverity::Warn)
        .path(path_text(path))
        .remedy("correct the file; until then it counts as absent")
}

/// The value, or `None` and the reason kept.
pub(super) fn kept<T>(read: Result<Option<T>, Reason>, reasons: &mut Vec<Reason>) -> Option<T> {
    read.unwrap_or_else(|reason| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
        None
    })
}
