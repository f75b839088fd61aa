//! The catalog, as the workshop sees it.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use sinew_catalog::{CatalogEntry, RefreshCause};
use sinew_cortex::UtcInstant;
use sinew_route::Embedder;
use sinew_route::eval::read_trigger_rows;
use sinew_settings::config::ModelChoice;
use sinew_settings::path_text;
use sinew_workshop::{NeighbourSkill, SkillOwner, SkillSurroundings, StoredQuery, TrialRecord};

use crate::skills::HypotheticalSkill;
use crate::{Engine, PromptOptions};

/// Where an author keeps the messages that a skill should, and should not, be chosen for.
const TRIGGERS: &[&str] = &["evals/triggers.json", "evals/triggers.jsonl"];

/// A longer file of messages is not read: no author writes thousands of them.
const MAX_TRIGGERS: u64 = 1024 * 1024;

pub(super) struct CatalogSurroundings<'e>(pub(super) &'e Engine);

impl SkillSurroundings for CatalogSurroundings<'_> {
    fn owner_elsewhere(&self, name: &str) -> Option<SkillOwner> {
        let snapshot = self.0.snapshot();
        let own = self.0.workspace().join("skills");
        let entry = snapshot.catalog.unshadowed().find(|entry| entry.name == name)?;
        match entry.base_dir.starts_with(own) {
            true => None,
            false if entry.bundled => Some(SkillOwner::Bundled),
            false => Some(SkillOwner::Elsewhere),
        }
    }

    fn skills(&self) -> Vec<NeighbourSkill> {
        let snapshot = self.0.snapshot();
        let loaded = snapshot.catalog.unshadowed().filter(|entry| entry.skill.is_some());
        loaded
            .map(|entry| NeighbourSkill {
                document: crate::routing::document(entry),
                queries: triggers(entry),
            })
            .collect()
    }

    fn displaced_skills(&self, name: &str, description: &str) -> Vec<String> {
        let snapshot = self.0.snapshot();
        let options = PromptOptions::default();
        let omitted = |imagined: Option<HypotheticalSkill<'_>>| -> BTreeSet<String> {
            let block = self.0.skills().prompt_with(&snapshot.catalog, &options, imagined);
            block.report.omitted.into_iter().map(|skill| skill.name).collect()
        };
        let file = self.0.workspace().join("skills").join(name).join("SKILL.md");
        let path = path_text(&file);
        let after = omitted(Some(HypotheticalSkill { name, description, path: &path }));
        if after.is_empty() {
            return Vec::new();
        }
        let before = omitted(None);
        after.into_iter().filter(|lost| lost != name && !before.contains(lost)).collect()
    }

    fn trials(&self, name: &str, since: u64) -> Option<TrialRecord> {
        // Where uses are not counted, or the count cannot be read, the skill is not judged.
        let mut trials = self.0.cortex().ok()?.trials(name, UtcInstant::from_clock(since)).ok()?;
        trials.used |= self.0.workshop().last_loaded(name).ok()?.is_some_and(|last| last >= since);
        Some(trials)
    }

    fn has_program(&self, name: &str) -> bool {
        sinew_catalog::find_program(&self.0.env, name).is_some()
    }

    fn encoder(&self) -> Option<Arc<dyn Embedder>> {
        self.0.models(ModelChoice::Default).encoder.filter(|encoder| encoder.is_local())
    }

    fn refresh(&self) {
        // A file that was just written may have the same size and time as before.
        self.0.forget_below(self.0.workspace());
        self.0.refresh(RefreshCause::Files);
    }
}

/// The messages that a skill's author tried it with.
fn triggers(entry: &CatalogEntry) -> Vec<StoredQuery> {
    let mut queries = Vec::new();
    for file in TRIGGERS {
        let path = entry.base_dir.join(file);
        let small = fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= MAX_TRIGGERS);
        let Some(text) = small.then(|| fs::read_to_string(&path).ok()).flatten() else { continue };
        // Rows that cannot be read say nothing; `sinew eval triggers` is where they are reported.
        queries.extend(read_trigger_rows(&text).rows.into_iter().map(|row| StoredQuery {
            query: row.query,
            skill: entry.name.clone(),
            should_trigger: row.should_trigger,
        }));
    }
    queries
}
