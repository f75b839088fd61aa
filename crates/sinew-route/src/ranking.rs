//! Adds the signals up and orders the candidates.

use crate::index::RouteIndex;
use crate::keyword::{self, TriggerPhrases};
use crate::result::{ScorePart, ScoreParts};
use crate::router::{CANDIDATES, RankingAids, RouteContext, Router};
use crate::scored_query::ScoredQuery;
use crate::signal_scale::SignalScale;
use crate::top_documents::{best, by_score};

/// What naming a skill adds: more than all other signals together.
const NAME_WEIGHT: f64 = 100.0;

/// What a matched pair of trigger words adds, in deviations, and the maximum number that counts.
const TRIGGER_WEIGHT: f64 = 0.5;
const MAX_PAIRS: usize = 2;

/// What a matched negative trigger subtracts, in units of the above: its author rules the skill out,
/// so it comes after all others.
const REFUSED: f64 = 100.0;

/// What a message that is wholly about what a description excludes subtracts, in the same units.
const AGAINST: f64 = 6.0;

/// The maximum effect of learning.
const MAX_PRIOR: f64 = 0.5;

/// The candidates for a message, in order.
pub(crate) struct CandidateRanking<'a> {
    pub(crate) heard: &'a ScoredQuery,
    pub(crate) index: &'a RouteIndex,
    aids: RankingAids,
    /// Documents in order, with the parts of their scores.
    pub(crate) order: Vec<(usize, ScoreParts)>,
}

impl<'a> CandidateRanking<'a> {
    pub(crate) fn of(
        router: &'a Router,
        heard: &'a ScoredQuery,
        context: &RouteContext<'_>,
    ) -> Self {
        let index = &*router.index;
        let mut ranking = Self { heard, index, aids: router.config.aids, order: Vec::new() };
        if heard.nothing.is_some() {
            return ranking;
        }
        let mut excluded: Vec<usize> =
            context.excluded.iter().filter_map(|id| index.position(id)).collect();
        excluded.sort_unstable();
        let weights = heard.calibration.weights;
        let count = CANDIDATES.max(router.config.top);
        let mut best = best(index, &heard.signals, &heard.scales, weights, &excluded, count);
        for &at in &heard.named {
            if !best.contains(&at) && excluded.binary_search(&at).is_err() {
                best.push(at);
            }
        }
        ranking.order = best.into_iter().map(|at| (at, ranking.parts(at, context))).collect();
        ranking.order.sort_by(|a, b| by_score(index, (a.0, a.1.sum()), (b.0, b.1.sum())));
        ranking
    }

    /// The share of the message's word mass that a document says it is not for.
    fn share_against(&self, phrases: &TriggerPhrases) -> f64 {
        if phrases.against.is_empty() {
            return 0.0;
        }
        let (mut all, mut against) = (0.0_f32, 0.0_f32);
        for looked in &self.heard.signals.looked {
            all += looked.mass;
            if phrases
                .against
                .binary_search(&self.heard.query.whole.terms[looked.term].word)
                .is_ok()
            {
                against += looked.mass;
            }
        }
        if all > 0.0 { f64::from(against / all) } else { 0.0 }
    }

    /// Whether a declared trigger rules the candidate at a position of the order out.
    pub(crate) fn is_refused(&self, place: usize) -> bool {
        self.order.get(place).is_some_and(|(_, parts)| parts.trigger.normalised < -REFUSED / 2.0)
    }

    /// The parts of a document's score.
    fn parts(&self, at: usize, context: &RouteContext<'_>) -> ScoreParts {
        let (heard, signals) = (self.heard, &self.heard.signals);
        let weights = heard.calibration.weights;
        let part = |raw: f32, scale: SignalScale, weight: f64| ScorePart {
            raw: f64::from(raw),
            normalised: if weight == 0.0 { 0.0 } else { scale.z(raw) },
            weight,
        };
        let phrases = TriggerPhrases::read(self.index.triggers(at));
        let pairs = phrases.pairs(&heard.stems);
        let refused = phrases.matches_negative(&heard.stems);
        let keyword =
            heard.keywords.as_ref().map_or(0.0, |scores| scores[at]) + keyword::pair_score(pairs);
        let trigger = pairs.min(MAX_PAIRS) as f64
            - AGAINST * self.share_against(&phrases)
            - if refused { REFUSED } else { 0.0 };
        let prior = context.prior.and_then(|prior| prior.of(self.index.id(at))).unwrap_or(0.0);
        let rare = heard.rare_names.evidence(at, self.index);
        let demanded = heard.constraints.fit(at, self.index);
        let named = f64::from(u8::from(heard.named.binary_search(&at).is_ok()));
        ScoreParts {
            lexical: part(signals.lexical[at], heard.scales[0], weights.lexical),
            table: part(signals.table[at], heard.scales[1], weights.table),
            encoder: signals
                .encoder
                .get(at)
                .map(|&cosine| part(cosine, heard.scales[2], weights.encoder))
                .unwrap_or_default(),
            name: ScorePart { raw: named, normalised: named, weight: NAME_WEIGHT },
            rare: ScorePart { raw: rare, normalised: rare, weight: self.aids.rare },
            constraint: ScorePart {
                raw: demanded,
                normalised: demanded,
                weight: self.aids.constraint,
            },
            trigger: ScorePart {
                raw: f64::from(keyword),
                normalised: trigger,
                weight: TRIGGER_WEIGHT,
            },
            prior: ScorePart {
                raw: prior,
                normalised: if prior.is_finite() {
                    prior.clamp(-MAX_PRIOR, MAX_PRIOR)
                } else {
                    0.0
                },
                weight: 1.0,
            },
        }
    }
}
