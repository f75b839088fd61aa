//! Runs a router on every question.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::data::{EvalQuestion, ExpectedMatch, UnreadableRow};
use super::report::{
    EvalMiss, FalseMatchFigures, RankingFigures, RouteEvalReport, confusion, intervals, latency,
};
use crate::message::UserMessage;
use crate::result::{RouteDecision, RouteTiming};
use crate::router::{RouteContext, Router, RouterConfig};

/// The result of one question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionResult {
    /// The question's id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// The expected answer.
    pub wants: ExpectedMatch,
    /// The rank of the best right skill, if it is among the first hundred.
    pub rank: Option<usize>,
    /// The share of expected skills among the first ten.
    pub recall10: f64,
    /// The decision.
    pub decision: RouteDecision,
    /// How many skills were offered.
    pub offered: usize,
    /// Whether a skill was matched that must not be.
    pub stolen: bool,
    /// The ids of the first three.
    pub first: Vec<String>,
    /// The probability of the first.
    pub probability: f64,
    /// How long it took.
    #[serde(skip)]
    pub took: RouteTiming,
}

impl QuestionResult {
    /// 1 if the right skill is among the first `count`.
    pub fn hit(&self, count: usize) -> f64 {
        f64::from(u8::from(self.rank.is_some_and(|rank| rank <= count)))
    }

    /// The discounted gain of the first ten.
    pub fn ndcg(&self) -> f64 {
        self.rank.filter(|&rank| rank <= 10).map_or(0.0, |rank| 1.0 / ((rank + 1) as f64).log2())
    }
}

/// Options of an evaluation.
#[derive(Debug, Clone, Copy, Default)]
pub struct RouteEvalOptions {
    /// Use all cores: faster, but latencies are less meaningful.
    pub parallel: bool,
    /// Whether to list the misses.
    pub misses: bool,
}

/// The number of ranks that are examined.
const DEEP: usize = 100;

/// Runs every question.
pub fn observe(router: &Router, questions: &[EvalQuestion], parallel: bool) -> Vec<QuestionResult> {
    let deep =
        Router { config: RouterConfig { top: DEEP, ..router.config.clone() }, ..router.clone() };
    let ask =
        |question: &EvalQuestion| ask(&deep, router.config.top, question, &RouteContext::default());
    if parallel {
        questions.par_iter().map(ask).collect()
    } else {
        questions.iter().map(ask).collect()
    }
}

fn ask(
    router: &Router,
    top: usize,
    question: &EvalQuestion,
    context: &RouteContext<'_>,
) -> QuestionResult {
    let result = router.route(&UserMessage::from_user(&question.query), context);
    let rank =
        result.matches.iter().position(|one| question.accepts(&one.id)).map(|place| place + 1);
    let found = question
        .expected
        .iter()
        .filter(|id| result.matches.iter().take(10).any(|one| one.id == **id))
        .count();
    QuestionResult {
        id: question.id.clone(),
        kind: question.kind.clone(),
        wants: question.expected_match(),
        rank,
        recall10: found as f64 / question.expected.len().max(1) as f64,
        decision: result.decision,
        offered: result.offered.min(top.max(2)),
        stolen: result.matched().is_some_and(|one| {
            question.never.iter().any(|never| *never == one.id || *never == one.name)
        }),
        first: result.matches.iter().take(3).map(|one| one.id.clone()).collect(),
        probability: result.matches.first().map_or(0.0, |one| one.probability),
        took: result.took,
    }
}

/// Runs every question and summarises; `problems` are rows that could not be read.
pub fn evaluate(
    router: &Router,
    questions: &[EvalQuestion],
    problems: Vec<UnreadableRow>,
    options: RouteEvalOptions,
) -> RouteEvalReport {
    let observed = observe(router, questions, options.parallel);
    let mut kinds: BTreeMap<String, Vec<&QuestionResult>> = BTreeMap::new();
    for one in observed.iter().filter(|one| one.wants == ExpectedMatch::Skill) {
        kinds.entry(one.kind.clone()).or_default().push(one);
    }
    let (decision, abstain) = confusion(&observed);
    let probe = router.route(&UserMessage::from_user("probe"), &RouteContext::default());
    let name = |id: &String| {
        router.index.position(id).map_or_else(|| id.clone(), |at| router.index.name(at).to_owned())
    };
    let misses = observed.iter().zip(questions).filter(|(one, _)| {
        options.misses
            && match one.wants {
                ExpectedMatch::Skill => one.rank != Some(1),
                ExpectedMatch::None => one.decision != RouteDecision::None,
                ExpectedMatch::AnyOther => one.stolen,
            }
    });
    let misses = misses.map(|(one, question)| EvalMiss {
        id: one.id.clone(),
        query: question.query.clone(),
        expected: question.expected.clone(),
        rank: one.rank,
        decision: one.decision,
        first: one.first.iter().map(name).collect(),
    });
    RouteEvalReport {
        figures: RankingFigures::of(&observed),
        by_kind: kinds.into_iter().map(|(kind, all)| (kind, RankingFigures::of(all))).collect(),
        intervals: intervals(&observed),
        abstain,
        decision,
        should_not: FalseMatchFigures::of(&observed),
        latency: latency(&observed),
        model: probe.model,
        calibration: probe.calibration,
        skills: router.index.len(),
        problems,
        misses: misses.collect(),
        questions: observed,
    }
}

/// Runs every question that has an answer without its right skills: any remaining match is wrong.
pub fn near_misses(router: &Router, questions: &[EvalQuestion]) -> Vec<QuestionResult> {
    questions
        .par_iter()
        .filter(|question| question.expected_match() == ExpectedMatch::Skill)
        .map(|question| {
            let right: Vec<&str> =
                question.expected.iter().chain(&question.also).map(String::as_str).collect();
            ask(
                router,
                router.config.top,
                question,
                &RouteContext { excluded: &right, prior: None },
            )
        })
        .collect()
}
