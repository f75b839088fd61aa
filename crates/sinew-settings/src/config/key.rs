//! What is known about a key: its path, what it may hold, what holds without it, and what it is for.

use std::fmt;
use std::sync::LazyLock;

use serde_json::Value;

use super::Config;

/// One configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigKey {
    /// The dotted path; `<…>` stands for any name.
    pub path: &'static str,
    /// An older spelling of the last part of the path, which is still read.
    pub alias: Option<&'static str>,
    /// What it may hold.
    pub kind: KeyKind,
    /// The smallest and the largest number it may hold.
    pub range: Option<ValueRange>,
    /// What holds when it is absent, as the reference page shows it.
    pub default: String,
    /// What it does.
    pub doc: &'static str,
}

impl ConfigKey {
    /// What the key may hold, in words.
    pub fn values(&self) -> String {
        match self.kind {
            KeyKind::Map(item) if self.path.ends_with('>') => item.expected(self.range),
            kind => kind.expected(self.range),
        }
    }

    /// Whether a value is another than what holds when the key is absent.
    pub fn is_changed_by(&self, value: &Value) -> bool {
        !value.is_null() && plain_text(value) != self.default
    }

    /// What holds where the file's value cannot be used.
    pub(super) fn fallback(&self) -> String {
        let is_value = match self.kind {
            KeyKind::Switch => self.default.parse::<bool>().is_ok(),
            KeyKind::WholeNumber | KeyKind::Number => self.default.parse::<f64>().is_ok(),
            KeyKind::Words(words) => words.contains(&self.default.as_str()),
            _ => false,
        };
        match self.default.as_str() {
            default if is_value => format!("{default} holds"),
            "" => LEFT_OUT.to_owned(),
            _ => "the default holds".to_owned(),
        }
    }

    /// The path with the older spelling of its last part.
    pub fn older_path(&self) -> Option<String> {
        let parent = self.path.rsplit_once('.').map_or("", |(parent, _)| parent);
        self.alias.map(|alias| format!("{parent}.{alias}"))
    }
}

/// What becomes of a value that nothing replaces.
pub(super) const LEFT_OUT: &str = "it is left out";

/// What a key may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// `true` or `false`.
    Switch,
    /// A number without a fraction, 0 or more.
    WholeNumber,
    /// Any number.
    Number,
    /// Text.
    Text,
    /// One of some words; upper and lower case are the same.
    Words(&'static [&'static str]),
    /// Any number of values of one kind.
    List(&'static KeyKind),
    /// Names with a value of one kind each.
    Map(&'static KeyKind),
    /// A secret, or where to find it.
    Secret,
    /// A skill's name, alone or with its source.
    OwnerOfEntry,
    /// Whatever its reader understands.
    Any,
}

impl KeyKind {
    /// What is expected, in words that can follow "is not".
    pub(super) fn expected(self, range: Option<ValueRange>) -> String {
        match (self, range) {
            (Self::Switch, _) => "true or false".to_owned(),
            (Self::WholeNumber, None) => "a whole number".to_owned(),
            (Self::WholeNumber, Some(range)) => format!("a whole number {range}"),
            (Self::Number, None) => "a number".to_owned(),
            (Self::Number, Some(range)) => format!("a number {range}"),
            (Self::Text, _) => "text".to_owned(),
            (Self::Words(words), _) => alternatives(words),
            (Self::List(Self::Text), _) => "a list of texts".to_owned(),
            (Self::List(Self::Words(words)), _) => format!("a list of {}", alternatives(words)),
            (Self::List(_), _) => "a list".to_owned(),
            (Self::Map(_), _) => "a map".to_owned(),
            (Self::Secret, _) => "text, or {source, id}".to_owned(),
            (Self::OwnerOfEntry, _) => "a skill's name, or {name, source}".to_owned(),
            (Self::Any, _) => "any value".to_owned(),
        }
    }
}

/// What stands in the file, as far as it may be repeated: a word or a number where one of few was
/// expected, else only of which kind it is. A reason must not show a secret.
pub(super) fn describe(value: &Value, expected: KeyKind) -> String {
    use KeyKind::{Number, Switch, WholeNumber, Words};
    match (value, expected) {
        (Value::String(text), Switch | WholeNumber | Number | Words(_)) => {
            let short: String = text.chars().take(LONGEST_SHOWN).collect();
            let cut = if short.len() < text.len() { "…" } else { "" };
            format!("`{}{cut}`", short.escape_debug())
        }
        (Value::Number(_), Switch | WholeNumber | Number | Words(_))
        | (Value::Null | Value::Bool(_), _) => value.to_string(),
        (Value::Number(_), _) => "a number".to_owned(),
        (Value::String(_), _) => "text".to_owned(),
        (Value::Array(_), KeyKind::List(_)) => "a mixed list".to_owned(),
        (Value::Array(_), _) => "a list".to_owned(),
        (Value::Object(_), _) => "a map".to_owned(),
    }
}

/// A mistyped word is shorter; what is longer is something else.
const LONGEST_SHOWN: usize = 40;

/// A value as the reference page writes it.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain_text).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// `a, b or c`.
pub(super) fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The smallest and the largest number that a key may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueRange {
    /// The smallest.
    pub low: f64,
    /// The largest; infinity where there is none.
    pub high: f64,
}

impl ValueRange {
    /// Whether a number lies within.
    pub fn contains(self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.high.is_finite() {
            true => write!(f, "from {} to {}", self.low, self.high),
            false => write!(f, "of at least {}", self.low),
        }
    }
}

static KEYS: LazyLock<Vec<ConfigKey>> = LazyLock::new(|| {
    let declared = Config::default().declared();
    declared.into_iter().map(|(key, _)| key).collect()
});

/// Every key there is, grouped as in the file.
pub fn keys() -> &'static [ConfigKey] {
    &KEYS
}

/// The key that a dotted path means, in either spelling.
pub fn find_key(path: &str) -> Option<&'static ConfigKey> {
    keys().iter().find(|key| key.path == path || key.older_path().as_deref() == Some(path))
}

/// The names that may stand directly below a dotted path, `<…>` included.
pub(super) fn children(path: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for rest in keys().iter().filter_map(|key| key.path.strip_prefix(path)?.strip_prefix('.')) {
        let name = rest.split('.').next().unwrap_or(rest);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a name directly below a dotted path is an older spelling of a key.
pub(super) fn is_older_spelling(parent: &str, name: &str) -> bool {
    let is_meant = |key: &ConfigKey| {
        key.alias == Some(name) && key.path.rsplit_once('.').is_some_and(|(path, _)| path == parent)
    };
    keys().iter().any(is_meant)
}
