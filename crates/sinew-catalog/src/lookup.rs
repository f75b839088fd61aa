//! Finding a skill by what a person typed.

use sinew_skill::names::{index_name, nearest};

use crate::catalog::Catalog;
use crate::entry::Entry;

/// Why a look-up gave no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Several skills answer to it.
    #[error("`{wanted}` could be {}", names.join(" or "))]
    Ambiguous {
        /// What was typed.
        wanted: String,
        /// The skills that answer to it.
        names: Vec<String>,
    },
    /// No skill does.
    #[error("there is no skill `{wanted}`")]
    NotFound {
        /// What was typed.
        wanted: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
}

impl Catalog {
    /// The skill that `wanted` names: exact name, exact key, either in any case, either normalised.
    /// A step with several answers stops there.
    pub fn lookup(&self, wanted: &str) -> Result<&Entry, LookupError> {
        let lower = wanted.to_lowercase();
        let index = index_name(wanted);
        let steps: [&dyn Fn(&Entry) -> bool; 4] = [
            &|entry| entry.name == wanted,
            &|entry| entry.skill_key == wanted,
            &|entry| entry.name.to_lowercase() == lower || entry.skill_key.to_lowercase() == lower,
            &|entry| {
                !index.is_empty()
                    && (index_name(&entry.name) == index || index_name(&entry.skill_key) == index)
            },
        ];
        for step in steps {
            let found: Vec<&Entry> = self.active().filter(|entry| step(entry)).collect();
            match found.as_slice() {
                [] => {}
                [entry] => return Ok(entry),
                several => return Err(self.ambiguous(wanted, several)),
            }
        }
        let names = self.active().map(|entry| entry.name.as_str());
        let nearest = nearest(wanted, names).into_iter().map(str::to_owned).collect();
        Err(LookupError::NotFound { wanted: wanted.to_owned(), nearest })
    }

    fn ambiguous(&self, wanted: &str, several: &[&Entry]) -> LookupError {
        let names = several
            .iter()
            .map(|entry| format!("{} ({})", entry.name, entry.file_path.display()))
            .collect();
        LookupError::Ambiguous { wanted: wanted.to_owned(), names }
    }
}
