//! skills.sh: a list of skills on GitHub. Only its search is used.

use serde::Deserialize;
use sinew_settings::ErrorCode;

use crate::error::HubError;
use crate::net::{HttpClient, HttpRequest};
use crate::reference::{ShorthandMeaning, SkillReference, SkillsShRef};
use crate::settings::{HubOptions, join_path};
use crate::wire::{WirePage, page};

#[derive(Debug, Deserialize)]
struct SkillsShWire {
    id: String,
    name: Option<String>,
    #[serde(default)]
    installs: u64,
}

/// A skill that skills.sh lists.
#[derive(Debug, Clone)]
pub struct SkillsShListing {
    /// Where it is.
    pub at: SkillsShRef,
    /// Its name.
    pub name: String,
    /// How often it was installed.
    pub installs: u64,
}

/// Skills that match some words.
pub fn search(
    http: &HttpClient,
    settings: &HubOptions,
    words: &str,
    limit: usize,
) -> Result<Vec<SkillsShListing>, HubError> {
    let mut url = join_path(&settings.skills_sh, "/api/search");
    url.query_pairs_mut().append_pair("q", words).append_pair("limit", &limit.to_string());
    let answer = http.call(&HttpRequest::get(url), &mut |_, _| {})?;
    if !answer.is_ok() {
        return Err(HubError::new(
            ErrorCode::Network,
            format!("skills.sh answered with {}", answer.status),
        ));
    }
    let found: WirePage<SkillsShWire> = page(answer.json()?, "skills")
        .map_err(|problem| HubError::new(ErrorCode::Network, problem))?;
    let listed = found.rows.into_iter().filter_map(|row| {
        // What the list names must parse as a reference like any other.
        let text = format!("skills-sh:{}", row.id);
        match SkillReference::parse(&text, ShorthandMeaning::GitHub) {
            Ok(SkillReference::SkillsSh(at)) => {
                let name = row.name.unwrap_or_else(|| at.slug.clone());
                Some(SkillsShListing { at, name, installs: row.installs })
            }
            _ => None,
        }
    });
    Ok(listed.collect())
}
