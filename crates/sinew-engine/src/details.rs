//! Everything known about one skill, and what each skill costs in the prompt.

use std::collections::BTreeMap;

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_exec::EnvState;
use sinew_settings::{Actor, ReasonCode};

use crate::{DecisionExplanation, ListedFile, PromptOptions, RequirementCheck, SkillsHandle};

/// One skill with what belongs to it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillDetails {
    /// The skill.
    #[serde(flatten)]
    pub entry: CatalogEntry,
    /// Copies that lost to it, highest rank first.
    pub shadowed: Vec<CatalogEntry>,
    /// Where each variable that it declares comes from; never its value.
    pub env: Vec<EnvState>,
    /// What it asks for, piece by piece, and what was found.
    pub checks: Vec<RequirementCheck>,
    /// What it costs in the prompt, in UTF-16 code units; absent when the model does not see it.
    pub prompt_chars: Option<usize>,
    /// Its front matter as its author wrote it: version, author, tags and whatever else is there.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub frontmatter: serde_json::Value,
    /// Its files, at most 200.
    pub files: Vec<ListedFile>,
    /// Why it is in or out.
    pub explain: DecisionExplanation,
}

/// The fields of a skill's front matter. What the guard holds back is shown to people only.
fn front_matter(entry: &CatalogEntry, actor: &Actor) -> serde_json::Value {
    let held = entry.reasons.iter().any(|reason| reason.code == ReasonCode::Quarantined);
    let skill = entry.skill.as_ref().filter(|_| actor.is_person() || !held);
    let fields = skill.and_then(|skill| serde_json::to_value(&skill.frontmatter).ok());
    fields.unwrap_or_else(|| serde_json::json!({}))
}

impl SkillsHandle<'_> {
    /// Everything known about one skill, as this actor may see it.
    pub fn details(&self, catalog: &Catalog, entry: &CatalogEntry, actor: &Actor) -> SkillDetails {
        let entry = self.entry_visible_to(entry, actor);
        let shadowed = catalog.shadowed_by(&entry).into_iter();
        SkillDetails {
            shadowed: shadowed
                .map(|copy| self.entry_visible_to(copy, actor).into_owned())
                .collect(),
            env: self.engine.exec().env_states(&entry),
            checks: self.requirement_checks(&entry),
            prompt_chars: self.prompt_costs(catalog).get(entry.name.as_str()).copied(),
            frontmatter: front_matter(&entry, actor),
            files: self.listed_files(&entry).0,
            explain: self.explain(catalog, &entry, &PromptOptions::default()),
            entry: entry.into_owned(),
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
