//! The inputs for the probability of a match.

/// The names of the features, in their order.
pub const FEATURES: [&str; 8] =
    ["score", "lead", "behind", "coverage", "static", "encoder", "catalog", "explained"];

/// What is known about a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchFeatures([f64; FEATURES.len()]);

impl MatchFeatures {
    /// The numbers, in the order of [`FEATURES`].
    pub fn values(&self) -> &[f64; FEATURES.len()] {
        &self.0
    }
}

/// A larger lead says no more: the second is far behind either way.
const MAX_LEAD: f64 = 3.0;

/// The evidence for one candidate, before it is turned into features.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MatchEvidence {
    /// Its score divided by the sum of the weights: z units.
    pub(crate) score: f64,
    /// Its distance to the best other candidate; negative when that one is ahead.
    pub(crate) lead: f64,
    /// The share of the message's word mass that the document explains.
    pub(crate) coverage: f64,
    /// Its cosines.
    pub(crate) table: f64,
    pub(crate) encoder: f64,
    /// The number of skills it was chosen from.
    pub(crate) catalog: usize,
    /// The word mass that the document explains: evidence, not length.
    pub(crate) explained: f64,
}

impl MatchEvidence {
    /// The features.
    pub(crate) fn features(&self) -> MatchFeatures {
        MatchFeatures([
            self.score,
            self.lead.clamp(0.0, MAX_LEAD),
            (-self.lead).clamp(0.0, MAX_LEAD),
            self.coverage,
            self.table,
            self.encoder,
            (1.0 + self.catalog as f64).ln(),
            (1.0 + self.explained).ln(),
        ])
    }
}
