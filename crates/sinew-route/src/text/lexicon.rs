//! The bridge lexicon: terms of nine languages → English words that skills are found by.

use std::borrow::Cow;

use rust_stemmers::Stemmer;

use super::language::{Language, guess};
use crate::sorted_table::SortedTable;

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lexicon.bin"));

/// The English words for a normalised text in another language, in order, without repeats and
/// without words that the text already contains.
pub(crate) fn english(text: &str) -> Vec<&'static str> {
    english_from(text, guess(text))
}

/// Whether the lexicon has a single lower-case word of a language, as written or by its stem.
pub(crate) fn knows(language: Language, word: &str) -> bool {
    let table = SortedTable::new(BLOB);
    let has = |mark: char, word: &str| {
        table.get(format!("{}{mark}{word}", language.code()).as_bytes()).is_some()
    };
    has('=', word)
        || language
            .stemmer()
            .is_some_and(|algorithm| has('~', &Stemmer::create(algorithm).stem(word)))
}

/// The same for a known language.
pub(crate) fn english_from(text: &str, language: Language) -> Vec<&'static str> {
    let table = SortedTable::new(BLOB);
    let Some(longest) = table.get_number(format!("{}#", language.code()).as_bytes()) else {
        return Vec::new();
    };
    let text = text.to_lowercase();
    let found = match language.stemmer() {
        Some(algorithm) => {
            spaced(&text, language, &Stemmer::create(algorithm), table, longest as usize)
        }
        None => dense(&text, language, table, longest as usize),
    };
    let mut present: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut out = Vec::new();
    for word in found.into_iter().flat_map(str::split_whitespace) {
        if !present.contains(&word) {
            present.push(word);
            out.push(word);
        }
    }
    out
}

fn spaced(
    text: &str,
    language: Language,
    stemmer: &Stemmer,
    table: SortedTable,
    longest: usize,
) -> Vec<&'static str> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let stems: Vec<Cow<'_, str>> = words.iter().map(|word| stemmer.stem(word)).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < words.len() {
        let most = longest.min(words.len() - at);
        let hit =
            (1..=most).rev().filter(|&n| n > 1 || !language.is_stop(words[at])).find_map(|n| {
                let exact = format!("{}={}", language.code(), words[at..at + n].join(" "));
                let stemmed = || format!("{}~{}", language.code(), stems[at..at + n].join(" "));
                let value =
                    table.get(exact.as_bytes()).or_else(|| table.get(stemmed().as_bytes()))?;
                Some((n, std::str::from_utf8(value).ok()?))
            });
        match hit {
            Some((n, value)) => {
                out.push(value);
                at += n;
            }
            None => at += 1,
        }
    }
    out
}

fn dense(text: &str, language: Language, table: SortedTable, longest: usize) -> Vec<&'static str> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    let mut key = format!("{}=", language.code());
    let prefix = key.len();
    let (mut out, mut at) = (Vec::new(), 0);
    while at + 1 < ends.len() {
        let most = longest.min(ends.len() - 1 - at);
        let hit = (1..=most).rev().find_map(|n| {
            key.truncate(prefix);
            key.push_str(&text[ends[at]..ends[at + n]]);
            Some((n, std::str::from_utf8(table.get(key.as_bytes())?).ok()?))
        });
        match hit {
            Some((n, value)) => {
                out.push(value);
                at += n;
            }
            None => at += 1,
        }
    }
    out
}
