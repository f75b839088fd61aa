//! "Never for this skill": a person's decision, kept in the configuration.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{EngineError, WorkshopHandle, settings};

impl WorkshopHandle<'_> {
    /// Adds an approval rule that keeps proposals for a skill from being stored at all. The file as
    /// it was stays beside it.
    pub fn forbid_proposals(&self, skill: &str) -> Result<PathBuf, EngineError> {
        let name = sinew_workshop::normalise_name(skill);
        let path = self.engine.settings().config_source().path.clone();
        settings::update(&path, |root| {
            let mut at = root;
            for key in ["plugins", "entries", "skill-workshop", "config"] {
                let map = settings::map_in(at)?;
                at = map.entry(key.to_owned()).or_insert_with(|| json!({}));
            }
            let map = settings::map_in(at)?;
            let rules = map.entry("approvalRules".to_owned()).or_insert_with(|| json!([]));
            let rule = json!({"match": name, "policy": "never"});
            match rules {
                // First, because the first match wins.
                Value::Array(rules) if !rules.contains(&rule) => rules.insert(0, rule),
                Value::Array(_) => {}
                other => *other = json!([rule]),
            }
            Some(())
        })?;
        Ok(path)
    }
}
