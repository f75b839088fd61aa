//! What is known about a key: its path, what it may hold, what holds without it, and what it is for.

use std::fmt;
use std::sync::LazyLock;

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
    pub range: Option<KeyRange>,
    /// What holds when it is absent, as the reference page shows it.
    pub default: String,
    /// What it does.
    pub doc: &'static str,
}

impl ConfigKey {
    /// What the key may hold, in words.
    pub fn values(&self) -> String {
        self.kind.expected(self.range)
    }

    /// The path with the older spelling of its last part.
    pub fn older_path(&self) -> Option<String> {
        let parent = self.path.rsplit_once('.').map_or("", |(parent, _)| parent);
        self.alias.map(|alias| format!("{parent}.{alias}"))
    }
}

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
    /// A list of such words.
    WordList(&'static [&'static str]),
    /// A list of texts.
    TextList,
    /// Names with a value each.
    Map,
    /// A secret, or where to find it.
    Secret,
    /// Whatever its reader understands.
    Any,
}

impl KeyKind {
    /// What is expected, in words that can follow "is not".
    pub(super) fn expected(self, range: Option<KeyRange>) -> String {
        match (self, range) {
            (Self::Switch, _) => "true or false".to_owned(),
            (Self::WholeNumber, None) => "a whole number".to_owned(),
            (Self::WholeNumber, Some(range)) => format!("a whole number {range}"),
            (Self::Number, None) => "a number".to_owned(),
            (Self::Number, Some(range)) => format!("a number {range}"),
            (Self::Text, _) => "text".to_owned(),
            (Self::Words(words), _) => alternatives(words),
            (Self::WordList(words), _) => format!("a list of {}", alternatives(words)),
            (Self::TextList, _) => "a list of texts".to_owned(),
            (Self::Map, _) => "a map".to_owned(),
            (Self::Secret, _) => "text, or {source, id}".to_owned(),
            (Self::Any, _) => "any value".to_owned(),
        }
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
pub struct KeyRange {
    /// The smallest.
    pub low: f64,
    /// The largest; infinity where there is none.
    pub high: f64,
}

impl KeyRange {
    /// Whether a number lies within.
    pub fn contains(self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.high.is_finite() {
            true => write!(f, "from {} to {}", self.low, self.high),
            false => write!(f, "of at least {}", self.low),
        }
    }
}

static KEYS: LazyLock<Vec<ConfigKey>> = LazyLock::new(Config::declared_keys);

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
