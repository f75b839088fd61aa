//! Where a skill stands among its neighbours: who else a message could mean.

use std::sync::Arc;

use serde::Serialize;
use sinew_catalog::Snapshot;
use sinew_route::RouteDecision;
use sinew_settings::config::ModelChoice;

use super::Routing;

/// How a message is routed, seen from one skill.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeighbourReport {
    /// The message.
    pub message: String,
    /// What a user who says it gets.
    pub decision: RouteDecision,
    /// The skill's place among all, from 1; absent where it is not read.
    pub rank: Option<usize>,
    /// How sure we are that it is the right one.
    pub probability: Option<f64>,
    /// The other skills that come closest, best first.
    pub nearest: Vec<SkillNeighbour>,
    /// Whether a model was not there, so that the real answer may differ.
    pub degraded: bool,
}

/// A skill that a message could mean as well.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillNeighbour {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How sure we are that it is the right one.
    pub probability: f64,
    /// Whether it comes before the skill.
    pub before: bool,
    /// Whether it can be used now.
    pub usable: bool,
}

impl Routing<'_> {
    /// Routes a message and says where a skill stands, and which others come closest. Skills that lack
    /// something here count as well: once it is there, they are neighbours.
    pub fn neighbours(
        &self,
        snapshot: &Arc<Snapshot>,
        skill: &str,
        message: &str,
        count: usize,
    ) -> NeighbourReport {
        let router = self.router(snapshot, ModelChoice::Default);
        let ranked = router.rank(message, Some(count.max(1) * 8), None);
        let decision = ranked.result.decision;
        let degraded = !ranked.result.degraded.is_empty();
        let all = ranked.ungated.unwrap_or(ranked.result).matches;
        let own = all.iter().position(|found| found.name == skill);
        let usable = |name: &str| {
            let entry = snapshot.catalog.unshadowed().find(|entry| entry.name == name);
            entry.is_some_and(|entry| entry.model_visible)
        };
        let others = all.iter().enumerate().filter(|(at, _)| Some(*at) != own);
        let nearest = others.take(count).map(|(at, found)| SkillNeighbour {
            name: found.name.clone(),
            description: found.description.clone(),
            probability: found.probability,
            before: own.is_some_and(|own| at < own),
            usable: usable(&found.name),
        });
        NeighbourReport {
            message: message.to_owned(),
            decision,
            rank: own.map(|at| at + 1),
            probability: own.map(|at| all[at].probability),
            nearest: nearest.collect(),
            degraded,
        }
    }
}
