//! Calibration: from scores to probabilities, for one set of models and one template.
//!
//! A threshold belongs to the models it was fitted with. Everything that was fitted is data in
//! `data/calibration.json`, under the ids of the models; with other models the router ranks, offers
//! a short list, and never claims to be sure.

mod features;
mod fit;

use serde::{Deserialize, Serialize};

pub(crate) use features::MatchEvidence;
pub use features::{FEATURES, MatchFeatures};
pub use fit::{CalibrationSample, fit};

static EMBEDDED: &str = include_str!("../../data/calibration.json");

/// The weight of each signal in the sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignalWeights {
    /// Words in fields.
    pub lexical: f64,
    /// Static vectors.
    #[serde(rename = "static")]
    pub table: f64,
    /// Encoder vectors.
    pub encoder: f64,
}

/// The values of a signal for documents that are unrelated to a message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignalBackground {
    /// Mean and deviation of the lexical score, as shares of the root of the message's word mass.
    pub lexical: [f64; 2],
    /// Mean and deviation of the static cosine.
    #[serde(rename = "static")]
    pub table: [f64; 2],
    /// Mean and deviation of the encoder's cosine.
    pub encoder: [f64; 2],
}

/// A logistic model over [`MatchFeatures`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogisticModel {
    /// The constant.
    pub bias: f64,
    /// One number per feature.
    pub slopes: Vec<f64>,
}

impl LogisticModel {
    /// The probability for features.
    pub fn probability(&self, features: &MatchFeatures) -> f64 {
        let sum: f64 =
            self.slopes.iter().zip(features.values()).map(|(slope, value)| slope * value).sum();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }
}

/// What was fitted for one set of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The ids of the models, joined by `+`.
    pub model: String,
    /// The document template.
    pub template: u32,
    /// The data it was fitted on.
    pub data: String,
    /// When.
    pub date: String,
    /// The weight of each signal.
    pub weights: SignalWeights,
    /// The values of unrelated documents.
    pub background: SignalBackground,
    /// The probability that a candidate is the right one.
    pub right: LogisticModel,
    /// The probability that any skill fits.
    pub fit: LogisticModel,
}

/// All known calibrations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationSet {
    /// One per set of models.
    pub sets: Vec<Calibration>,
}

impl CalibrationSet {
    /// The calibrations in the binary.
    pub fn embedded() -> Self {
        serde_json::from_str(EMBEDDED).expect("data/calibration.json is tested")
    }

    /// From the text of a calibration file.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The calibration of a set of models.
    pub fn of(&self, model: &str) -> Option<&Calibration> {
        self.sets
            .iter()
            .find(|set| set.model == model && set.template == sinew_models::TEMPLATE_VERSION)
    }

    /// The most similar set, for ranking with uncalibrated models: with or without an encoder.
    pub(crate) fn nearest(&self, has_encoder: bool) -> Option<&Calibration> {
        self.sets.iter().find(|set| set.model.contains('+') == has_encoder).or(self.sets.first())
    }
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            model: String::new(),
            template: sinew_models::TEMPLATE_VERSION,
            data: String::new(),
            date: String::new(),
            weights: SignalWeights { lexical: 1.0, table: 1.5, encoder: 3.0 },
            background: SignalBackground {
                lexical: [0.1, 0.1],
                table: [0.05, 0.1],
                encoder: [0.1, 0.1],
            },
            right: LogisticModel { bias: -4.0, slopes: vec![0.0; FEATURES.len()] },
            fit: LogisticModel { bias: -2.0, slopes: vec![0.0; FEATURES.len()] },
        }
    }
}
