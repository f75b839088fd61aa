//! What of the configuration a skill would be given once it is installed, for the question.

use sinew_hub::install::PreparedInstall;
use sinew_settings::Config;
use sinew_settings::config::EntrySettings;
use sinew_skill::{ReadOptions, SkillMetadata, read};

/// What an install question says about `skills.entries`.
#[derive(Debug, Default)]
pub(super) struct KeyClaims {
    /// The entries it gets, with the variables they set.
    pub(super) entries: Vec<String>,
    /// The entries it asks for and does not get.
    pub(super) warnings: Vec<String>,
}

impl KeyClaims {
    pub(super) fn of(prepared: &PreparedInstall, config: &Config) -> Self {
        let name = &prepared.review.name;
        let file = prepared.tree.get("SKILL.md");
        let parsed = file.map(|file| read(&file.bytes, &ReadOptions::openclaw(name)));
        let metadata = parsed
            .and_then(|parsed| parsed.skill)
            .and_then(|skill| skill.metadata)
            .unwrap_or_default();
        let mut claims = Self::default();
        if let Some(entry) = config.entries.get(name) {
            let theirs = entry.owner.as_ref().is_none_or(|owner| owner.name == *name);
            let variables = variables(entry, &metadata);
            if !theirs {
                claims.warnings.push(withheld(name));
            } else if !variables.is_empty() {
                claims.entries.push(format!("skills.entries.{name} ({})", variables.join(", ")));
            }
        }
        if let Some(key) = metadata.skill_key.as_ref().filter(|key| *key != name)
            && let Some(entry) = config.entries.get(key)
        {
            match entry.owner.as_ref().is_some_and(|owner| owner.name == *name) {
                true => {
                    let variables = variables(entry, &metadata).join(", ");
                    claims.entries.push(format!("skills.entries.{key} ({variables})"));
                }
                false => claims.warnings.push(withheld(key)),
            }
        }
        claims
    }
}

fn withheld(key: &str) -> String {
    format!(
        "it asks for skills.entries.{key}, which was made for another skill; it gets nothing of it"
    )
}

/// The variables that an entry sets for a skill.
fn variables(entry: &EntrySettings, metadata: &SkillMetadata) -> Vec<String> {
    let primary = metadata.primary_env.as_deref();
    let key = entry.api_key.as_ref().map(|_| match primary {
        Some(name) => format!("apiKey as {name}"),
        None => "apiKey".to_owned(),
    });
    key.into_iter().chain(entry.env.keys().cloned()).collect()
}
