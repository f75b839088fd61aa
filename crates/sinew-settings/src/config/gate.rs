//! What closes the gate: faults of the file in parts that say what is forbidden.
//!
//! Elsewhere a value that cannot be used is a reason and its default holds. Here the default is "yes"
//! and the file may have said "no", so a fault must not be read as silence.
//!
//! **Must never happen here:** a fault in a guarded part that nothing reports.

use serde_json::{Map, Value};

use super::reader::ConfigReader;
use super::{Config, UnusableValue};
use crate::{Reason, ReasonCode};

/// Levels of a configuration. Ours has six; a reader that follows brackets by calling itself would
/// take the program down with some ten thousand.
pub const MAX_NESTING: usize = 100;

/// Parts that are guarded as a whole: policy, addresses and whose word counts.
const GUARDED_PARTS: &[&str] = &["security", "hub", "approvals"];

/// Names that guard something, by the part they stand in. A name that is nearly one of them is a
/// mistake, also where another program may keep keys of its own beside it.
const GUARDED_NAMES: &[(&str, &[&str])] = &[
    ("", &["security", "hub", "approvals", "skills", "agents"]),
    ("security", &["installPolicy", "sandbox", "signatures"]),
    ("skills", &["entries"]),
    ("agents", &["defaults", "entries", "list"]),
    ("agents.defaults", &["skills"]),
];

/// Names at the top of the file that look like a guarded one and are not.
const OTHER_NAMES: &[&str] = &["agent"];

/// A fault of the file that closes the gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ConfigFault {
    /// Where it stands; `None` where the file as a whole cannot be read.
    pub path: Option<String>,
    /// What is wrong.
    pub problem: String,
}

impl ConfigFault {
    /// The file as a whole cannot be read.
    pub(super) fn whole_file(problem: String) -> Self {
        Self { path: None, problem }
    }

    fn hides_skill_switches(&self) -> bool {
        self.path.as_deref().is_none_or(|path| {
            is_near(path, "skills")
                || path.strip_prefix("skills.").is_some_and(|name| is_near(name, "entries"))
        })
    }
}

impl From<&UnusableValue> for ConfigFault {
    fn from(value: &UnusableValue) -> Self {
        Self { path: Some(value.path.clone()), problem: value.to_string() }
    }
}

impl Config {
    /// Whether anything may be changed on the strength of this file: the first fault where not.
    pub fn gate(&self) -> Result<(), &ConfigFault> {
        self.faults.first().map_or(Ok(()), Err)
    }

    /// The fault because of which the file cannot say which skills are switched off.
    pub fn hidden_switches(&self) -> Option<&ConfigFault> {
        self.faults.iter().find(|fault| fault.hides_skill_switches())
    }

    /// The configuration of a file that cannot be read, with its reason: everything that the file may
    /// have forbidden is forbidden.
    pub(super) fn closed(problem: String) -> (Self, Vec<Reason>) {
        let reason = Reason::new(ReasonCode::BadConfigValue, problem.clone())
            .remedy("correct the file; until then no skill is used and nothing is changed");
        let mut config = Self { faults: vec![ConfigFault::whole_file(problem)], ..Self::default() };
        config.install_policy.damaged = true;
        config.agents.defaults = Some(Vec::new());
        (config, vec![reason])
    }

    /// Draws the consequences of what was found in guarded parts.
    pub(super) fn close_gate(&mut self, root: &Map<String, Value>, reader: &mut ConfigReader) {
        for (part, names) in GUARDED_NAMES {
            name_near_misses(root, part, names, reader);
        }
        let unusable = reader.unusable.iter().filter(|value| is_guarded(value));
        self.faults.extend(unusable.map(ConfigFault::from));
        let unknown = reader.unknown.iter().filter(|path| is_guarded_key(path));
        self.faults.extend(unknown.map(|path| ConfigFault {
            path: Some(path.clone()),
            problem: format!("{path} means nothing here"),
        }));
        let paths = self.faults.iter().filter_map(|fault| fault.path.as_deref());
        self.install_policy.damaged = paths
            .filter_map(|path| path.strip_prefix("security"))
            .any(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        let lists = ["defaults", "entries", "list"];
        let lists_hidden = self.faults.iter().any(|fault| {
            fault.path.as_deref().is_some_and(|path| {
                let below = path.strip_prefix("agents.");
                is_near(path, "agents")
                    || below.is_some_and(|name| lists.iter().any(|list| is_near(name, list)))
                    || below.is_some_and(|name| name.starts_with("defaults."))
            })
        });
        if lists_hidden {
            self.agents.defaults.get_or_insert_default();
        }
    }
}

/// Whether a value that cannot be used stands in a guarded place.
fn is_guarded(value: &UnusableValue) -> bool {
    let path = value.path.as_str();
    let part = path.split(['.', '[']).next().unwrap_or(path);
    let no_map = value.expected == "a map";
    match part {
        "skills" => {
            matches!(path, "skills" | "skills.entries")
                || path.starts_with("skills.entries.")
                    && (path.ends_with(".enabled") || path.ends_with(".for") || no_map)
        }
        "agents" => {
            let of_list = path.ends_with(".skills") || path.contains(".skills[");
            of_list || path.ends_with(".id") || no_map || path == "agents.list"
        }
        part => GUARDED_PARTS.contains(&part),
    }
}

/// Whether a key without a meaning stands in a guarded place.
fn is_guarded_key(path: &str) -> bool {
    let part = path.split('.').next().unwrap_or(path);
    let near_miss = GUARDED_NAMES.iter().any(|(part, names)| {
        let (at, name) = path.rsplit_once('.').unwrap_or(("", path));
        at == *part && names.iter().any(|known| is_near(name, known))
    });
    GUARDED_PARTS.contains(&part)
        || path.starts_with("skills.entries.")
        || path.starts_with("agents.")
        || near_miss
}

/// Names keys that are nearly a guarded one.
fn name_near_misses(
    root: &Map<String, Value>,
    part: &str,
    names: &[&str],
    reader: &mut ConfigReader,
) {
    let mut map = Some(root);
    for name in part.split('.').filter(|name| !name.is_empty()) {
        map = map.and_then(|map| map.get(name)).and_then(Value::as_object);
    }
    for name in map.into_iter().flat_map(Map::keys) {
        if names.contains(&name.as_str()) || part.is_empty() && OTHER_NAMES.contains(&name.as_str())
        {
            continue;
        }
        if names.iter().any(|known| is_near(name, known)) {
            reader.unknown_key(name, part, names);
        }
    }
}

/// Whether a name is a known one with a letter or two wrong; in short names, one.
pub(super) fn is_near(name: &str, known: &str) -> bool {
    let allowed = if known.len() < 8 { 1 } else { 2 };
    strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase()) <= allowed
}

/// Whether a text opens more brackets than anything of ours could mean. Strings and comments are
/// passed over as JSON5 reads them; what is no JSON5 may be counted wrong, and is refused anyway.
pub fn is_nested_too_deeply(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_NESTING {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => at = after_string(bytes, at, byte),
            b'/' => at = after_comment(bytes, at),
            _ => {}
        }
    }
    false
}

fn after_string(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            byte if byte == quote => break,
            _ => {}
        }
    }
    at
}

fn after_comment(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first() {
        Some(b'/') => at + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        Some(b'*') => {
            let inner = rest.get(1..).unwrap_or_default();
            let end = inner.windows(2).position(|two| two == b"*/");
            at + 1 + end.map_or(inner.len(), |end| end + 2)
        }
        _ => at,
    }
}
