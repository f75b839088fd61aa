//! From ranked candidates to a decision: how likely each is right, and whether any fits.

use crate::calibrate::{MatchEvidence, MatchFeatures};
use crate::keyword;
use crate::lexical::DocumentField;
use crate::ranking::CandidateRanking;
use crate::result::{
    AbstainReason, MatchedTerm, RouteDecision, RouteResult, RouteTiming, SkillMatch,
};
use crate::router::{Router, RouterConfig};
use crate::scored_query::ScoredQuery;

/// The probability of a skill that the message names.
const NAMED: f64 = 0.99;

/// The most that a skill gets which goes against what the message demands: less than a match needs.
const MOST_UNMET: f64 = 0.5;

/// The weight of a word as an explanation if it occurs only in the body.
const BODY_SHARE: f32 = 0.5;

/// Words shown per match.
const SHOWN_TERMS: usize = 12;

/// A candidate is worth reading if its probability is at least this share of the first one's.
const WORTH_READING: f64 = 0.15;

/// One with a smaller probability is not worth reading beside others.
const LEAST_READ: f64 = 0.04;

/// A list that holds this share of the probability of the first [`WEIGHED`] is long enough.
const MASS: f64 = 0.92;

/// Candidates that are weighed, whether or not they are shown.
const WEIGHED: usize = 10;

/// The least probability of a skill that is offered: less would be shown as 0 %.
const LEAST_SHOWN: f64 = 0.01;

impl CandidateRanking<'_> {
    /// The evidence for the candidate at a position of the order.
    fn evidence(&self, place: usize) -> MatchEvidence {
        let (at, parts) = &self.order[place];
        let weights = self.heard.calibration.weights;
        let unit = (weights.lexical + weights.table + weights.encoder).max(1e-9);
        // A skill that is ruled out is no rival: it counts as if it were not there.
        let rival = usize::from(place == 0);
        let other = self.order.get(rival).filter(|_| !self.is_refused(rival));
        let other = other.map(|(_, parts)| parts.sum());
        let score = parts.sum() / unit;
        // A single skill is compared with a document that matches nothing.
        let lead = score - other.map_or(0.0, |other| other / unit);
        let (coverage, explained) = self.coverage(*at);
        MatchEvidence {
            score,
            lead,
            coverage,
            explained,
            table: parts.table.raw,
            encoder: parts.encoder.raw,
            catalog: self.index.len(),
        }
    }

    /// The share of the message's word mass that a document explains, and that mass.
    fn coverage(&self, at: usize) -> (f64, f64) {
        let signals = &self.heard.signals;
        let bridged = self.heard.is_bridged();
        let (mut all, mut explained) = (0.0_f32, 0.0_f32);
        for looked in &signals.looked {
            let Some(found) = looked.found else {
                all += if bridged { 0.0 } else { looked.mass };
                continue;
            };
            all += looked.mass;
            if let Some(posting) = self.index.posting(found, at) {
                let in_head = posting.counts[..3].iter().any(|&count| count > 0);
                explained += looked.mass * if in_head { 1.0 } else { BODY_SHARE };
            }
        }
        // A long message is explained by its best window alone.
        let all = if signals.window.is_some() { all.min(2.0 * signals.mass) } else { all };
        let share = if all > 0.0 { (explained / all).min(1.0) } else { 0.0 };
        (f64::from(share), f64::from(explained.min(all)))
    }

    /// Features of the best candidates, for calibration.
    pub(crate) fn features(&self, count: usize) -> Vec<(usize, MatchFeatures)> {
        let places = 0..self.order.len().min(count);
        places.map(|place| (self.order[place].0, self.evidence(place).features())).collect()
    }

    fn is_named(&self, place: usize) -> bool {
        let found = self.order.get(place).map(|(at, _)| self.heard.named.binary_search(at));
        found.is_some_and(|found| found.is_ok())
    }

    fn probability(&self, place: usize) -> f64 {
        if self.is_named(place) {
            return NAMED;
        }
        let probability =
            self.heard.calibration.right.probability(&self.evidence(place).features());
        // What goes against a demand of the user may be worth reading, but is nothing to be sure of.
        let unmet = self.order[place].1.constraint.normalised < 0.0;
        if unmet { probability.min(MOST_UNMET) } else { probability }
    }

    /// The probability that any skill fits.
    fn fit(&self) -> f64 {
        if self.order.is_empty() {
            return 0.0;
        }
        if self.is_named(0) {
            return NAMED;
        }
        if self.heard.keywords.is_some() {
            // Netclaw's threshold, if there is no model.
            let enough = f64::from(keyword::THRESHOLD);
            let reached = self.order.iter().any(|(_, parts)| parts.trigger.raw >= enough);
            return if reached { 0.5 } else { 0.0 };
        }
        self.heard.calibration.fit.probability(&self.evidence(0).features())
    }

    /// The answer.
    pub(crate) fn into_result(self, router: &Router, took: RouteTiming) -> RouteResult {
        let config = &router.config;
        let shown = self.order.len().min(config.top.max(WEIGHED));
        let fit = self.fit();
        // If nothing fits, no candidate is right.
        let mut probabilities: Vec<f64> =
            (0..shown).map(|place| self.probability(place).min(fit)).collect();
        // The order is by score; a lower rank never has a higher probability.
        for place in 1..probabilities.len() {
            probabilities[place] = probabilities[place].min(probabilities[place - 1]);
        }
        let decision = self.decide(config, fit, &probabilities);
        let offered = match decision {
            RouteDecision::None => 0,
            RouteDecision::Match => 1,
            RouteDecision::Shortlist => worth_reading(&probabilities).min(config.top),
        };
        // A floor of 0 offers what nothing speaks for, and says so as 1 %.
        probabilities.iter_mut().take(offered).for_each(|p| *p = p.max(LEAST_SHOWN));
        let ScoredQuery { nothing, calibration, calibrated, query, .. } = self.heard;
        let fits_none = (decision == RouteDecision::None).then_some(AbstainReason::NothingFits);
        let matches = self.order[..shown.min(config.top)].iter().zip(&probabilities);
        RouteResult {
            decision,
            reason: nothing.or(fits_none),
            offered,
            matches: matches
                .map(|((at, parts), &probability)| SkillMatch {
                    id: self.index.id(*at).to_owned(),
                    name: self.index.name(*at).to_owned(),
                    description: self.index.description(*at).to_owned(),
                    probability,
                    score: parts.sum(),
                    parts: *parts,
                    terms: self.terms(*at),
                })
                .collect(),
            fit,
            threshold: config.threshold,
            margin: config.margin,
            model: router.model_name(!self.heard.signals.encoder.is_empty()),
            calibration: if *calibrated { calibration.model.clone() } else { "none".to_owned() },
            language: query.language.code(),
            degraded: self.heard.degraded.clone(),
            took,
        }
    }

    fn decide(&self, config: &RouterConfig, fit: f64, probabilities: &[f64]) -> RouteDecision {
        let place = |at: usize| probabilities.get(at).copied().unwrap_or(0.0);
        let (first, second) = (place(0), place(1));
        // With a floor of 0 something is always offered.
        if self.order.is_empty() || fit < config.floor || (first <= 0.0 && config.floor > 0.0) {
            return RouteDecision::None;
        }
        let sure = first >= config.threshold && first - second >= config.margin;
        // Models that were never calibrated together may be overconfident.
        if sure && (self.heard.calibrated || self.is_named(0)) {
            RouteDecision::Match
        } else {
            RouteDecision::Shortlist
        }
    }

    /// Words that a message shares with a document, best first.
    fn terms(&self, at: usize) -> Vec<MatchedTerm> {
        let heard = self.heard;
        let shared = heard.signals.looked.iter().filter_map(|looked| {
            let posting = self.index.posting(looked.found?, at)?;
            let field = posting.counts.iter().position(|&count| count > 0)?;
            Some(MatchedTerm {
                term: self.index.term(looked.found?).to_owned(),
                field: DocumentField::ALL[field],
                weight: f64::from(looked.mass * posting.impact),
            })
        });
        let mut out: Vec<MatchedTerm> = shared.collect();
        out.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.term.cmp(&b.term)));
        out.truncate(SHOWN_TERMS);
        out
    }
}

impl RouteResult {
    /// Leaves of a short list what is worth reading beside a match that cannot be used. `ungated` is the
    /// answer with that match: a list of skills that only lead because the right one is missing would
    /// send its reader astray.
    pub fn keep_worth_reading_beside(&mut self, ungated: &Self) {
        let (RouteDecision::Shortlist, Some(first)) = (self.decision, ungated.matches.first())
        else {
            return;
        };
        let least = WORTH_READING * first.probability;
        let is_close = |found: &&SkillMatch| {
            let beside = ungated.matches.iter().find(|other| other.id == found.id);
            beside.is_some_and(|beside| beside.probability >= least)
        };
        self.offered = self.matches.iter().take(self.offered).take_while(is_close).count();
        if self.offered == 0 {
            self.decision = RouteDecision::None;
            self.reason = Some(AbstainReason::NothingFits);
        }
    }
}

/// How many of the best are worth reading: those not far less likely than the first, and no more than
/// it takes to hold nearly all of the probability.
fn worth_reading(probabilities: &[f64]) -> usize {
    let first = probabilities.first().copied().unwrap_or(0.0);
    let least = (WORTH_READING * first).max(LEAST_READ);
    let enough = MASS * probabilities.iter().take(WEIGHED).sum::<f64>();
    let mut held = 0.0;
    let worth = probabilities
        .iter()
        .take_while(|&&p| {
            let wanted = p >= least && held < enough;
            held += p;
            wanted
        })
        .count();
    // A choice has two sides, unless the second would be shown as 0 %.
    let second = probabilities.get(1).is_some_and(|&p| p >= LEAST_SHOWN);
    worth.max(1 + usize::from(second)).min(probabilities.len())
}
