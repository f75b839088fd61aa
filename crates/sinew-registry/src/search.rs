//! Searching, for `clawhub` and for clients of skills.sh.

use std::sync::Arc;

use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::index::{FORMULA, IndexHit};
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};
use super::search_hit::RegistryHitWire;

/// Results of one search, at most.
const MAX_RESULTS: usize = 100;
/// The longest query; the rest is ignored.
const MAX_QUERY: usize = 512;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistrySearchQuery {
    q: Option<String>,
    limit: Option<usize>,
    mode: Option<String>,
    owner: Option<String>,
    non_suspicious_only: Option<String>,
    highlighted_only: Option<String>,
    explain: Option<String>,
}

impl TeamRegistry {
    /// Reads the changes of other servers, where the last check is too long ago.
    pub(crate) async fn freshen(self: &Arc<Self>) -> Result<(), RegistryRefusal> {
        match self.is_behind() {
            true => self.work(|registry| Ok(registry.catch_up()?)).await,
            false => Ok(()),
        }
    }
}

pub(crate) async fn search(
    State(registry): State<Arc<TeamRegistry>>,
    caller: RegistryCaller,
    Query(query): Query<RegistrySearchQuery>,
) -> RegistryReply {
    let exact = match query.mode.as_deref() {
        None | Some("") => false,
        Some("exact") => true,
        Some(_) => return Err(RegistryRefusal::bad("Invalid search mode")),
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
        // A team's registry has no highlighted skills.
        hits.clear();
    }
    let base = &*caller.base;
    let explained = matches!(query.explain.as_deref(), Some("1" | "true"));
    json_answer(&match explained {
        true => SearchResultsWire {
            results: hits.iter().map(|hit| RegistryHitWire::explained(hit, base)).collect(),
            formula: Some(FORMULA),
        },
        false => SearchResultsWire {
            results: hits.iter().map(|hit| RegistryHitWire::of(hit, base)).collect(),
            formula: None,
        },
    })
}

#[derive(Serialize)]
struct SearchResultsWire<'a> {
    results: Vec<RegistryHitWire<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'static str>,
}

/// The search of skills.sh, for clients that know that one.
pub(crate) async fn skills_sh(
    State(registry): State<Arc<TeamRegistry>>,
    _caller: RegistryCaller,
    Query(query): Query<RegistrySearchQuery>,
) -> RegistryReply {
    registry.freshen().await?;
    let text = cut(query.q.as_deref().unwrap_or_default());
    let limit = query.limit.unwrap_or(10).clamp(1, MAX_RESULTS);
    let index = registry.index();
    let owned =
        |hit: &IndexHit<'_>| query.owner.as_ref().is_none_or(|o| *o == hit.entry.skill.owner);
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
