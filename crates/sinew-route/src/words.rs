//! The words of a text, for comparing texts outside the router.

use std::borrow::Cow;

use crate::text::language::Language;
use crate::text::words::{WordExtractor, raw_words};

/// Raw words: runs of a dense script, or letters, digits and `_` with apostrophes inside.
pub fn raw(text: &str) -> impl Iterator<Item = &str> {
    raw_words(text)
}

/// The words that the router searches by: stems, and pairs of characters where words are not
/// spaced.
///
/// ```
/// assert_eq!(sinew_route::words::search_words("testing"), ["test"]);
/// ```
pub fn search_words(text: &str) -> Vec<String> {
    WordExtractor::new(Language::En).all(&crate::text::normalised(text))
}

/// The English words that the bridge lexicon has for a message in another language, in order; none for
/// an English one.
///
/// ```
/// assert!(sinew_route::words::english_words("resize this image").is_empty());
/// ```
pub fn english_words(message: &str) -> Vec<&'static str> {
    crate::text::lexicon::english(&crate::text::normalised(message))
}

/// A text without the sentences that say what a skill is not for.
pub fn without_negatives(text: &str) -> Cow<'_, str> {
    crate::text::negative::without_negatives(text)
}
