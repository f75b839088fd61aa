//! One skill's settings in the configuration: on or off, pinned, its key and its variables.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sinew_catalog::CatalogEntry;
use sinew_cortex::UtcInstant;
use sinew_settings::{Actor, ErrorCode};

use super::{map_in, update};
use crate::store::audit;
use crate::{EngineError, SettingsHandle};

/// What is to be set; what is absent stays as it is.
#[derive(Clone, Default)]
pub struct SkillSettingsPatch {
    /// Whether it may be used.
    pub enabled: Option<bool>,
    /// Whether it stays in the prompt when the budget is short.
    pub pinned: Option<bool>,
    /// Its API key; `Some(None)` takes it out.
    pub api_key: Option<Option<String>>,
    /// Variables for its runs; `None` takes one out.
    pub env: BTreeMap<String, Option<String>>,
}

impl SkillSettingsPatch {
    /// Whether it puts something into the entry that another skill must not get.
    fn gives_secrets(&self) -> bool {
        matches!(self.api_key, Some(Some(_))) || self.env.values().any(Option::is_some)
    }
}

impl std::fmt::Debug for SkillSettingsPatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Names only: the values are secrets.
        f.debug_struct("SkillSettingsPatch")
            .field("enabled", &self.enabled)
            .field("pinned", &self.pinned)
            .field("api_key", &self.api_key.is_some())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// The longest value of a key.
const MAX_VALUE: usize = 16 * 1024;

impl SettingsHandle<'_> {
    /// Writes one skill's settings to the configuration; the file as it was stays beside it. Only a
    /// person can: what is switched off, and what a skill is given, is their business.
    pub fn set_skill(
        &self,
        entry: &CatalogEntry,
        settings: &SkillSettingsPatch,
        actor: &Actor,
    ) -> Result<(), EngineError> {
        if !actor.is_person() {
            let said = "only a person can change a skill's settings";
            return Err(EngineError::new(ErrorCode::NeedsPerson, said)
                .hint("change it in the dashboard, or in the configuration file"));
        }
        self.check_settings(settings)?;
        let path = self.config_source().path.clone();
        update(&path, |root| {
            if let Some(pinned) = settings.pinned {
                pin(root, &entry.name, &entry.skill_key, pinned)?;
            }
            let mut at = root;
            for key in ["skills", "entries", &entry.skill_key] {
                at = map_in(at)?.entry(key.to_owned()).or_insert_with(|| json!({}));
            }
            let own = map_in(at)?;
            if settings.gives_secrets() {
                // Another skill that claims the entry later gets nothing of it.
                own.insert("for".to_owned(), entry.entry_owner().to_value());
            }
            if let Some(enabled) = settings.enabled {
                own.insert("enabled".to_owned(), enabled.into());
            }
            match &settings.api_key {
                Some(Some(key)) => drop(own.insert("apiKey".to_owned(), key.clone().into())),
                Some(None) => drop(own.shift_remove("apiKey")),
                None => {}
            }
            if !settings.env.is_empty() {
                let env = map_in(own.entry("env".to_owned()).or_insert_with(|| json!({})))?;
                for (name, value) in &settings.env {
                    match value {
                        Some(value) => drop(env.insert(name.clone(), value.clone().into())),
                        None => drop(env.shift_remove(name)),
                    }
                }
            }
            Some(())
        })?;
        self.note_settings(entry, settings, actor);
        Ok(())
    }

    /// Records who set what. The configuration is already written: failing to record it undoes
    /// nothing.
    fn note_settings(&self, entry: &CatalogEntry, settings: &SkillSettingsPatch, actor: &Actor) {
        let pins = &self.engine.config.prompt.pin;
        let pinned = pins.contains(&entry.name) || pins.contains(&entry.skill_key);
        let held = |is: bool| if is { "(set)" } else { "(unset)" };
        let known = entry.settings(&self.engine.config);
        let switches =
            [("enabled", settings.enabled, !entry.disabled), ("pinned", settings.pinned, pinned)];
        let mut set: Vec<Value> = switches
            .into_iter()
            .filter_map(|(key, now, before)| {
                Some(json!({"key": key, "before": before, "after": now?}))
            })
            .collect();
        if let Some(key) = &settings.api_key {
            let before = known.is_some_and(|known| known.api_key.is_some());
            set.push(
                json!({"key": "apiKey", "before": held(before), "after": held(key.is_some())}),
            );
        }
        for (name, value) in &settings.env {
            let before = known.is_some_and(|known| known.env.contains_key(name));
            let (before, after) = (held(before), held(value.is_some()));
            set.push(json!({"key": format!("env.{name}"), "before": before, "after": after}));
        }
        self.note_set(&entry.name, actor, &set);
    }

    /// Writes down what was set about a skill: `key`, `before` and `after` of each.
    pub(crate) fn note_set(&self, skill: &str, actor: &Actor, set: &[Value]) {
        let entry = json!({"skill": skill, "by": actor, "set": set});
        let now = UtcInstant::from_clock(self.engine.env.clock.now_ms());
        let written = audit("setting", now, &entry).and_then(|op| {
            self.engine.store()?.transact(&[op])?;
            Ok(())
        });
        if let Err(error) = written {
            tracing::warn!(skill, %error, "a change of settings is missing in the audit trail");
        }
    }

    fn check_settings(&self, settings: &SkillSettingsPatch) -> Result<(), EngineError> {
        let values = settings.env.values().flatten().chain(settings.api_key.iter().flatten());
        if values.into_iter().any(|value| value.len() > MAX_VALUE || value.contains('\0')) {
            let said = format!("a value is longer than {MAX_VALUE} bytes, or no text");
            return Err(EngineError::new(ErrorCode::BadValue, said));
        }
        let is_name = |name: &&String| {
            !name.is_empty()
                && name.len() <= 128
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match settings.env.keys().find(|name| !is_name(name)) {
            Some(name) => {
                let said = format!("`{}` is no name of a variable", name.escape_debug());
                Err(EngineError::new(ErrorCode::BadValue, said)
                    .hint("use letters, digits and underscores"))
            }
            None => Ok(()),
        }
    }
}

/// Puts a skill on the list of pinned ones, or takes it off.
fn pin(root: &mut Value, name: &str, key: &str, pinned: bool) -> Option<()> {
    let prompt = map_in(map_in(root)?.entry("skills".to_owned()).or_insert_with(|| json!({})))?;
    let prompt = map_in(prompt.entry("prompt".to_owned()).or_insert_with(|| json!({})))?;
    let list = prompt.entry("pin".to_owned()).or_insert_with(|| json!([])).as_array_mut()?;
    list.retain(|pinned| pinned != name && pinned != key);
    if pinned {
        list.push(name.into());
    }
    Some(())
}
