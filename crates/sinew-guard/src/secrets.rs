//! Secrets: one table of patterns, for refusal, masking and redaction alike.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;

const TABLE: &str = include_str!("../data/secrets.json");
/// What stands where a secret was.
pub const REDACTED: &str = "[REDACTED CREDENTIAL]";

#[derive(Deserialize)]
struct Row {
    id: String,
    re: String,
}

struct Secrets {
    ids: Vec<String>,
    set: RegexSet,
    each: Vec<Regex>,
}

static SECRETS: LazyLock<Option<Secrets>> = LazyLock::new(|| {
    let rows: Vec<Row> = serde_json::from_str(TABLE).ok()?;
    let sources: Vec<&str> = rows.iter().map(|row| row.re.as_str()).collect();
    let set = RegexSet::new(&sources).ok()?;
    let each = sources.iter().map(|source| Regex::new(source).ok()).collect::<Option<_>>()?;
    Some(Secrets { ids: rows.into_iter().map(|row| row.id).collect(), set, each })
});

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretMatch {
    /// Which pattern: `openai-key`, `private-key` and so on.
    pub id: String,
    /// Where it stands, in bytes.
    pub range: std::ops::Range<usize>,
}

/// All secrets in `text`, in order.
pub fn find(text: &str) -> Vec<SecretMatch> {
    let Some(secrets) = SECRETS.as_ref() else {
        return Vec::new();
    };
    let mut found: Vec<SecretMatch> = secrets
        .set
        .matches(text)
        .into_iter()
        .flat_map(|at| {
            secrets.each[at]
                .find_iter(text)
                .filter(|hit| !is_example(hit.as_str()))
                .map(move |hit| SecretMatch { id: secrets.ids[at].clone(), range: hit.range() })
        })
        .collect();
    found.sort_by_key(|secret| (secret.range.start, secret.range.end));
    found
}

/// `text` with each secret replaced by [`REDACTED`].
pub fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut last = 0;
    for secret in find(text) {
        if secret.range.start >= last {
            masked.push_str(&text[last..secret.range.start]);
            masked.push_str(REDACTED);
            last = secret.range.end;
        }
    }
    masked.push_str(&text[last..]);
    masked
}

/// Whether the table could be read; a scanner without it must not start.
pub(crate) fn is_ready() -> bool {
    SECRETS.is_some()
}

/// Keys that say themselves that they are none.
fn is_example(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    ["example", "your", "xxxx", "placeholder", "redacted", "...", "dummy", "<"]
        .iter()
        .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_shapes_are_masked_and_words_are_not() {
        let key = format!("sk-proj-{}", "a".repeat(40));
        assert_eq!(mask(&format!("key {key} end")), "key [REDACTED CREDENTIAL] end");
        assert_eq!(mask(&format!("ghp_{}", "a1".repeat(18))), REDACTED);
        assert_eq!(mask(&format!("AIza{}", "b".repeat(35))), REDACTED);
        let body = "A".repeat(64);
        let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
        assert_eq!(find(&pem).first().map(|s| s.id.as_str()), Some("private-key"));
        for plain in
            ["sk-learn is a library", "xoxb", "-----BEGIN PRIVATE KEY----- is how one starts"]
        {
            assert_eq!(mask(plain), plain);
        }
    }
}
