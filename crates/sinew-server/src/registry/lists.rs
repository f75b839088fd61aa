//! Lists of skills, page by page.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Registry;
use super::access::Caller;
use super::answer::{Answer, Refusal, json_answer};
use super::index::Entry;
use super::read::{Counts, list_item};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListQuery {
    limit: Option<usize>,
    cursor: Option<String>,
    sort: Option<String>,
    prefix: Option<String>,
    kind: Option<String>,
    non_suspicious_only: Option<String>,
}

/// How a list is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Updated,
    Recommended,
    Created,
    Downloads,
    Installs,
    Stars,
    Name,
    Trending,
}

/// The words for it; several mean the same.
const SORTS: &[(&str, Sort)] = &[
    ("updated", Sort::Updated),
    ("recommended", Sort::Recommended),
    ("default", Sort::Recommended),
    ("createdAt", Sort::Created),
    ("newest", Sort::Created),
    ("downloads", Sort::Downloads),
    ("installs", Sort::Installs),
    ("stars", Sort::Stars),
    ("rating", Sort::Stars),
    ("name", Sort::Name),
    ("trending", Sort::Trending),
];

pub(crate) async fn list(
    State(registry): State<Arc<Registry>>,
    _caller: Caller,
    Query(query): Query<ListQuery>,
) -> Answer {
    let sort = match query.sort.as_deref().filter(|sort| !sort.is_empty()) {
        None => Sort::Updated,
        Some(word) => {
            let known = SORTS.iter().find(|(known, _)| *known == word);
            known.map(|(_, sort)| *sort).ok_or_else(|| Refusal::bad("Invalid sort"))?
        }
    };
    page(&registry, query, sort, 200).await
}

pub(crate) async fn trending(
    State(registry): State<Arc<Registry>>,
    _caller: Caller,
    Query(query): Query<ListQuery>,
) -> Answer {
    if query.kind.as_deref().is_some_and(|kind| kind != "skills") {
        return Err(Refusal::bad("Invalid kind"));
    }
    page(&registry, query, Sort::Trending, 100).await
}

async fn page(registry: &Arc<Registry>, query: ListQuery, sort: Sort, most: usize) -> Answer {
    let prefix = query.prefix.as_deref().filter(|prefix| !prefix.is_empty());
    let fine = |prefix: &str| {
        let part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        prefix.len() <= 96 && prefix.bytes().all(part) && !prefix.starts_with('-')
    };
    let prefix = match prefix.map(str::to_ascii_lowercase) {
        Some(prefix) if !fine(&prefix) => return Err(Refusal::bad("Invalid prefix")),
        prefix => prefix,
    };
    let sort = if prefix.is_some() { Sort::Name } else { sort };
    let from: usize = match query.cursor.as_deref() {
        None | Some("") => 0,
        Some(cursor) => cursor.parse().map_err(|_| Refusal::bad("Invalid cursor"))?,
    };
    let limit = query.limit.unwrap_or(25).clamp(1, most);
    let clean_only = matches!(query.non_suspicious_only.as_deref(), Some("1" | "true"));
    registry.freshen().await?;
    let index = registry.index();
    let wanted = |entry: &&Entry| {
        let begins = prefix.as_ref().is_none_or(|prefix| entry.skill.slug.starts_with(prefix));
        begins && !(clean_only && entry.skill.is_suspicious())
    };
    let mut entries: Vec<&Entry> = index.iter().filter(wanted).collect();
    order(&mut entries, sort);
    let items: Vec<Value> = entries
        .iter()
        .skip(from)
        .take(limit)
        .map(|entry| {
            let counts = Counts { downloads: entry.downloads, installs: entry.installs };
            list_item(&entry.skill, counts)
        })
        .collect();
    let end = from.saturating_add(items.len());
    let next = (end < entries.len() && sort != Sort::Trending).then(|| end.to_string());
    json_answer(&json!({ "items": items, "nextCursor": next }))
}

/// Sorts; names decide between equals.
fn order(entries: &mut [&Entry], sort: Sort) {
    entries.sort_by_key(|entry| (&entry.skill.slug, &entry.skill.owner));
    match sort {
        Sort::Name => {}
        Sort::Updated => entries.sort_by_key(|entry| Reverse(entry.skill.updated_at)),
        Sort::Created => entries.sort_by_key(|entry| Reverse(entry.skill.created_at)),
        Sort::Downloads => entries.sort_by_key(|entry| Reverse(entry.downloads)),
        Sort::Installs => entries.sort_by_key(|entry| Reverse(entry.installs)),
        Sort::Stars => entries.sort_by_key(|entry| Reverse(entry.skill.stars)),
        Sort::Recommended | Sort::Trending => entries.sort_by_key(|entry| {
            Reverse(entry.skill.stars * 10 + entry.installs * 3 + entry.downloads)
        }),
    }
}
