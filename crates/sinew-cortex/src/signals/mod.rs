//! Signals: from a task in the user's words to a few words without entities.
//!
//! Everything that might identify someone or something is dropped: names, places, companies, dates,
//! numbers, paths, addresses. What stays are verbs, abstract nouns and generic tool names from a
//! checked-in vocabulary. A word that is not in it is dropped whatever its case: a rule that relied
//! on capitals would let `alice` through.

mod detail;
mod region_names;
mod search_words;
mod strip;
mod vocabulary;

use unicode_normalization::UnicodeNormalization as _;

pub use detail::{MAX_DETAIL, clean_detail};
pub use region_names::{clean_region, is_region, region_name};
pub use search_words::{search_keywords, search_message};
pub use vocabulary::{SignalVocabulary, VERSION, WordClass, is_known_word, is_person_name};

/// How much of a task is read; its subject is usually named at the start.
pub const MAX_TASK: usize = 2_000;
/// Words learned per task.
pub const MAX_LEARNED: usize = 4;
/// Fewer words than this are too unspecific.
pub const MIN_LEARNED: usize = 2;

/// All signal words of a task, in order of appearance.
///
/// ```
/// use sinew_cortex::signals::{SignalVocabulary, signal_words};
/// let vocabulary = SignalVocabulary::built_in();
/// let words = signal_words("Look up Alice's Q3 sales report", &vocabulary);
/// assert_eq!(words, ["query", "sales", "report"]);
/// ```
pub fn signal_words(task: &str, vocabulary: &SignalVocabulary) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in vocabulary.read(&strip::tokens(&normal(task))) {
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The words learned from a task that a skill did: two to four, padded from the skill's slug, or
/// none if there are too few.
pub fn learned_words(task: &str, slug: &str, vocabulary: &SignalVocabulary) -> Option<Vec<String>> {
    let mut found = signal_words(task, vocabulary);
    if found.len() < MIN_LEARNED {
        for word in signal_words(&slug.replace(['-', '_', '.', '/'], " "), vocabulary) {
            if !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found.truncate(MAX_LEARNED);
    (found.len() >= MIN_LEARNED).then_some(found)
}

/// Compatibility forms, cut to the maximum length, without controls.
fn normal(text: &str) -> String {
    let visible = |c: char| match c {
        c if c.is_whitespace() || c.is_control() => ' ',
        '\u{2018}' | '\u{2019}' | '\u{02BC}' | '\u{FF07}' => '\'',
        c => c,
    };
    text.nfkc().take(MAX_TASK).filter(|c| !is_invisible(*c)).map(visible).collect()
}

/// Characters that are invisible and could split a word.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}
