//! The result: a decision, ranked matches with every part of their scores, and unavailable signals.

use serde::{Deserialize, Serialize};

use crate::lexical::DocumentField;

/// The router's decision about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum RouteDecision {
    /// One skill, with confidence.
    Match,
    /// Some skills worth reading.
    Shortlist,
    /// No skill fits.
    None,
}

impl RouteDecision {
    /// The word itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Shortlist => "shortlist",
            Self::None => "none",
        }
    }
}

/// Why nothing was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum AbstainReason {
    /// There is no skill to match.
    EmptyCatalog,
    /// The message contains no usable word.
    NoWords,
    /// Skills were ranked, but none fits well enough.
    NothingFits,
    /// A skill fits, but cannot be used.
    OnlyUnavailable,
}

/// One signal's share of a score: it adds `weight * normalised`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScorePart {
    /// The measured value.
    pub raw: f64,
    /// The value on a scale comparable with other signals.
    pub normalised: f64,
    /// Its weight.
    pub weight: f64,
}

impl ScorePart {
    /// What it adds to the score.
    pub fn value(self) -> f64 {
        self.weight * self.normalised
    }
}

/// The shares of all signals; they add up to the score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreParts {
    /// Words in fields.
    pub lexical: ScorePart,
    /// The static vectors.
    #[serde(rename = "static")]
    pub table: ScorePart,
    /// The encoder's vectors, or a remote model's.
    pub encoder: ScorePart,
    /// Whether the message names the skill.
    pub name: ScorePart,
    /// Rare names that the message and the skill share.
    pub rare: ScorePart,
    /// Declared triggers.
    pub trigger: ScorePart,
    /// What the message demands beside its task: no network, no costs, not this product.
    pub constraint: ScorePart,
    /// The adjustment from learning.
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
            ("rare", self.rare),
            ("trigger", self.trigger),
            ("constraint", self.constraint),
            ("prior", self.prior),
        ]
        .into_iter()
    }
}

/// A word of the message that occurs in a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MatchedTerm {
    /// The stem.
    pub term: String,
    /// The most important field that contains it.
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
    /// The probability that it is the right one.
    pub probability: f64,
    /// The score it was ranked by.
    pub score: f64,
    /// The parts of the score.
    pub parts: ScoreParts,
    /// Words it shares with the message, best first.
    pub terms: Vec<MatchedTerm>,
}

/// The kind of degradation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum DegradedKind {
    /// A model is missing or cannot be read.
    ModelMissing,
    /// A model is present but did not answer.
    ModelFailed,
    /// Document vectors are still being computed.
    VectorsPending,
    /// These models were never calibrated together: no confident match.
    MissingCalibration,
}

/// A signal that was not available, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DegradedSignal {
    /// The kind of degradation.
    pub kind: DegradedKind,
    /// The signal.
    pub signal: &'static str,
    /// What happened.
    pub message: String,
    /// The error behind it, where one was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What to do about it.
    pub remedy: String,
}

impl DegradedSignal {
    /// What happened, and the error behind it.
    pub fn sentence(&self) -> String {
        match &self.cause {
            Some(cause) if !self.message.contains(cause.as_str()) => {
                format!("{}: {cause}", self.message)
            }
            _ => self.message.clone(),
        }
    }
}

/// How long each stage took, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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

/// The router's answer to a message, with everything behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteResult {
    /// The decision.
    pub decision: RouteDecision,
    /// Why there is no match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<AbstainReason>,
    /// How many of the matches are offered: one for a match, none for `none`.
    pub offered: usize,
    /// Ranked skills. With `match` the first is the answer; with `none` they are the closest ones.
    pub matches: Vec<SkillMatch>,
    /// The probability that any skill of the catalog fits.
    pub fit: f64,
    /// The probability that a match needs.
    pub threshold: f64,
    /// The lead that a match needs.
    pub margin: f64,
    /// The models that were used.
    pub model: String,
    /// The calibration that was used.
    pub calibration: String,
    /// The detected language of the message.
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
