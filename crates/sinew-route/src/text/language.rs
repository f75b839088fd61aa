//! Which language a text is in: by script, then by stop words. English when in doubt.

use rust_stemmers::{Algorithm, Stemmer};
use serde::Serialize;

use super::lexicon;

/// A language that the bridge lexicon knows, or English.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English, and everything that is not recognised.
    En,
    /// German.
    De,
    /// Spanish.
    Es,
    /// French.
    Fr,
    /// Portuguese.
    Pt,
    /// Italian.
    It,
    /// Russian.
    Ru,
    /// Chinese.
    Zh,
    /// Japanese.
    Ja,
    /// Korean.
    Ko,
}

impl Language {
    /// The two-letter code.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Es => "es",
            Self::Fr => "fr",
            Self::Pt => "pt",
            Self::It => "it",
            Self::Ru => "ru",
            Self::Zh => "zh",
            Self::Ja => "ja",
            Self::Ko => "ko",
        }
    }

    /// The stemmer of a language that puts spaces between words.
    pub(crate) fn stemmer(self) -> Option<Algorithm> {
        Some(match self {
            Self::En => Algorithm::English,
            Self::De => Algorithm::German,
            Self::Es => Algorithm::Spanish,
            Self::Fr => Algorithm::French,
            Self::Pt => Algorithm::Portuguese,
            Self::It => Algorithm::Italian,
            Self::Ru => Algorithm::Russian,
            Self::Zh | Self::Ja | Self::Ko => return None,
        })
    }

    /// The words that say nothing about a task.
    pub(crate) fn stop_words(self) -> &'static [&'static str] {
        STOP.iter().find(|(language, _)| *language == self).map_or(&[], |(_, words)| words)
    }
}

/// Function words that tell the languages in Latin script apart. Words shared by several are
/// harmless: the language with most hits wins, English on a tie.
#[rustfmt::skip]
const STOP: [(Language, &[&str]); 6] = [
    (Language::En, &["the", "a", "an", "and", "or", "of", "to", "in", "for", "with", "on", "my", "i", "you", "me", "it", "is", "are", "this", "that", "can", "please", "how", "what", "do", "we", "our", "from", "at", "be", "have", "need", "want", "not", "but", "so", "if", "when", "into", "your", "as", "by", "there", "all"]),
    (Language::De, &["der", "die", "das", "und", "oder", "ein", "eine", "einen", "einem", "einer", "mit", "für", "auf", "mein", "meine", "meinen", "ich", "du", "mir", "ist", "sind", "dieser", "diese", "dieses", "kann", "bitte", "wie", "was", "wir", "unser", "unsere", "von", "bei", "nicht", "aber", "wenn", "zu", "zum", "zur", "den", "dem", "des", "im", "auch", "es", "soll", "mach", "kannst", "habe", "als", "aus", "nach", "brauche", "um", "bis", "noch", "nur", "hat", "wird", "alle", "vom", "beim"]),
    (Language::Es, &["el", "la", "los", "las", "y", "o", "un", "una", "de", "en", "para", "con", "mi", "mis", "yo", "tú", "me", "es", "son", "este", "esta", "que", "puedes", "por", "favor", "cómo", "qué", "quiero", "necesito", "del", "al", "no", "pero", "si", "cuando", "se", "lo", "su", "sus", "como", "más", "hay", "sin"]),
    (Language::Fr, &["le", "la", "les", "et", "ou", "un", "une", "de", "en", "pour", "avec", "mon", "ma", "mes", "je", "tu", "moi", "est", "sont", "ce", "cette", "que", "peux", "peut", "comment", "quoi", "veux", "du", "des", "au", "aux", "ne", "pas", "mais", "si", "quand", "se", "il", "sur", "dans", "nous", "notre", "nos", "qui", "plus", "sans", "vous", "à", "puis", "par", "quel", "quels", "quelle", "faire", "fait", "y"]),
    (Language::Pt, &["o", "a", "os", "as", "e", "ou", "um", "uma", "de", "em", "para", "com", "meu", "minha", "meus", "eu", "você", "me", "é", "são", "este", "esta", "que", "pode", "por", "favor", "como", "quero", "preciso", "do", "da", "dos", "das", "no", "na", "nos", "nas", "não", "mas", "se", "quando", "ao", "isso", "esse", "essa", "mais", "sem"]),
    (Language::It, &["il", "lo", "la", "i", "gli", "le", "e", "o", "un", "una", "di", "in", "per", "con", "mio", "mia", "miei", "io", "tu", "mi", "è", "sono", "questo", "questa", "che", "puoi", "come", "cosa", "voglio", "del", "della", "dei", "delle", "al", "alla", "nel", "nella", "non", "ma", "se", "quando", "da", "ho", "più", "sul", "sulla", "senza", "vorrei"]),
];

/// A guess deserves this many stop words of the language.
const ENOUGH_STOP_WORDS: usize = 2;

/// A text with this many Cyrillic letters is taken for Russian.
const ENOUGH_CYRILLIC: usize = 3;

/// The language of a text.
pub fn guess(text: &str) -> Language {
    let (mut han, mut hangul, mut cyrillic) = (false, false, 0);
    if !text.is_ascii() {
        for c in text.chars() {
            match c {
                '\u{3040}'..='\u{30ff}' => return Language::Ja,
                '\u{ac00}'..='\u{d7af}' => hangul = true,
                '\u{4e00}'..='\u{9fff}' => han = true,
                '\u{0400}'..='\u{04ff}' => cyrillic += 1,
                _ => {}
            }
        }
    }
    if hangul {
        return Language::Ko;
    }
    if han {
        return Language::Zh;
    }
    if cyrillic >= ENOUGH_CYRILLIC {
        return Language::Ru;
    }
    by_stop_words(text)
}

fn by_stop_words(text: &str) -> Language {
    let mut words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.len() <= 24)
        .map(str::to_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut best = (Language::En, 0);
    for (language, stop) in STOP {
        let hits =
            stop.iter().filter(|&&word| words.binary_search_by(|w| w.as_str().cmp(word)).is_ok());
        let hits = hits.count();
        if hits > best.1 {
            best = (language, hits);
        }
    }
    if best.1 >= ENOUGH_STOP_WORDS {
        return best.0;
    }
    by_lexicon(&words)
}

/// A short text has too few stop words; the bridge lexicon may know its other words, and English not.
fn by_lexicon(words: &[String]) -> Language {
    let unknown: Vec<&String> =
        words.iter().filter(|word| word.len() > 2 && !is_english(word)).collect();
    if unknown.is_empty() {
        return Language::En;
    }
    let mut best = (Language::En, 0);
    for (language, stop) in STOP.iter().skip(1) {
        let known = unknown.iter().filter(|word| lexicon::knows(*language, word)).count();
        let hits =
            words.iter().filter(|word| stop.contains(&word.as_str()) && !is_english(word)).count();
        if known > 0 && known + hits > best.1 {
            best = (*language, known + hits);
        }
    }
    if best.1 >= ENOUGH_STOP_WORDS { best.0 } else { Language::En }
}

/// Whether a word is one of English skills.
fn is_english(word: &str) -> bool {
    Language::En.stop_words().contains(&word)
        || crate::lexical::is_background(word)
        || crate::lexical::is_background(&Stemmer::create(Algorithm::English).stem(word))
}

/// Whether a text should be read through the bridge lexicon: three letters in ten are not ASCII, or
/// some are and the stop words name a language.
pub(crate) fn is_foreign(text: &str) -> bool {
    let (mut letters, mut outside) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        outside += usize::from(!c.is_ascii());
    }
    if outside == 0 {
        return false;
    }
    10 * outside >= 3 * letters
        || guess(text).stemmer().is_some_and(|a| !matches!(a, Algorithm::English))
}

/// Whether a character belongs to a script that puts no spaces between words.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}
