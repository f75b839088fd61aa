//! What a draft is called, and how it is described so that a router finds it.

use std::sync::LazyLock;

use regex::Regex;
use sinew_cortex::UtcInstant;

use sinew_skill::ecmascript as text;

/// The longest slug.
const MAX_SLUG: usize = 42;

/// The longest description.
const MAX_DESCRIPTION: usize = 300;

/// What a description leaves out: values that change from one run to the next.
static ENTITIES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\[REDACTED:[a-z]+\]",
        r"(?i)\b[a-z][a-z0-9+.-]*://\S+",
        r"(?:~|\.{0,2})/[\w./-]+",
        r"\bv?\d+(?:\.\d+)+\b",
        r"\b\d{4}-\d{2}-\d{2}\b",
        r#""[^"\n]{1,80}"|“[^”\n]{1,80}”"#,
        r"#\d+\b|\b\d{3,}\b",
    ]
    .iter()
    .filter_map(|shape| Regex::new(shape).ok())
    .collect()
});

/// The task in the user's words, without what changes from one time to the next.
pub(crate) fn description(task: &str) -> String {
    let mut told = task.to_owned();
    for shape in ENTITIES.iter() {
        told = shape.replace_all(&told, " ").into_owned();
    }
    let mut told = text::collapse(&told);
    for mark in [",", ".", ":", ";", ")"] {
        told = told.replace(&format!(" {mark}"), mark);
    }
    // A task that is nothing but entities is kept as it is.
    let words = told.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    let told = if words.count() < 2 { text::collapse(task) } else { told };
    text::short(&told, MAX_DESCRIPTION)
}

/// The slug of a task as OpenPocket makes it: Latin letters, digits and Chinese.
pub(crate) fn slug(task: &str) -> String {
    let made = slug_of(task, |c| matches!(c, 'a'..='z' | '0'..='9' | '\u{4e00}'..='\u{9fa5}'));
    if made.is_empty() { "task".to_owned() } else { made }
}

/// The slug that is a skill's name; without Latin letters, the fingerprint distinguishes tasks.
pub(crate) fn strict_slug(task: &str, fingerprint: &str) -> String {
    let made = slug_of(task, |c| matches!(c, 'a'..='z' | '0'..='9'));
    if made.chars().any(|c| c.is_ascii_lowercase()) { made } else { format!("task-{fingerprint}") }
}

fn slug_of(task: &str, keeps: fn(char) -> bool) -> String {
    let mut slug = String::new();
    for c in task.to_lowercase().chars() {
        if keeps(c) {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let cut: String = slug.trim_matches('-').chars().take(MAX_SLUG).collect();
    cut.trim_end_matches('-').to_owned()
}

/// `YYYYMMDD-HHMMSS` of a moment, in UTC.
pub(crate) fn stamp(now_ms: u64) -> String {
    let written = UtcInstant::from_clock(now_ms).to_string();
    let digits: String = written.chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    format!("{day}-{time}")
}

/// A moment, written as RFC 3339.
pub(crate) fn moment(now_ms: u64) -> String {
    UtcInstant::from_clock(now_ms).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_the_references() {
        let task = "Open YouTube and search latest OpenAI";
        assert_eq!(slug(task), "open-youtube-and-search-latest-openai");
        assert_eq!(slug("打开 设置!"), "打开-设置");
        assert_eq!(slug("!!"), "task");
        assert_eq!(strict_slug("打开设置", "0123456789ab"), "task-0123456789ab");
        assert_eq!(
            strict_slug(&"words ".repeat(20), "x"),
            "words-words-words-words-words-words-words"
        );
        assert_eq!(stamp(1_000), "19700101-000001");
    }

    #[test]
    fn descriptions_keep_the_words_and_lose_the_entities() {
        let check = |task: &str, told: &str| assert_eq!(description(task), told);
        check(
            "Cut release 1.8.0 of ledger-api: bump the version.",
            "Cut release of ledger-api: bump the version.",
        );
        check("Fix issue #4411 in ~/src/x for {{email}}", "Fix issue in for {{email}}");
        check("12345", "12345");
    }
}
