//! Names of regions.

use super::vocabulary::{SignalVocabulary, WordClass};

/// The longest name of a region.
const MAX_NAME: usize = 64;

/// The name of a new region: its object and action, or else the first two words, or else the skill.
pub fn region_name(signals: &[String], slug: &str, vocabulary: &SignalVocabulary) -> String {
    let first = |wanted: &[WordClass]| {
        signals
            .iter()
            .find(|word| vocabulary.class(word).is_some_and(|class| wanted.contains(&class)))
    };
    let named =
        match (first(&[WordClass::Noun, WordClass::Tool]), first(&[WordClass::Verb]), signals) {
            (Some(noun), Some(verb), _) => format!("{noun}-{verb}"),
            (_, _, [one, two, ..]) => format!("{one}-{two}"),
            _ => slug.to_owned(),
        };
    clean_region(&named).unwrap_or_else(|| "other".to_owned())
}

/// Whether a text is a valid region name: `^[a-z0-9][a-z0-9-]{0,63}$`.
pub fn is_region(name: &str) -> bool {
    let bytes = name.as_bytes();
    let allowed = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.len() <= MAX_NAME
        && bytes.first().is_some_and(allowed)
        && bytes.iter().all(|b| allowed(b) || *b == b'-')
}

/// The nearest valid region name for a text, if any.
pub fn clean_region(text: &str) -> Option<String> {
    let mut name = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
        if name.len() == MAX_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-').to_owned();
    is_region(&name).then_some(name)
}
