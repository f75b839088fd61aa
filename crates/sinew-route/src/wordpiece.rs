//! The word-piece tokenizer of BERT (uncased), over a table made by the build script.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fnv;
use crate::table::number;
use crate::text::runs;

static BLOB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wordpiece.bin"));

/// Slots of the hash table; the build script uses the same number.
const SLOTS: usize = 1 << 16;

/// A longer word becomes one unknown piece, as in BERT.
const MAX_WORD_CHARS: usize = 100;

/// The id of a word that no pieces spell.
pub(crate) const UNKNOWN: u16 = 100;
const START: u16 = 101;
const END: u16 = 102;

/// Token ids of a text, without the start and end marks, at most `limit` of them.
pub(crate) fn pieces(text: &str, limit: usize, skip_unknown: bool) -> Vec<u16> {
    let mut out = Vec::with_capacity(limit.min(text.len() / 3 + 4));
    let vocabulary = Vocabulary::embedded();
    each_word(text, |word| {
        vocabulary.word(word, &mut out);
        if skip_unknown && out.last() == Some(&UNKNOWN) {
            out.pop();
        }
        out.len() < limit
    });
    out.truncate(limit);
    out
}

/// Token ids with the start and end marks, at most `limit` in all.
pub(crate) fn marked(text: &str, limit: usize) -> Vec<u16> {
    let mut out = vec![START];
    out.extend(pieces(text, limit.saturating_sub(2), false));
    out.push(END);
    out
}

/// Whether the vocabulary is in the binary.
pub(crate) fn is_present() -> bool {
    Vocabulary::embedded().count > 0
}

#[derive(Clone, Copy)]
struct Vocabulary {
    count: usize,
}

impl Vocabulary {
    fn embedded() -> Self {
        Self { count: number(BLOB, 0).unwrap_or(0) as usize }
    }

    fn piece(self, id: u16) -> Option<&'static [u8]> {
        let start = number(BLOB, 1 + usize::from(id))? as usize;
        let end = number(BLOB, 2 + usize::from(id))? as usize;
        let base = 4 * (2 + self.count) + 2 * SLOTS;
        BLOB.get(base + start..base + end)
    }

    /// The id of `prefix` + `rest`, whose hash is known.
    fn find(self, hash: u64, prefix: &[u8], rest: &[u8]) -> Option<u16> {
        let slots = BLOB.get(4 * (2 + self.count)..)?;
        let mut slot = hash as usize % SLOTS;
        loop {
            let id = u16::from_le_bytes(slots.get(2 * slot..2 * slot + 2)?.try_into().ok()?);
            if id == u16::MAX {
                return None;
            }
            let piece = self.piece(id)?;
            if piece.len() == prefix.len() + rest.len()
                && piece.starts_with(prefix)
                && piece.ends_with(rest)
            {
                return Some(id);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Longest match first, as in BERT; a word that cannot be spelled is one unknown piece.
    fn word(self, word: &str, out: &mut Vec<u16>) {
        let before = out.len();
        if word.chars().count() > MAX_WORD_CHARS {
            out.push(UNKNOWN);
            return;
        }
        let (mut at, mut hashes) = (0, Vec::with_capacity(word.len()));
        while at < word.len() {
            let prefix: &[u8] = if at == 0 { b"" } else { b"##" };
            let rest = &word.as_bytes()[at..];
            hashes.clear();
            let mut hash = fnv::extend(fnv::START, prefix);
            for byte in rest {
                hash = fnv::extend(hash, &[*byte]);
                hashes.push(hash);
            }
            let hit = (1..=rest.len())
                .rev()
                .filter(|end| word.is_char_boundary(at + end))
                .find_map(|end| Some((end, self.find(hashes[end - 1], prefix, &rest[..end])?)));
            match hit {
                Some((end, id)) => {
                    out.push(id);
                    at += end;
                }
                None => {
                    out.truncate(before);
                    out.push(UNKNOWN);
                    return;
                }
            }
        }
    }
}

/// Gives each basic token (lower case, accents stripped, marks apart) to `found` while it wants more.
fn each_word(text: &str, mut found: impl FnMut(&str) -> bool) {
    let mut word = String::new();
    for (ascii, other) in runs(text) {
        // Decomposing leaves ASCII as it is, so that only what is between has to be looked at closely.
        for byte in ascii.bytes() {
            if byte.is_ascii_alphanumeric() {
                word.push(char::from(byte.to_ascii_lowercase()));
            } else if !push(char::from(byte), &mut word, &mut found) {
                return;
            }
        }
        for c in other.nfd().filter(|&c| !is_stripped(c)).flat_map(char::to_lowercase) {
            if !push(c, &mut word, &mut found) {
                return;
            }
        }
    }
    push(' ', &mut word, &mut found);
}

/// Adds a character to the word in hand, or ends it; `false` when enough was found.
fn push(c: char, word: &mut String, found: &mut impl FnMut(&str) -> bool) -> bool {
    if c == '\0'
        || c == '\u{fffd}'
        || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        || is_format(c)
    {
        return true;
    }
    if c.is_whitespace() || is_mark(c) || is_ideograph(c) {
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
