//! "Do not use for …" sentences: evidence against a skill, never for it.

use std::borrow::Cow;

const REFUSALS: [&str; 4] = ["do not ", "don't ", "don’t ", "never "];
const VERBS: [&str; 4] = ["use", "trigger", "activate", "invoke"];

/// A description without the sentences that say what a skill is not for.
///
/// If nothing else is left, the description stays as it is: a skill must be found by something.
pub(crate) fn without_negatives(description: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut dropped = false;
    for sentence in sentences(description) {
        if is_negative(sentence) {
            dropped = true;
        } else {
            kept.push_str(sentence);
        }
    }
    if !dropped || kept.trim().is_empty() {
        return Cow::Borrowed(description);
    }
    Cow::Owned(kept.trim().to_owned())
}

/// The sentences of a description that say what a skill is not for; none if it has no others.
pub(crate) fn negatives(description: &str) -> Vec<&str> {
    let (against, kept): (Vec<&str>, Vec<&str>) =
        sentences(description).partition(|sentence| is_negative(sentence));
    if kept.iter().all(|sentence| sentence.trim().is_empty()) { Vec::new() } else { against }
}

fn is_negative(sentence: &str) -> bool {
    let start = sentence.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '-' | '–' | '—' | '_' | ':' | '(' | '"' | '•')
    });
    let start = super::head(start, 64).to_lowercase();
    if start.starts_with("not for ") || start.starts_with("not intended for ") {
        return true;
    }
    REFUSALS.iter().any(|refusal| {
        start.strip_prefix(refusal).is_some_and(|rest| {
            VERBS.iter().any(|verb| {
                rest.strip_prefix(verb)
                    .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
            })
        })
    })
}

/// Sentences with their ends; a full stop inside a word (`e.g`, `3.5`, `.md`) does not end one.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let spaced = chars.peek().is_none_or(|&(_, next)| next.is_whitespace());
            let ends = match c {
                '.' | '!' | '?' | ';' => spaced,
                '。' | '！' | '？' | '；' | '\n' => true,
                // An em dash starts a new clause: "… — do not use for …".
                '—' | '–' => {
                    let next =
                        super::head(rest[at + c.len_utf8()..].trim_start(), 16).to_lowercase();
                    next.starts_with("do not ") || next.starts_with("not for ")
                }
                _ => false,
            };
            if ends {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence)
    })
}
