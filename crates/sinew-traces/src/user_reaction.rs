//! What a user says after a run: thanks, a complaint, or an instruction for the next time.

use crate::corrections::is_correction;

/// What a message says about the work before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserReaction {
    /// It did not work.
    Complaint,
    /// It worked.
    Confirmation,
    /// It is accepted, and something is wanted from now on.
    Correction,
    /// Nothing.
    None,
}

/// Words of complaint, by language: each is matched as whole words in lower case.
const COMPLAINTS: &[&str] = &[
    // English
    "did not work",
    "didn't work",
    "doesn't work",
    "does not work",
    "not working",
    "wrong",
    "undo",
    "undo that",
    "revert",
    "roll back",
    "still fails",
    "still failing",
    "still broken",
    "that broke",
    "it broke",
    "is broken",
    "not what i",
    "that is not right",
    "that's not right",
    // German
    "hat nicht funktioniert",
    "funktioniert nicht",
    "geht nicht",
    "falsch",
    "rückgängig",
    // French
    "ne marche pas",
    "n'a pas marché",
    "ne fonctionne pas",
    "annule",
    // Spanish
    "no funciona",
    "no funcionó",
    "está mal",
    "deshaz",
    // Portuguese
    "não funciona",
    "não funcionou",
    "está errado",
    "desfaz",
    // Italian
    "non funziona",
    "non ha funzionato",
    "sbagliato",
    "annulla",
    // Dutch
    "werkt niet",
    "werkte niet",
    "verkeerd",
    // Chinese, Japanese
    "没用",
    "不行",
    "错了",
    "撤销",
    "動かない",
    "違います",
];

/// Words of thanks and assent.
const CONFIRMATIONS: &[&str] = &[
    // English
    "thanks",
    "thank you",
    "thx",
    "that worked",
    "it works",
    "works",
    "perfect",
    "great",
    "awesome",
    "nice work",
    "well done",
    "looks good",
    "lgtm",
    "excellent",
    // German
    "danke",
    "funktioniert",
    "perfekt",
    "super",
    "passt",
    // French
    "merci",
    "parfait",
    "ça marche",
    // Spanish
    "gracias",
    "perfecto",
    "funciona",
    // Portuguese
    "obrigado",
    "obrigada",
    "perfeito",
    // Italian
    "grazie",
    "perfetto",
    // Dutch
    "bedankt",
    "dank je",
    // Chinese, Japanese
    "谢谢",
    "完美",
    "好的",
    "ありがとう",
    "完璧",
];

/// A reaction is short; a longer message is about something else.
const MAX_REACTION: usize = 400;

/// What a message says about the work before it.
pub fn reaction(message: &str) -> UserReaction {
    if message.len() > MAX_REACTION {
        return UserReaction::None;
    }
    let lower = message.to_lowercase().replace('\u{2019}', "'");
    if has_one(&lower, COMPLAINTS) {
        return UserReaction::Complaint;
    }
    if has_one(&lower, CONFIRMATIONS) {
        return UserReaction::Confirmation;
    }
    if is_correction(message) { UserReaction::Correction } else { UserReaction::None }
}

/// Whether the work that follows a message continues the task before it.
pub(crate) fn is_about_last_run(message: &str) -> bool {
    matches!(reaction(message), UserReaction::Complaint | UserReaction::Correction)
}

fn has_one(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        lower.match_indices(phrase).any(|(at, found)| {
            // Scripts without spaces have no word boundaries to check.
            let is_letter = |c: char| c.is_alphanumeric() && c.is_ascii();
            let before = lower[..at].chars().next_back().is_some_and(is_letter);
            let after = lower[at + found.len()..].chars().next().is_some_and(is_letter);
            !before && !after
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reactions_are_told_apart() {
        let check = |said: &str, expected| assert_eq!(reaction(said), expected, "{said}");
        check("Thanks, that worked.", UserReaction::Confirmation);
        check("that did not work", UserReaction::Complaint);
        check("It still fails with the same error", UserReaction::Complaint);
        check("Das funktioniert nicht", UserReaction::Complaint);
        check("谢谢", UserReaction::Confirmation);
        check("From now on always sort the digest by age.", UserReaction::Correction);
        check("Now write the networks page", UserReaction::None);
    }
}
