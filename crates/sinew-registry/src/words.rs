//! The words of skills and of queries, as the index compares them.

use std::collections::HashMap;

use super::model::SkillDoc;

/// Weights of the places in which a word can be found.
const IN_SLUG: f32 = 4.0;
const IN_NAME: f32 = 3.0;
const IN_TOPICS: f32 = 2.0;
const IN_SUMMARY: f32 = 1.0;
/// Words of a skill; a longer summary is cut.
const MAX_SKILL_WORDS: usize = 400;

/// The words of a skill, with what each is worth.
pub(super) fn weights(skill: &SkillDoc) -> HashMap<String, f32> {
    let mut weights: HashMap<String, f32> = HashMap::new();
    let topics = skill.topics.join(" ");
    let fields: [(&str, f32); 4] = [
        (&skill.slug, IN_SLUG),
        (&skill.display_name, IN_NAME),
        (&topics, IN_TOPICS),
        (skill.summary.as_deref().unwrap_or_default(), IN_SUMMARY),
    ];
    for (text, worth) in fields {
        for word in tokens(text).into_iter().take(MAX_SKILL_WORDS) {
            *weights.entry(word).or_default() += worth;
        }
    }
    *weights.entry(skill.owner.clone()).or_default() += IN_SUMMARY;
    weights
}

/// Words in lower case, without a plural's `s`.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let plain = |word: &str| {
        let mut word = word.to_lowercase();
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
        word
    };
    words.map(plain).collect()
}

/// A query as the slug that it may be.
pub(super) fn slugged(query: &str) -> String {
    let words: Vec<String> = query
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}
