//! What a user typed, prepared for every signal.

use std::borrow::Cow;
use std::ops::Range;

use crate::spelling::{is_odd, may_be_misspelt};
use crate::text::language::{Language, guess};
use crate::text::negative::sentences;
use crate::text::words::{WordExtractor, is_generic, raw_words};
use crate::text::{head, lexicon, normalised, pasted_text, tail};

/// The maximum length of a message: of a longer one the start and the end are used, where requests
/// usually are.
pub const MAX_MESSAGE: usize = 8 * 1024;

/// The weight of a word translated from another language.
const BRIDGE_WEIGHT: f32 = 0.8;

/// The weight of a word that occurs only in pasted code or logs.
const PASTED_WEIGHT: f32 = 0.3;

/// The weight of a request word such as "check" or "show".
const GENERIC_WEIGHT: f32 = 0.5;

/// With fewer own words, the pasted text counts as the message.
const FEW_WORDS: usize = 4;

/// Longer prose is also read in windows of sentences, so that one relevant sentence is noticed. The encoder
/// reads about as many words at once, and knows better than a window what a message is about.
const LONG_WORDS: usize = 90;

/// A window grows by sentences until it has this many words.
const WINDOW_WORDS: usize = 14;

/// Windows of one message: 8 KiB of prose have about as many.
const MAX_WINDOWS: usize = 80;

/// Words of a part that are taken for names or slips of the fingers.
const MAX_ODD: usize = 16;

/// What a user typed.
#[derive(Debug, Clone)]
pub struct UserMessage<'a> {
    text: &'a str,
    ignored: Vec<Range<usize>>,
}

impl<'a> UserMessage<'a> {
    /// A message as the user typed it.
    pub fn from_user(text: &'a str) -> Self {
        Self { text, ignored: Vec::new() }
    }

    /// The same without a part that the user did not type: a system or hook preamble.
    #[must_use]
    pub fn without(mut self, part: Range<usize>) -> Self {
        self.ignored.push(part);
        self
    }

    /// The user's words: without preambles, capped and normalised.
    fn clean(&self) -> Cow<'a, str> {
        if self.ignored.is_empty() {
            return capped(self.text);
        }
        let kept: String = self
            .text
            .char_indices()
            .filter(|(at, _)| !self.ignored.iter().any(|part| part.contains(at)))
            .map(|(_, c)| c)
            .collect();
        Cow::Owned(capped(&kept).into_owned())
    }
}

fn capped(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE {
        return normalised(text);
    }
    let both = format!("{}\n{}", head(text, MAX_MESSAGE / 2), tail(text, MAX_MESSAGE / 2));
    Cow::Owned(normalised(&both).into_owned())
}

/// A search word of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    pub(crate) word: String,
    pub(crate) weight: f32,
    pub(crate) pasted: bool,
    /// Whether no vocabulary has it: a name, or a slip of the fingers.
    pub(crate) odd: bool,
    /// Whether it may be the latter.
    pub(crate) misspelt: bool,
}

/// A message, prepared.
#[derive(Debug, Clone)]
pub(crate) struct PreparedQuery {
    /// The whole text, for mentions and phrases.
    pub(crate) text: String,
    pub(crate) language: Language,
    pub(crate) whole: QueryPart,
    /// Windows of a long message; none for a short one.
    pub(crate) windows: Vec<QueryPart>,
}

/// A message or a window of it, as the signals read it.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryPart {
    pub(crate) terms: Vec<QueryTerm>,
    /// The user's words, or the pasted text if there are hardly any.
    pub(crate) prose: String,
    /// English words for it.
    pub(crate) bridge: String,
}

impl PreparedQuery {
    /// Prepares a message; `bridge` says whether the bridge lexicon is used, `spelling` whether misspelt
    /// words are marked.
    pub(crate) fn new(message: &UserMessage<'_>, bridge: bool, spelling: bool) -> Self {
        let text = message.clean();
        let split = pasted_text::split_pasted(&text);
        let own_words = raw_words(&split.prose).take(LONG_WORDS + 1).count();
        let (prose, pasted) = if own_words < FEW_WORDS {
            (format!("{} {}", split.prose, split.pasted), "")
        } else {
            (split.prose, split.pasted.as_str())
        };
        let language = guess(&prose);
        let reader =
            QueryReader { words: WordExtractor::new(language), language, bridge, spelling };
        let whole = reader.part(&prose, pasted);
        let windows = if own_words > LONG_WORDS { reader.windows(&prose) } else { Vec::new() };
        Self { text: text.into_owned(), language, whole, windows }
    }

    /// Every word to look up in the index.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &QueryTerm> {
        self.windows.iter().chain([&self.whole]).flat_map(|part| &part.terms)
    }

    /// Whether there is no word to route by.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.terms.is_empty()
    }
}

impl QueryPart {
    /// The encoder's input: the words, then their English translation after a bar, as in training.
    pub(crate) fn encoder_text(&self) -> Cow<'_, str> {
        if self.bridge.is_empty() {
            Cow::Borrowed(self.prose.trim())
        } else {
            Cow::Owned(format!("{} | {}", self.prose.trim(), self.bridge))
        }
    }

    /// The static table's input.
    pub(crate) fn static_parts(&self) -> [(&str, f32); 2] {
        [(&self.prose, 1.0), (&self.bridge, BRIDGE_WEIGHT)]
    }
}

struct QueryReader {
    words: WordExtractor,
    language: Language,
    bridge: bool,
    spelling: bool,
}

impl QueryReader {
    fn part(&self, prose: &str, pasted: &str) -> QueryPart {
        let bridge = if self.bridge {
            lexicon::english_from(prose, self.language).join(" ")
        } else {
            String::new()
        };
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut add = |word: &str, weight: f32, pasted: bool| match terms
            .iter_mut()
            .find(|term| term.word == word)
        {
            Some(term) => term.weight = term.weight.max(weight),
            None => terms.push(QueryTerm {
                word: word.to_owned(),
                weight,
                pasted,
                odd: false,
                misspelt: false,
            }),
        };
        let weight = |word: &str| if is_generic(word) { GENERIC_WEIGHT } else { 1.0 };
        self.words.each(prose, |word| add(word, weight(word), false));
        for whole in hyphenated(prose) {
            add(&whole, 1.0, false);
        }
        WordExtractor::new(Language::En).each(&bridge, |word| add(word, BRIDGE_WEIGHT, false));
        self.words.each(pasted, |word| add(word, PASTED_WEIGHT * weight(word), true));
        for raw in raw_words(prose).filter(|raw| is_odd(raw)).take(MAX_ODD) {
            let may_be_misspelt = self.spelling && may_be_misspelt(raw);
            self.words.of_raw(raw, &mut |word| {
                let own = terms.iter_mut().find(|term| term.word == word);
                own.into_iter().for_each(|term| {
                    term.odd = true;
                    term.misspelt |= may_be_misspelt;
                });
            });
        }
        QueryPart { terms, prose: prose.to_owned(), bridge }
    }

    fn windows(&self, prose: &str) -> Vec<QueryPart> {
        let mut windows = Vec::new();
        let mut window = String::new();
        let mut words = 0;
        for sentence in sentences(prose) {
            window.push_str(sentence);
            words += raw_words(sentence).count();
            if words >= WINDOW_WORDS {
                windows.push(self.part(&window, ""));
                window.clear();
                words = 0;
            }
            if windows.len() == MAX_WINDOWS {
                return windows;
            }
        }
        if words > 2 {
            windows.push(self.part(&window, ""));
        }
        windows
    }
}

/// `pdf-tools` as one word, beside its parts.
fn hyphenated(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-')).filter_map(|word| {
        let word = word.trim_matches('-');
        (word.contains('-') && word.len() < 40)
            .then(|| word.chars().filter(|&c| c != '-').flat_map(char::to_lowercase).collect())
    })
}
