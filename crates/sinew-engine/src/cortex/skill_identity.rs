//! Which skill an outcome is about. A skill has one name and one version in the memory, whichever surface reports
//! its use: otherwise its successes would be counted as those of several skills, and none would be
//! enough.

use sinew_catalog::{Catalog, CatalogEntry};

use super::NewOutcome;
use crate::Engine;

/// The version of a skill that is not on this machine and whose reporter names none.
const NO_VERSION: &str = "unversioned";
/// Characters of a content hash that serve as a version.
const HASH_CHARS: usize = 12;

/// A skill as the memory knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillIdentity {
    /// Its name: one word.
    pub slug: String,
    /// The lock's version of what was installed, else the one that its author names, else that of its
    /// content.
    pub version: String,
    /// Where it comes from.
    pub source: String,
    /// The digest of its files, where they were scanned.
    pub digest: Option<String>,
}

impl Engine {
    /// A skill of the catalog, as the memory knows it.
    pub fn skill_identity(&self, entry: &CatalogEntry) -> SkillIdentity {
        let trust = self.trust();
        let locked = trust.locked_skill(&entry.base_dir);
        let locked_version =
            locked.map(|(_, lock)| lock.version.trim()).filter(|version| !version.is_empty());
        SkillIdentity {
            slug: match locked {
                Some((key, _)) => key.rsplit('/').next().unwrap_or(key).to_owned(),
                None => slug(entry),
            },
            version: locked_version.map_or_else(|| own_version(entry), str::to_owned),
            source: match locked {
                Some((_, lock)) => lock.source.kind.as_str().to_owned(),
                None => entry.source.clone(),
            },
            digest: entry.scan.as_ref().map(|scan| scan.digest.clone()),
        }
    }

    /// An outcome of the skill that its reporter names, with what the memory knows it by. What the
    /// reporter says of its version and source stands.
    #[must_use]
    pub fn identified(&self, catalog: &Catalog, outcome: NewOutcome) -> NewOutcome {
        let known = catalog.lookup(&outcome.slug).ok().map(|entry| self.skill_identity(entry));
        let Some(known) = known else {
            let version = named(outcome.version).unwrap_or_else(|| NO_VERSION.to_owned());
            return NewOutcome { version, ..outcome };
        };
        NewOutcome {
            slug: known.slug,
            version: named(outcome.version).unwrap_or(known.version),
            source: outcome.source.or(Some(known.source)),
            digest: outcome.digest.or(known.digest),
            ..outcome
        }
    }
}

fn named(text: String) -> Option<String> {
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The skill's name as records carry it: one word.
fn slug(entry: &CatalogEntry) -> String {
    entry.skill_key.split_whitespace().collect::<Vec<_>>().join("-")
}

/// The version that its author names, else its content's own.
fn own_version(entry: &CatalogEntry) -> String {
    let fields = entry.skill.as_ref().map(|skill| &skill.frontmatter);
    let named = fields.and_then(|fields| fields.get("version")?.source_text());
    let named = named.filter(|text| !text.trim().is_empty() && !text.contains(char::is_whitespace));
    named.unwrap_or_else(|| entry.content_hash.chars().take(HASH_CHARS).collect())
}
