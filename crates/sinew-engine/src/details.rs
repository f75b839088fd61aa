//! Everything known about one skill, and what each skill costs in the prompt.

use std::collections::BTreeMap;

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_exec::EnvState;

use crate::{PromptOptions, SkillsHandle};

/// One skill with what belongs to it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillDetails<'a> {
    /// The skill.
    #[serde(flatten)]
    pub entry: &'a CatalogEntry,
    /// Copies that lost to it, highest rank first.
    pub shadowed: Vec<&'a CatalogEntry>,
    /// Where each variable that it declares comes from.
    pub env: Vec<EnvState>,
    /// What it costs in the prompt, in UTF-16 code units; absent when the model does not see it.
    pub prompt_chars: Option<usize>,
}

impl SkillsHandle<'_> {
    /// Everything known about one skill.
    pub fn details<'a>(&self, catalog: &'a Catalog, entry: &'a CatalogEntry) -> SkillDetails<'a> {
        SkillDetails {
            entry,
            shadowed: catalog.shadowed_by(entry),
            env: self.engine.exec().env_states(entry),
            prompt_chars: self.prompt_costs(catalog).get(entry.name.as_str()).copied(),
        }
    }

    /// What each skill costs that the model sees, by name, in UTF-16 code units.
    pub fn prompt_costs<'a>(&self, catalog: &'a Catalog) -> BTreeMap<&'a str, usize> {
        let block = self.engine.skills().prompt(catalog, &PromptOptions::default());
        let visible: Vec<&CatalogEntry> =
            catalog.unshadowed().filter(|entry| entry.model_visible).collect();
        let shown = block.shown.iter().filter_map(|&at| visible.get(at));
        shown.map(|entry| entry.name.as_str()).zip(block.report.per_skill_chars).collect()
    }
}
