//! What comes out: a decision, ranked matches with every part of their score, and what was missing.

use serde::{Deserialize, Serialize};

use crate::lexical::DocumentField;

/// What the router says about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteDecision {
    /// One skill, with confidence.
    Match,
    /// Some skills worth reading.
    Shortlist,
    /// No skill fits.
    None,
}

/// Why nothing was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbstainReason {
    /// There is no skill to match.
    EmptyCatalog,
    /// The message has no word to go by.
    NoWords,
    /// Skills were ranked, none fits well enough.
    NothingFits,
}

/// One signal's share in a score: `weight * normalised` is what it adds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ScorePart {
    /// As measured.
    pub raw: f64,
    /// Made comparable with the other signals.
    pub normalised: f64,
    /// What it counts.
    pub weight: f64,
}

impl ScorePart {
    /// What it adds to the score.
    pub fn value(self) -> f64 {
        self.weight * self.normalised
    }
}

/// All signals' shares; they add up to the score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ScoreParts {
    /// Words in fields.
    pub lexical: ScorePart,
    /// The static vectors.
    #[serde(rename = "static")]
    pub table: ScorePart,
    /// The encoder's vectors, or a remote model's.
    pub encoder: ScorePart,
    /// The message names the skill.
    pub name: ScorePart,
    /// Declared triggers.
    pub trigger: ScorePart,
    /// What was learned.
    pub prior: ScorePart,
}

impl ScoreParts {
    /// The score.
    pub fn sum(&self) -> f64 {
        self.each().map(|(_, part)| part.value()).sum()
    }

    /// Every part with its name.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, ScorePart)> {
        [
            ("lexical", self.lexical),
            ("static", self.table),
            ("encoder", self.encoder),
            ("name", self.name),
            ("trigger", self.trigger),
            ("prior", self.prior),
        ]
        .into_iter()
    }
}

/// A word of the message that stands in a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchedTerm {
    /// The stem.
    pub term: String,
    /// The most important field that holds it.
    pub field: DocumentField,
    /// What it adds to the raw lexical score.
    pub weight: f64,
}

/// One ranked skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkillMatch {
    /// The document's id.
    pub id: String,
    /// The skill's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How sure we are that it is the right one.
    pub probability: f64,
    /// What it was ranked by.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Words it shares with the message, best first.
    pub terms: Vec<MatchedTerm>,
}

/// What kind of trouble a signal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DegradedKind {
    /// A model is not there or cannot be read.
    ModelMissing,
    /// A model is there and did not answer.
    ModelFailed,
    /// Document vectors are still being computed.
    VectorsPending,
    /// These models were never calibrated together: no confident match.
    MissingCalibration,
}

/// A signal that was not available, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DegradedSignal {
    /// What kind of trouble.
    pub kind: DegradedKind,
    /// The signal.
    pub signal: &'static str,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// How long each stage took, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RouteTiming {
    /// Reading the message.
    pub text: u64,
    /// Words and static vectors.
    pub first: u64,
    /// The encoder.
    pub encoder: u64,
    /// Ranking and deciding.
    pub decide: u64,
    /// All of it.
    pub total: u64,
}

/// What the router says about a message, with everything behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteResult {
    /// The answer.
    pub decision: RouteDecision,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<AbstainReason>,
    /// How many of the matches are offered: one for a match, none for `none`.
    pub offered: usize,
    /// Ranked skills. With `match` the first is the answer; with `none` they are what came closest.
    pub matches: Vec<SkillMatch>,
    /// How sure we are that any skill of the catalog fits.
    pub fit: f64,
    /// The probability a match needed.
    pub threshold: f64,
    /// The lead it needed.
    pub margin: f64,
    /// The models that were used.
    pub model: String,
    /// The calibration that was used.
    pub calibration: String,
    /// The language the message was taken for.
    pub language: &'static str,
    /// Signals that were not available.
    pub degraded: Vec<DegradedSignal>,
    /// How long it took.
    pub took: RouteTiming,
}

impl RouteResult {
    /// Whether nothing fits.
    pub fn is_none(&self) -> bool {
        self.decision == RouteDecision::None
    }

    /// The answer of a `match`.
    pub fn matched(&self) -> Option<&SkillMatch> {
        self.matches.first().filter(|_| self.decision == RouteDecision::Match)
    }
}
