//! Removes entities that have a recognisable shape from a text, and splits the rest into words.

use std::sync::OnceLock;

use regex::Regex;

/// The shapes to remove, in this order, each with a cheap precondition. Each match is replaced by a
/// blank. Most messages contain none of them, and compiling an expression takes longer than finding
/// a skill.
const SHAPES: &[(ShapePrecondition, &str)] = &[
    // Addresses with a scheme, and those that start like one.
    (ShapePrecondition::Any(':'), r"(?i)\b[a-z][a-z0-9+.-]*://\S+"),
    (ShapePrecondition::Any('.'), r"(?i)\b(?:www|ftp)\.\S+"),
    (ShapePrecondition::Any(':'), r"(?i)\b(?:mailto|tel|data|urn|magnet):\S+"),
    // E-mail addresses and handles.
    (ShapePrecondition::Any('@'), r"\S*@\S*"),
    // UUIDs, digests, hexadecimal numbers.
    (ShapePrecondition::Any('-'), r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    (ShapePrecondition::Digit, r"(?i)\b0x[0-9a-f]+\b"),
    // Times and dates, written in digits.
    (ShapePrecondition::Digit, r"(?i)\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:t[\d:.]+z?)?\b"),
    (ShapePrecondition::Digit, r"(?i)\b\d{1,2}(?::\d{2}){1,2}(?:\s?[ap]\.?m\.?)?"),
    (ShapePrecondition::Digit, r"(?i)\b\d{1,2}\s?[ap]\.?m\b\.?"),
    // Telephone numbers: digits in groups.
    (ShapePrecondition::Digit, r"\+?\(?\d[\d\s().-]{6,}\d"),
    // Amounts, with the currency or unit before or after.
    (ShapePrecondition::Digit, r"(?i)[$€£¥₹₽]\s?\d[\d.,]*\s?(?:k|m|bn|million|billion)?\b"),
    (
        ShapePrecondition::Digit,
        r"(?i)\b\d[\d.,]*\s?(?:[$€£¥₹₽%]|(?:usd|eur|gbp|jpy|chf|k|kb|mb|gb|tb|kg|km|cm|mm|px|dpi|ms)\b)",
    ),
];

/// What a text must contain for a shape to match.
#[derive(Debug, Clone, Copy)]
enum ShapePrecondition {
    /// This character.
    Any(char),
    /// A digit of any script.
    Digit,
}

impl ShapePrecondition {
    fn are_met(self, text: &str) -> bool {
        match self {
            Self::Any(c) => text.contains(c),
            Self::Digit => text.contains(char::is_numeric),
        }
    }
}

/// The expressions, each compiled when a text may contain its shape.
static SHAPE_PATTERNS: [OnceLock<Option<Regex>>; SHAPES.len()] =
    [const { OnceLock::new() }; SHAPES.len()];

/// The text with each shape replaced by a blank.
fn without_shapes(text: &str) -> String {
    let mut text = text.to_owned();
    for ((needs, shape), made) in SHAPES.iter().zip(&SHAPE_PATTERNS) {
        if needs.are_met(&text)
            && let Some(shape) = made.get_or_init(|| Regex::new(shape).ok())
        {
            text = shape.replace_all(&text, " ").into_owned();
        }
    }
    text
}

/// Nouns for file types.
const TYPES: &[(&str, &[&str])] = &[
    ("image", &["jpg", "jpeg", "png", "gif", "webp", "heic"]),
    ("pdf", &["pdf"]),
    ("spreadsheet", &["csv", "xlsx", "ods"]),
    ("video", &["mp4", "mov", "webm"]),
    ("audio", &["mp3", "wav", "m4a"]),
    ("archive", &["zip", "tar", "gz", "7z"]),
    ("document", &["docx", "odt", "md", "txt"]),
];

/// Short words before an apostrophe that are not part of a name: `l'image`, `dell'immagine`.
const ELISIONS: &[&str] = &[
    "l", "d", "j", "n", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "dell", "all", "un", "sull",
    "nell", "dall", "quest", "quell",
];

/// The words of a text without entities, in lower case and in order. Hyphens stay inside words,
/// because phrases need them.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let text = without_shapes(text);
    let mut found = Vec::new();
    for piece in text.split_whitespace() {
        let piece = piece
            .trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '~' | '.'));
        if let Some(noun) = file_noun(piece) {
            found.extend(noun.map(str::to_owned));
            continue;
        }
        for word in piece.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-' | '_')) {
            found.extend(without_apostrophe(word));
        }
    }
    found
}

/// Whether a piece of text is a path or a file name, and the noun that replaces it.
fn file_noun(piece: &str) -> Option<Option<&'static str>> {
    let is_path = piece.contains(['/', '\\', '~']) || piece.starts_with('.') && piece.len() > 1;
    let name = piece.trim_end_matches(['.', '/', '\\']);
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() || is_path);
    let ending = ending.map(|(_, ending)| ending.to_ascii_lowercase()).filter(|ending| {
        (1..=5).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    if !is_path && ending.is_none() {
        return None;
    }
    let ending = ending.unwrap_or_default();
    let noun = TYPES.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
    Some(noun.map(|(noun, _)| *noun))
}

/// A word with an apostrophe is a possessive or a contraction and is dropped, except when it starts
/// with a short article.
fn without_apostrophe(word: &str) -> Option<String> {
    let word = word.trim_matches(['\'', '-', '_']).to_lowercase();
    let (article, rest) = match word.split_once('\'') {
        None => return Some(word).filter(|word| !word.is_empty()),
        Some(parts) => parts,
    };
    (ELISIONS.contains(&article) && rest.len() > 1 && !rest.contains('\'')).then(|| rest.to_owned())
}
