//! Skills that would fit a message, but cannot be used: what each lacks, and the command that helps.

use serde::Serialize;
use sinew_catalog::shell_word;
use sinew_catalog::{Catalog, CatalogEntry, EntryState, SkillRequirements};
use sinew_route::{RouteDecision, RouteResult};
use sinew_settings::{Actor, Reason, ReasonStage};

use super::catalog_router::RankedMessage;
use crate::Engine;

/// How probable a skill must be to be mentioned. It only costs the reader time where it is wrong, and on
/// a machine without most programs something that cannot be used comes near every message: of 150 that
/// need no skill, 22 were told of a missing program without this, and 2 with it.
const LEAST_PROBABLE: f64 = 0.3;

/// A skill that would fit a message, but cannot be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnavailableSkill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How sure we would be that it is the right one.
    pub probability: f64,
    /// Whether it needs something, is switched off or is held back.
    pub state: EntryState,
    /// What it asks for and is not here.
    pub missing: SkillRequirements,
    /// Why it cannot be used.
    pub reasons: Vec<Reason>,
    /// The command that helps.
    pub command: String,
}

impl UnavailableSkill {
    /// What it lacks, in one line.
    pub fn lacks(&self) -> String {
        let details: Vec<&str> = self.reasons.iter().map(|reason| reason.detail.as_str()).collect();
        details.join("; ")
    }

    /// The whole of it in one sentence.
    pub fn sentence(&self) -> String {
        match self.lacks() {
            lacks if lacks.is_empty() => format!("{} would fit, but cannot be used yet", self.name),
            lacks => format!("{} would fit, but cannot be used yet: {lacks}", self.name),
        }
    }
}

impl Engine {
    /// Takes what cannot be used out of an answer and says what it lacks. Skills that are not for this
    /// agent, or for people alone, lack nothing and are not mentioned.
    pub(super) fn weigh_unavailable(
        &self,
        catalog: &Catalog,
        ranked: RankedMessage,
        actor: &Actor,
    ) -> (RouteResult, Vec<UnavailableSkill>) {
        let RankedMessage { mut result, ungated } = ranked;
        let Some(ungated) = ungated else { return (result, Vec::new()) };
        let offered = ungated.matches.iter().take(ungated.offered);
        let offered = offered.filter(|found| found.probability >= LEAST_PROBABLE);
        let unavailable: Vec<UnavailableSkill> = offered
            .filter_map(|found| {
                let entry = catalog.unshadowed().find(|entry| entry.name == found.name)?;
                lacks_something(entry)
                    .then(|| self.unavailable_skill(entry, found.probability, actor))
            })
            .collect();
        let first = ungated.matches.first();
        let is_best =
            first.is_some_and(|first| unavailable.iter().any(|one| one.name == first.name));
        if is_best && ungated.decision == RouteDecision::Match {
            result.keep_worth_reading_beside(&ungated);
        }
        if result.is_none() && !unavailable.is_empty() {
            result.reason = Some(sinew_route::AbstainReason::OnlyUnavailable);
        }
        (result, unavailable)
    }

    fn unavailable_skill(
        &self,
        entry: &CatalogEntry,
        probability: f64,
        actor: &Actor,
    ) -> UnavailableSkill {
        let entry = self.skills().entry_visible_to(entry, actor);
        let gate = entry.reasons.iter().filter(|reason| reason.stage == ReasonStage::Gate);
        let mut reasons: Vec<Reason> = gate.cloned().collect();
        if reasons.is_empty() {
            reasons.extend(entry.primary_reason().cloned());
        }
        let name = shell_word(&entry.name);
        let lacks_program = !entry.missing.bins.is_empty() || !entry.missing.any_bins.is_empty();
        let installable = lacks_program
            && self.exec().install_options(&entry).iter().any(|option| option.preferred);
        UnavailableSkill {
            name: entry.name.clone(),
            description: entry.description.clone(),
            probability,
            state: entry.state,
            missing: entry.missing.clone(),
            reasons,
            command: match installable {
                true => format!("sinew deps {name} --install"),
                false => format!("sinew why {name}"),
            },
        }
    }
}

/// Whether a skill cannot be used for want of something that a person can change.
fn lacks_something(entry: &CatalogEntry) -> bool {
    match entry.state {
        EntryState::NeedsSetup | EntryState::Disabled | EntryState::Blocked => true,
        EntryState::Ready | EntryState::Excluded | EntryState::Shadowed | EntryState::Broken => {
            false
        }
    }
}
