//! Netclaw's matcher: words shared with a skill, and two-word parts of its declared triggers.
//!
//! It is the only signal if no model can be loaded, and a small boost otherwise.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::document::RouteDocument;
use crate::index::RouteIndex;
use crate::message::PreparedQuery;
use crate::text::language::Language;
use crate::text::negative::{negatives, without_negatives};
use crate::text::normalised;
use crate::text::words::{WordExtractor, is_generic};

/// The score from which the matcher alone would offer a skill.
pub(crate) const THRESHOLD: f32 = 2.0;

/// What each matched pair of words of a declared trigger adds.
const PAIR: f32 = 1.5;

/// Declared triggers of a document, as stems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TriggerPhrases {
    /// Phrases for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) any: Vec<Vec<String>>,
    /// Phrases against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) none: Vec<Vec<String>>,
    /// Words of the sentences that say what it is not for, without those of its other text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) against: Vec<String>,
}

impl TriggerPhrases {
    /// The declared triggers of a document.
    pub(crate) fn of(document: &RouteDocument) -> Self {
        let words = WordExtractor::new(Language::En);
        let stems = |phrases: &[String]| {
            let split = phrases.iter().map(|phrase| words.all(&normalised(phrase)));
            split.filter(|stems: &Vec<String>| !stems.is_empty()).collect()
        };
        Self {
            any: stems(&document.triggers),
            none: stems(&document.negative),
            against: words_against(document, &words),
        }
    }

    /// Parses the form stored in the index; most documents declare none.
    pub(crate) fn read(json: &str) -> Self {
        match json {
            "{}" => Self::default(),
            json => serde_json::from_str(json).unwrap_or_default(),
        }
    }

    /// How many pairs of neighbouring words of declared triggers the message contains.
    pub(crate) fn pairs(&self, stems: &[String]) -> usize {
        let has = |pair: &[String]| stems.windows(2).any(|words| words == pair);
        self.any.iter().flat_map(|phrase| phrase.windows(2)).filter(|pair| has(pair)).count()
    }

    /// Whether the message contains a phrase against the document.
    pub(crate) fn matches_negative(&self, stems: &[String]) -> bool {
        self.none.iter().any(|phrase| stems.windows(phrase.len()).any(|words| words == phrase))
    }
}

/// What a description says a skill is not for, in words that speak for it nowhere else.
fn words_against(document: &RouteDocument, words: &WordExtractor) -> Vec<String> {
    let against = negatives(&document.description).join(" ");
    if against.is_empty() {
        return Vec::new();
    }
    let positive = without_negatives(&document.description);
    let own = [document.name.as_str(), &positive]
        .into_iter()
        .chain(document.triggers.iter().map(String::as_str))
        .chain(document.headings.iter().map(String::as_str));
    let own: HashSet<String> = own.flat_map(|text| words.all(&normalised(text))).collect();
    let mut found = words.all(&normalised(&against));
    found.retain(|word| !own.contains(word) && !is_generic(word));
    found.sort_unstable();
    found.dedup();
    found
}

/// The matcher's word score of every document, without pairs of triggers.
///
/// A word counts 1 if it is in one skill, 0.75 in two, 0.5 in more; only name, triggers and
/// description count.
pub(crate) fn word_scores(query: &PreparedQuery, index: &RouteIndex) -> Vec<f32> {
    let mut scores = vec![0.0; index.len()];
    let mut holders = Vec::new();
    for term in &query.whole.terms {
        let Some(at) = index.find_term(&term.word) else { continue };
        holders.clear();
        let in_head = |counts: [u8; 5]| counts[..3].iter().any(|&count| count > 0);
        holders.extend(
            index
                .postings(at)
                .filter(|posting| in_head(posting.counts))
                .map(|posting| posting.document),
        );
        let weight = match holders.len() {
            0 => continue,
            1 => 1.0,
            2 => 0.75,
            _ => 0.5,
        };
        for &document in &holders {
            if let Some(score) = scores.get_mut(document as usize) {
                *score += weight;
            }
        }
    }
    scores
}

/// What the matched pairs of a document's triggers add.
pub(crate) fn pair_score(pairs: usize) -> f32 {
    PAIR * pairs as f32
}

/// The stems of a message in their order, for phrases.
pub(crate) fn stems(query: &PreparedQuery) -> Vec<String> {
    WordExtractor::new(Language::En).all(&query.whole.prose)
}
