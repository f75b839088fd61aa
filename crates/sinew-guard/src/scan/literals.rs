//! The literal filter: every occurrence of some hundred words, overlapping ones included.
//!
//! The automaton is walked here rather than by the crate's own iterator, which looks up its state
//! at every word: text full of words would cost four times as much.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, BuildError, MatchError, MatchKind, PatternID};

/// Words, compiled for searching.
#[derive(Debug)]
pub(crate) struct LiteralFilter {
    dfa: DFA,
    start: StateID,
}

/// Why words cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiteralFilterError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Start(#[from] MatchError),
}

impl LiteralFilter {
    pub(crate) fn new<W: AsRef<[u8]>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, LiteralFilterError> {
        let dfa = DFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(words)?;
        let start = dfa.start_state(Anchored::No)?;
        Ok(Self { dfa, start })
    }

    /// The starts of words, with their numbers, in the order in which the words end.
    pub(crate) fn hits<'a>(&'a self, text: &'a str) -> LiteralHits<'a> {
        LiteralHits {
            dfa: &self.dfa,
            bytes: text.as_bytes(),
            state: self.start,
            at: 0,
            next: 0,
            left: 0,
        }
    }
}

/// One word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LiteralHit {
    pub(crate) start: usize,
    pub(crate) word: usize,
}

pub(crate) struct LiteralHits<'a> {
    dfa: &'a DFA,
    bytes: &'a [u8],
    state: StateID,
    /// Bytes read.
    at: usize,
    /// Words that end here: the next one, and how many are left.
    next: usize,
    left: usize,
}

impl LiteralHits<'_> {
    fn word(&mut self) -> LiteralHit {
        let pattern: PatternID = self.dfa.match_pattern(self.state, self.next);
        self.next += 1;
        self.left -= 1;
        LiteralHit { start: self.at - self.dfa.pattern_len(pattern), word: pattern.as_usize() }
    }
}

impl Iterator for LiteralHits<'_> {
    type Item = LiteralHit;

    fn next(&mut self) -> Option<LiteralHit> {
        if self.left > 0 {
            return Some(self.word());
        }
        let (mut state, mut at) = (self.state, self.at);
        while let Some(byte) = self.bytes.get(at) {
            state = self.dfa.next_state(Anchored::No, state, *byte);
            at += 1;
            if self.dfa.is_special(state) && self.dfa.is_match(state) {
                (self.state, self.at) = (state, at);
                (self.next, self.left) = (0, self.dfa.match_len(state));
                return Some(self.word());
            }
        }
        (self.state, self.at) = (state, at);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same hits as the crate's own iterator, in the same order.
        #[test]
        fn hits_are_those_of_the_plain_search(text in "[abc]{0,40}") {
            let words = ["a", "ab", "bc", "abc", "cab"].map(str::to_owned);
            let plain = aho_corasick::AhoCorasick::new(&words).expect("words");
            let wanted: Vec<LiteralHit> = plain
                .find_overlapping_iter(&text)
                .map(|found| LiteralHit { start: found.start(), word: found.pattern().as_usize() })
                .collect();
            let literals = LiteralFilter::new(&words).expect("words");
            prop_assert_eq!(literals.hits(&text).collect::<Vec<_>>(), wanted);
        }
    }
}
