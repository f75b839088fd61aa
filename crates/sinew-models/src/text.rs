//! Pieces of text: what models read of one, and what its ASCII parts are.

use crate::tokens::Tokenizer;

/// Whether a word is one that the models' vocabulary has whole: what is only spelled, piece by piece, is a
/// name, a rare word or a slip of the fingers. Every word is, where there is no vocabulary.
pub fn is_whole_word(word: &str) -> bool {
    Tokenizer::embedded().is_none_or(|tokenizer| tokenizer.has_a_word(word))
}

/// A text as pairs of an ASCII run and the run of other characters behind it; either may be empty.
#[inline]
pub fn runs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let other = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, behind) = rest.split_at(other);
        let end = behind.bytes().position(|byte| byte.is_ascii()).unwrap_or(behind.len());
        let (other, behind) = behind.split_at(end);
        rest = behind;
        Some((ascii, other))
    })
}

/// The part of a text before a length in bytes, cut where a character ends.
#[inline]
pub fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
