//! The detail of a failure: what a person needs to understand it, without anything that identifies
//! someone.

use sinew_guard::secrets;

use super::strip;
use super::vocabulary::{self, SignalVocabulary};

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
/// assert_eq!(clean_detail(seen, &vocabulary), "HTTP 429 rate limit exceeded for …");
/// let claim = "claims WebP export but only writes PNG";
/// assert_eq!(clean_detail(claim, &vocabulary), claim);
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
            let is_plain = word.chars().all(char::is_alphabetic) && vocabulary.may_stay(&word);
            let stays = is_plain || vocabulary::is_technical(&word);
            gap |= !stays;
            parts.extend(stays.then(|| as_written(piece, word)));
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

/// A word as it was written: `WebP`, not `webp`.
fn as_written(piece: &str, word: String) -> String {
    let place = piece.is_ascii().then(|| piece.to_ascii_lowercase().find(&word)).flatten();
    match place.and_then(|at| piece.get(at..at + word.len())) {
        Some(written) => written.to_owned(),
        None => word,
    }
}

fn is_status(code: &str) -> bool {
    code.len() == 3 && code.parse().is_ok_and(|code: u16| (400..600).contains(&code))
}
