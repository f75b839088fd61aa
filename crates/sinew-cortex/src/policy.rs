//! The policy: the settings for deriving the memory from the log.

use serde::{Deserialize, Serialize};
use sinew_settings::config::{
    CandidateOrder, CortexSection, DecayScope, ReflexGate, ReflexInstall, ShieldScope,
};

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

/// What holds where nothing is configured.
impl Default for CortexPolicy {
    fn default() -> Self {
        Self::from(&CortexSection::default())
    }
}

impl From<&CortexSection> for CortexPolicy {
    fn from(configured: &CortexSection) -> Self {
        Self {
            order: configured.policy,
            decay: configured.decay_scope,
            window_hours: configured.window_hours,
            gate: configured.gate,
            min_lb: configured.min_lb,
            install: configured.install,
            cancel_window_ms: configured.cancel_window_ms,
            shield: configured.shield,
            lesson_decay: configured.lesson_decay,
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
