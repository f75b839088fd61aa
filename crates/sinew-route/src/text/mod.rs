//! Text preparation: words, stems, languages, the bridge lexicon, and which parts of a skill are
//! read.

pub(crate) mod clauses;
pub(crate) mod language;
pub(crate) mod lexicon;
pub(crate) mod negative;
pub(crate) mod pasted_text;
pub(crate) mod plain;
pub(crate) mod words;

use std::borrow::Cow;

pub(crate) use sinew_models::text::{head, runs};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The text in the form that all of routing uses (NFKC); most text already has it.
pub(crate) fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (ascii, other) in runs(text) {
        out.push_str(ascii);
        // A combining mark may join the letter before it; nothing joins a following ASCII
        // character.
        let base = out.pop();
        out.extend(base.into_iter().chain(other.chars()).nfkc());
    }
    Cow::Owned(out)
}

/// The end of a text, at most `bytes` long, cut at a character boundary.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form_run_by_run_is_that_of_the_whole() {
        for text in [
            "plain",
            "e\u{301}tude … ½ cup",
            "\u{301}e",
            "ﬁn e\u{328}\u{301}x ㎏",
            "가나다 각 ｶﾞ\u{3099}",
            "™",
            "a\u{20dd}b…",
        ] {
            assert_eq!(normalised(text), text.nfkc().collect::<String>(), "{text}");
        }
    }
}
