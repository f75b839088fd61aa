//! Searching, for `clawhub` and for clients of skills.sh.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Registry;
use super::access::Caller;
use super::answer::{Answer, Refusal, json_answer};
use super::index::{FORMULA, Hit};
use super::row::Row;

/// Results of one search, at most.
const MAX_RESULTS: usize = 100;
/// The longest query; the rest would be no help.
const MAX_QUERY: usize = 512;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchQuery {
    q: Option<String>,
    limit: Option<usize>,
    mode: Option<String>,
    owner: Option<String>,
    non_suspicious_only: Option<String>,
    highlighted_only: Option<String>,
    explain: Option<String>,
}

impl Registry {
    /// Looks at what others changed, where the last look is too long ago.
    pub(crate) async fn freshen(self: &Arc<Self>) -> Result<(), Refusal> {
        match self.is_behind() {
            true => self.work(|registry| Ok(registry.catch_up()?)).await,
            false => Ok(()),
        }
    }
}

pub(crate) async fn search(
    State(registry): State<Arc<Registry>>,
    caller: Caller,
    Query(query): Query<SearchQuery>,
) -> Answer {
    let exact = match query.mode.as_deref() {
        None | Some("") => false,
        Some("exact") => true,
        Some(_) => return Err(Refusal::bad("Invalid search mode")),
    };
    registry.freshen().await?;
    let text = cut(query.q.as_deref().unwrap_or_default());
    let limit = query.limit.unwrap_or(25).clamp(1, MAX_RESULTS);
    let index = registry.index();
    let mut hits = match exact {
        true => index.exact(text, limit),
        false => index.search(text, limit),
    };
    if matches!(query.non_suspicious_only.as_deref(), Some("1" | "true")) {
        hits.retain(|hit| !hit.entry.skill.is_suspicious());
    }
    if matches!(query.highlighted_only.as_deref(), Some("1" | "true")) {
        // Nobody highlights anything in a team's registry.
        hits.clear();
    }
    let base = &*caller.base;
    let explained = matches!(query.explain.as_deref(), Some("1" | "true"));
    json_answer(&match explained {
        true => Results {
            results: hits.iter().map(|hit| Row::explained(hit, base)).collect(),
            formula: Some(FORMULA),
        },
        false => {
            Results { results: hits.iter().map(|hit| Row::of(hit, base)).collect(), formula: None }
        }
    })
}

#[derive(Serialize)]
struct Results<'a> {
    results: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'static str>,
}

/// The search of skills.sh, for clients that know that one.
pub(crate) async fn skills_sh(
    State(registry): State<Arc<Registry>>,
    _caller: Caller,
    Query(query): Query<SearchQuery>,
) -> Answer {
    registry.freshen().await?;
    let text = cut(query.q.as_deref().unwrap_or_default());
    let limit = query.limit.unwrap_or(10).clamp(1, MAX_RESULTS);
    let index = registry.index();
    let owned = |hit: &Hit<'_>| query.owner.as_ref().is_none_or(|o| *o == hit.entry.skill.owner);
    let rows: Vec<Value> = index
        .search(text, MAX_RESULTS)
        .into_iter()
        .filter(owned)
        .take(limit)
        .map(|hit| {
            let skill = &hit.entry.skill;
            json!({
                "id": format!("{}/skills/{}", skill.owner, skill.slug),
                "skillId": skill.slug,
                "name": skill.slug,
                "installs": hit.entry.installs,
                "source": format!("{}/skills", skill.owner),
            })
        })
        .collect();
    json_answer(&json!({ "skills": rows }))
}

fn cut(query: &str) -> &str {
    let end = query.char_indices().nth(MAX_QUERY).map_or(query.len(), |(at, _)| at);
    &query[..end]
}
