//! Single values of the configuration: read, set, taken out; and the whole file after an editor.
//!
//! What must never happen here: a value that the reader cannot use, a secret that was typed on a command
//! line, a file that another process changed meanwhile and that is written over.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sinew_settings::config::{KeyKind, find_key, keys, read_config_text};
use sinew_settings::{Actor, Config, ErrorCode, nearest};

use super::config_file::{lock, write_with_backup};
use super::{ConfigValueView, map_in, update};
use crate::{EngineError, SettingsHandle};

/// Keys that grant nothing and forbid nothing: what `approvals.unattended: ["settings"]` is about. A
/// part stands for all that is below it. Every other key, and every new one, is changed by a person at
/// a terminal alone.
const GRANTS_NOTHING: &[&str] = &[
    "skills.allowBundled",
    "skills.entries.<key>.enabled",
    "skills.limits",
    "skills.load.debounceMs",
    "skills.load.maxDepth",
    "skills.load.reloadWindowMs",
    "skills.load.watch",
    "skills.prompt.fullDescriptions",
    "skills.prompt.order",
    "skills.prompt.pin",
    "skills.prompt.planner",
    "route.floor",
    "route.margin",
    "route.model",
    "route.threshold",
    "route.top",
    "hook",
    "mcp.prompts",
    "mcp.skillPrefix",
    "traces.keepRuns",
    "traces.maxAgeDays",
    "traces.minSteps",
];

/// Names below which values are secrets.
const SECRETS: &[&str] = &["apiKey", "env", "token", "password", "secret"];

/// A value that was changed.
#[derive(Debug, Clone, Serialize)]
pub struct ConfigValueChange {
    /// The dotted path.
    pub key: String,
    /// What the file said before; absent where it said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What it says now; absent where it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl SettingsHandle<'_> {
    /// One key and what holds.
    pub fn config_value(&self, path: &str) -> Result<ConfigValueView, EngineError> {
        let mut view = self.config_view();
        if let Some(at) = view.values.iter().position(|value| value.key == path) {
            return Ok(view.values.swap_remove(at));
        }
        let doc = known_key(path)?;
        let held = value_at(&self.engine.config.tree, path).filter(|value| !value.is_null());
        let set = held.is_some();
        let held = held.cloned().unwrap_or_default();
        let value = if set && is_secret(path) { Value::from("(set)") } else { held };
        Ok(ConfigValueView { key: path.to_owned(), value, set, written: None, doc })
    }

    /// Whether a key can grant or forbid something, so that only a person at a terminal may change it.
    pub fn is_guarded(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('.').collect();
        let is_open = |open: &&str| {
            let open: Vec<&str> = open.split('.').collect();
            let same = |(own, part): (&&str, &&str)| own == part || own.starts_with('<');
            open.len() <= parts.len() && open.iter().zip(&parts).all(same)
        };
        !GRANTS_NOTHING.iter().any(is_open)
    }

    /// Sets a value as it was typed: JSON5, or plain text where the key holds text.
    pub fn set_value(
        &self,
        path: &str,
        typed: &str,
        actor: &Actor,
    ) -> Result<ConfigValueChange, EngineError> {
        known_key(path)?;
        if is_secret(path) {
            let said =
                format!("{path} may hold a secret, and other programs can read a command line");
            return Err(EngineError::new(ErrorCode::BadValue, said)
                .hint("`sinew config edit`, or the skill's page on the dashboard"));
        }
        let value = read_typed(path, typed);
        self.change_value(path, Some(value), actor)
    }

    /// Takes a value out of the file, so that its default holds.
    pub fn unset_value(&self, path: &str, actor: &Actor) -> Result<ConfigValueChange, EngineError> {
        // A misspelt key must be removable as well.
        if value_at(&self.engine.config.tree, path).is_none() {
            known_key(path)?;
        }
        self.change_value(path, None, actor)
    }

    fn change_value(
        &self,
        path: &str,
        value: Option<Value>,
        actor: &Actor,
    ) -> Result<ConfigValueChange, EngineError> {
        check_person(actor)?;
        let file = self.config_source().path.clone();
        let (mut before, mut refusal) = (None, None);
        let written = update(&file, |root| {
            before = value_at(root, path).cloned();
            let mut changed = root.clone();
            put(&mut changed, path, value.clone())?;
            let faults = new_faults(root, &changed);
            if let Some(fault) = faults.into_iter().next() {
                refusal = Some(fault);
                return None;
            }
            *root = changed;
            Some(())
        });
        if let Some(fault) = refusal {
            return Err(EngineError::new(ErrorCode::BadSetting, fault)
                .hint(format!("`sinew config get {path}` says what holds now")));
        }
        written?;
        let shown = |value: Option<Value>| match is_secret(path) {
            true => value.map(|_| Value::from("(set)")),
            false => value,
        };
        let change =
            ConfigValueChange { key: path.to_owned(), before: shown(before), after: shown(value) };
        let unset = || Value::from("(unset)");
        self.note_set(
            "config",
            actor,
            &[json!({
                "key": path,
                "before": change.before.clone().unwrap_or_else(unset),
                "after": change.after.clone().unwrap_or_else(unset),
            })],
        );
        Ok(change)
    }

    /// The configuration file as it is, for an editor; empty where there is none.
    pub fn config_text(&self) -> Result<String, EngineError> {
        let path = &self.config_source().path;
        match read_config_text(path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(EngineError::file("read", path, error)),
        }
    }

    /// What is wrong with a text that is to be the configuration.
    pub fn config_faults(&self, text: &str) -> Vec<String> {
        let (config, _) = Config::from_text(text);
        let faults = config.faults.iter().map(ToString::to_string);
        faults.chain(config.unusable.iter().map(ToString::to_string)).collect()
    }

    /// Replaces the configuration by a text that a person edited. `before` is what the editor began with.
    pub fn replace_config(
        &self,
        before: &str,
        text: &str,
        actor: &Actor,
    ) -> Result<(), EngineError> {
        check_person(actor)?;
        let path: &Path = &self.config_source().path;
        if let Some(fault) = self.config_faults(text).into_iter().next() {
            return Err(EngineError::new(
                ErrorCode::BadConfig,
                format!("nothing was written: {fault}"),
            ));
        }
        let _lock = lock(path)?;
        if self.config_text()? != before {
            let said = format!("{} was changed meanwhile; nothing was written", path.display());
            return Err(EngineError::new(ErrorCode::ChangedMeanwhile, said)
                .hint("`sinew config edit` begins anew"));
        }
        write_with_backup(path, text)?;
        let edited = json!({"key": "(file)", "before": "(edited)", "after": "(edited)"});
        self.note_set("config", actor, &[edited]);
        Ok(())
    }
}

fn check_person(actor: &Actor) -> Result<(), EngineError> {
    if actor.is_person() {
        return Ok(());
    }
    let said = "only a person can change the configuration";
    Err(EngineError::new(ErrorCode::NeedsPerson, said)
        .hint("run it in a terminal, or let approvals.unattended list `settings`"))
}

/// What a key does, or that there is none.
fn known_key(path: &str) -> Result<&'static str, EngineError> {
    if let Some(key) = find_key(path) {
        return Ok(key.doc);
    }
    let parts: Vec<&str> = path.split('.').collect();
    let is_meant = |declared: &str| {
        let mut declared = declared.split('.');
        let fits = parts.iter().all(|part| {
            declared
                .next()
                .is_some_and(|name| name == *part || name.starts_with('<') && !part.is_empty())
        });
        fits && declared.next().is_none()
    };
    if let Some(key) = keys().iter().find(|key| is_meant(key.path)) {
        return Ok(key.doc);
    }
    let error = EngineError::new(
        ErrorCode::BadSetting,
        format!("the configuration has no key `{}`", path.escape_debug()),
    );
    Err(match nearest(path, keys().iter().map(|key| key.path)).first() {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`sinew config show` lists them all"),
    })
}

/// A typed value: where the key holds text, what is typed is the text.
fn read_typed(path: &str, typed: &str) -> Value {
    let text = || Value::from(typed);
    let is_list = find_key(path).is_some_and(|key| matches!(key.kind, KeyKind::List(_)));
    match json5::from_str::<Value>(typed) {
        Ok(value @ Value::Array(_)) => value,
        // One item is a list of one.
        Ok(value) if is_list => Value::from(vec![if value.is_string() { value } else { text() }]),
        Ok(value) if find_key(path).is_none_or(|key| takes(key.kind, &value)) => value,
        Err(_) if is_list => Value::from(vec![text()]),
        Ok(_) | Err(_) => text(),
    }
}

/// Whether a key of this kind could hold a value that is no text.
fn takes(kind: KeyKind, value: &Value) -> bool {
    match kind {
        KeyKind::Text => value.is_string(),
        KeyKind::Words(words) => value.is_string() || words.contains(&value.to_string().as_str()),
        _ => true,
    }
}

fn is_secret(path: &str) -> bool {
    path.split('.').any(|part| SECRETS.contains(&part))
}

fn value_at<'v>(tree: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(tree, |tree, part| tree.get(part))
}

/// Sets or removes the value at a path; `None` where something else than a map is on the way.
fn put(root: &mut Value, path: &str, value: Option<Value>) -> Option<()> {
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut at = root;
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        let map = map_in(at)?;
        if value.is_none() && !map.contains_key(part) {
            return Some(());
        }
        at = map.entry(part.to_owned()).or_insert_with(|| json!({}));
    }
    let map = map_in(at)?;
    match value {
        Some(value) => drop(map.insert(last.to_owned(), value)),
        None => drop(map.shift_remove(last)),
    }
    Some(())
}

/// What a reader would find wrong that it did not find before.
fn new_faults(before: &Value, after: &Value) -> Vec<String> {
    let faults = |tree: &Value| -> Vec<String> {
        let (config, _) = Config::from_tree(tree.clone());
        let unusable = config.unusable.iter().map(ToString::to_string);
        unusable.chain(config.faults.iter().map(ToString::to_string)).collect()
    };
    let old = faults(before);
    faults(after).into_iter().filter(|fault| !old.contains(fault)).collect()
}
