//! Search words: parts of identifiers and the whole, stems, and bigrams where words are not spaced.

use std::borrow::Cow;

use rust_stemmers::Stemmer;

use super::language::{Language, is_dense};

/// A longer word is a key, a hash or noise: no skill is found by it.
const MAX_WORD: usize = 40;

/// Request words that fit every skill: they count half.
const GENERIC: [&str; 33] = [
    "check",
    "could",
    "find",
    "get",
    "give",
    "good",
    "help",
    "issue",
    "let",
    "look",
    "lot",
    "make",
    "need",
    "new",
    "please",
    "problem",
    "run",
    "show",
    "someth",
    "something",
    "status",
    "tell",
    "thing",
    "time",
    "tri",
    "try",
    "use",
    "want",
    "way",
    "work",
    "would",
    "can",
    "pleas",
];

/// Whether a stem says nothing about a task.
pub(crate) fn is_generic(stem: &str) -> bool {
    GENERIC.contains(&stem)
}

/// Splits text into raw words: runs of a dense script, or letters, digits, marks and `_` with
/// apostrophes inside.
pub(crate) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[word_start(rest)?..];
        let first = rest.chars().next()?;
        let end = if is_dense(first) {
            rest.find(|c| !is_dense(c)).unwrap_or(rest.len())
        } else {
            spaced_end(rest)
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_plain(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn word_start(text: &str) -> Option<usize> {
    // Most text is ASCII, which needs no decoding.
    let at = text.bytes().position(|byte| is_plain(byte) || !byte.is_ascii())?;
    Some(at + text[at..].find(is_word)?)
}

fn spaced_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let starts_word =
        |at: usize| text[at..].chars().next().is_some_and(|c| is_word(c) && !is_dense(c));
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if is_plain(byte) {
            at += 1;
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let after = at + c.len_utf8();
        let apostrophe = matches!(c, '\'' | '’') && starts_word(after);
        if !apostrophe && (c.is_ascii() || !starts_word(at)) {
            return at;
        }
        at = after;
    }
    text.len()
}

/// Extracts search words; it holds the stemmers so that a thousand documents share them.
pub(crate) struct WordExtractor {
    english: Stemmer,
    other: Option<(Language, Stemmer)>,
}

impl WordExtractor {
    /// For texts in a language: English stems, plus the language's own.
    pub(crate) fn new(language: Language) -> Self {
        let other = match language {
            Language::En => None,
            _ => language.stemmer().map(|algorithm| (language, Stemmer::create(algorithm))),
        };
        Self { english: Stemmer::create(rust_stemmers::Algorithm::English), other }
    }

    /// Calls `found` with every search word of a normalised text.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(&str)) {
        for raw in raw_words(text) {
            self.of_raw(raw, &mut found);
        }
    }

    /// The search words of a normalised text.
    pub(crate) fn all(&self, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        self.each(text, |word| out.push(word.to_owned()));
        out
    }

    /// The search words of one raw word.
    pub(crate) fn of_raw(&self, raw: &str, found: &mut impl FnMut(&str)) {
        if raw.chars().next().is_some_and(is_dense) {
            bigrams(raw, found);
            return;
        }
        let word = without_apostrophes(raw);
        if is_one_piece(&word) {
            self.piece(&lower(&word), found);
            return;
        }
        let mut count = 0;
        for piece in pieces(&word) {
            count += 1;
            self.piece(&piece.to_lowercase(), found);
        }
        let whole: String =
            word.chars().filter(|&c| c != '_').flat_map(char::to_lowercase).collect();
        if count > 1 && !whole.is_empty() && whole.len() < MAX_WORD {
            found(&whole);
        }
    }

    fn piece(&self, lower: &str, found: &mut impl FnMut(&str)) {
        let stem = self.english.stem(lower);
        let keep =
            |word: &str| !word.is_empty() && word.len() < MAX_WORD && !Language::En.is_stop(word);
        if keep(&stem) {
            found(&stem);
        }
        if let Some((language, stemmer)) = &self.other {
            let own = stemmer.stem(lower);
            if own != stem && keep(&own) && !language.is_stop(lower) {
                found(&own);
            }
        }
    }
}

fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

fn is_one_piece(word: &str) -> bool {
    let mut before_lower = false;
    for c in word.chars() {
        if c == '_' || (before_lower && c.is_ascii_uppercase()) {
            return false;
        }
        before_lower = c.is_ascii_lowercase();
    }
    true
}

fn without_apostrophes(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['\'', '’']) {
        return Cow::Borrowed(raw);
    }
    let ends = ["'s", "’s", "'S", "’S"];
    let base = ends.iter().find_map(|end| raw.strip_suffix(end)).unwrap_or(raw);
    Cow::Owned(base.chars().filter(|c| !matches!(c, '\'' | '’')).collect())
}

/// `set_reminder`, `setReminder` → `set`, `Reminder`.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split('_').filter(|part| !part.is_empty()).flat_map(|part| {
        let mut cuts = vec![0];
        let bytes = part.as_bytes();
        cuts.extend(
            (1..bytes.len())
                .filter(|&at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase()),
        );
        cuts.push(part.len());
        (1..cuts.len()).map(move |at| &part[cuts[at - 1]..cuts[at]])
    })
}

fn bigrams(run: &str, found: &mut impl FnMut(&str)) {
    let mut starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
    starts.push(run.len());
    if starts.len() <= 3 {
        found(run);
        return;
    }
    for pair in starts.windows(3) {
        found(&run[pair[0]..pair[2]]);
    }
}
