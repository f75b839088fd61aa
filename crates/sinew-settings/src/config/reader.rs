//! From a tree to values, with a reason for everything that is not usable.

use serde_json::{Map, Value};

use super::UnusableValue;
use super::key::{self, KeyKind, ValueRange};
use super::section::Section;
use super::value::{KeyPlace, SettingValue};
use crate::{Reason, ReasonCode, nearest};

/// How a key is spelled.
pub(super) struct Spelling {
    /// Its path in the table.
    pub(super) key: &'static str,
    /// Its path within its section; what `<…>` stands for is up to the type of its value.
    pub(super) name: &'static str,
    /// An older spelling of its last part.
    pub(super) alias: Option<&'static str>,
}

/// What becomes of a value that cannot be used as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Leniency {
    /// The default holds.
    #[default]
    Refuse,
    /// A number out of range becomes the nearest that is allowed, for the rest the default holds.
    Correct,
}

/// Reads sections and gathers what was wrong.
#[derive(Default)]
pub(super) struct ConfigReader {
    pub(super) leniency: Leniency,
    pub(super) reasons: Vec<Reason>,
    pub(super) unusable: Vec<UnusableValue>,
    /// Keys that mean nothing.
    pub(super) unknown: Vec<String>,
}

impl ConfigReader {
    /// Takes over what the file says about a section that stands below its root.
    pub(super) fn section<S: Section>(&mut self, root: &Map<String, Value>, to: &mut S) {
        if let Some(map) = self.descend(root, "", S::PATH) {
            to.fill(map, S::PATH, self);
        }
    }

    /// Every map below a path whose last part may be any name, with its name and path.
    pub(super) fn maps_below<'a>(
        &mut self,
        root: &'a Map<String, Value>,
        path: &str,
    ) -> Vec<(&'a String, String, &'a Map<String, Value>)> {
        let mut maps = Vec::new();
        for (name, value) in self.descend(root, "", path).into_iter().flatten() {
            let at = format!("{path}.{name}");
            match value {
                Value::Object(map) => maps.push((name, at, map)),
                _ => self.bad(&at, "a map"),
            }
        }
        maps
    }

    /// The map at a dotted path below another, which stands at `at`.
    fn descend<'a>(
        &mut self,
        mut map: &'a Map<String, Value>,
        at: &str,
        path: &str,
    ) -> Option<&'a Map<String, Value>> {
        let mut at = at.to_owned();
        for name in path.split('.').filter(|name| !name.is_empty()) {
            at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            map = match map.get(name)? {
                Value::Object(map) => map,
                Value::Null => return None,
                _ => {
                    // Several sections may lie below it; one complaint is enough.
                    if !self.unusable.iter().any(|known| known.path == at) {
                        self.bad(&at, "a map");
                    }
                    return None;
                }
            };
        }
        Some(map)
    }

    /// Sets a field from its key, in either spelling, or says why not.
    pub(super) fn set<T: SettingValue>(
        &mut self,
        to: &mut T,
        map: &Map<String, Value>,
        at: &str,
        spelling: &Spelling,
        range: Option<ValueRange>,
    ) {
        let name = spelling.name.split(".<").next().unwrap_or(spelling.name);
        let (parents, last) = name.rsplit_once('.').unwrap_or(("", name));
        let Some(map) = self.descend(map, at, parents) else { return };
        let spellings = std::iter::once(last).chain(spelling.alias);
        let mut written = spellings.filter_map(|name| Some((name, map.get(name)?)));
        let Some((name, value)) = written.find(|(_, value)| !value.is_null()) else { return };
        let path = match parents {
            "" => format!("{at}.{name}"),
            parents => format!("{at}.{parents}.{name}"),
        };
        let place = KeyPlace { path: &path, key: spelling.key, range, otherwise: None };
        let read = match self.leniency {
            Leniency::Refuse => T::read(value, &place, self),
            Leniency::Correct => self.correct(value, &place),
        };
        if let Some(read) = read {
            *to = read;
        }
    }

    /// As `T::read`, but a number out of range becomes the nearest that is allowed, and words must
    /// be written as the table has them.
    fn correct<T: SettingValue>(&mut self, value: &Value, place: &KeyPlace<'_>) -> Option<T> {
        match (T::KIND, place.range, value.as_f64()) {
            (KeyKind::WholeNumber, Some(range), Some(given)) if given.is_finite() => {
                let allowed = given.trunc().clamp(range.low, range.high);
                if allowed != given {
                    let holds = format!("{allowed} holds");
                    let place = KeyPlace { otherwise: Some(&holds), ..*place };
                    self.unusable(value, T::KIND, &place);
                }
                T::read(&Value::from(allowed as u64), place, self)
            }
            (KeyKind::Words(_), ..) if !is_plain_word(value) => {
                self.unusable(value, T::KIND, place);
                None
            }
            _ => T::read(value, place, self),
        }
    }

    /// A value that cannot be used, or not as it is: what stands there, what should, and what holds.
    pub(super) fn unusable(&mut self, value: &Value, expected: KeyKind, place: &KeyPlace<'_>) {
        let given = key::describe(value, expected);
        let expected = expected.expected(place.range);
        let key = key::find_key(place.key);
        let otherwise = match (place.otherwise, key) {
            (Some(otherwise), _) => otherwise.to_owned(),
            (None, Some(key)) => key.fallback(),
            (None, None) => key::LEFT_OUT.to_owned(),
        };
        let reason = bad_value(format!("{} is {given}, not {expected}; {otherwise}", place.path));
        self.reasons.push(match key {
            Some(key) => {
                reason.remedy(format!("{} The default is {}.", key.doc, or_none(&key.default)))
            }
            None => reason,
        });
        self.unusable.push(UnusableValue { path: place.path.to_owned(), expected });
    }

    /// Something that is not what it must be, where no key of the table is meant.
    pub(super) fn bad(&mut self, path: &str, expected: &str) {
        let unusable = UnusableValue { path: path.to_owned(), expected: expected.to_owned() };
        self.unusable.push(unusable);
        let reason = match self.leniency {
            Leniency::Refuse => {
                bad_value(format!("{path} is not {expected}")).remedy(format!("write {expected}"))
            }
            Leniency::Correct => bad_value(format!("{path} is not {expected}; the defaults hold")),
        };
        self.reasons.push(reason);
    }

    /// Something that a part of the file lacks or must not say.
    pub(super) fn refused(&mut self, path: &str, problem: &str, consequence: &str) {
        self.reasons.push(bad_value(format!("{path} {problem}; {consequence}")));
    }

    /// Names what means nothing in a part of the file that is sinew's alone.
    pub(super) fn name_unknown_keys(&mut self, root: &Map<String, Value>, path: &str) {
        let mut map = Some(root);
        for name in path.split('.') {
            map = map.and_then(|map| map.get(name)).and_then(Value::as_object);
        }
        if let Some(map) = map {
            self.unknown_keys(map, path, path);
        }
    }

    /// As [`Self::name_unknown_keys`], for a map that stands at `at`, which the table calls `path`.
    /// Below any name, the reader of that part asks for itself.
    pub(super) fn unknown_keys(&mut self, map: &Map<String, Value>, path: &str, at: &str) {
        let known = key::children(path);
        if known.iter().any(|known| known.starts_with('<')) {
            return;
        }
        for (name, value) in map {
            if !known.contains(&name.as_str()) {
                if !key::is_older_spelling(path, name) {
                    self.unknown_key(name, at, &known);
                }
                continue;
            }
            let below = format!("{path}.{name}");
            if let Value::Object(inner) = value
                && !key::children(&below).is_empty()
            {
                self.unknown_keys(inner, &below, &format!("{at}.{name}"));
            }
        }
    }

    /// A key that means nothing at `at`, once.
    pub(super) fn unknown_key(&mut self, name: &str, at: &str, known: &[&str]) {
        let below = |name: &str| match at {
            "" => name.to_owned(),
            at => format!("{at}.{name}"),
        };
        let path = below(name);
        if self.unknown.contains(&path) {
            return;
        }
        let reason =
            Reason::new(ReasonCode::UnknownConfigKey, format!("{path} means nothing here"));
        self.unknown.push(path);
        self.reasons.push(match nearest(name, known.iter().copied()).first() {
            Some(nearest) => reason.remedy(format!("did you mean {}?", below(nearest))),
            None => reason.remedy(format!("remove it, or use one of {}", known.join(", "))),
        });
    }
}

fn bad_value(detail: String) -> Reason {
    Reason::new(ReasonCode::BadConfigValue, detail)
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

/// Whether a word is written as the table has it; Skill Workshop takes no other.
fn is_plain_word(value: &Value) -> bool {
    value.as_str().is_some_and(|word| word == word.trim().to_ascii_lowercase())
}
