//! BERT's basic tokens: what stands between spaces and marks, cleaned.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::runs;

/// What a tokenizer does to text before it looks words up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenCleaning {
    /// Lower case.
    pub(crate) lower: bool,
    /// Without accents.
    pub(crate) plain: bool,
    /// Each ideograph is a word.
    pub(crate) ideographs: bool,
}

impl TokenCleaning {
    /// That of BERT (uncased).
    pub(crate) const UNCASED: Self = Self { lower: true, plain: true, ideographs: true };

    /// Gives each basic token to `found` while it wants more.
    pub(crate) fn each_word(self, text: &str, mut found: impl FnMut(&str) -> bool) {
        let mut word = String::new();
        for (ascii, other) in runs(text) {
            // Decomposing leaves ASCII as it is, so that only the rest has to be looked at closely.
            for byte in ascii.bytes() {
                if byte.is_ascii_alphanumeric() {
                    let byte = if self.lower { byte.to_ascii_lowercase() } else { byte };
                    word.push(char::from(byte));
                } else if !self.push(char::from(byte), &mut word, &mut found) {
                    return;
                }
            }
            let more = match (self.plain, self.lower) {
                (true, true) => {
                    let plain = other.nfd().filter(|&c| !is_stripped(c));
                    self.push_all(plain.flat_map(char::to_lowercase), &mut word, &mut found)
                }
                (true, false) => {
                    let plain = other.nfd().filter(|&c| !is_stripped(c));
                    self.push_all(plain, &mut word, &mut found)
                }
                (false, true) => {
                    let small = other.chars().flat_map(char::to_lowercase);
                    self.push_all(small, &mut word, &mut found)
                }
                (false, false) => self.push_all(other.chars(), &mut word, &mut found),
            };
            if !more {
                return;
            }
        }
        self.push(' ', &mut word, &mut found);
    }

    fn push_all(
        self,
        mut all: impl Iterator<Item = char>,
        word: &mut String,
        found: &mut impl FnMut(&str) -> bool,
    ) -> bool {
        all.all(|c| self.push(c, word, found))
    }

    /// Adds a character to the word in hand, or ends it; `false` when enough was found.
    fn push(self, c: char, word: &mut String, found: &mut impl FnMut(&str) -> bool) -> bool {
        if c == '\0'
            || c == '\u{fffd}'
            || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
            || is_format(c)
        {
            return true;
        }
        if c.is_whitespace() || is_mark(c) || (self.ideographs && is_ideograph(c)) {
            let more = word.is_empty() || found(word);
            word.clear();
            if !more || c.is_whitespace() {
                return more;
            }
            return found(c.encode_utf8(&mut [0; 4]));
        }
        word.push(c);
        true
    }
}

/// Accents go; marks that carry meaning in Indic scripts are spacing marks and stay.
fn is_stripped(c: char) -> bool {
    is_combining_mark(c)
        && matches!(c, '\u{0300}'..='\u{036f}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05bd}'
        | '\u{064b}'..='\u{065f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{302a}'..='\u{302d}' | '\u{3099}'..='\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

/// Invisible characters that BERT's cleaning drops with the control characters.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '¡' | '§' | '«' | '¶' | '·' | '»' | '¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
            | '\u{2e00}'..='\u{2e5d}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
            | '\u{3030}' | '\u{303d}' | '\u{30a0}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe63}'
            | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}' | '\u{ff3b}'..='\u{ff3d}'
            | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
