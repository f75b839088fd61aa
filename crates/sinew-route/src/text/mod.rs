//! Text preparation: words, stems, languages, the bridge lexicon, and what of a skill is read.

pub(crate) mod language;
pub(crate) mod lexicon;
pub(crate) mod machine;
pub(crate) mod negative;
pub(crate) mod plain;
pub(crate) mod words;

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The text in the form all of routing works on (NFKC); most text is in it already.
pub(crate) fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// The part of a text before a length in bytes, cut where a character ends.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last part of a text of at most a length in bytes, cut where a character starts.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
