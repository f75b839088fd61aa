//! Messages that need several skills in turn: "transcribe this, then mail the summary".
//!
//! A message is cut into clauses (`text/clauses.rs`), and each is ranked on its own. Clauses that the same
//! skill can serve are one step. Only if at least two different skills are each right for a clause of
//! their own, and near for the message as a whole, are there steps; a plain message has none.

use std::ops::Range;

use serde::Serialize;

use crate::message::UserMessage;
use crate::result::{RouteDecision, RouteResult, SkillMatch};
use crate::router::{RouteContext, Router, RouterConfig};
use crate::text::clauses::{clauses, tells_an_order};

/// Steps of one message: more is a plan, not a message.
const MAX_CLAUSES: usize = 5;

/// The probability that a skill needs for a clause of its own.
const SURE: f64 = 0.3;

/// The same where one skill is sure for the whole message.
const CLEAR: f64 = 0.7;

/// The skill of the step before serves a clause too if it has this share of the best probability.
const SAME: f64 = 0.25;

/// A step's skill is among so many for the whole message: a clause alone has lost what it is about.
const NEAR: usize = 12;

/// A part of a message, and the skill that serves it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskStep {
    /// The part, as it was written.
    pub text: String,
    /// The skill.
    pub skill: SkillMatch,
}

/// A clause with what it was found to need; nothing for one that needs no skill of its own.
struct ClauseNeed {
    place: Range<usize>,
    found: Option<RouteResult>,
}

impl Router {
    /// The skills that a message needs one after the other, each with its part; none where one skill
    /// will do.
    pub fn steps(&self, message: &str, context: &RouteContext<'_>) -> Vec<TaskStep> {
        let clauses = clauses(message);
        if !(2..=MAX_CLAUSES).contains(&clauses.len()) {
            return Vec::new();
        }
        let near =
            Self { config: RouterConfig { top: NEAR, ..self.config.clone() }, ..self.clone() };
        let ask = |text: &str| near.route(&UserMessage::from_user(text), context);
        let whole = ask(message);
        // A skill that the user names is the user's own choice for all of it.
        let is_named = whole.matches.first().is_some_and(|first| first.parts.name.raw > 0.0);
        if whole.is_none() || is_named {
            return Vec::new();
        }
        // One that is sure for the whole message needs others only where the user puts one thing after
        // another, or where each clause is as sure of its own.
        let is_enough = whole.decision == RouteDecision::Match && !tells_an_order(message);
        let is_near = |skill: &SkillMatch| whole.matches.iter().any(|one| one.id == skill.id);
        let needs = clauses.into_iter().map(|place| {
            let found = ask(&message[place.clone()]);
            let right = found.matches.first().is_some_and(|first| {
                let sure = if is_enough { CLEAR } else { SURE };
                !found.is_none() && first.probability >= sure && is_near(first)
            });
            ClauseNeed { place, found: right.then_some(found) }
        });
        let steps = joined(message, needs.collect());
        let differ = steps.iter().skip(1).any(|step| step.skill.id != steps[0].skill.id);
        if differ { steps } else { Vec::new() }
    }
}

impl RouteResult {
    /// Puts the skills of the steps first, in their order: they are what is offered.
    pub fn follow_steps(&mut self, steps: &[TaskStep]) {
        if steps.is_empty() {
            return;
        }
        let mut first: Vec<SkillMatch> = Vec::new();
        for step in steps {
            if first.iter().all(|one| one.id != step.skill.id) {
                first.push(step.skill.clone());
            }
        }
        let room = self.matches.len().max(first.len());
        self.matches.retain(|one| first.iter().all(|step| step.id != one.id));
        self.offered = first.len();
        first.append(&mut self.matches);
        first.truncate(room);
        self.matches = first;
        self.decision = RouteDecision::Shortlist;
        self.reason = None;
    }
}

/// Clauses as steps: one that needs nothing of its own, or that the skill before it can serve, belongs to
/// the step before it.
fn joined(message: &str, needs: Vec<ClauseNeed>) -> Vec<TaskStep> {
    let mut steps: Vec<(Range<usize>, SkillMatch)> = Vec::new();
    let mut start = None;
    for ClauseNeed { place, found } in needs {
        let best = found.as_ref().and_then(|found| found.matches.first());
        let (Some(found), Some(best)) = (&found, best) else {
            match steps.last_mut() {
                Some((step, _)) => step.end = place.end,
                None => start = start.or(Some(place.start)),
            }
            continue;
        };
        let serves = |skill: &SkillMatch| {
            let again = found.matches.iter().find(|one| one.id == skill.id);
            again.is_some_and(|again| again.probability >= SAME * best.probability)
        };
        match steps.last_mut() {
            Some((step, skill)) if serves(skill) => step.end = place.end,
            _ => steps.push((start.take().unwrap_or(place.start)..place.end, best.clone())),
        }
    }
    let step = |(place, skill): (Range<usize>, SkillMatch)| TaskStep {
        text: message[place].to_owned(),
        skill,
    };
    steps.into_iter().map(step).collect()
}
