//! The word-piece tokenizer of BERT: with the vocabulary in the binary, or with a file's own.

mod basic;
mod embedded;
mod tokenizer_json;

use std::collections::HashMap;

use basic::TokenCleaning;

/// The prefix of a piece that continues a word.
const PREFIX: &str = "##";

/// Splits text into pieces of a vocabulary.
#[derive(Debug, Clone)]
pub(crate) struct Tokenizer {
    vocabulary: TokenVocabulary,
    cleaning: TokenCleaning,
    /// A word with more characters becomes one unknown piece.
    max_word: usize,
    /// The id of a word that no pieces spell.
    unknown: u32,
    start: u32,
    end: u32,
}

#[derive(Debug, Clone)]
enum TokenVocabulary {
    Embedded,
    Own(HashMap<Box<str>, u32>),
}

impl Tokenizer {
    /// That of our own models: BERT, uncased. `None` where it was missing when this was built.
    pub(crate) fn embedded() -> Option<Self> {
        (embedded::count() > 0).then_some(Self {
            vocabulary: TokenVocabulary::Embedded,
            cleaning: TokenCleaning::UNCASED,
            max_word: 100,
            unknown: 100,
            start: 101,
            end: 102,
        })
    }

    /// The largest id it can give, plus one.
    pub(crate) fn size(&self) -> usize {
        match &self.vocabulary {
            TokenVocabulary::Embedded => embedded::count(),
            TokenVocabulary::Own(pieces) => {
                pieces.values().max().map_or(0, |&largest| largest as usize + 1)
            }
        }
    }

    /// Token ids of a text, without the start and end marks and without unknown words, at most
    /// `limit` of them.
    pub(crate) fn known_ids(&self, text: &str, limit: usize) -> Vec<u32> {
        self.pieces(text, limit, false)
    }

    /// Token ids with the start and end marks, at most `limit` in all.
    pub(crate) fn marked_ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut out = vec![self.start];
        out.extend(self.pieces(text, limit.saturating_sub(2), true));
        out.push(self.end);
        out
    }

    /// Whether the vocabulary has any word of a text as one piece. What is only spelled, letter by
    /// letter, means nothing that was learned.
    pub(crate) fn has_a_word(&self, text: &str) -> bool {
        /// Shorter words are pieces of others: `z` begins a thousand names.
        const LETTERS: usize = 3;
        let (mut room, mut out, mut has) = (TokenizerScratch::default(), Vec::new(), false);
        self.cleaning.each_word(text, |word| {
            out.clear();
            let spelled = word.len() >= LETTERS && self.spell(word, &mut room, &mut out);
            has = spelled && out.len() == 1 && word.chars().all(char::is_alphabetic);
            !has
        });
        has
    }

    fn pieces(&self, text: &str, limit: usize, with_unknown: bool) -> Vec<u32> {
        let mut out = Vec::with_capacity(limit.min(text.len() / 3 + 4));
        let mut room = TokenizerScratch::default();
        self.cleaning.each_word(text, |word| {
            if !self.spell(word, &mut room, &mut out) && with_unknown {
                out.push(self.unknown);
            }
            out.len() < limit
        });
        out.truncate(limit);
        out
    }

    /// Longest match first, as in BERT; `false` and nothing for a word that cannot be spelled.
    fn spell(&self, word: &str, room: &mut TokenizerScratch, out: &mut Vec<u32>) -> bool {
        let before = out.len();
        if word.len() > self.max_word && word.chars().count() > self.max_word {
            return false;
        }
        let mut at = 0;
        while at < word.len() {
            let prefix = if at == 0 { "" } else { PREFIX };
            let Some((end, id)) = self.longest(prefix, &word[at..], room) else {
                out.truncate(before);
                return false;
            };
            out.push(id);
            at += end;
        }
        true
    }

    fn longest(
        &self,
        prefix: &str,
        rest: &str,
        room: &mut TokenizerScratch,
    ) -> Option<(usize, u32)> {
        let pieces = match &self.vocabulary {
            TokenVocabulary::Embedded => return embedded::longest(prefix, rest, &mut room.hashes),
            TokenVocabulary::Own(pieces) => pieces,
        };
        room.piece.clear();
        room.piece.push_str(prefix);
        room.piece.push_str(rest);
        loop {
            if let Some(&id) = pieces.get(room.piece.as_str()) {
                return Some((room.piece.len() - prefix.len(), id));
            }
            room.piece.pop();
            if room.piece.len() <= prefix.len() {
                return None;
            }
        }
    }
}

/// Room for the work on one word, used again for the next.
#[derive(Default)]
struct TokenizerScratch {
    hashes: Vec<u64>,
    piece: String,
}
