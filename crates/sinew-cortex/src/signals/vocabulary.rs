//! The vocabulary: the only words that can be signals.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

/// The version of the word lists, recorded in the log with the signals they accepted.
pub const VERSION: u32 = 1;

const VERBS: &str = include_str!("../../data/verbs.txt");
const NOUNS: &str = include_str!("../../data/nouns.txt");
const TOOLS: &str = include_str!("../../data/tools.txt");
const STOP: &str = include_str!("../../data/stop.txt");
const PLAIN: &str = include_str!("../../data/plain.txt");
const GENERIC: &str = include_str!("../../data/generic.txt");
const NAMES: &str = include_str!("../../data/names.txt");
const FORMATS: &str = include_str!("../../data/formats.txt");
const PHRASES: &str = include_str!("../../data/phrases.tsv");
const WORDS: &str = include_str!("../../data/words.tsv");

/// What the names of companies and products begin with: a search may name them.
const BRANDS: &str = "# Companies and brands";
/// What the names of places begin with: those of people come before.
const PLACES: &str = "# Places";
/// The longest word of a language without blanks, in characters.
const LONGEST: usize = 8;
/// A shorter part of a slug is not a tool name.
const SHORTEST_TOOL: usize = 3;
/// Tool names learned from slugs: more than any catalog has.
const MAX_LEARNED_TOOLS: usize = 20_000;

/// The class of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WordClass {
    /// An action.
    Verb,
    /// An abstract noun.
    Noun,
    /// A generic tool or service.
    Tool,
}

/// The words of a phrase, and the words it stands for.
type PhraseWords = (Vec<&'static str>, Vec<&'static str>);

#[derive(Debug)]
struct WordLists {
    classes: HashMap<&'static str, WordClass>,
    stop: HashSet<&'static str>,
    plain: HashSet<&'static str>,
    generic: HashSet<&'static str>,
    names: HashSet<&'static str>,
    people_and_places: HashSet<&'static str>,
    people: HashSet<&'static str>,
    /// What a detail keeps beside the vocabulary.
    formats: HashSet<&'static str>,
    /// By first word: the whole phrase and its meaning.
    phrases: HashMap<&'static str, Vec<PhraseWords>>,
    /// Words of other languages.
    foreign: HashMap<&'static str, &'static str>,
}

static LISTS: LazyLock<WordLists> = LazyLock::new(|| {
    let mut classes = HashMap::new();
    for (list, class) in
        [(VERBS, WordClass::Verb), (NOUNS, WordClass::Noun), (TOOLS, WordClass::Tool)]
    {
        classes.extend(each(list).map(|word| (word, class)));
    }
    let mut phrases: HashMap<_, Vec<_>> = HashMap::new();
    for (phrase, meaning) in rows(PHRASES).filter_map(|row| row.split_once('\t')) {
        let words: Vec<&str> = phrase.split(' ').collect();
        phrases.entry(words[0]).or_default().push((words, meaning.split(' ').collect()));
    }
    // The longest phrase that matches wins.
    phrases.values_mut().for_each(|found| found.sort_by_key(|(words, _)| usize::MAX - words.len()));
    let mut foreign = HashMap::new();
    for row in rows(WORDS) {
        let mut cells = row.split('\t');
        let english = cells.next().unwrap_or_default();
        for word in cells.flat_map(|cell| cell.split('/')).filter(|word| !word.is_empty()) {
            // An English word means itself; of two languages the first row decides.
            if !classes.contains_key(word) {
                foreign.entry(word).or_insert(english);
            }
        }
    }
    WordLists {
        classes,
        stop: each(STOP).collect(),
        plain: each(PLAIN).collect(),
        generic: each(GENERIC).collect(),
        names: each(NAMES).collect(),
        people: NAMES.split(PLACES).next().map(each).into_iter().flatten().collect(),
        people_and_places: NAMES.split(BRANDS).next().map(each).into_iter().flatten().collect(),
        formats: each(FORMATS).collect(),
        phrases,
        foreign,
    }
});

fn rows(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

fn each(list: &'static str) -> impl Iterator<Item = &'static str> {
    rows(list).flat_map(str::split_whitespace)
}

/// The word lists, with the tool names learned from the catalog's slugs.
#[derive(Debug, Clone, Default)]
pub struct SignalVocabulary {
    tools: Arc<HashSet<String>>,
}

impl SignalVocabulary {
    /// The word lists alone.
    pub fn built_in() -> Self {
        Self::default()
    }

    /// The word lists and the tool names in `slugs`. Names of people, places and companies are not
    /// learned, even if a skill is named after one.
    pub fn with_slugs<'a>(slugs: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tools = HashSet::new();
        let parts = slugs.into_iter().flat_map(|slug| slug.split(['-', '_', '.', '/', '@', ' ']));
        for part in parts.map(str::to_lowercase) {
            let is_word =
                part.chars().count() >= SHORTEST_TOOL && part.chars().all(char::is_alphabetic);
            let is_known = LISTS.stop.contains(&*part) || LISTS.classes.contains_key(&*part);
            if is_word && !is_known && !is_name(&part) && tools.len() < MAX_LEARNED_TOOLS {
                tools.insert(part);
            }
        }
        Self { tools: Arc::new(tools) }
    }

    /// The class of a word, if it is in the vocabulary.
    pub fn class(&self, word: &str) -> Option<WordClass> {
        let learned = || self.tools.contains(word).then_some(WordClass::Tool);
        LISTS.classes.get(word).copied().or_else(learned)
    }

    /// The English meaning of a pattern's word; an unknown word means itself.
    pub fn english(&self, word: &str) -> String {
        let lower = word.to_lowercase();
        self.known(&lower).unwrap_or(lower)
    }

    /// The vocabulary's words among `tokens`, with phrases and other languages in English.
    pub(super) fn read(&self, tokens: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if let Some((length, meaning)) = phrase(&tokens[at..]) {
                found.extend(
                    meaning
                        .iter()
                        .filter(|word| self.class(word).is_some())
                        .map(|&word| word.to_owned()),
                );
                at += length;
                continue;
            }
            for word in tokens[at].split(['-', '_']).filter(|word| !word.is_empty()) {
                self.read_word(word, &mut found);
            }
            at += 1;
        }
        found
    }

    fn read_word(&self, word: &str, found: &mut Vec<String>) {
        if word.chars().any(is_unspaced) {
            found.extend(unspaced(word));
        } else if word.chars().any(char::is_numeric) || LISTS.stop.contains(word) {
            // Numbers and function words do not say what a task is about.
        } else if let Some(known) = self.known(word) {
            found.push(known);
        }
    }

    /// The word itself, its base form, or its English meaning.
    fn known(&self, word: &str) -> Option<String> {
        if self.class(word).is_some() {
            return Some(word.to_owned());
        }
        let form = reduced(word).find(|form| self.class(form).is_some() && !is_name(word));
        form.or_else(|| LISTS.foreign.get(word).map(|english| (*english).to_owned()))
    }

    /// Whether a word is a verb that every kind of task has: alone it says nothing about a task.
    pub fn is_generic(&self, word: &str) -> bool {
        LISTS.generic.contains(word)
    }

    /// Whether a word, or a base form of it, is in the vocabulary.
    pub(super) fn is_known(&self, word: &str) -> bool {
        self.known(word).is_some()
    }

    /// Whether a word is a function word, or one that any text may have.
    pub(super) fn is_common(&self, word: &str) -> bool {
        LISTS.stop.contains(word) || LISTS.plain.contains(word)
    }

    /// Whether a word may stay in the detail of a failure: what is in the vocabulary, and the names of
    /// formats and well-known programs.
    pub(super) fn may_stay(&self, word: &str) -> bool {
        is_technical(word)
            || LISTS.stop.contains(word)
            || LISTS.plain.contains(word)
            || self.known(word).is_some()
    }
}

/// Whether a word names a format or a well-known program; such words may hold digits.
pub(super) fn is_technical(word: &str) -> bool {
    // Programs that are named as people are.
    const NAMED_AS_PEOPLE: &[&str] = &["chef", "julia", "miller", "pass", "ruby", "sam"];
    let is_program = || {
        !NAMED_AS_PEOPLE.contains(&word)
            && word.len() >= SHORTEST_TOOL
            && sinew_guard::effects::is_known_program(word)
    };
    LISTS.formats.contains(word) || is_program() && !is_name(word)
}

/// Whether a word is a well-known name of a person, a place or a company.
pub(super) fn is_name(word: &str) -> bool {
    LISTS.names.contains(word)
        || word.strip_suffix('s').is_some_and(|name| LISTS.names.contains(name))
}

/// Whether a word in lower case is a given name or a family name.
pub fn is_person_name(word: &str) -> bool {
    LISTS.people.contains(word)
}

/// Whether a word in lower case is known: a word of the vocabulary, a place, a product, a company.
pub fn is_known_word(word: &str) -> bool {
    is_name(word)
        || is_technical(word)
        || LISTS.classes.contains_key(word)
        || LISTS.stop.contains(word)
        || LISTS.plain.contains(word)
        || LISTS.generic.contains(word)
        || reduced(word).any(|form| LISTS.classes.contains_key(&*form))
}

/// Whether a word is a well-known name of a person or a place, and no word of the vocabulary.
pub(super) fn is_person_or_place(word: &str) -> bool {
    let plain = !LISTS.classes.contains_key(word) && !LISTS.stop.contains(word);
    plain && LISTS.people_and_places.contains(word)
}

/// The phrase that `tokens` start with: its length, and its meaning. Only the first word of a
/// phrase is a verb that may be inflected.
fn phrase(tokens: &[String]) -> Option<(usize, &'static [&'static str])> {
    let first = tokens.first()?;
    let forms = std::iter::once(first.clone()).chain(reduced(first));
    for form in forms {
        for (words, meaning) in LISTS.phrases.get(&*form).into_iter().flatten() {
            let rest = tokens.get(1..words.len());
            if rest
                .is_some_and(|rest| rest.iter().zip(&words[1..]).all(|(token, word)| token == word))
            {
                return Some((words.len(), meaning));
            }
        }
    }
    None
}

/// Possible base forms of an English plural, -ing or -ed form, likeliest first.
fn reduced(word: &str) -> impl Iterator<Item = String> + use<> {
    let mut forms: Vec<String> = Vec::new();
    let mut cut = |ending: &str, with: &[&str]| {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 2) {
            forms.extend(with.iter().map(|end| format!("{stem}{end}")));
            let mut letters = stem.chars().rev();
            if ending != "s"
                && ending != "es"
                && let (Some(a), Some(b)) = (letters.next(), letters.next())
                && a == b
            {
                forms.push(stem.chars().take(stem.chars().count() - 1).collect());
            }
        }
    };
    cut("ies", &["y"]);
    cut("es", &["e", ""]);
    cut("s", &[""]);
    cut("ied", &["y"]);
    cut("ed", &["", "e"]);
    cut("ing", &["", "e"]);
    forms.into_iter()
}

/// Scripts without blanks between words, and Korean, which attaches particles to words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}')
}

/// The known words of a run without blanks: always the longest match.
fn unspaced(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let longest = (at + LONGEST).min(letters.len());
        let hit = (at + 1..=longest).rev().find_map(|end| {
            let word: String = letters[at..end].iter().collect();
            LISTS.foreign.get(&*word).map(|english| (end, (*english).to_owned()))
        });
        match hit {
            Some((end, english)) => {
                found.push(english);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_agree_with_each_other() {
        let mut seen = HashSet::new();
        for word in each(VERBS).chain(each(NOUNS)).chain(each(TOOLS)) {
            assert!(seen.insert(word), "{word} occurs twice");
            assert!(!is_name(word), "{word} is a name");
            assert!(!LISTS.stop.contains(word), "{word} is a stop word");
            assert!(!word.contains(|c: char| c.is_numeric() || c.is_uppercase()), "{word}");
        }
        assert!(seen.len() > 2_000);
        for row in rows(PHRASES) {
            let (_, meaning) = row.split_once('\t').expect("a phrase has a meaning");
            for word in meaning.split(' ') {
                assert!(LISTS.classes.contains_key(word), "{word} in {row}");
            }
        }
        for (word, english) in &LISTS.foreign {
            assert!(LISTS.classes.contains_key(english), "{english} for {word}");
            assert!(!is_name(word), "{word}");
        }
        assert!(LISTS.foreign.len() > 1_500, "{}", LISTS.foreign.len());
    }
}
