//! The configuration as it may be shown: each key with what holds, secrets as set or unset.

use serde::Serialize;
use serde_json::Value;
use sinew_settings::config::{ConfigKey, ConfigSource};
use sinew_settings::{Config, Reason, ReasonStage};

use crate::SettingsHandle;

/// The configuration as it may be shown.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ConfigView<'e> {
    /// Where it was read from.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub source: &'e ConfigSource,
    /// Every key, in the order of the table.
    pub values: Vec<ConfigValueView>,
    /// What is wrong with it.
    pub issues: Vec<Reason>,
}

/// One key and what holds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ConfigValueView {
    /// The dotted path.
    pub key: String,
    /// What holds; `(set)` for a secret.
    pub value: Value,
    /// Whether the file says so.
    pub set: bool,
    /// What the file says, where that cannot hold and the nearest allowed value or the default does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<Value>,
    /// What it does.
    pub doc: &'static str,
}

impl<'a> SettingsHandle<'a> {
    /// The configuration as it may be shown. No secret is in it.
    pub fn config_view(&self) -> ConfigView<'a> {
        let config = &self.engine.config;
        let snapshot = self.engine.current();
        let issues: Vec<Reason> = self
            .engine
            .status()
            .issues(&snapshot.catalog)
            .into_iter()
            .filter(|reason| reason.stage == ReasonStage::Config)
            .collect();
        let mut values: Vec<ConfigValueView> = Vec::new();
        for (key, held) in config.declared() {
            if key.path.contains('<') {
                continue;
            }
            let (set, doc) = (is_set(config, &key, &held), key.doc);
            let value = match set {
                true => masked(key.path, held),
                false => self.default_of(key.path, &key.default),
            };
            let written = unusable_value(config, &key).map(|written| masked(key.path, written));
            let key = key.path.to_owned();
            values.push(ConfigValueView { key, value, set, written, doc });
        }
        for (name, entry) in &config.entries {
            let mut shown = serde_json::Map::new();
            if let Some(enabled) = entry.enabled {
                shown.insert("enabled".to_owned(), enabled.into());
            }
            if entry.api_key.as_ref().is_some_and(|key| !key.is_blank()) {
                shown.insert("apiKey".to_owned(), "(set)".into());
            }
            let env: serde_json::Map<_, _> =
                entry.env.keys().map(|name| (name.clone(), "(set)".into())).collect();
            if !env.is_empty() {
                shown.insert("env".to_owned(), env.into());
            }
            values.push(ConfigValueView {
                key: format!("skills.entries.{name}"),
                value: shown.into(),
                set: true,
                written: None,
                doc: "One skill's settings.",
            });
        }
        ConfigView { source: self.config_source(), values, issues }
    }

    /// What holds where nothing is set, as a value of its own kind.
    fn default_of(&self, path: &str, written: &str) -> Value {
        match path {
            "skills.limits.maxCandidatesPerRoot" => self.engine.profile.max_candidates.into(),
            "skills.limits.maxSkillsLoadedPerSource" => self.engine.profile.max_loaded.into(),
            _ => serde_json::from_str(written).unwrap_or_else(|_| written.into()),
        }
    }
}

/// Whether a key has its value from the file, in either spelling. One that could not be used, and left
/// the default, does not count.
fn is_set(config: &Config, key: &ConfigKey, held: &Value) -> bool {
    let older = key.older_path();
    let written = std::iter::once(key.path).chain(older.as_deref()).find(|path| {
        let value = path.split('.').try_fold(&config.tree, |tree, part| tree.get(part));
        value.is_some_and(|value| !value.is_null())
    });
    let is_unusable = |path: &str| config.unusable.iter().any(|value| value.path == path);
    written.is_some_and(|path| !is_unusable(path) || key.is_changed_by(held))
}

/// What the file says for a key where something else holds.
fn unusable_value(config: &Config, key: &ConfigKey) -> Option<Value> {
    let older = key.older_path();
    let paths = std::iter::once(key.path).chain(older.as_deref());
    let path =
        paths.into_iter().find(|path| config.unusable.iter().any(|one| one.path == *path))?;
    let value = path.split('.').try_fold(&config.tree, |tree, part| tree.get(part))?;
    // A number is shown as it was written; whatever else stands there may be a secret.
    value.is_number().then(|| value.clone())
}

/// A value as it may be shown: variables may be secrets.
fn masked(path: &str, value: Value) -> Value {
    match value {
        Value::Object(env) if path.ends_with(".env") => {
            env.into_iter().map(|(name, _)| (name, Value::from("(set)"))).collect()
        }
        value => value,
    }
}
