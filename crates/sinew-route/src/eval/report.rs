//! The figures and their confidence intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use super::data::{ExpectedMatch, UnreadableRow};
use super::run::QuestionResult;
use crate::result::RouteDecision;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ConfidenceInterval {
    /// 2.5 % of resamples are below.
    pub low: f64,
    /// 2.5 % are above.
    pub high: f64,
}

/// How well the right skills were ranked, over messages that have one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RankingFigures {
    /// How many messages.
    pub messages: usize,
    /// The right skill is first.
    #[serde(rename = "hit@1")]
    pub hit1: f64,
    /// It is among the first five.
    #[serde(rename = "hit@5")]
    pub hit5: f64,
    /// The share of expected skills among the first ten.
    #[serde(rename = "recall@10")]
    pub recall10: f64,
    /// Discounted by rank: 1 for the first place, 0.63 for the second.
    #[serde(rename = "ndcg@10")]
    pub ndcg10: f64,
    /// The mean of 1 / rank.
    pub mrr: f64,
}

impl RankingFigures {
    /// The figures of some results; those that expect no skill do not count.
    pub fn of<'a>(observed: impl IntoIterator<Item = &'a QuestionResult>) -> Self {
        let mut sum = Self::default();
        for one in observed.into_iter().filter(|one| one.wants == ExpectedMatch::Skill) {
            sum.messages += 1;
            sum.recall10 += one.recall10;
            if let Some(rank) = one.rank {
                sum.hit1 += f64::from(u8::from(rank == 1));
                sum.hit5 += f64::from(u8::from(rank <= 5));
                sum.mrr += 1.0 / rank as f64;
                if rank <= 10 {
                    sum.ndcg10 += 1.0 / ((rank + 1) as f64).log2();
                }
            }
        }
        let count = sum.messages.max(1) as f64;
        for figure in
            [&mut sum.hit1, &mut sum.hit5, &mut sum.recall10, &mut sum.ndcg10, &mut sum.mrr]
        {
            *figure /= count;
        }
        sum
    }
}

/// How well the router abstains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct AbstentionFigures {
    /// The share of abstentions that were right.
    pub precision: f64,
    /// The share of messages without a skill for which the router abstained.
    pub recall: f64,
    /// The share of messages with a skill for which the router abstained.
    pub wrong_abstentions: f64,
}

/// Decisions, by whether they were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ConfusionMatrix {
    /// `match`, and the right one.
    pub match_right: usize,
    /// `match`, and another one.
    pub match_wrong: usize,
    /// `match`, where no skill fits.
    pub match_for_none: usize,
    /// `shortlist` with the right one in it.
    pub shortlist_right: usize,
    /// `shortlist` without it.
    pub shortlist_wrong: usize,
    /// `shortlist`, where no skill fits.
    pub shortlist_for_none: usize,
    /// `none`, where a skill fits.
    pub none_wrong: usize,
    /// `none`, rightly.
    pub none_right: usize,
    /// The share of matches that were right.
    pub match_precision: f64,
}

/// Messages that must not match some skill: should-not-trigger rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FalseMatchFigures {
    /// How many messages.
    pub messages: usize,
    /// The share that matched it anyway.
    pub false_matches: f64,
}

impl FalseMatchFigures {
    /// `None` if there are no such messages.
    pub(super) fn of(observed: &[QuestionResult]) -> Option<Self> {
        let about = observed.iter().filter(|one| one.wants == ExpectedMatch::AnyOther);
        let (messages, stolen) = about.fold((0, 0), |(messages, stolen), one| {
            (messages + 1, stolen + usize::from(one.stolen))
        });
        (messages > 0).then(|| Self { messages, false_matches: stolen as f64 / messages as f64 })
    }
}

/// Microseconds of a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StageLatency {
    /// Half of the messages were faster.
    pub p50: u64,
    /// All but one in a hundred.
    pub p99: u64,
}

/// Microseconds, stage by stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RouteLatency {
    /// Reading the message.
    pub text: StageLatency,
    /// Words and static vectors.
    pub first: StageLatency,
    /// The encoder.
    pub encoder: StageLatency,
    /// Ranking and deciding.
    pub decide: StageLatency,
    /// All of it.
    pub total: StageLatency,
}

/// A message whose right skill was not first, or for which the router should have abstained.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalMiss {
    /// The question.
    pub id: String,
    /// The user's message.
    pub query: String,
    /// The right skills.
    pub expected: Vec<String>,
    /// The rank of the right skill, if any.
    pub rank: Option<usize>,
    /// The decision.
    pub decision: RouteDecision,
    /// Names of the first three.
    pub first: Vec<String>,
}

/// All measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteEvalReport {
    /// Over all messages with a skill.
    #[serde(flatten)]
    pub figures: RankingFigures,
    /// The same by kind of message.
    pub by_kind: BTreeMap<String, RankingFigures>,
    /// 95 % intervals.
    pub intervals: BTreeMap<&'static str, ConfidenceInterval>,
    /// How well the router abstains.
    pub abstain: AbstentionFigures,
    /// The decisions.
    pub decision: ConfusionMatrix,
    /// Messages that must not match some skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub should_not: Option<FalseMatchFigures>,
    /// Microseconds.
    pub latency: RouteLatency,
    /// The models.
    pub model: String,
    /// The calibration.
    pub calibration: String,
    /// The number of skills to choose from.
    pub skills: usize,
    /// Rows that could not be read.
    pub problems: Vec<UnreadableRow>,
    /// The misses, message by message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<EvalMiss>,
    /// The result of each question, for comparing two runs.
    pub questions: Vec<QuestionResult>,
}

/// Resamples of the bootstrap.
const ROUNDS: usize = 1_000;

/// A small generator with a fixed seed: the same data gives the same interval.
pub(super) struct SeededRandom(pub(super) u64);

impl SeededRandom {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// The interval of a mean of values.
pub(super) fn interval_of_mean(values: &[f64]) -> ConfidenceInterval {
    if values.is_empty() {
        return ConfidenceInterval::default();
    }
    let mut random = SeededRandom(0x5eed);
    let mut means: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            (0..values.len()).map(|_| values[random.below(values.len())]).sum::<f64>()
                / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    ConfidenceInterval { low: means[ROUNDS * 25 / 1000], high: means[ROUNDS * 975 / 1000] }
}

pub(super) fn intervals(observed: &[QuestionResult]) -> BTreeMap<&'static str, ConfidenceInterval> {
    let positives: Vec<&QuestionResult> =
        observed.iter().filter(|one| one.wants == ExpectedMatch::Skill).collect();
    let of = |value: &dyn Fn(&QuestionResult) -> f64| {
        interval_of_mean(&positives.iter().map(|one| value(one)).collect::<Vec<_>>())
    };
    BTreeMap::from([
        ("hit@1", of(&|one| one.hit(1))),
        ("hit@5", of(&|one| one.hit(5))),
        ("ndcg@10", of(&QuestionResult::ndcg)),
        ("mrr", of(&|one| one.rank.map_or(0.0, |rank| 1.0 / rank as f64))),
    ])
}

pub(super) fn confusion(observed: &[QuestionResult]) -> (ConfusionMatrix, AbstentionFigures) {
    let mut out = ConfusionMatrix::default();
    for one in observed {
        let offered = one.rank.is_some_and(|rank| rank <= one.offered);
        let slot = match (one.decision, one.wants) {
            (_, ExpectedMatch::AnyOther) => continue,
            (RouteDecision::Match, ExpectedMatch::None) => &mut out.match_for_none,
            (RouteDecision::Match, ExpectedMatch::Skill) if offered => &mut out.match_right,
            (RouteDecision::Match, ExpectedMatch::Skill) => &mut out.match_wrong,
            (RouteDecision::Shortlist, ExpectedMatch::None) => &mut out.shortlist_for_none,
            (RouteDecision::Shortlist, ExpectedMatch::Skill) if offered => &mut out.shortlist_right,
            (RouteDecision::Shortlist, ExpectedMatch::Skill) => &mut out.shortlist_wrong,
            (RouteDecision::None, ExpectedMatch::None) => &mut out.none_right,
            (RouteDecision::None, ExpectedMatch::Skill) => &mut out.none_wrong,
        };
        *slot += 1;
    }
    let share =
        |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    out.match_precision =
        share(out.match_right, out.match_right + out.match_wrong + out.match_for_none);
    let wanting = |wants: ExpectedMatch| observed.iter().filter(|one| one.wants == wants).count();
    let abstain = AbstentionFigures {
        precision: share(out.none_right, out.none_right + out.none_wrong),
        recall: share(out.none_right, wanting(ExpectedMatch::None)),
        wrong_abstentions: share(out.none_wrong, wanting(ExpectedMatch::Skill)),
    };
    (out, abstain)
}

pub(super) fn latency(observed: &[QuestionResult]) -> RouteLatency {
    let stage = |value: &dyn Fn(&QuestionResult) -> u64| {
        let mut all: Vec<u64> = observed.iter().map(value).collect();
        all.sort_unstable();
        let at = |share: f64| {
            all.get(((all.len() as f64 * share) as usize).min(all.len().saturating_sub(1)))
                .copied()
                .unwrap_or(0)
        };
        StageLatency { p50: at(0.5), p99: at(0.99) }
    };
    RouteLatency {
        text: stage(&|one| one.took.text),
        first: stage(&|one| one.took.first),
        encoder: stage(&|one| one.took.encoder),
        decide: stage(&|one| one.took.decide),
        total: stage(&|one| one.took.total),
    }
}
