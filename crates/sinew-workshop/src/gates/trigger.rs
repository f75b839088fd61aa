//! The trigger gate: a new description must not take messages from other skills.
//!
//! Stored messages are routed twice, without and with the change, by words and static vectors: the
//! same on every machine, and quick enough to do each time.

use serde::{Deserialize, Serialize};
use sinew_route::{RouteContext, RouteDocument, Router, RouterConfig, RouterModels, UserMessage};

use crate::proposal::TriggerQueries;

/// Fewer positive messages say too little about a description.
const ENOUGH_POSITIVES: usize = 3;

/// Stored messages that are routed: two passes over these take well under a second.
const MAX_STORED: usize = 500;

/// A message whose right answer is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredQuery {
    /// What the user said.
    pub query: String,
    /// The skill it is about.
    pub skill: String,
    /// Whether that skill is the right one for it.
    pub should_trigger: bool,
}

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TriggerVerdict {
    /// Nothing is taken.
    Ok,
    /// Nothing is taken, but there are too few messages to be sure.
    Insufficient,
    /// Messages are taken from other skills, or from none.
    Steals,
}

/// A message that would go elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StolenQuery {
    /// The message.
    pub query: String,
    /// The skill that matched it before.
    pub from: String,
}

/// What a change does to messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TriggerGateReport {
    /// The answer.
    pub verdict: TriggerVerdict,
    /// Messages that their skill would lose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stolen: Vec<StolenQuery>,
    /// Messages that no skill is for, and that this one would now get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<String>,
    /// Its own messages that it does not win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Its own messages that it wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gained: Vec<String>,
}

impl TriggerGateReport {
    /// The messages that are reasons against the change, for people.
    pub fn objections(&self) -> Vec<String> {
        let stolen = self.stolen.iter().map(|s| format!("\"{}\" from {}", s.query, s.from));
        stolen
            .chain(
                self.noise.iter().map(|query| format!("\"{query}\", which no skill should match")),
            )
            .collect()
    }
}

/// Judges `changed`, a skill as it would be, among the `documents` there are.
pub(crate) fn judge(
    documents: &[RouteDocument],
    changed: &RouteDocument,
    stored: &[StoredQuery],
    own: &TriggerQueries,
) -> TriggerGateReport {
    let mut verdict = TriggerGateReport {
        verdict: TriggerVerdict::Insufficient,
        stolen: Vec::new(),
        noise: Vec::new(),
        missed: Vec::new(),
        gained: Vec::new(),
    };
    let stored = &stored[..stored.len().min(MAX_STORED)];
    if stored.is_empty() && own.is_empty() {
        return verdict;
    }
    let models = RouterModels::embedded().without_encoder();
    let (before, _) = Router::build(documents, models, RouterConfig::default());
    let mut all: Vec<RouteDocument> =
        documents.iter().filter(|document| document.id != changed.id).cloned().collect();
    all.push(changed.clone());
    let (after, _) = before.updated(&all);

    for known in stored {
        let (had, has) = (winner(&before, &known.query), winner(&after, &known.query));
        if known.should_trigger {
            let lost = had.as_deref() == Some(&known.skill) && has.as_deref() != Some(&known.skill);
            if lost && known.skill != changed.name {
                verdict
                    .stolen
                    .push(StolenQuery { query: known.query.clone(), from: known.skill.clone() });
            }
        } else if had.is_none() && has.as_deref() == Some(&changed.name) {
            verdict.noise.push(known.query.clone());
        }
    }
    for query in &own.near_miss {
        let taken = winner(&after, query).as_deref() == Some(&changed.name);
        if taken && !verdict.noise.contains(query) {
            verdict.noise.push(query.clone());
        }
    }
    for query in &own.positive {
        let won = winner(&after, query).as_deref() == Some(&changed.name);
        if won { &mut verdict.gained } else { &mut verdict.missed }.push(query.clone());
    }
    verdict.verdict = match own.positive.len() {
        _ if !verdict.stolen.is_empty() || !verdict.noise.is_empty() => TriggerVerdict::Steals,
        count if count >= ENOUGH_POSITIVES => TriggerVerdict::Ok,
        _ => TriggerVerdict::Insufficient,
    };
    verdict
}

/// The skill that a message is routed to, if any.
fn winner(router: &Router, query: &str) -> Option<String> {
    let result = router.route(&UserMessage::from_user(query), &RouteContext::default());
    if result.is_none() {
        return None;
    }
    result.matches.into_iter().next().map(|found| found.name)
}
