//! Configuration files of other programs, changed in one place and left alone everywhere else.
//!
//! A [`ConfigDocument`] keeps every byte that is not ours: comments, order, line ends. It can change two
//! kinds of places: an entry of a map, and an item of a list.

mod json;
mod json5_text;
mod toml;
mod yaml;
mod yaml_value;

use std::fmt;

pub use json5_text::json5_with_values;
use serde_json::Value;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigFormat {
    /// JSON, with the comments and trailing commas that its readers accept.
    Json,
    /// JSON5.
    Json5,
    Toml,
    Yaml,
}

/// Why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigEditError {
    /// It cannot be parsed.
    Syntax { line: usize, column: usize, what: String },
    /// A map or a list is expected, and the file has another value there.
    Shape { at: String },
}

impl fmt::Display for ConfigEditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, what } => {
                write!(f, "line {line}, column {column}: {what}")
            }
            Self::Shape { at } => write!(f, "`{at}` is not the map or list that is expected there"),
        }
    }
}

/// A file that is being changed.
pub(crate) enum ConfigDocument {
    Json(json::JsonConfig),
    Toml(toml::TomlConfig),
    Yaml(yaml::YamlConfig),
}

impl ConfigDocument {
    pub(crate) fn read(format: ConfigFormat, text: &str) -> Result<Self, ConfigEditError> {
        Ok(match format {
            ConfigFormat::Json | ConfigFormat::Json5 => {
                Self::Json(json::JsonConfig::read(format, text)?)
            }
            ConfigFormat::Toml => Self::Toml(toml::TomlConfig::read(text)?),
            ConfigFormat::Yaml => Self::Yaml(yaml::YamlConfig::read(text)?),
        })
    }

    /// The value at a place.
    pub(crate) fn get(&self, at: &[&str]) -> Option<Value> {
        match self {
            Self::Json(json) => json.get(at),
            Self::Toml(toml) => toml.get(at),
            Self::Yaml(yaml) => yaml.get(at),
        }
    }

    /// Whether there is a value at a place.
    pub(crate) fn has(&self, at: &[&str]) -> bool {
        match self {
            Self::Yaml(yaml) => yaml.has(at),
            Self::Json(_) | Self::Toml(_) => self.get(at).is_some(),
        }
    }

    /// Whether a map or a list holds nothing.
    pub(crate) fn is_empty(&self, at: &[&str]) -> bool {
        match (self, self.get(at)) {
            (Self::Yaml(yaml), _) => yaml.is_empty(at),
            (_, Some(Value::Object(fields))) => fields.is_empty(),
            (_, Some(Value::Array(items))) => items.is_empty(),
            _ => false,
        }
    }

    /// Writes an entry of a map, and the maps around it.
    pub(crate) fn put(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        match self {
            Self::Json(json) => json.put(at, value),
            Self::Toml(toml) => toml.put(at, value),
            Self::Yaml(yaml) => yaml.put(at, value),
        }
    }

    /// Removes an entry of a map.
    pub(crate) fn remove(&mut self, at: &[&str]) {
        match self {
            Self::Json(json) => json.remove(at),
            Self::Toml(toml) => toml.remove(at),
            Self::Yaml(yaml) => yaml.remove(at),
        }
    }

    /// Adds an item to a list, and creates what is around it. In YAML we write into no lists.
    pub(crate) fn push(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        match self {
            Self::Json(json) => json.push(at, value),
            Self::Toml(toml) => toml.push(at, value),
            Self::Yaml(_) => Err(shape(at)),
        }
    }

    /// Removes an item of a list.
    pub(crate) fn remove_item(&mut self, at: &[&str], value: &Value) {
        match self {
            Self::Json(json) => json.remove_item(at, value),
            Self::Toml(toml) => toml.remove_item(at, value),
            Self::Yaml(_) => {}
        }
    }

    /// The file as it is now.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Json(json) => json.text(),
            Self::Toml(toml) => toml.text(),
            Self::Yaml(yaml) => yaml.text(),
        }
    }
}

/// Whether a file says what was written. Values are compared, not text: agents write their files anew,
/// in their own order, leave out fields that are empty and add empty ones that they know.
pub(crate) fn same_meaning(there: &Value, written: &Value) -> bool {
    match (there, written) {
        (Value::Object(there), Value::Object(written)) => {
            let names = there.keys().chain(written.keys());
            names.into_iter().all(|name| match (there.get(name), written.get(name)) {
                (Some(there), Some(written)) => same_meaning(there, written),
                (Some(one), None) | (None, Some(one)) => says_nothing(one),
                (None, None) => true,
            })
        }
        (Value::Array(there), Value::Array(written)) => {
            let pairs = there.iter().zip(written);
            there.len() == written.len() && pairs.into_iter().all(|(a, b)| same_meaning(a, b))
        }
        (Value::Number(there), Value::Number(written)) => there.as_f64() == written.as_f64(),
        // Earlier versions noted a YAML entry as its lines.
        (Value::Object(_), Value::String(lines)) => {
            yaml::entry_of_lines(lines).is_some_and(|written| same_meaning(there, &written))
        }
        (there, written) => there == written || says_nothing(there) && says_nothing(written),
    }
}

/// Whether a list has an item that says what was written.
pub(crate) fn has_item(list: Option<&Value>, written: &Value) -> bool {
    let items = list.and_then(Value::as_array);
    items.is_some_and(|items| items.iter().any(|item| same_meaning(item, written)))
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn shape(at: &[&str]) -> ConfigEditError {
    ConfigEditError::Shape { at: at.join(".") }
}
