//! The policy: the settings for deriving the memory from the log.

use serde::{Deserialize, Serialize};

/// All settings. The defaults are Skill Cortex's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct CortexPolicy {
    /// How candidates are ordered.
    pub order: CandidateOrder,
    /// Whose last use counts for decay.
    pub decay: DecayScope,
    /// The window in which successes count less, in hours; 1 to 720.
    pub window_hours: u32,
    /// The conditions of a reflex; those of the order if absent.
    pub gate: Option<ReflexGate>,
    /// The bound for the gates `bound` and `reference+bound`; 0.5 to 0.99.
    pub min_lb: f64,
    /// How a reflex asks before it installs.
    pub install: ReflexInstall,
    /// How long a person may cancel a reflex; 0 to 60,000.
    pub cancel_window_ms: u64,
    /// What an outage shields.
    pub shield: ShieldScope,
    /// Whether lessons fade.
    pub lesson_decay: bool,
}

impl Default for CortexPolicy {
    fn default() -> Self {
        Self {
            order: CandidateOrder::Cortex,
            decay: DecayScope::Region,
            window_hours: 168,
            gate: None,
            min_lb: 0.80,
            install: ReflexInstall::Notify,
            cancel_window_ms: 5_000,
            shield: ShieldScope::Bayes,
            lesson_decay: true,
        }
    }
}

impl CortexPolicy {
    /// The gate in effect.
    pub fn gate(&self) -> ReflexGate {
        self.gate.unwrap_or(match self.order {
            CandidateOrder::Cortex => ReflexGate::Reference,
            CandidateOrder::Bayes => ReflexGate::Bound,
        })
    }

    /// The settings that the fold depends on. A memory folded with other ones must be folded again;
    /// all other settings apply on reading.
    pub fn fold_key(&self) -> FoldKey {
        FoldKey { window_hours: self.window_hours.clamp(1, 720), shield: self.shield }
    }
}

/// The settings that change the result of the fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldKey {
    /// The window in which successes count less, in hours.
    pub window_hours: u32,
    /// What an outage shields.
    pub shield: ShieldScope,
}

/// How candidates are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateOrder {
    /// By effective weight: Skill Cortex's own.
    #[default]
    Cortex,
    /// By an optimistic estimate of reliability.
    Bayes,
}

/// Whose last use counts for decay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecayScope {
    /// The region's: Skill Cortex's own.
    #[default]
    Region,
    /// Each candidate's own.
    Candidate,
}

/// The conditions of a reflex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReflexGate {
    /// Skill Cortex's conditions.
    #[serde(rename = "reference")]
    Reference,
    /// Those, and a bound on the reliability.
    #[serde(rename = "reference+bound")]
    ReferenceAndBound,
    /// Only the bound.
    #[serde(rename = "bound")]
    Bound,
    /// Reflexes never fire.
    #[serde(rename = "off")]
    Off,
}

/// How a reflex asks before it installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReflexInstall {
    /// A notice and a moment to cancel, for content that was approved before.
    #[default]
    Notify,
    /// An explicit approval.
    Confirm,
}

/// What an outage shields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShieldScope {
    /// The Bayesian counts and the drift alarm; Skill Cortex's factor still applies.
    #[default]
    Bayes,
    /// Weights, streaks and reflexes too.
    All,
    /// Nothing.
    Off,
}
