//! Finding a skill by what the user typed.

use sinew_settings::nearest;
use sinew_skill::names::index_name;

use crate::catalog::Catalog;
use crate::entry::CatalogEntry;

/// Why a look-up found no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillLookupError {
    /// Several skills match.
    #[error("`{wanted}` could be {}", names.join(" or "))]
    Ambiguous {
        /// What was typed.
        wanted: String,
        /// The matching skills.
        names: Vec<String>,
    },
    /// No skill matches.
    #[error("there is no skill `{wanted}`")]
    NotFound {
        /// What was typed.
        wanted: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
}

impl Catalog {
    /// The skill that `wanted` names: by its file, its exact name, its exact key, either in any
    /// case, or either normalised. The first step with matches decides; several matches are an
    /// error unless only one of them loaded.
    pub fn lookup(&self, wanted: &str) -> Result<&CatalogEntry, SkillLookupError> {
        let lower = wanted.to_lowercase();
        let index = index_name(wanted);
        let either = |entry: &CatalogEntry, same: &dyn Fn(&str) -> bool| {
            same(&entry.name) || same(&entry.skill_key) || (self.merged_by_id && same(&entry.id))
        };
        let steps: [&dyn Fn(&CatalogEntry) -> bool; 5] = [
            &|entry| entry.file_path.as_os_str() == wanted,
            &|entry| entry.name == wanted,
            &|entry| either(entry, &|text| text == wanted),
            &|entry| either(entry, &|text| text.to_lowercase() == lower),
            &|entry| !index.is_empty() && either(entry, &|text| index_name(text) == index),
        ];
        for step in steps {
            let found: Vec<&CatalogEntry> = self.unshadowed().filter(|entry| step(entry)).collect();
            let loaded: Vec<&CatalogEntry> =
                found.iter().copied().filter(|entry| entry.skill.is_some()).collect();
            match (found.as_slice(), loaded.as_slice()) {
                ([], _) => {}
                ([entry], _) | (_, [entry]) => return Ok(entry),
                (several, _) => return Err(self.ambiguous(wanted, several)),
            }
        }
        let names = self.unshadowed().map(|entry| entry.name.as_str());
        let nearest = nearest(wanted, names).into_iter().map(str::to_owned).collect();
        Err(SkillLookupError::NotFound { wanted: wanted.to_owned(), nearest })
    }

    fn ambiguous(&self, wanted: &str, several: &[&CatalogEntry]) -> SkillLookupError {
        let names = several
            .iter()
            .map(|entry| format!("{} ({})", entry.name, entry.file_path.display()))
            .collect();
        SkillLookupError::Ambiguous { wanted: wanted.to_owned(), names }
    }
}
