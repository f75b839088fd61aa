//! The configuration as it may be shown: each key with what holds, secrets as set or unset.

use serde::Serialize;
use sinew_settings::{
    Reason, ReasonStage,
    config::{ConfigSource, keys},
};

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
    pub value: serde_json::Value,
    /// Whether the file says so.
    pub set: bool,
    /// What it does.
    pub doc: &'static str,
}

impl<'a> SettingsHandle<'a> {
    /// The configuration as it may be shown. No secret is in it.
    pub fn config_view(&self) -> ConfigView<'a> {
        let tree = &self.engine.config.tree;
        let snapshot = self.engine.current();
        let issues: Vec<Reason> = self
            .engine
            .status()
            .issues(&snapshot.catalog)
            .into_iter()
            .filter(|reason| reason.stage == ReasonStage::Config)
            .collect();
        let refused =
            |key: &str| issues.iter().any(|issue| issue.detail.split(' ').next() == Some(key));
        let mut values: Vec<ConfigValueView> = Vec::new();
        for key in keys().iter().filter(|key| !key.path.contains('<')) {
            let older = key.older_path();
            let found = std::iter::once(key.path).chain(older.as_deref()).find_map(|path| {
                let found = path.split('.').try_fold(tree, |tree, part| tree.get(part));
                found.filter(|_| !refused(path))
            });
            values.push(ConfigValueView {
                key: key.path.to_owned(),
                value: found
                    .map(|found| masked(key.path, found))
                    .unwrap_or_else(|| self.default_of(key.path, &key.default)),
                set: found.is_some(),
                doc: key.doc,
            });
        }
        for (name, entry) in &self.engine.config.entries {
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
                doc: "One skill's settings.",
            });
        }
        ConfigView { source: self.config_source(), values, issues }
    }

    /// What holds where nothing is set, as a value of its own kind.
    fn default_of(&self, path: &str, written: &str) -> serde_json::Value {
        match path {
            "skills.limits.maxCandidatesPerRoot" => self.engine.profile.max_candidates.into(),
            "skills.limits.maxSkillsLoadedPerSource" => self.engine.profile.max_loaded.into(),
            _ => serde_json::from_str(written).unwrap_or_else(|_| written.into()),
        }
    }
}

/// A value as it may be shown: keys and variables are secrets.
fn masked(path: &str, value: &serde_json::Value) -> serde_json::Value {
    match (path.rsplit('.').next(), value) {
        (Some("apiKey"), _) => "(set)".into(),
        (Some("env"), serde_json::Value::Object(env)) => {
            let set = |name: &String| (name.clone(), serde_json::Value::from("(set)"));
            env.keys().map(set).collect()
        }
        _ => value.clone(),
    }
}
