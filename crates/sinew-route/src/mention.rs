//! Messages that name a skill: `$pdf-tools`, `/pdf-tools`, "use the pdf-tools skill".
//!
//! A name wins outright, so mentions are narrow: a word that happens to be a skill's name ("what's
//! the weather") is not a mention.

use crate::index::RouteIndex;

/// Words around a name that make it a mention.
const SKILL: [&str; 9] =
    ["skill", "スキル", "技能", "스킬", "навык", "навыком", "fähigkeit", "habilidad", "compétence"];

/// Words before a name that ask for it.
const USE: [&str; 26] = [
    "use",
    "using",
    "run",
    "invoke",
    "activate",
    "apply",
    "try",
    "load",
    "call",
    "with",
    "via",
    "through",
    "open",
    "start",
    "benutze",
    "nutze",
    "verwende",
    "usa",
    "usar",
    "utilise",
    "use",
    "используй",
    "запусти",
    "使用",
    "用",
    "the",
];

/// Words before a name that refuse it.
const REFUSE: [&str; 10] =
    ["not", "don't", "dont", "don’t", "without", "never", "instead", "except", "no", "nicht"];

/// The longest name before "skill", in words.
const MAX_WORDS: usize = 4;

/// How names are compared: lower case, separators as one `-`.
pub(crate) fn key(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.trim().chars() {
        if matches!(c, '-' | '_' | ' ' | '.' | ':' | '/') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// The documents that a message names, ascending.
pub(crate) fn mentioned_documents(text: &str, index: &RouteIndex) -> Vec<usize> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for at in 0..words.len() {
        let refused = words[at.saturating_sub(3)..at]
            .iter()
            .any(|word| REFUSE.contains(&bare(word).to_lowercase().as_str()));
        if refused {
            continue;
        }
        for candidate in candidates(&words, at) {
            found.extend(index.named(&key(&candidate)));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Names that may start with the word at a position.
fn candidates(words: &[&str], at: usize) -> Vec<String> {
    let word = words[at];
    let mut out = Vec::new();
    let plain = word.trim_start_matches(['(', '"', '\'', '`', '“', '[']);
    if let Some(name) = plain.strip_prefix('$') {
        out.push(bare(name).to_owned());
    } else if at == 0
        && let Some(name) = plain.strip_prefix('/')
    {
        out.push(bare(name).to_owned());
    }
    let is_skill = |at: usize| {
        words.get(at).is_some_and(|word| SKILL.contains(&bare(word).to_lowercase().as_str()))
    };
    let is_requested = at
        .checked_sub(1)
        .is_some_and(|before| USE.contains(&bare(words[before]).to_lowercase().as_str()));
    // "use the pdf tools skill": one to four words between a requesting word and "skill".
    for length in 1..=MAX_WORDS.min(words.len() - at) {
        if is_skill(at + length) && (is_requested || separated(bare(word))) {
            let name: Vec<&str> = words[at..at + length].iter().map(|word| bare(word)).collect();
            out.push(name.join("-"));
        }
    }
    // "the skill pdf-tools", and "use pdf-tools": a name with a separator is not an ordinary word.
    let after_skill = at.checked_sub(1).is_some_and(is_skill);
    if (after_skill || is_requested) && separated(bare(word)) {
        out.push(bare(word).to_owned());
    }
    // "pdf-toolsスキルを使って": no space between the name and the next word.
    for skill in SKILL.iter().filter(|skill| !skill.is_ascii()) {
        if let Some((name, _)) = word.split_once(skill) {
            out.push(bare(name).to_owned());
        }
    }
    out.retain(|name| !name.is_empty());
    out
}

fn separated(word: &str) -> bool {
    word.trim_matches(['-', '_']).contains(['-', '_'])
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')))
}
