//! The scores of every signal for a message, before exclusions apply.

use std::time::Instant;

use crate::calibrate::Calibration;
use crate::constraint::MessageConstraints;
use crate::index::RouteIndex;
use crate::keyword;
use crate::mention;
use crate::message::{PreparedQuery, UserMessage};
use crate::rare_name::RareNames;
use crate::result::{AbstainReason, DegradedKind, DegradedSignal, RouteTiming};
use crate::router::{CANDIDATES, Router};
use crate::signal_scale::SignalScale;
use crate::signals::DocumentSignals;
use crate::text::language::Language;
use crate::top_documents::best;
use sinew_models::StaticModel;

/// With fewer vectors there is no mean and no deviation to measure an encoder's cosines by.
const ENOUGH_VECTORS: usize = 30;

/// The weight of words when the catalog knows none of a message's words; it is 1 when it knows all
/// of them.
const KNOWN_FLOOR: f64 = 0.3;

/// A message with the scores of every signal; [`Router::route_scored`](crate::Router::route_scored) ranks by them, with any
/// exclusions.
pub struct ScoredQuery {
    pub(crate) query: PreparedQuery,
    pub(crate) signals: DocumentSignals,
    pub(crate) scales: [SignalScale; 3],
    /// The calibration for the available signals, with the weights for this message.
    pub(crate) calibration: Calibration,
    pub(crate) calibrated: bool,
    /// Documents that the message names, ascending.
    pub(crate) named: Vec<usize>,
    /// Rare names in it.
    pub(crate) rare_names: RareNames,
    /// What it demands beside its task.
    pub(crate) constraints: MessageConstraints,
    /// Its words in order, for declared triggers.
    pub(crate) stems: Vec<String>,
    /// The keyword matcher's scores, if there is no model.
    pub(crate) keywords: Option<Vec<f32>>,
    pub(crate) nothing: Option<AbstainReason>,
    pub(crate) degraded: Vec<DegradedSignal>,
    pub(crate) took: RouteTiming,
}

impl std::fmt::Debug for ScoredQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScoredQuery").field("query", &self.query).finish_non_exhaustive()
    }
}

impl ScoredQuery {
    /// The result if there is nothing to rank, or nothing to rank by.
    fn nothing(query: PreparedQuery, reason: AbstainReason, degraded: Vec<DegradedSignal>) -> Self {
        Self {
            query,
            signals: DocumentSignals::default(),
            scales: [SignalScale::of(&[], [0.0, 1.0]); 3],
            calibration: Calibration::default(),
            calibrated: false,
            named: Vec::new(),
            rare_names: RareNames::default(),
            constraints: MessageConstraints::default(),
            stems: Vec::new(),
            keywords: None,
            nothing: Some(reason),
            degraded,
            took: RouteTiming::default(),
        }
    }

    /// Whether foreign words that no skill contains are represented by their English translations.
    pub(crate) fn is_bridged(&self) -> bool {
        is_bridged(&self.query)
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
}

impl Router {
    /// Scores a message: the costly part of an answer, done once for any number of answers.
    pub fn score(&self, message: &UserMessage<'_>) -> ScoredQuery {
        let start = Instant::now();
        let query = PreparedQuery::new(message, self.config.bridge, self.config.aids.spelling);
        let text = micros(start);
        let degraded = self.models.missing.clone();
        let mut heard = if self.index.is_empty() {
            ScoredQuery::nothing(query, AbstainReason::EmptyCatalog, degraded)
        } else if query.is_empty() {
            ScoredQuery::nothing(query, AbstainReason::NoWords, degraded)
        } else {
            self.score_query(query, degraded)
        };
        heard.took.text = text;
        heard.took.total = micros(start);
        heard
    }

    fn score_query(&self, query: PreparedQuery, mut degraded: Vec<DegradedSignal>) -> ScoredQuery {
        let (mut took, start) = (RouteTiming::default(), Instant::now());
        let wanted = self.config.weights.is_none_or(|weights| weights.table > 0.0);
        let fits = |table: &&StaticModel| wanted && table.id() == self.index.table_id();
        let table = self.models.table.as_deref().filter(fits);
        let mut signals = DocumentSignals::first_stage(&query, &self.index, table, self.level);
        took.first = micros(start);
        let start = Instant::now();
        self.try_encoder(&query, &mut signals, &mut degraded);
        took.encoder = micros(start);
        let start = Instant::now();
        let with_encoder = !signals.encoder.is_empty();
        let (mut calibration, calibrated) = self.calibration(table.is_some(), with_encoder);
        if !calibrated && table.is_some() {
            degraded.push(DegradedSignal {
                kind: DegradedKind::MissingCalibration,
                signal: "calibration",
                cause: None,
                message: format!("missing-calibration: nothing was fitted for {}", self.model_name(with_encoder)),
                remedy: "a short list is the most that is offered; use the models of this release, or calibrate yours".to_owned(),
            });
        }
        let known = known_share(&query, &signals);
        calibration.weights.lexical *= KNOWN_FLOOR + (1.0 - KNOWN_FLOOR) * known;
        let words_only = self.models.table.is_none() && !with_encoder;
        let mut heard = ScoredQuery {
            scales: scales(&signals, &self.index, &calibration),
            named: mention::mentioned_documents(&query.text, &self.index),
            rare_names: RareNames::of(&query, &signals.looked, &self.index),
            constraints: MessageConstraints::of(&query.text, &self.index),
            stems: keyword::stems(&query),
            keywords: words_only.then(|| keyword::word_scores(&query, &self.index)),
            nothing: None,
            query,
            signals,
            calibration,
            calibrated,
            degraded,
            took,
        };
        heard.took.decide = micros(start);
        heard
    }

    fn try_encoder(
        &self,
        query: &PreparedQuery,
        signals: &mut DocumentSignals,
        degraded: &mut Vec<DegradedSignal>,
    ) {
        let Some(encoder) = self.models.encoder.as_deref() else { return };
        if self.config.weights.is_some_and(|weights| weights.encoder == 0.0) {
            return;
        }
        let missing = self.index.pending_count();
        let present = self.index.len() - missing;
        let fits = encoder.id() == self.index.encoder_id();
        let covered = missing == 0
            || (present >= ENOUGH_VECTORS
                && self.first_best(signals).iter().all(|&at| self.index.has_vector(at)));
        if !fits || !covered {
            degraded.push(self.vectors_pending());
            return;
        }
        if let Err(error) = signals.second_stage(query, &self.index, encoder, self.level) {
            signals.encoder.clear();
            degraded.push(DegradedSignal {
                kind: DegradedKind::ModelFailed,
                signal: "encoder",
                message: format!("{}: {error}", encoder.id()),
                cause: Some(error.to_string()),
                remedy: "the answer is that of words and static vectors; check route.model"
                    .to_owned(),
            });
        }
    }

    /// The documents that matter for a message by words and static vectors alone: an encoder reorders
    /// these, and needs the vectors of no others.
    pub fn first_candidates(&self, message: &UserMessage<'_>) -> Vec<usize> {
        let query = PreparedQuery::new(message, self.config.bridge, self.config.aids.spelling);
        if self.index.is_empty() || query.is_empty() {
            return Vec::new();
        }
        let table = self.models.table.as_deref();
        let table = table.filter(|table| table.id() == self.index.table_id());
        let signals = DocumentSignals::first_stage(&query, &self.index, table, self.level);
        self.first_best(&signals)
    }

    /// The best documents of the first stage.
    fn first_best(&self, signals: &DocumentSignals) -> Vec<usize> {
        let (calibration, _) = self.calibration(self.models.table.is_some(), false);
        let scales = scales(signals, &self.index, &calibration);
        best(&self.index, signals, &scales, calibration.weights, &[], CANDIDATES)
    }
}

pub(crate) fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn is_bridged(query: &PreparedQuery) -> bool {
    query.language != Language::En && !query.whole.bridge.is_empty()
}

/// The share of a message's word mass that occurs in any document.
fn known_share(query: &PreparedQuery, signals: &DocumentSignals) -> f64 {
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

fn scales(
    signals: &DocumentSignals,
    index: &RouteIndex,
    calibration: &Calibration,
) -> [SignalScale; 3] {
    let background = calibration.background;
    // Lexical scores are roots of sums of mass.
    let mass = f64::from(signals.mass.max(1e-3)).sqrt();
    let lexical = background.lexical.map(|share| share * mass);
    let encoder = if index.pending_count() == 0 {
        SignalScale::of(&signals.encoder, background.encoder)
    } else {
        let present = signals.encoder.iter().enumerate().filter(|(at, _)| index.has_vector(*at));
        let present: Vec<f32> = present.map(|(_, &value)| value).collect();
        SignalScale::of(&present, background.encoder)
    };
    [
        SignalScale::of(&signals.lexical, lexical),
        SignalScale::of(&signals.table, background.table),
        encoder,
    ]
}
