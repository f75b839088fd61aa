//! Configuration files of other programs, changed in one place and left alone everywhere else.
//!
//! A [`ConfigDocument`] keeps every byte that is not ours: comments, order, line ends. It can change two
//! kinds of places: an entry of a map, and an item of a list.

mod json;
mod toml;
mod yaml;

use std::fmt;

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

    /// What [`ConfigDocument::get`] returns once `value` was put there.
    pub(crate) fn value_after_put(&self, at: &[&str], value: &Value) -> Value {
        match self {
            Self::Yaml(_) => yaml::YamlConfig::value_after_put(at, value),
            Self::Json(_) | Self::Toml(_) => value.clone(),
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

    /// Adds an item to a list, and creates what is around it. Only in JSON do we write into lists.
    pub(crate) fn push(&mut self, at: &[&str], value: &Value) -> Result<(), ConfigEditError> {
        match self {
            Self::Json(json) => json.push(at, value),
            Self::Toml(_) | Self::Yaml(_) => Err(shape(at)),
        }
    }

    /// Removes an item of a list.
    pub(crate) fn remove_item(&mut self, at: &[&str], value: &Value) {
        if let Self::Json(json) = self {
            json.remove_item(at, value);
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

fn shape(at: &[&str]) -> ConfigEditError {
    ConfigEditError::Shape { at: at.join(".") }
}
