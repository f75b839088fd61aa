//! The detail of a failure: what a person needs to understand it, without anything that identifies
//! someone.

use sinew_guard::secrets;

use super::strip;
use super::vocabulary::SignalVocabulary;

/// The maximum length of a detail.
pub const MAX_DETAIL: usize = 200;
/// The text that replaces something removed.
const GAP: &str = "…";

/// A detail without secrets, entities and unknown words, at most [`MAX_DETAIL`] characters long.
/// HTTP status codes stay, because they are informative and identify no one.
///
/// ```
/// use sinew_cortex::signals::{SignalVocabulary, clean_detail};
/// let vocabulary = SignalVocabulary::built_in();
/// let seen = "HTTP 429: rate limit exceeded for alice@example.com";
/// assert_eq!(clean_detail(seen, &vocabulary), "http 429 rate limit exceeded for …");
/// ```
pub fn clean_detail(text: &str, vocabulary: &SignalVocabulary) -> String {
    // Normalise first: a secret in full-width letters is a secret all the same.
    let masked = secrets::mask_strict(&super::normal(text));
    let masked = masked.replace(secrets::REDACTED, " … ");
    let mut parts: Vec<String> = Vec::new();
    for piece in masked.split_whitespace() {
        let code = piece.trim_matches(|c: char| !c.is_ascii_digit());
        if is_status(code)
            && piece.chars().filter(char::is_ascii_digit).count() == code.len()
            && !piece.contains(['/', '@', '.'])
        {
            parts.push(code.to_owned());
            continue;
        }
        let words = strip::tokens(piece);
        let mut gap = words.is_empty();
        for word in words {
            let plain = word.chars().all(char::is_alphabetic) && vocabulary.may_stay(&word);
            gap |= !plain;
            parts.extend(plain.then_some(word));
        }
        if gap && parts.last().is_none_or(|last| last != GAP) {
            parts.push(GAP.to_owned());
        }
    }
    let mut text = String::new();
    for word in parts {
        if text.chars().count() + 1 + word.chars().count() > MAX_DETAIL {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word);
    }
    text
}

fn is_status(code: &str) -> bool {
    code.len() == 3 && code.parse().is_ok_and(|code: u16| (400..600).contains(&code))
}
