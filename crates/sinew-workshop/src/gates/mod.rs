//! The gates: checks between a proposal and the skills it would join.
//!
//! A gate only reports; what follows is decided in one place, [`GateReport::holds`]. None of them
//! asks a model, and the same skills give the same answer.

pub(crate) mod content;
pub(crate) mod duplicate;
pub(crate) mod ownership;
pub(crate) mod shape;
pub(crate) mod trigger;

use serde::{Deserialize, Serialize};

pub use duplicate::{DuplicateGateReport, DuplicateVerdict, SimilarSkill};
pub use ownership::SkillOwner;
pub use trigger::{StolenQuery, StoredQuery, TriggerGateReport, TriggerVerdict};

use sinew_settings::config::{GateMode, WorkshopSettings};

/// What the gates report about a proposal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GateReport {
    /// Whether such a skill exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<DuplicateGateReport>,
    /// Whether it takes messages from other skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerGateReport>,
    /// Who owns the target, where that prevents automatic changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ownership: Option<SkillOwner>,
    /// Skills that would no longer fit into the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_budget: Vec<String>,
    /// Objections to the text itself: `shape-transcript`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<String>,
}

impl GateReport {
    /// Why the proposal must not be written without a person, if it must not.
    pub fn holds(&self, settings: &WorkshopSettings) -> Option<String> {
        if let Some(owner) = self.ownership {
            return Some(format!("the skill is {}", owner.as_str()));
        }
        if let Some(DuplicateGateReport { verdict: DuplicateVerdict::AppendTo, near, .. }) =
            &self.duplicate
        {
            let name = near.first().map(|near| near.skill.as_str()).unwrap_or_default();
            return Some(format!("it is close to the skill {name}"));
        }
        if settings.trigger_gate == GateMode::Block
            && self
                .trigger
                .as_ref()
                .is_some_and(|trigger| trigger.verdict == TriggerVerdict::Steals)
        {
            return Some("it takes queries from other skills".to_owned());
        }
        match self.prompt_budget.as_slice() {
            [] => None,
            names => Some(format!("the prompt would lose {}", names.join(", "))),
        }
    }
}
