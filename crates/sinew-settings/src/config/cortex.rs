//! `cortex`: what is remembered, and how.

use serde::{Deserialize, Serialize};

use super::section::{choices, section};

section! {
    /// `cortex`: what is remembered, and how.
    pub struct CortexSection at "cortex" {
        /// Whether outcomes are remembered and recalled.
        "enabled" => enabled: bool = true;
        /// How candidates are ordered.
        "policy" => policy: CandidateOrder = CandidateOrder::Cortex;
        /// Whose last use counts for decay.
        "decayScope" or "decay_scope" => decay_scope: DecayScope = DecayScope::Region;
        /// Hours in which further successes count less.
        "windowHours" or "window_hours" => window_hours: u32 = 168, in 1 to 720;
        /// What a reflex must show.
        "reflex.gate" => gate: Option<ReflexGate> = None, shown "by policy";
        /// The reliability that the bound asks for.
        "reflex.minLb" or "min_lb" => min_lb: f64 = 0.8, in 0.5 to 0.99;
        /// How a reflex asks before it installs.
        "reflex.install" => install: ReflexInstall = ReflexInstall::Notify;
        /// How long a reflex can be cancelled.
        "reflex.cancelWindowMs" or "cancel_window_ms" => cancel_window_ms: u64 = 5_000, in 0 to 60_000;
        /// What an outage spares.
        "shield" => shield: ShieldScope = ShieldScope::Bayes;
        /// Whether lessons fade when nothing confirms them.
        "lessonDecay" or "lesson_decay" => lesson_decay: bool = true;
        /// Hours after which a run that nothing was heard of ends as unknown.
        "runTimeout" or "run_timeout" => run_timeout: u32 = 24, in 1 to 8_760;
        /// A cortex.json that is kept up to date beside the database.
        "mirror" => mirror: Option<String> = None;
    }
}

choices! {
    /// How candidates are ordered.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CandidateOrder {
        /// By effective weight: Skill Cortex's own.
        #[default]
        Cortex = "cortex",
        /// By an optimistic estimate of reliability.
        Bayes = "bayes",
    }
}

choices! {
    /// Whose last use counts for decay.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DecayScope {
        /// The region's: Skill Cortex's own.
        #[default]
        Region = "region",
        /// Each candidate's own.
        Candidate = "candidate",
    }
}

choices! {
    /// The conditions of a reflex.
    #[derive(Serialize, Deserialize)]
    pub enum ReflexGate {
        /// Skill Cortex's conditions.
        #[serde(rename = "reference")]
        Reference = "reference",
        /// Those, and a bound on the reliability.
        #[serde(rename = "reference+bound")]
        ReferenceAndBound = "reference+bound",
        /// Only the bound.
        #[serde(rename = "bound")]
        Bound = "bound",
        /// Reflexes never fire.
        #[serde(rename = "off")]
        Off = "off",
    }
}

choices! {
    /// How a reflex asks before it installs.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ReflexInstall {
        /// A notice and a moment to cancel, for content that was approved before.
        #[default]
        Notify = "notify",
        /// An explicit approval.
        Confirm = "confirm",
    }
}

choices! {
    /// What an outage shields.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ShieldScope {
        /// The Bayesian counts and the drift alarm; Skill Cortex's factor still applies.
        #[default]
        Bayes = "bayes",
        /// Weights, streaks and reflexes too.
        All = "all",
        /// Nothing.
        Off = "off",
    }
}
