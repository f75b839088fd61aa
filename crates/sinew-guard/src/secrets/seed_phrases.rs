//! Seed phrases: twelve or more short words that open a wallet.
//!
//! Lists of short words are everywhere (packages, keywords), so a phrase counts only near a word that
//! says what it is.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Words of a phrase, as wallets make them.
const MIN_WORDS: usize = 12;
/// Bytes between the word that says what it is and the phrase.
const NEAR: usize = 160;

/// What such phrases are called.
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)seed|mnemonic|recovery (?:phrase|words)|secret phrase|backup phrase|wallet|",
        r"wiederherstellungs(?:phrase|wörter)|merkwörter|frase (?:semilla|de recuperaci[oó]n|di recupero|",
        r"de recupera[cç][aã]o|seme|semente)|phrase (?:de r[eé]cup[eé]ration|secr[eè]te|mn[eé]monique)|",
        r"сид|мнемоник|助记词|助記詞|恢复短语|シードフレーズ|リカバリーフレーズ|復元フレーズ|복구 ?문구|시드 ?문구|니모닉"
    ))
    .ok()
});

/// Twelve or more words of three to eight letters, perhaps numbered, with blanks or commas between.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"(?:[0-9]{1,2}[.):]?\s*)?[a-z]{3,8}";
    Regex::new(&format!(r#"(?-u:\b){word}(?:(?:[\s,;]|\\n|["'])+{word}){{{},}}"#, MIN_WORDS - 1))
        .ok()
});

pub(super) fn is_ready() -> bool {
    NAME.is_some() && WORDS.is_some()
}

/// Words that no wallet puts into a phrase, and that every sentence has.
const SENTENCE: &[&str] = &["the", "and", "for", "with", "are", "from", "was", "but", "not"];

/// The phrases of a text.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let (Some(name), Some(words)) = (NAME.as_ref(), WORDS.as_ref()) else { return Vec::new() };
    if !name.is_match(text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for run in words.find_iter(text) {
        let mut from = run.start().saturating_sub(NEAR);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let mut to = (run.end() + NEAR).min(text.len());
        while !text.is_char_boundary(to) {
            to -= 1;
        }
        // The run may begin with words of the sentence: "my seed phrase is".
        let parts = run.as_str().split(|c: char| !c.is_ascii_lowercase());
        let is_sentence = parts.filter(|part| SENTENCE.contains(part)).count() > 1;
        if !is_sentence && name.is_match(&text[from..to]) {
            found.push(run.range());
        }
    }
    found
}
