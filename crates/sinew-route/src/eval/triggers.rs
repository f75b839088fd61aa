//! Whether a skill's description triggers when it should, and whether it takes messages from other
//! skills.

use rayon::prelude::*;
use serde::Serialize;

use super::data::TriggerRow;
use crate::message::UserMessage;
use crate::result::RouteDecision;
use crate::router::{RouteContext, Router, RouterConfig};

/// One message tried on a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriggerTrial {
    /// The user's message.
    pub query: String,
    /// The skill under test.
    pub skill: String,
    /// Whether it should be chosen.
    pub should_trigger: bool,
    /// Its rank.
    pub rank: Option<usize>,
    /// Whether it was matched with confidence.
    pub matched: bool,
    /// Whether it was offered, alone or in a short list.
    pub offered: bool,
    /// Its probability.
    pub probability: f64,
    /// The skill that was first instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

/// The result of all trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriggerReport {
    /// The share of should-trigger messages with the skill first.
    #[serde(rename = "hit@1")]
    pub hit1: f64,
    /// The share of should-trigger messages for which the skill was offered.
    pub offered: f64,
    /// The share of should-not-trigger messages that matched the skill with confidence.
    pub false_matches: f64,
    /// The share of should-not-trigger messages for which the skill was offered.
    pub false_offers: f64,
    /// The number of should-trigger messages.
    pub should: usize,
    /// The number of should-not-trigger messages.
    pub should_not: usize,
    /// Every trial.
    pub trials: Vec<TriggerTrial>,
}

/// Tries every row; rows that name no skill are about `skill`.
pub fn evaluate_triggers(
    router: &Router,
    rows: &[TriggerRow],
    skill: Option<&str>,
) -> TriggerReport {
    let deep =
        Router { config: RouterConfig { top: 50, ..router.config.clone() }, ..router.clone() };
    let trials: Vec<TriggerTrial> = rows
        .par_iter()
        .filter_map(|row| {
            let about = if row.skill.is_empty() { skill? } else { &row.skill };
            let result = deep.route(&UserMessage::from_user(&row.query), &RouteContext::default());
            let rank = result.matches.iter().position(|one| one.id == about || one.name == about);
            let first = result.matches.first();
            Some(TriggerTrial {
                query: row.query.clone(),
                skill: about.to_owned(),
                should_trigger: row.should_trigger,
                rank: rank.map(|place| place + 1),
                matched: result.decision == RouteDecision::Match && rank == Some(0),
                offered: rank
                    .is_some_and(|place| place < result.offered.min(router.config.top.max(2))),
                probability: rank.map_or(0.0, |place| result.matches[place].probability),
                instead: first.filter(|_| rank != Some(0)).map(|one| one.name.clone()),
            })
        })
        .collect();
    let share = |side: bool, test: &dyn Fn(&TriggerTrial) -> bool| {
        let all = trials.iter().filter(|trial| trial.should_trigger == side);
        let (count, hits) =
            all.fold((0, 0), |(count, hits), trial| (count + 1, hits + usize::from(test(trial))));
        if count == 0 { 0.0 } else { hits as f64 / count as f64 }
    };
    TriggerReport {
        hit1: share(true, &|trial| trial.rank == Some(1)),
        offered: share(true, &|trial| trial.offered),
        false_matches: share(false, &|trial| trial.matched),
        false_offers: share(false, &|trial| trial.offered),
        should: trials.iter().filter(|trial| trial.should_trigger).count(),
        should_not: trials.iter().filter(|trial| !trial.should_trigger).count(),
        trials,
    }
}
