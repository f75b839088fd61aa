//! The router: an index, models and a calibration, and the way from a message to an answer.

use std::sync::Arc;
use std::time::Instant;

use crate::calibrate::{Calibration, Calibrations, Weights};
use crate::document::Document;
use crate::index::{Built, Index};
use crate::kernel::Level;
use crate::keyword;
use crate::mention;
use crate::message::{Message, Query};
use crate::model::set::Models;
use crate::rank::Ranking;
use crate::result::{Decision, Degraded, DegradedKind, Nothing, RouteResult, Took};
use crate::signals::Signals;

/// How a router decides. The defaults are the calibrated ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// `route.threshold`: the probability a match needs.
    pub threshold: f64,
    /// `route.margin`: its lead over the second.
    pub margin: f64,
    /// The probability below which nothing fits.
    pub floor: f64,
    /// `route.top`: how many matches are returned, and the longest short list.
    pub top: usize,
    /// Whether the bridge lexicon is used.
    pub bridge: bool,
    /// Other weights than the calibration's; then no decision is a match.
    pub weights: Option<Weights>,
    /// What is known about the models.
    pub calibrations: Calibrations,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            threshold: 0.75,
            margin: 0.2,
            floor: 0.25,
            top: 5,
            bridge: true,
            weights: None,
            calibrations: Calibrations::embedded(),
        }
    }
}

/// What was learned about skills.
pub trait Prior {
    /// What speaks for a document from earlier outcomes, in deviations; at most ±0.5 counts.
    fn of(&self, id: &str) -> Option<f64>;
}

/// What is special about one call.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// Ids of documents that must not be matched: excluded by the gate.
    pub excluded: &'a [&'a str],
    /// What was learned.
    pub prior: Option<&'a dyn Prior>,
}

/// Ranks the skills of a catalog.
#[derive(Debug, Clone)]
pub struct Router {
    pub(crate) index: Arc<Index>,
    pub(crate) models: Models,
    pub(crate) config: Config,
    pub(crate) level: Level,
}

/// Candidates that the second stage re-ranks, that triggers and priors are looked up for.
pub(crate) const CANDIDATES: usize = 50;

/// Fewer vectors give no mean and no deviation to measure an encoder's cosines by.
const ENOUGH_VECTORS: usize = 30;

impl Router {
    /// A router over documents. Encoder vectors are computed later: see [`Index::fill`].
    pub fn build(documents: &[Document], models: Models, config: Config) -> (Self, Vec<Degraded>) {
        let index = Index::build(documents, &models);
        Self::over(Arc::new(index), models, config)
    }

    /// A router over an index, built now or loaded.
    pub fn over(index: Arc<Index>, models: Models, config: Config) -> (Self, Vec<Degraded>) {
        let router = Self { index, models, config, level: Level::detect() };
        let notices = router.standing();
        (router, notices)
    }

    /// The index.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The same router over other documents; unchanged ones are taken over.
    pub fn updated(&self, documents: &[Document]) -> (Self, Built) {
        let (index, built) = self.index.update(documents, &self.models);
        (Self { index: Arc::new(index), ..self.clone() }, built)
    }

    /// The same router over another index, such as one with more vectors.
    #[must_use]
    pub fn with_index(&self, index: Arc<Index>) -> Self {
        Self { index, ..self.clone() }
    }

    /// What is wrong before any message comes.
    fn standing(&self) -> Vec<Degraded> {
        let mut out = self.models.missing.clone();
        if self.models.encoder.is_some() && !self.index.is_empty() && self.index.pending_count() > 0
        {
            out.push(self.vectors_pending());
        }
        out
    }

    fn vectors_pending(&self) -> Degraded {
        Degraded {
            kind: DegradedKind::VectorsPending,
            signal: "encoder",
            message: format!(
                "{} of {} skills have no encoder vector yet",
                self.index.pending_count(),
                self.index.len()
            ),
            remedy: "they are computed in the background; `sinew index status` shows how far it is"
                .to_owned(),
        }
    }

    /// The right skills for a message.
    pub fn route(&self, message: &Message<'_>, context: &Context<'_>) -> RouteResult {
        let (ranking, took) = self.rank(message, context);
        ranking.into_result(self, took)
    }

    /// Every signal and score for a message.
    pub(crate) fn rank(&self, message: &Message<'_>, context: &Context<'_>) -> (Ranking, Took) {
        let start = Instant::now();
        let micros =
            |since: Instant| u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut took = Took::default();
        let query = Query::new(message, self.config.bridge);
        took.text = micros(start);
        let mut degraded = self.models.missing.clone();
        if self.index.is_empty() || query.is_empty() {
            let reason =
                if self.index.is_empty() { Nothing::EmptyCatalog } else { Nothing::NoWords };
            took.total = micros(start);
            return (Ranking::nothing(query, reason, degraded), took);
        }
        let stage = Instant::now();
        let wanted = self.config.weights.is_none_or(|weights| weights.table > 0.0);
        let usable = self
            .models
            .table
            .as_deref()
            .filter(|table| wanted && table.id() == self.index.table_id());
        let mut signals = Signals::first_stage(&query, &self.index, usable, self.level);
        took.first = micros(stage);
        let stage = Instant::now();
        self.try_encoder(&query, &mut signals, &mut degraded);
        took.encoder = micros(stage);
        let stage = Instant::now();
        let named = mention::mentioned(&query.text, &self.index);
        let stems = keyword::stems(&query);
        let (calibration, calibrated) =
            self.calibration(usable.is_some(), !signals.encoder.is_empty());
        if !calibrated && usable.is_some() {
            degraded.push(Degraded {
                kind: DegradedKind::MissingCalibration,
                signal: "calibration",
                message: format!("missing-calibration: nothing was fitted for {}", self.model_name(!signals.encoder.is_empty())),
                remedy: "a short list is the most that is offered; use the models of this release, or calibrate yours".to_owned(),
            });
        }
        let ranking = Ranking::of(
            self,
            query,
            signals,
            &calibration,
            context,
            named,
            &stems,
            degraded,
            calibrated,
        );
        took.decide = micros(stage);
        took.total = micros(start);
        (ranking, took)
    }

    fn try_encoder(&self, query: &Query, signals: &mut Signals, degraded: &mut Vec<Degraded>) {
        let Some(encoder) = self.models.encoder.as_deref() else { return };
        if self.config.weights.is_some_and(|weights| weights.encoder == 0.0) {
            return;
        }
        let missing = self.index.pending_count();
        let present = self.index.len() - missing;
        let fits = encoder.id() == self.index.encoder_id();
        let covered = missing == 0
            || (present >= ENOUGH_VECTORS
                && Ranking::first_best(self, query, signals, CANDIDATES)
                    .iter()
                    .all(|&at| self.index.has_vector(at)));
        if !fits || !covered {
            degraded.push(self.vectors_pending());
            return;
        }
        if let Err(error) = signals.second_stage(query, &self.index, encoder, self.level) {
            signals.encoder.clear();
            degraded.push(Degraded {
                kind: DegradedKind::ModelFailed,
                signal: "encoder",
                message: format!("{}: {error}", encoder.id()),
                remedy: "the answer is that of words and static vectors; check route.model"
                    .to_owned(),
            });
        }
    }

    /// The ids of the models in use.
    pub(crate) fn model_name(&self, with_encoder: bool) -> String {
        let table = self.models.table.as_ref().map(|table| table.id());
        let encoder =
            self.models.encoder.as_ref().map(|encoder| encoder.id()).filter(|_| with_encoder);
        let ids: Vec<&str> = table.into_iter().chain(encoder).collect();
        if ids.is_empty() { "words".to_owned() } else { ids.join("+") }
    }

    /// What was fitted for the signals in use, or the nearest thing to it.
    pub(crate) fn calibration(&self, with_table: bool, with_encoder: bool) -> (Calibration, bool) {
        let known =
            self.config.calibrations.of(&self.model_name(with_encoder)).filter(|_| with_table);
        let mut calibration = match known {
            Some(known) => known.clone(),
            None => self.config.calibrations.nearest(with_encoder).cloned().unwrap_or_default(),
        };
        if let Some(weights) = self.config.weights {
            calibration.weights = weights;
        }
        if !with_table {
            calibration.weights.table = 0.0;
        }
        if !with_encoder {
            calibration.weights.encoder = 0.0;
        }
        (calibration, known.is_some() && self.config.weights.is_none())
    }

    /// Whether a decision may be a match at all.
    pub(crate) fn cap(&self, decision: Decision, calibrated: bool) -> Decision {
        if decision == Decision::Match && !calibrated { Decision::Shortlist } else { decision }
    }
}
