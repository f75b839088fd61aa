//! What registries are searched with: the message without what identifies someone, and some keywords.
//!
//! Unlike signals, these words are not stored and need not be in the vocabulary: a skill is found by the
//! names of what it works with. What must never happen here: a person, an address, a number, a path or a
//! secret that leaves the machine.

use sinew_guard::secrets;

use super::strip;
use super::vocabulary::{self, SignalVocabulary, WordClass};

/// Keywords of a search.
const FEWEST: usize = 3;
const MOST: usize = 5;
/// The longest message that is sent: registries read no more, and its subject is named early.
const MAX_MESSAGE: usize = 400;
/// A shorter word says little.
const SHORTEST: usize = 3;
/// Digits of a word that is no number: `mp3`, `h264`, `oauth2`.
const MAX_DIGITS: usize = 3;
/// Words before a name.
const TITLES: &[&str] = &[
    "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "sir", "herr", "frau", "señor", "señora",
    "monsieur", "madame", "mme", "signor", "signora", "uncle", "aunt",
];

/// A message without people, addresses, numbers, paths and secrets, in lower case.
///
/// ```
/// use sinew_cortex::signals::search_message;
/// let asked = search_message("Send Alice Marlow's invoice /home/kim/march.pdf to bob@example.com, 450 EUR");
/// assert_eq!(asked, "send invoice pdf to");
/// ```
pub fn search_message(task: &str) -> String {
    let mut message = String::new();
    for word in content(task) {
        if message.len() + 1 + word.len() > MAX_MESSAGE {
            break;
        }
        if !message.is_empty() {
            message.push(' ');
        }
        message.push_str(&word);
    }
    message
}

/// The keywords of a search: three to five, in the order of the message. The vocabulary's words come
/// first, those that say most before those that every task has; then other words of the message, then
/// those of the region's name.
pub fn search_keywords(
    signals: &[String],
    task: Option<&str>,
    region: Option<&str>,
) -> Vec<String> {
    let vocabulary = SignalVocabulary::built_in();
    let mut found: Vec<String> = signals.to_vec();
    if found.len() > MOST {
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|&at| match vocabulary.class(&found[at]) {
            _ if vocabulary.is_generic(&found[at]) => 2,
            Some(WordClass::Verb) => 1,
            _ => 0,
        });
        order.truncate(MOST);
        order.sort_unstable();
        found = order.into_iter().map(|at| found[at].clone()).collect();
    }
    let mut add = |word: &str, most: usize| {
        // `to-do` is there as `todo`.
        let joined = word.replace('-', "");
        if found.len() < most && !found.iter().any(|known| known == word || *known == joined) {
            found.push(word.to_owned());
        }
    };
    for word in task.map(content).unwrap_or_default() {
        let is_plain = word.is_ascii() && word.len() >= SHORTEST;
        if is_plain && !vocabulary.is_common(&word) && !vocabulary.is_known(&word) {
            add(&word, MOST);
        }
    }
    for word in region.unwrap_or_default().split('-').filter(|word| word.len() > 1) {
        add(word, FEWEST);
    }
    found
}

/// The words of a message without what identifies someone.
fn content(task: &str) -> Vec<String> {
    let masked = secrets::mask_strict(&super::normal(task)).replace(secrets::REDACTED, " ");
    let words = strip::tokens(&without_people(&masked));
    words.into_iter().filter(|word| !is_number(word)).collect()
}

/// The text without given names, the family names that follow them, and names after a title. A word of
/// the vocabulary stays whatever else it means.
fn without_people(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut after_name = false;
    for piece in text.split_whitespace() {
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = bare.strip_suffix("'s").unwrap_or(bare);
        let lower = bare.to_lowercase();
        let is_title = TITLES.contains(&lower.as_str());
        let is_capital = bare.chars().next().is_some_and(char::is_uppercase)
            && bare.chars().skip(1).any(char::is_lowercase);
        let is_name = vocabulary::is_person_or_place(&lower) || after_name && is_capital;
        // `Miller, Tom` are two; a sentence that ends ends the name.
        after_name = (is_name || is_title) && !piece.ends_with(['.', '!', '?', ':', ';'])
            || is_title && piece.ends_with('.');
        if !is_name {
            kept.push(piece);
        }
    }
    kept.join(" ")
}

/// Whether a word is a number, or mostly one.
fn is_number(word: &str) -> bool {
    let digits = word.chars().filter(|c| c.is_numeric()).count();
    digits > 0
        && (!word.starts_with(char::is_alphabetic) || digits > MAX_DIGITS || word.contains('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_addresses_numbers_paths_and_secrets_stay_here() {
        for (task, asked) in [
            ("call Jane Doe at +49 170 1234567", "call at"),
            ("mail Dr. Holm the report", "mail dr the report"),
            ("upload /srv/data/x9.csv to 10.0.0.7", "upload spreadsheet to"),
            ("use the key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "use the key"),
            ("make an mp3 of take 17", "make an mp3 of take"),
            ("draw a spectrogram of jellyfin", "draw a spectrogram of jellyfin"),
        ] {
            assert_eq!(search_message(task), asked, "{task}");
        }
    }

    #[test]
    fn a_message_with_a_noun_always_has_words() {
        for task in ["ragu", "a spectrogram please", "把牛顿画成漫画", "der Beleg"] {
            assert!(!search_message(task).is_empty(), "{task}");
        }
    }

    #[test]
    fn keywords_are_three_to_five_and_say_what_the_task_is_about() {
        let words = |task: &str| {
            let signals = super::super::signal_words(task, &SignalVocabulary::built_in());
            search_keywords(&signals, Some(task), None)
        };
        assert_eq!(words("manage my to-do list"), ["manage", "todo", "list"]);
        let found = words("please make me a spectrogram of the gramophone record");
        assert!(found.iter().any(|word| word == "spectrogram"), "{found:?}");
        let long =
            "send, show, get and make the invoice pdf, archive, backup and report of the server";
        let found = words(long);
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(!found.iter().any(|word| word == "get"), "{found:?}");
    }
}
