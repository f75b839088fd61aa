//! Front matter values: the types of JSON, with the source text of numbers preserved.

use std::fmt::Write as _;

use serde::{Serialize, Serializer, ser::SerializeMap};

/// One value of the front matter.
#[derive(Debug, Clone, PartialEq, borsh::BorshDeserialize, borsh::BorshSerialize)]
pub enum YamlValue {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`; YAML 1.2, so `yes` and `no` stay text.
    Bool(bool),
    /// A number, as it was written.
    Number(YamlNumber),
    /// Text.
    String(String),
    /// A list.
    List(Vec<YamlValue>),
    /// A map.
    Map(YamlMapping),
}

/// A number with its source text: `1.0` as a name stays `1.0`.
#[derive(Debug, Clone, PartialEq, Eq, borsh::BorshDeserialize, borsh::BorshSerialize)]
pub struct YamlNumber(pub(crate) String);

/// A map that keeps the order of its keys.
#[derive(Debug, Clone, PartialEq, Default, borsh::BorshDeserialize, borsh::BorshSerialize)]
pub struct YamlMapping(pub(crate) Vec<(String, YamlValue)>);

impl YamlValue {
    /// The text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&YamlMapping> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[YamlValue]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The scalar as its author wrote it; lists, maps and null have no such text.
    pub fn source_text(&self) -> Option<String> {
        match self {
            Self::String(text) => Some(text.clone()),
            Self::Number(number) => Some(number.0.clone()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::String(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// OpenClaw's flattened form: strings trimmed, scalars in display form, null dropped, lists and
    /// maps as compact JSON.
    pub fn flattened(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Bool(value) => Some(value.to_string()),
            Self::Number(number) => Some(number.display()),
            Self::String(text) => Some(text.trim().to_owned()),
            Self::List(_) | Self::Map(_) => serde_json::to_string(self).ok(),
        }
    }
}

impl YamlNumber {
    /// The number as a float; one that does not fit becomes infinite.
    pub fn as_f64(&self) -> f64 {
        let text = self.0.trim_start_matches('+');
        let radix = |digits: &str, base| u64::from_str_radix(digits, base).ok().map(|n| n as f64);
        if let Some(hex) = text.strip_prefix("0x") {
            return radix(hex, 16).unwrap_or(f64::INFINITY);
        }
        if let Some(octal) = text.strip_prefix("0o") {
            return radix(octal, 8).unwrap_or(f64::INFINITY);
        }
        match text.to_ascii_lowercase().as_str() {
            ".inf" => f64::INFINITY,
            "-.inf" => f64::NEG_INFINITY,
            ".nan" => f64::NAN,
            other => other.parse().unwrap_or(f64::NAN),
        }
    }

    /// The shortest form that reads back as the same number, as JavaScript prints it.
    pub fn display(&self) -> String {
        let number = self.as_f64();
        if number.is_nan() {
            return "NaN".to_owned();
        }
        if number.is_infinite() {
            return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
        }
        if number == 0.0 {
            return "0".to_owned();
        }
        if (1e-6..1e21).contains(&number.abs()) {
            return number.to_string();
        }
        let mut text = format!("{number:e}");
        if let Some(at) = text.find('e')
            && !text[at + 1..].starts_with('-')
        {
            text.insert(at + 1, '+');
        }
        text
    }
}

impl YamlMapping {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&YamlValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of `key` in any case, for formats that ignore case.
    pub fn get_ignore_case(&self, key: &str) -> Option<&YamlValue> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// The fields in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &YamlValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn set(&mut self, key: &str, value: YamlValue) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some(slot) => slot.1 = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// OpenClaw's view of the front matter: text for every field, see [`YamlValue::flattened`].
    pub fn flattened(&self) -> Vec<(String, String)> {
        self.iter().filter_map(|(key, value)| Some((key.to_owned(), value.flattened()?))).collect()
    }
}

impl From<serde_json::Value> for YamlValue {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(YamlNumber(number.to_string())),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => {
                Self::List(items.into_iter().map(Self::from).collect())
            }
            serde_json::Value::Object(fields) => Self::Map(YamlMapping(
                fields.into_iter().map(|(key, value)| (key, Self::from(value))).collect(),
            )),
        }
    }
}

impl Serialize for YamlValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for YamlNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = self.as_f64();
        if number.fract() == 0.0 && number.abs() < 9e15 {
            return serializer.serialize_i64(number as i64);
        }
        if number.is_finite() {
            return serializer.serialize_f64(number);
        }
        serializer.serialize_str(&self.0)
    }
}

impl Serialize for YamlMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A value as YAML on one line, in a form that JSON readers accept as well.
pub(crate) fn flow(value: &YamlValue) -> String {
    let mut text = String::new();
    write_flow(value, &mut text);
    text
}

fn write_flow(value: &YamlValue, text: &mut String) {
    match value {
        YamlValue::Null => text.push_str("null"),
        YamlValue::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        YamlValue::Number(number) => text.push_str(&number.0),
        YamlValue::String(string) => text.push_str(&quote(string)),
        YamlValue::List(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                write_flow(item, text);
            }
            text.push(']');
        }
        YamlValue::Map(map) => {
            text.push('{');
            for (index, (key, item)) in map.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                text.push_str(&quote(key));
                text.push_str(": ");
                write_flow(item, text);
            }
            text.push('}');
        }
    }
}

/// Text as a YAML double-quoted scalar, on one line.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // JSON has `\u0085` but not `\x85`; YAML has both.
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
