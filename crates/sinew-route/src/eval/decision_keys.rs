//! Chooses floor, threshold and margin on messages with answers.

use serde::Serialize;

use super::data::{EvalQuestion, ExpectedMatch};
use crate::message::UserMessage;
use crate::router::{RouteContext, Router, RouterConfig};

/// Of the messages that have a skill, this share may get none.
const MOST_SILENT: f64 = 0.06;

/// A match is right this often.
const LEAST_RIGHT: f64 = 0.93;

/// With fewer messages of a kind a key keeps its value: chance would choose it.
const ENOUGH: usize = 12;

/// What a decision is made by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DecisionKeys {
    /// `route.floor`.
    pub floor: f64,
    /// `route.threshold`.
    pub threshold: f64,
    /// `route.margin`.
    pub margin: f64,
}

/// What decisions are worth on messages with answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionFigures {
    /// Messages that have a skill.
    pub with_skill: usize,
    /// Messages that need none.
    pub without: usize,
    /// The share of the first that get none.
    pub silent: f64,
    /// The share of the second that get none.
    pub kept: f64,
    /// Confident matches.
    pub matches: usize,
    /// The share of them that are right.
    pub right: f64,
    /// The share of messages with a skill that get it as a match.
    pub matched: f64,
}

/// What the router makes of one message, whatever the keys are.
#[derive(Debug, Clone, Copy)]
pub struct DecisionTrial {
    fit: f64,
    first: f64,
    lead: f64,
    right: bool,
    has_skill: bool,
}

/// Asks every question that has an answer, or needs none.
pub fn decision_trials(router: &Router, questions: &[EvalQuestion]) -> Vec<DecisionTrial> {
    let config = RouterConfig { floor: 0.0, ..router.config.clone() };
    let open = Router { config, ..router.clone() };
    let asked = questions.iter().filter(|one| one.expected_match() != ExpectedMatch::AnyOther);
    asked
        .map(|question| {
            let context = RouteContext::default();
            let found = open.route(&UserMessage::from_user(&question.query), &context);
            let place = |at: usize| found.matches.get(at).map_or(0.0, |one| one.probability);
            DecisionTrial {
                fit: found.fit,
                first: place(0),
                lead: place(0) - place(1),
                right: found.matches.first().is_some_and(|one| question.accepts(&one.id)),
                has_skill: question.expected_match() == ExpectedMatch::Skill,
            }
        })
        .collect()
}

impl DecisionFigures {
    /// The figures of some keys.
    pub fn of(trials: &[DecisionTrial], keys: DecisionKeys) -> Self {
        let is_silent = |one: &DecisionTrial| one.fit < keys.floor;
        let is_match = |one: &&DecisionTrial| {
            !is_silent(one) && one.first >= keys.threshold && one.lead >= keys.margin
        };
        let (with, without): (Vec<&DecisionTrial>, Vec<&DecisionTrial>) =
            trials.iter().partition(|one| one.has_skill);
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let silent = |some: &[&DecisionTrial]| {
            share(some.iter().filter(|one| is_silent(one)).count(), some.len())
        };
        let matches = trials.iter().filter(is_match).count();
        let right = trials.iter().filter(is_match).filter(|one| one.right && one.has_skill).count();
        Self {
            with_skill: with.len(),
            without: without.len(),
            silent: silent(&with),
            kept: silent(&without),
            matches,
            right: share(right, matches),
            matched: share(right, with.len()),
        }
    }
}

/// The keys that serve these messages best: the floor that keeps most of what needs no skill while
/// few others are silent, and the threshold and margin that match most while a match is right. A key for
/// which there are too few messages stays as in `before`.
pub fn fit_decision_keys(trials: &[DecisionTrial], before: DecisionKeys) -> DecisionKeys {
    let mut keys = before;
    let figures = |keys: DecisionKeys| DecisionFigures::of(trials, keys);
    let counted = figures(before);
    let steps = |from: u32, to: u32| (from..=to).map(|step| f64::from(step) / 20.0);
    if counted.with_skill >= ENOUGH && counted.without >= ENOUGH {
        let floors = steps(1, 14).map(|floor| DecisionKeys { floor, ..before });
        let best = floors.filter(|keys| figures(*keys).silent <= MOST_SILENT).max_by(|a, b| {
            let near = |keys: &DecisionKeys| -(keys.floor - before.floor).abs();
            figures(*a).kept.total_cmp(&figures(*b).kept).then(near(a).total_cmp(&near(b)))
        });
        keys.floor = best.map_or(before.floor.min(0.05), |best| best.floor);
    }
    if counted.with_skill >= ENOUGH {
        let pairs = steps(8, 19).flat_map(|threshold| {
            steps(0, 10).map(move |margin| DecisionKeys { threshold, margin, ..keys })
        });
        let worthy = pairs.filter(|keys| {
            let found = figures(*keys);
            found.matches >= ENOUGH && found.right >= LEAST_RIGHT
        });
        let best = worthy.max_by(|a, b| {
            let value = |keys: &DecisionKeys| (figures(*keys).matched, figures(*keys).right);
            let near = |keys: &DecisionKeys| {
                -(keys.threshold - before.threshold).abs() - (keys.margin - before.margin).abs()
            };
            let (a_value, b_value) = (value(a), value(b));
            a_value
                .0
                .total_cmp(&b_value.0)
                .then(a_value.1.total_cmp(&b_value.1))
                .then(near(a).total_cmp(&near(b)))
        });
        if let Some(best) = best {
            keys = best;
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: DecisionKeys = DecisionKeys { floor: 0.25, threshold: 0.75, margin: 0.2 };

    fn trial(fit: f64, first: f64, lead: f64, right: bool, has_skill: bool) -> DecisionTrial {
        DecisionTrial { fit, first, lead, right, has_skill }
    }

    #[test]
    fn keys_move_to_where_the_messages_part() {
        // A model whose probabilities are all too small: right ones from 0.5, small talk below 0.4.
        let right = (0..20).map(|_| trial(0.55, 0.5, 0.3, true, true));
        let wrong = (0..20).map(|_| trial(0.45, 0.42, 0.05, false, true));
        let talk = (0..20).map(|_| trial(0.38, 0.3, 0.3, false, false));
        let trials: Vec<DecisionTrial> = right.chain(wrong).chain(talk).collect();
        let before = DecisionFigures::of(&trials, BEFORE);
        assert_eq!((before.matches, before.kept), (0, 0.0));
        let keys = fit_decision_keys(&trials, BEFORE);
        let after = DecisionFigures::of(&trials, keys);
        assert_eq!((after.matches, after.right, after.matched), (20, 1.0, 0.5), "{keys:?}");
        assert_eq!((after.kept, after.silent), (1.0, 0.0), "{keys:?}");
    }

    #[test]
    fn few_messages_change_nothing() {
        let trials = vec![trial(0.1, 0.1, 0.1, true, true); ENOUGH - 1];
        assert_eq!(fit_decision_keys(&trials, BEFORE), BEFORE);
        assert_eq!(fit_decision_keys(&[], BEFORE), BEFORE);
    }
}
