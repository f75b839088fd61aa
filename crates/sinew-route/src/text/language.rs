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

    /// The stemmer of a language with spaces between words.
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

    /// Whether a word says nothing about a task.
    pub(crate) fn is_stop(self, word: &str) -> bool {
        let stop = STOP.iter().find(|(language, _)| *language == self);
        stop.is_some_and(|(_, words)| words.binary_search(&word).is_ok())
    }
}

/// Function words that distinguish the languages in Latin script, sorted. Words shared by several
/// do no harm: the language with most hits wins, English on a tie.
#[rustfmt::skip]
const STOP: [(Language, &[&str]); 6] = [
    (Language::En, &["a", "all", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "for", "from", "have", "how", "i", "if", "in", "into", "is", "it", "me", "my", "need", "not", "of", "on", "or", "our", "please", "so", "that", "the", "there", "this", "to", "want", "we", "what", "when", "with", "you", "your"]),
    (Language::De, &["aber", "alle", "als", "auch", "auf", "aus", "bei", "beim", "bis", "bitte", "brauche", "das", "dem", "den", "der", "des", "die", "diese", "dieser", "dieses", "du", "ein", "eine", "einem", "einen", "einer", "es", "für", "habe", "hat", "ich", "im", "ist", "kann", "kannst", "mach", "mein", "meine", "meinen", "mir", "mit", "nach", "nicht", "noch", "nur", "oder", "sind", "soll", "um", "und", "unser", "unsere", "vom", "von", "was", "wenn", "wie", "wir", "wird", "zu", "zum", "zur"]),
    (Language::Es, &["al", "como", "con", "cuando", "cómo", "de", "del", "el", "en", "es", "esta", "este", "favor", "hay", "la", "las", "lo", "los", "me", "mi", "mis", "más", "necesito", "no", "o", "para", "pero", "por", "puedes", "que", "quiero", "qué", "se", "si", "sin", "son", "su", "sus", "tú", "un", "una", "y", "yo"]),
    (Language::Fr, &["au", "aux", "avec", "ce", "cette", "comment", "dans", "de", "des", "du", "en", "est", "et", "faire", "fait", "il", "je", "la", "le", "les", "ma", "mais", "mes", "moi", "mon", "ne", "nos", "notre", "nous", "ou", "par", "pas", "peut", "peux", "plus", "pour", "puis", "quand", "que", "quel", "quelle", "quels", "qui", "quoi", "sans", "se", "si", "sont", "sur", "tu", "un", "une", "veux", "vous", "y", "à"]),
    (Language::Pt, &["a", "ao", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "em", "essa", "esse", "esta", "este", "eu", "favor", "isso", "mais", "mas", "me", "meu", "meus", "minha", "na", "nas", "no", "nos", "não", "o", "os", "ou", "para", "pode", "por", "preciso", "quando", "que", "quero", "se", "sem", "são", "um", "uma", "você", "é"]),
    (Language::It, &["al", "alla", "che", "come", "con", "cosa", "da", "dei", "del", "della", "delle", "di", "e", "gli", "ho", "i", "il", "in", "io", "la", "le", "lo", "ma", "mi", "mia", "miei", "mio", "nel", "nella", "non", "o", "per", "più", "puoi", "quando", "questa", "questo", "se", "senza", "sono", "sul", "sulla", "tu", "un", "una", "voglio", "vorrei", "è"]),
];

/// A guess needs this many stop words of the language.
const ENOUGH_STOP_WORDS: usize = 2;

/// A text with this many Cyrillic letters counts as Russian.
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

/// A short text has too few stop words; its other words may be in the bridge lexicon and not in
/// English.
fn by_lexicon(words: &[String]) -> Language {
    let unknown: Vec<&String> =
        words.iter().filter(|word| word.len() > 2 && !is_english(word)).collect();
    if unknown.is_empty() {
        return Language::En;
    }
    let mut best = (Language::En, 0);
    for (language, stop) in STOP.iter().skip(1) {
        let known = unknown.iter().filter(|word| lexicon::knows(*language, word)).count();
        let hits = words
            .iter()
            .filter(|word| stop.binary_search(&word.as_str()).is_ok() && !is_english(word))
            .count();
        if known > 0 && known + hits > best.1 {
            best = (*language, known + hits);
        }
    }
    if best.1 >= ENOUGH_STOP_WORDS { best.0 } else { Language::En }
}

/// Whether a word occurs in English skills.
fn is_english(word: &str) -> bool {
    Language::En.is_stop(word)
        || crate::lexical::is_background(word)
        || crate::lexical::is_background(&Stemmer::create(Algorithm::English).stem(word))
}

/// Whether to use the bridge lexicon for a text: three in ten letters are not ASCII, or some are
/// not and the stop words indicate a language.
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

/// Whether a character belongs to a script without spaces between words.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    #[test]
    fn stop_words_are_sorted_for_the_search_in_them() {
        for (language, words) in super::STOP {
            assert!(words.is_sorted(), "{language:?}");
        }
    }
}
