//! skills.sh: a list of skills on GitHub. Only its search is ever asked.

use serde::Deserialize;

use crate::error::{HubError, Word};
use crate::net::{Call, Http};
use crate::reference::{Reading, Reference, SkillsShRef};
use crate::settings::{Settings, below};
use crate::wire::{Page, page};

#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    name: Option<String>,
    #[serde(default)]
    installs: u64,
}

/// A skill that the list knows.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Where it is.
    pub at: SkillsShRef,
    /// Its name.
    pub name: String,
    /// How often it was installed.
    pub installs: u64,
}

/// Skills that fit some words.
pub fn search(
    http: &Http,
    settings: &Settings,
    words: &str,
    limit: usize,
) -> Result<Vec<Listed>, HubError> {
    let mut url = below(&settings.skills_sh, "/api/search");
    url.query_pairs_mut().append_pair("q", words).append_pair("limit", &limit.to_string());
    let answer = http.call(&Call::get(url), &mut |_, _| {})?;
    if !answer.is_ok() {
        return Err(HubError::new(
            Word::Network,
            format!("skills.sh answered with {}", answer.status),
        ));
    }
    let found: Page<Row> =
        page(answer.json()?, "skills").map_err(|problem| HubError::new(Word::Network, problem))?;
    let listed = found.rows.into_iter().filter_map(|row| {
        // What the list names must be a reference like any other.
        let text = format!("skills-sh:{}", row.id);
        match Reference::parse(&text, Reading::GitHub) {
            Ok(Reference::SkillsSh(at)) => {
                let name = row.name.unwrap_or_else(|| at.slug.clone());
                Some(Listed { at, name, installs: row.installs })
            }
            _ => None,
        }
    });
    Ok(listed.collect())
}
