//! Rare names: a word of the message that no vocabulary has, and hardly any skill but one: a product, a
//! program, a file type.
//!
//! Sums of words and vectors know such a word as one of many; a neighbour of the same kind with more words
//! in common then comes first. The user who says "Shopify" does not want the skill for another shop.

use crate::index::RouteIndex;
use crate::lexical::{DocumentField, FIELD_COUNT};
use crate::message::PreparedQuery;
use crate::signals::TermLookup;

/// The rarity from which a word counts as a name at all, and from which it counts fully. 5,298 skills
/// that hold a word in 1 of 30 documents give 3.4, in 1 of 1,000 give 6.9.
const COMMON: f32 = 4.0;
const RARE: f32 = 7.0;

/// More skills of a name are a family, which a word does not tell apart.
const MAX_HOLDERS: usize = 12;

/// What a name says that is in the triggers or the description, of one in the name.
const DESCRIBED: f64 = 0.5;

/// The names of a message that few skills have.
#[derive(Debug, Clone, Default)]
pub(crate) struct RareNames(Vec<RareName>);

#[derive(Debug, Clone, Copy)]
struct RareName {
    term: usize,
    /// How much it says about a skill that has it in its name, and about one that has it in its
    /// description: from 0 to 1.
    evidence: [f64; 2],
}

impl RareNames {
    /// Those of a message.
    pub(crate) fn of(query: &PreparedQuery, looked: &[TermLookup], index: &RouteIndex) -> Self {
        let name = |looked: &TermLookup| {
            let (term, found) = (&query.whole.terms[looked.term], looked.found?);
            let rarity = ((index.idf(found) - COMMON) / (RARE - COMMON)).clamp(0.0, 1.0);
            if rarity <= 0.0 || term.pasted || !term.odd {
                return None;
            }
            let mut holders = [0; 2];
            for posting in index.postings(found) {
                holders[0] += usize::from(is_named(posting.counts));
                holders[1] += usize::from(is_described(posting.counts));
            }
            let share = |holders: usize| match holders {
                1..=MAX_HOLDERS => f64::from(rarity) / (holders as f64).sqrt(),
                _ => 0.0,
            };
            let [named, described] = holders.map(share);
            let evidence = [named.max(DESCRIBED * described), DESCRIBED * described];
            (evidence[0] > 0.0).then_some(RareName { term: found, evidence })
        };
        Self(looked.iter().filter_map(name).collect())
    }

    /// How much the message's names speak for a document: from 0 to 1.
    pub(crate) fn evidence(&self, at: usize, index: &RouteIndex) -> f64 {
        let of = |name: &RareName| match index.posting(name.term, at) {
            Some(posting) if is_named(posting.counts) => name.evidence[0],
            Some(posting) if is_described(posting.counts) => name.evidence[1],
            _ => 0.0,
        };
        self.0.iter().map(of).fold(0.0, f64::max)
    }
}

fn is_named(counts: [u8; FIELD_COUNT]) -> bool {
    counts[DocumentField::Name as usize] > 0
}

/// Whether the name, the triggers or the description hold it.
fn is_described(counts: [u8; FIELD_COUNT]) -> bool {
    counts[..=DocumentField::Description as usize].iter().any(|&count| count > 0)
}
