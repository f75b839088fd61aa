//! Configuration files of other programs, changed in one place and left alone everywhere else.
//!
//! A [`Document`] keeps every byte that is not ours: comments, order, line ends. It knows two kinds of
//! places: an entry of a map, and an item of a list.

mod json;
mod toml;
mod yaml;

use std::fmt;

use serde_json::Value;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with the comments and trailing commas that its readers accept.
    Json,
    /// JSON5.
    Json5,
    Toml,
    Yaml,
}

/// Why a file cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It cannot be understood.
    Syntax { line: usize, column: usize, what: String },
    /// Something else stands where a map or a list is expected.
    Shape { at: String },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, what } => {
                write!(f, "line {line}, column {column}: {what}")
            }
            Self::Shape { at } => write!(f, "`{at}` holds something else than is expected there"),
        }
    }
}

/// A file that is being changed.
pub(crate) enum Document {
    Json(json::Json),
    Toml(toml::Toml),
    Yaml(yaml::Yaml),
}

impl Document {
    pub(crate) fn read(format: Format, text: &str) -> Result<Self, Trouble> {
        Ok(match format {
            Format::Json | Format::Json5 => Self::Json(json::Json::read(format, text)?),
            Format::Toml => Self::Toml(toml::Toml::read(text)?),
            Format::Yaml => Self::Yaml(yaml::Yaml::read(text)?),
        })
    }

    /// What stands at a place.
    pub(crate) fn get(&self, at: &[&str]) -> Option<Value> {
        match self {
            Self::Json(json) => json.get(at),
            Self::Toml(toml) => toml.get(at),
            Self::Yaml(yaml) => yaml.get(at),
        }
    }

    /// Whether anything stands at a place.
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

    /// What [`Document::get`] gives once `value` was put there.
    pub(crate) fn written(&self, at: &[&str], value: &Value) -> Value {
        match self {
            Self::Yaml(_) => yaml::Yaml::written(at, value),
            Self::Json(_) | Self::Toml(_) => value.clone(),
        }
    }

    /// Writes an entry of a map, and the maps around it.
    pub(crate) fn put(&mut self, at: &[&str], value: &Value) -> Result<(), Trouble> {
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

    /// Adds an item to a list, and makes what is around it. Only JSON has lists of ours.
    pub(crate) fn push(&mut self, at: &[&str], value: &Value) -> Result<(), Trouble> {
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

fn shape(at: &[&str]) -> Trouble {
    Trouble::Shape { at: at.join(".") }
}
