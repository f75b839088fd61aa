//! The detail of a failure: what a person needs to understand it, and nothing that names anyone.

use sinew_guard::secrets;

use super::strip;
use super::vocabulary::SignalVocabulary;

/// Characters of a detail that are kept.
pub const MAX_DETAIL: usize = 200;
/// What stands where something was taken out.
const GAP: &str = "…";

/// A detail without secrets, entities and unknown words, at most [`MAX_DETAIL`] characters long.
/// Status codes of HTTP stay, because they say what happened and to nobody.
///
/// ```
/// use sinew_cortex::signals::{SignalVocabulary, clean_detail};
/// let vocabulary = SignalVocabulary::built_in();
/// let seen = "HTTP 429: rate limit exceeded for alice@example.com";
/// assert_eq!(clean_detail(seen, &vocabulary), "http 429 rate limit exceeded for …");
/// ```
pub fn clean_detail(text: &str, vocabulary: &SignalVocabulary) -> String {
    // Normal form first: a secret that is written in wide letters is one all the same.
    let masked = secrets::mask_strict(&super::normal(text));
    let masked = masked.replace(secrets::REDACTED, " … ");
    let mut kept: Vec<String> = Vec::new();
    for piece in masked.split_whitespace() {
        let code = piece.trim_matches(|c: char| !c.is_ascii_digit());
        if is_status(code)
            && piece.chars().filter(char::is_ascii_digit).count() == code.len()
            && !piece.contains(['/', '@', '.'])
        {
            kept.push(code.to_owned());
            continue;
        }
        let words = strip::tokens(piece);
        let mut gap = words.is_empty();
        for word in words {
            let plain = word.chars().all(char::is_alphabetic) && vocabulary.may_stay(&word);
            gap |= !plain;
            kept.extend(plain.then_some(word));
        }
        if gap && kept.last().is_none_or(|last| last != GAP) {
            kept.push(GAP.to_owned());
        }
    }
    let mut text = String::new();
    for word in kept {
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
