//! Lists of skills, page by page.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::TeamRegistry;
use super::caller::RegistryCaller;
use super::details::{FetchCounts, list_item};
use super::index::IndexEntry;
use super::refusal::{RegistryRefusal, RegistryReply, json_answer};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegistryListQuery {
    limit: Option<usize>,
    cursor: Option<String>,
    sort: Option<String>,
    prefix: Option<String>,
    kind: Option<String>,
    non_suspicious_only: Option<String>,
}

/// How a list is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListOrder {
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
const SORTS: &[(&str, ListOrder)] = &[
    ("updated", ListOrder::Updated),
    ("recommended", ListOrder::Recommended),
    ("default", ListOrder::Recommended),
    ("createdAt", ListOrder::Created),
    ("newest", ListOrder::Created),
    ("downloads", ListOrder::Downloads),
    ("installs", ListOrder::Installs),
    ("stars", ListOrder::Stars),
    ("rating", ListOrder::Stars),
    ("name", ListOrder::Name),
    ("trending", ListOrder::Trending),
];

pub(crate) async fn list(
    State(registry): State<Arc<TeamRegistry>>,
    _caller: RegistryCaller,
    Query(query): Query<RegistryListQuery>,
) -> RegistryReply {
    let sort = match query.sort.as_deref().filter(|sort| !sort.is_empty()) {
        None => ListOrder::Updated,
        Some(word) => {
            let known = SORTS.iter().find(|(known, _)| *known == word);
            known.map(|(_, sort)| *sort).ok_or_else(|| RegistryRefusal::bad("Invalid sort"))?
        }
    };
    page(&registry, query, sort, 200).await
}

pub(crate) async fn trending(
    State(registry): State<Arc<TeamRegistry>>,
    _caller: RegistryCaller,
    Query(query): Query<RegistryListQuery>,
) -> RegistryReply {
    if query.kind.as_deref().is_some_and(|kind| kind != "skills") {
        return Err(RegistryRefusal::bad("Invalid kind"));
    }
    page(&registry, query, ListOrder::Trending, 100).await
}

async fn page(
    registry: &Arc<TeamRegistry>,
    query: RegistryListQuery,
    sort: ListOrder,
    most: usize,
) -> RegistryReply {
    let prefix = query.prefix.as_deref().filter(|prefix| !prefix.is_empty());
    let fine = |prefix: &str| {
        let part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        prefix.len() <= 96 && prefix.bytes().all(part) && !prefix.starts_with('-')
    };
    let prefix = match prefix.map(str::to_ascii_lowercase) {
        Some(prefix) if !fine(&prefix) => return Err(RegistryRefusal::bad("Invalid prefix")),
        prefix => prefix,
    };
    let sort = if prefix.is_some() { ListOrder::Name } else { sort };
    let from: usize = match query.cursor.as_deref() {
        None | Some("") => 0,
        Some(cursor) => cursor.parse().map_err(|_| RegistryRefusal::bad("Invalid cursor"))?,
    };
    let limit = query.limit.unwrap_or(25).clamp(1, most);
    let clean_only = matches!(query.non_suspicious_only.as_deref(), Some("1" | "true"));
    registry.freshen().await?;
    let index = registry.index();
    let wanted = |entry: &&IndexEntry| {
        let begins = prefix.as_ref().is_none_or(|prefix| entry.skill.slug.starts_with(prefix));
        begins && !(clean_only && entry.skill.is_suspicious())
    };
    let mut entries: Vec<&IndexEntry> = index.iter().filter(wanted).collect();
    order(&mut entries, sort);
    let items: Vec<Value> = entries
        .iter()
        .skip(from)
        .take(limit)
        .map(|entry| {
            let counts = FetchCounts { downloads: entry.downloads, installs: entry.installs };
            list_item(&entry.skill, counts)
        })
        .collect();
    let end = from.saturating_add(items.len());
    let next = (end < entries.len() && sort != ListOrder::Trending).then(|| end.to_string());
    json_answer(&json!({ "items": items, "nextCursor": next }))
}

/// Sorts; names decide between equals.
fn order(entries: &mut [&IndexEntry], sort: ListOrder) {
    entries.sort_by_key(|entry| (&entry.skill.slug, &entry.skill.owner));
    match sort {
        ListOrder::Name => {}
        ListOrder::Updated => entries.sort_by_key(|entry| Reverse(entry.skill.updated_at)),
        ListOrder::Created => entries.sort_by_key(|entry| Reverse(entry.skill.created_at)),
        ListOrder::Downloads => entries.sort_by_key(|entry| Reverse(entry.downloads)),
        ListOrder::Installs => entries.sort_by_key(|entry| Reverse(entry.installs)),
        ListOrder::Stars => entries.sort_by_key(|entry| Reverse(entry.skill.stars)),
        ListOrder::Recommended | ListOrder::Trending => entries.sort_by_key(|entry| {
            Reverse(entry.skill.stars * 10 + entry.installs * 3 + entry.downloads)
        }),
    }
}
