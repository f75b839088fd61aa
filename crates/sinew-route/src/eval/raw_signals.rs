//! The data for fitting: raw signals and features of candidates.

use crate::calibrate::MatchFeatures;
use crate::message::UserMessage;
use crate::ranking::CandidateRanking;
use crate::router::{RouteContext, Router};

/// The raw signals of a message over every document of the index, in its order.
#[derive(Debug, Clone, Default)]
pub struct RawSignals {
    /// BM25F.
    pub lexical: Vec<f32>,
    /// The better cosine of the static vectors.
    pub table: Vec<f32>,
    /// The encoder's cosine; empty without one.
    pub encoder: Vec<f32>,
    /// The total weight of the message's words.
    pub mass: f32,
    /// The share of that weight that occurs in any document.
    pub known: f32,
}

/// The raw signals of a message.
pub fn raw_signals(router: &Router, text: &str) -> RawSignals {
    router.score(&UserMessage::from_user(text)).into_raw()
}

/// The ids and features of the best candidates for a message.
pub fn candidates(
    router: &Router,
    text: &str,
    context: &RouteContext<'_>,
    count: usize,
) -> Vec<(String, MatchFeatures)> {
    let heard = router.score(&UserMessage::from_user(text));
    let features = CandidateRanking::of(router, &heard, context).features(count);
    features
        .into_iter()
        .map(|(at, features)| (router.index().id(at).to_owned(), features))
        .collect()
}
