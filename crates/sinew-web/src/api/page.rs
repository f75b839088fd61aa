//! Long lists, a page at a time. A cursor names the last entry that was seen, so that a list that
//! changes meanwhile neither repeats nor skips what did not change.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Serialize;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

/// The most entries of a page.
const MAX_LIMIT: usize = 200;
/// The entries of a page, where the request names no number.
const DEFAULT_LIMIT: usize = 50;
/// A longer cursor is not one of ours: names and paths are shorter.
const MAX_CURSOR: usize = 8 * 1024;

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CursorPage<T> {
    /// The entries.
    items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The version of the catalog.
    version: u64,
}

/// Which page is wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageRequest {
    pub(crate) limit: Option<usize>,
    pub(crate) cursor: Option<String>,
}

impl PageRequest {
    fn limit(&self) -> Result<usize, EngineError> {
        match self.limit {
            None => Ok(DEFAULT_LIMIT),
            Some(limit @ 1..=MAX_LIMIT) => Ok(limit),
            Some(_) => Err(usage(format!("`limit` is 1 to {MAX_LIMIT}"))),
        }
    }

    fn after(&self) -> Result<Option<String>, EngineError> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let bytes = (cursor.len() <= MAX_CURSOR)
            .then(|| BASE64_URL_SAFE_NO_PAD.decode(cursor).ok())
            .flatten();
        let key = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        key.map(Some).ok_or_else(|| usage("`cursor` is not one that a page gave".to_owned()))
    }
}

fn usage(said: String) -> EngineError {
    EngineError::new(ErrorCode::BadPage, said)
}

impl<T> CursorPage<T> {
    /// The wanted page of entries, each with the key it is ordered by. Keys differ.
    pub(crate) fn cut(
        entries: impl IntoIterator<Item = (String, T)>,
        wanted: &PageRequest,
        version: u64,
    ) -> Result<Self, EngineError> {
        let (limit, after) = (wanted.limit()?, wanted.after()?);
        let mut entries: Vec<(String, T)> = entries.into_iter().collect();
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        let rest =
            entries.into_iter().filter(|(key, _)| after.as_ref().is_none_or(|after| key > after));
        let mut page: Vec<(String, T)> = rest.take(limit + 1).collect();
        let more = page.len() > limit;
        page.truncate(limit);
        let last = page.last().map(|(key, _)| BASE64_URL_SAFE_NO_PAD.encode(key));
        let next_cursor = last.filter(|_| more);
        Ok(Self { items: page.into_iter().map(|(_, item)| item).collect(), next_cursor, version })
    }
}

/// A key that puts the newest first.
pub(crate) fn newest_first(ms: i64, id: &str) -> String {
    let ago = i64::MAX - ms.max(0);
    format!("{ago:020}{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(names: &[&str], limit: usize) -> Vec<Vec<String>> {
        let mut wanted = PageRequest { limit: Some(limit), cursor: None };
        let mut pages = Vec::new();
        loop {
            let all = names.iter().map(|name| ((*name).to_owned(), (*name).to_owned()));
            let page = CursorPage::cut(all, &wanted, 1).expect("a page");
            pages.push(page.items);
            match page.next_cursor {
                Some(cursor) => wanted.cursor = Some(cursor),
                None => return pages,
            }
        }
    }

    #[test]
    fn every_entry_is_on_one_page() {
        assert_eq!(pages(&["b", "a", "c"], 2), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(pages(&["a", "b"], 2), [vec!["a", "b"]]);
        assert_eq!(pages(&[], 2), [Vec::<String>::new()]);
    }

    #[test]
    fn a_limit_or_cursor_that_makes_no_sense_is_refused() {
        let cut = |limit, cursor: Option<&str>| {
            let wanted = PageRequest { limit, cursor: cursor.map(str::to_owned) };
            CursorPage::<()>::cut([], &wanted, 1).is_err()
        };
        assert!(cut(Some(0), None) && cut(Some(201), None) && cut(None, Some("%")));
        assert!(!cut(Some(200), Some("")));
    }

    #[test]
    fn newer_things_come_first() {
        assert!(newest_first(2, "a") < newest_first(1, "a"));
        assert!(newest_first(1, "a") < newest_first(1, "b"));
    }
}
