//! Adds the signals up, orders the candidates, and decides.

use std::cmp::Ordering;

use crate::calibrate::{Calibration, Evidence, Features};
use crate::fuse::Scale;
use crate::index::Index;
use crate::keyword::{self, Phrases};
use crate::lexical::Field;
use crate::message::Query;
use crate::result::{
    Decision, Degraded, Match, MatchedTerm, Nothing, Part, Parts, RouteResult, Took,
};
use crate::router::{CANDIDATES, Context, Router};
use crate::signals::Signals;
use crate::text::language::Language;

/// What naming a skill adds: more than all other signals together can.
const NAME_WEIGHT: f64 = 100.0;

/// How sure a name makes.
const NAMED: f64 = 0.99;

/// What a matched pair of trigger words adds, in deviations, and at most how many count.
const TRIGGER_WEIGHT: f64 = 0.5;
const MAX_PAIRS: usize = 2;

/// What a matched negative trigger takes, in units of the above.
const REFUSED: f64 = 8.0;

/// What was learned may not move a skill further than this.
const MAX_PRIOR: f64 = 0.5;

/// A word counts so much as an explanation when it is in the body only.
const BODY_SHARE: f32 = 0.5;

/// Words count in full when all of a message's are known to the catalog, and this much when none is.
const KNOWN_FLOOR: f64 = 0.3;

/// Words shown per match.
const SHOWN_TERMS: usize = 12;

/// A message with the score of every candidate.
pub(crate) struct Ranking {
    pub(crate) query: Query,
    signals: Signals,
    scales: [Scale; 3],
    calibration: Calibration,
    calibrated: bool,
    /// Documents in order, with what their score is made of.
    pub(crate) order: Vec<(usize, Parts)>,
    named: Vec<usize>,
    words_only: bool,
    reason: Option<Nothing>,
    degraded: Vec<Degraded>,
}

impl Ranking {
    /// There is nothing to rank, or nothing to rank by.
    pub(crate) fn nothing(query: Query, reason: Nothing, degraded: Vec<Degraded>) -> Self {
        let scale = Scale::of(std::iter::empty(), [0.0, 1.0]);
        Self {
            query,
            signals: Signals::default(),
            scales: [scale; 3],
            calibration: Calibration::default(),
            calibrated: false,
            order: Vec::new(),
            named: Vec::new(),
            words_only: false,
            reason: Some(reason),
            degraded,
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one call, from the router, with all it knows")]
    pub(crate) fn of(
        router: &Router,
        query: Query,
        signals: Signals,
        calibration: &Calibration,
        context: &Context<'_>,
        named: Vec<usize>,
        stems: &[String],
        degraded: Vec<Degraded>,
        calibrated: bool,
    ) -> Self {
        let index = &*router.index;
        let mut calibration = calibration.clone();
        let known = known_share(&query, &signals);
        calibration.weights.lexical *= KNOWN_FLOOR + (1.0 - KNOWN_FLOOR) * known;
        let words_only = router.models.table.is_none() && signals.encoder.is_empty();
        let mut ranking = Self {
            scales: scales(&signals, index, &calibration),
            query,
            signals,
            calibration,
            calibrated,
            order: Vec::new(),
            named,
            words_only,
            reason: None,
            degraded,
        };
        let excluded: Vec<usize> = {
            let mut found: Vec<usize> =
                context.excluded.iter().filter_map(|id| index.position(id)).collect();
            found.sort_unstable();
            found
        };
        let keywords = words_only.then(|| keyword::word_scores(&ranking.query, index));
        let mut best = ranking.best(index, &excluded, CANDIDATES.max(router.config.top));
        for &at in &ranking.named {
            if !best.contains(&at) && excluded.binary_search(&at).is_err() {
                best.push(at);
            }
        }
        let parts = best
            .into_iter()
            .map(|at| (at, ranking.parts(index, at, context, stems, keywords.as_deref())));
        ranking.order = parts.collect();
        ranking.order.sort_by(|a, b| by_score(index, (a.0, a.1.sum()), (b.0, b.1.sum())));
        ranking
    }

    /// The best documents of the first stage.
    pub(crate) fn first_best(
        router: &Router,
        query: &Query,
        signals: &Signals,
        count: usize,
    ) -> Vec<usize> {
        let (calibration, _) = router.calibration(router.models.table.is_some(), false);
        let ranking = Self {
            scales: scales(signals, &router.index, &calibration),
            query: query.clone(),
            signals: signals.clone(),
            calibrated: false,
            calibration,
            order: Vec::new(),
            named: Vec::new(),
            words_only: false,
            reason: None,
            degraded: Vec::new(),
        };
        ranking.best(&router.index, &[], count)
    }

    fn base(&self, at: usize) -> f64 {
        let weights = self.calibration.weights;
        let mut sum = weights.lexical * self.scales[0].z(self.signals.lexical[at])
            + weights.table * self.scales[1].z(self.signals.table[at]);
        if let Some(&cosine) = self.signals.encoder.get(at) {
            sum += weights.encoder * self.scales[2].z(cosine);
        }
        sum
    }

    /// The best documents by words and vectors, in any order.
    fn best(&self, index: &Index, excluded: &[usize], count: usize) -> Vec<usize> {
        let partial = !self.signals.encoder.is_empty();
        let mut scored: Vec<(usize, f64)> = (0..index.len())
            .filter(|at| excluded.binary_search(at).is_err() && (!partial || index.has_vector(*at)))
            .map(|at| (at, self.base(at)))
            .collect();
        if scored.len() > count {
            scored.select_nth_unstable_by(count - 1, |a, b| by_score(index, *a, *b));
            scored.truncate(count);
        }
        scored.into_iter().map(|(at, _)| at).collect()
    }

    /// What the score of a document is made of.
    pub(crate) fn parts(
        &self,
        index: &Index,
        at: usize,
        context: &Context<'_>,
        stems: &[String],
        keywords: Option<&[f32]>,
    ) -> Parts {
        let weights = self.calibration.weights;
        let part = |raw: f32, scale: Scale, weight: f64| Part {
            raw: f64::from(raw),
            normalised: if weight == 0.0 { 0.0 } else { scale.z(raw) },
            weight,
        };
        let phrases: Phrases = serde_json::from_str(index.triggers(at)).unwrap_or_default();
        let pairs = phrases.pairs(stems);
        let refused = phrases.refused(stems);
        let keyword = keywords.map_or(0.0, |scores| scores[at]) + keyword::pair_score(pairs);
        let trigger = pairs.min(MAX_PAIRS) as f64 - if refused { REFUSED } else { 0.0 };
        let prior = context.prior.and_then(|prior| prior.of(index.id(at))).unwrap_or(0.0);
        let named = self.named.binary_search(&at).is_ok();
        Parts {
            lexical: part(self.signals.lexical[at], self.scales[0], weights.lexical),
            table: part(self.signals.table[at], self.scales[1], weights.table),
            encoder: self
                .signals
                .encoder
                .get(at)
                .map(|&cosine| part(cosine, self.scales[2], weights.encoder))
                .unwrap_or_default(),
            name: Part {
                raw: f64::from(u8::from(named)),
                normalised: f64::from(u8::from(named)),
                weight: NAME_WEIGHT,
            },
            trigger: Part { raw: f64::from(keyword), normalised: trigger, weight: TRIGGER_WEIGHT },
            prior: Part {
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

    /// What speaks for the candidate at a place of the order.
    fn evidence(&self, index: &Index, place: usize) -> Evidence {
        let (at, parts) = &self.order[place];
        let weights = self.calibration.weights;
        let unit = (weights.lexical + weights.table + weights.encoder).max(1e-9);
        let other = self
            .order
            .iter()
            .enumerate()
            .find(|(other, _)| *other != place)
            .map(|(_, (_, parts))| parts.sum());
        let score = parts.sum() / unit;
        // One skill alone leads over a document that looks like nothing.
        let lead = score - other.map_or(0.0, |other| other / unit);
        let (coverage, explained) = self.coverage(index, *at);
        Evidence {
            score,
            lead,
            coverage,
            explained,
            table: parts.table.raw,
            encoder: parts.encoder.raw,
            catalog: index.len(),
        }
    }

    /// The share of the message's word mass that a document explains, and that mass.
    fn coverage(&self, index: &Index, at: usize) -> (f64, f64) {
        let bridged = is_bridged(&self.query);
        let (mut all, mut explained) = (0.0_f32, 0.0_f32);
        for looked in &self.signals.looked {
            let Some(found) = looked.found else {
                all += if bridged { 0.0 } else { looked.mass };
                continue;
            };
            all += looked.mass;
            if let Some(posting) = index.posting(found, at) {
                let in_head = posting.counts[..3].iter().any(|&count| count > 0);
                explained += looked.mass * if in_head { 1.0 } else { BODY_SHARE };
            }
        }
        // A long message is explained by its best window alone.
        let all =
            if self.signals.window.is_some() { all.min(2.0 * self.signals.mass) } else { all };
        let share = if all > 0.0 { (explained / all).min(1.0) } else { 0.0 };
        (f64::from(share), f64::from(explained.min(all)))
    }

    /// Features of the best candidates, for calibration.
    pub(crate) fn features(&self, index: &Index, count: usize) -> Vec<(usize, Features)> {
        let places = 0..self.order.len().min(count);
        places.map(|place| (self.order[place].0, self.evidence(index, place).features())).collect()
    }

    /// The raw signals, for fitting.
    pub(crate) fn into_raw(self) -> crate::eval::RawSignals {
        crate::eval::RawSignals {
            known: known_share(&self.query, &self.signals) as f32,
            lexical: self.signals.lexical,
            table: self.signals.table,
            encoder: self.signals.encoder,
            mass: self.signals.mass,
        }
    }

    fn probability(&self, index: &Index, place: usize) -> f64 {
        if self.named.binary_search(&self.order[place].0).is_ok() {
            return NAMED;
        }
        self.calibration.right.probability(&self.evidence(index, place).features())
    }

    /// How sure we are that any skill fits.
    fn fit(&self, index: &Index) -> f64 {
        match self.order.first() {
            None => 0.0,
            Some((at, _)) if self.named.binary_search(at).is_ok() => NAMED,
            // Netclaw's threshold, where words are all there is.
            Some(_) if self.words_only => {
                let reached = self
                    .order
                    .iter()
                    .any(|(_, parts)| parts.trigger.raw >= f64::from(keyword::THRESHOLD));
                if reached { 0.5 } else { 0.0 }
            }
            Some(_) => self.calibration.fit.probability(&self.evidence(index, 0).features()),
        }
    }

    /// The answer.
    pub(crate) fn into_result(self, router: &Router, took: Took) -> RouteResult {
        let index = &*router.index;
        let config = &router.config;
        let shown = self.order.len().min(config.top.max(2));
        let fit = self.fit(index);
        // Where nothing fits, nothing is right.
        let mut probabilities: Vec<f64> =
            (0..shown).map(|place| self.probability(index, place).min(fit)).collect();
        // The order is by score; a lower place is never surer than a higher one.
        for place in 1..probabilities.len() {
            probabilities[place] = probabilities[place].min(probabilities[place - 1]);
        }
        let first = probabilities.first().copied().unwrap_or(0.0);
        let second = probabilities.get(1).copied().unwrap_or(0.0);
        let decision = if fit < config.floor || first <= 0.0 {
            Decision::None
        } else if first >= config.threshold && first - second >= config.margin {
            let named =
                self.order.first().is_some_and(|(at, _)| self.named.binary_search(at).is_ok());
            router.cap(Decision::Match, self.calibrated || named)
        } else {
            Decision::Shortlist
        };
        let offered = match decision {
            Decision::None => 0,
            Decision::Match => 1,
            Decision::Shortlist => self.offered(&probabilities).min(config.top.max(2)),
        };
        let reason = match (decision, self.reason) {
            (_, Some(reason)) => Some(reason),
            (Decision::None, None) => Some(Nothing::NothingFits),
            _ => None,
        };
        let matches = self.order[..shown.min(config.top)]
            .iter()
            .zip(&probabilities)
            .map(|((at, parts), &probability)| Match {
                id: index.id(*at).to_owned(),
                name: index.name(*at).to_owned(),
                description: index.description(*at).to_owned(),
                probability,
                score: parts.sum(),
                parts: *parts,
                terms: self.terms(index, *at),
            })
            .collect();
        let with_encoder = !self.signals.encoder.is_empty();
        RouteResult {
            decision,
            reason,
            offered,
            matches,
            fit,
            threshold: config.threshold,
            margin: config.margin,
            model: router.model_name(with_encoder),
            calibration: if self.calibrated {
                self.calibration.model.clone()
            } else {
                "none".to_owned()
            },
            language: self.query.language.code(),
            degraded: self.degraded,
            took,
        }
    }

    /// How many of the best are worth reading: those not far less likely than the first.
    fn offered(&self, probabilities: &[f64]) -> usize {
        let first = probabilities.first().copied().unwrap_or(0.0);
        let worth = probabilities.iter().take_while(|&&p| p >= (0.15 * first).max(0.02)).count();
        worth.max(2).min(probabilities.len())
    }

    /// Words that a message shares with a document, best first.
    pub(crate) fn terms(&self, index: &Index, at: usize) -> Vec<MatchedTerm> {
        let mut out: Vec<MatchedTerm> = self
            .signals
            .looked
            .iter()
            .filter_map(|looked| {
                let posting = index.posting(looked.found?, at)?;
                let field = posting.counts.iter().position(|&count| count > 0)?;
                Some(MatchedTerm {
                    term: self.query.whole.terms[looked.term].word.clone(),
                    field: Field::ALL[field],
                    weight: f64::from(looked.mass * posting.impact),
                })
            })
            .collect();
        out.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.term.cmp(&b.term)));
        out.truncate(SHOWN_TERMS);
        out
    }
}

/// Words of another language that no skill has are spoken for by their English ones.
fn is_bridged(query: &Query) -> bool {
    query.language != Language::En && !query.whole.bridge.is_empty()
}

/// The share of a message's word mass that stands in any document.
fn known_share(query: &Query, signals: &Signals) -> f64 {
    let bridged = is_bridged(query);
    let (mut all, mut known) = (0.0_f32, 0.0_f32);
    for looked in &signals.looked {
        if looked.found.is_some() {
            known += looked.mass;
            all += looked.mass;
        } else if !bridged {
            all += looked.mass;
        }
    }
    if all > 0.0 { f64::from(known / all) } else { 0.0 }
}

/// Best score first; ties by name, then by id.
fn by_score(index: &Index, a: (usize, f64), b: (usize, f64)) -> Ordering {
    b.1.total_cmp(&a.1)
        .then_with(|| index.name(a.0).cmp(index.name(b.0)))
        .then_with(|| index.id(a.0).cmp(index.id(b.0)))
        .then_with(|| a.0.cmp(&b.0))
}

fn scales(signals: &Signals, index: &Index, calibration: &Calibration) -> [Scale; 3] {
    let background = calibration.background;
    // Lexical scores are roots of sums of mass.
    let mass = f64::from(signals.mass.max(1e-3)).sqrt();
    let lexical = background.lexical.map(|share| share * mass);
    let with_vector = signals
        .encoder
        .iter()
        .enumerate()
        .filter(|(at, _)| index.has_vector(*at))
        .map(|(_, &value)| value);
    [
        Scale::of(signals.lexical.iter().copied(), lexical),
        Scale::of(signals.table.iter().copied(), background.table),
        Scale::of(with_vector, background.encoder),
    ]
}
