//! A message as numbers, for the classifier: what it means, which words it has, and its shape.
//!
//! Shapes are patterns over the user's own words, one row each in `data/capture-shapes.tsv`. The order
//! of everything here is the order of the weights: after a change they have to be trained anew
//! (`model/capture/README.md`).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::cues::{CUES, CueFamily};
use super::extended::{SentenceCues, sentences};
use crate::activity::{STATIC_TABLE, is_dense};
use sinew_route::static_vector;
use sinew_traces::without_quotations;

static SHAPES_FILE: &str = include_str!("../../data/capture-shapes.tsv");

/// Words and pairs of words fall into so many buckets.
const BUCKETS: usize = 4_096;
/// The length of the static vector.
const MEANING: usize = 256;
/// What each part weighs against the others.
const WORDS_SHARE: f32 = 2.0;
const SHAPE_SHARE: f32 = 0.8;
/// Shapes that are counted and not searched for.
const COUNTED: usize = 7;

struct CaptureShape {
    pattern: Regex,
    /// Whether quotations are part of what is searched.
    whole: bool,
}

static SHAPES: LazyLock<Vec<CaptureShape>> = LazyLock::new(|| {
    let rows = SHAPES_FILE.lines().filter_map(|line| line.split_once('\t'));
    let read = rows.filter_map(|(name, pattern)| {
        let whole = matches!(name, "quoted" | "pasted" | "ends-asking");
        Some(CaptureShape { pattern: Regex::new(pattern).ok()?, whole })
    });
    read.collect()
});

/// The families of cues, strong and weak apart, in the order of the table.
static FAMILIES: LazyLock<Vec<(CueFamily, bool)>> = LazyLock::new(|| {
    let rows = CUES.iter().flat_map(|rows| rows.iter());
    let families: BTreeSet<(CueFamily, bool)> = rows.map(|row| (row.family, row.strong)).collect();
    families.into_iter().collect()
});

/// How many numbers a message is.
pub(super) fn count() -> usize {
    MEANING + BUCKETS + SHAPES.len() + COUNTED + FAMILIES.len()
}

/// A message as numbers; `previous` is what was asked before it.
pub(super) fn features(message: &str, previous: Option<&str>) -> Vec<f32> {
    let mut out = Vec::with_capacity(count());
    let meaning = STATIC_TABLE.as_ref().map(|table| static_vector(table, message));
    out.extend(meaning.unwrap_or_default());
    out.resize(MEANING, 0.0);
    out.extend(words(message, previous));
    let plain = message.trim().to_lowercase().replace(['’', '‘', '`'], "'");
    let own = without_quotations(&plain);
    for shape in SHAPES.iter() {
        let text = if shape.whole { &plain } else { &own };
        out.push(SHAPE_SHARE * f32::from(u8::from(shape.pattern.is_match(text))));
    }
    let all: Vec<&str> = sentences(&own).map(str::trim).filter(|one| !one.is_empty()).collect();
    let told: Vec<&str> = all.iter().copied().filter(|one| !one.ends_with(['?', '？'])).collect();
    let length = tokens(&own).len();
    let is = |yes: bool| SHAPE_SHARE * f32::from(u8::from(yes));
    out.extend([
        is(told.is_empty()),
        is(all.len() > 1),
        is(!told.is_empty() && told.len() < all.len()),
        SHAPE_SHARE * (length as f32 / 40.0).min(1.0),
        is(length <= 4),
        is(previous.is_some_and(|previous| !previous.trim().is_empty())),
        is(own.chars().any(|c| c.is_ascii_digit())),
    ]);
    let heard = if told.is_empty() { all } else { told };
    let mut families: BTreeSet<(CueFamily, bool)> = BTreeSet::new();
    for sentence in heard {
        let cues = SentenceCues::of(sentence);
        families.extend(cues.rows.iter().map(|row| (row.family, row.strong)));
    }
    out.extend(FAMILIES.iter().map(|family| is(families.contains(family))));
    out
}

/// Words, pairs of words and, without spaces, pairs of characters.
fn words(message: &str, previous: Option<&str>) -> Vec<f32> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut list = vec!["^".to_owned()];
    list.extend(tokens(&message.to_lowercase().replace(['’', '‘', '`'], "'")));
    list.push("$".to_owned());
    found.extend(list.windows(2).map(|pair| pair.join(" ")));
    if let Some(start) = list.get(..3) {
        found.insert(start.join(" "));
    }
    if message.chars().any(is_dense) {
        let dense: Vec<char> = message.chars().filter(|c| !c.is_whitespace()).collect();
        found.extend(dense.windows(2).map(|pair| format!("#{}{}", pair[0], pair[1])));
    }
    found.insert(format!("length {}", list.len().ilog2().min(6)));
    let asked = previous.is_some_and(|previous| !previous.trim().is_empty());
    found.insert(if asked { "asked before" } else { "nothing asked before" }.to_owned());
    found.extend(list);
    let mut buckets = vec![0.0_f32; BUCKETS];
    let share = WORDS_SHARE / (found.len() as f32).sqrt();
    for word in &found {
        buckets[bucket(word)] += share;
    }
    buckets
}

/// FNV-1a: the same bucket on every machine and with every version of the compiler.
fn bucket(word: &str) -> usize {
    let hash = word
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash as usize % BUCKETS
}

/// Words, and marks by themselves.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || (c == '\'' && !word.is_empty()) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        if "?!.,:;\"“”«»„「」…()？。！，".contains(c) {
            out.push(c.to_string());
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_pattern() {
        assert_eq!(SHAPES.len(), SHAPES_FILE.lines().count());
        assert_eq!(features("no, always run the tests first", Some("commit")).len(), count());
        assert_eq!(features("", None).len(), count());
    }
}
