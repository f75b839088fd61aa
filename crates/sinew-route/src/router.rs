//! The router: an index, models and a calibration, and the way from a message to an answer.

use std::sync::Arc;
use std::time::Instant;

use crate::calibrate::{Calibration, CalibrationSet, SignalWeights};
use crate::document::RouteDocument;
use crate::index::{IndexBuildCounts, RouteIndex};
use crate::message::{PreparedQuery, UserMessage};
use crate::ranking::CandidateRanking;
use crate::result::{DegradedKind, DegradedSignal, RouteResult};
use crate::router_models::RouterModels;
use crate::scored_query::{ScoredQuery, micros};
use crate::signals::misspelt;
use sinew_models::KernelLevel;

/// How a router decides. The defaults are the calibrated ones.
#[derive(Debug, Clone, PartialEq)]
pub struct RouterConfig {
    /// `route.threshold`: the probability a match needs.
    pub threshold: f64,
    /// `route.margin`: its lead over the second.
    pub margin: f64,
    /// `route.floor`: the probability below which nothing fits; with 0 something is always offered.
    pub floor: f64,
    /// `route.top`: how many matches are returned, and the longest short list.
    pub top: usize,
    /// Whether the bridge lexicon is used.
    pub bridge: bool,
    /// What is read beside words and vectors.
    pub aids: RankingAids,
    /// Other weights than the calibration's; with these, no decision is a match.
    pub weights: Option<SignalWeights>,
    /// The calibrations of the models.
    pub calibrations: CalibrationSet,
}

impl Default for RouterConfig {
    fn default() -> Self {
        Self {
            threshold: 0.75,
            margin: 0.2,
            floor: 0.25,
            top: 5,
            bridge: true,
            aids: RankingAids::default(),
            weights: None,
            calibrations: CalibrationSet::embedded(),
        }
    }
}

/// What is read of a message beside words and vectors, and what it weighs, in deviations; nothing where
/// it is 0. The defaults were chosen on validation (see BENCHMARKS.md).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingAids {
    /// A rare name that only one skill has.
    pub rare: f64,
    /// A demand that a skill meets, or goes against.
    pub constraint: f64,
    /// Whether misspelt words are read as the words of the catalog that they are close to.
    pub spelling: bool,
}

impl Default for RankingAids {
    fn default() -> Self {
        Self { rare: 0.5, constraint: 1.5, spelling: true }
    }
}

/// What was learned about skills.
pub trait SkillPrior {
    /// The adjustment for a document from earlier outcomes, in deviations; limited to ±0.5.
    fn of(&self, id: &str) -> Option<f64>;
}

/// The circumstances of one call.
#[derive(Clone, Copy, Default)]
pub struct RouteContext<'a> {
    /// Ids of documents that must not be matched: excluded by the gate.
    pub excluded: &'a [&'a str],
    /// What was learned.
    pub prior: Option<&'a dyn SkillPrior>,
}

/// Ranks the skills of a catalog.
#[derive(Debug, Clone)]
pub struct Router {
    pub(crate) index: Arc<RouteIndex>,
    pub(crate) models: RouterModels,
    pub(crate) config: RouterConfig,
    pub(crate) level: KernelLevel,
}

/// Candidates that the second stage re-ranks and that triggers and priors apply to.
pub(crate) const CANDIDATES: usize = 50;

impl Router {
    /// A router over documents. Encoder vectors are computed later: see [`RouteIndex::fill`].
    pub fn build(
        documents: &[RouteDocument],
        models: RouterModels,
        config: RouterConfig,
    ) -> (Self, Vec<DegradedSignal>) {
        let index = RouteIndex::build(documents, &models);
        Self::from_index(Arc::new(index), models, config)
    }

    /// A router over an index, built now or loaded.
    pub fn from_index(
        index: Arc<RouteIndex>,
        models: RouterModels,
        config: RouterConfig,
    ) -> (Self, Vec<DegradedSignal>) {
        let router = Self { index, models, config, level: KernelLevel::detect() };
        let notices = router.initial_degraded();
        (router, notices)
    }

    /// The index.
    pub fn index(&self) -> &Arc<RouteIndex> {
        &self.index
    }

    /// The configuration.
    pub fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// The same router over other documents; unchanged ones are reused.
    pub fn updated(&self, documents: &[RouteDocument]) -> (Self, IndexBuildCounts) {
        let (index, built) = self.index.update(documents, &self.models);
        (Self { index: Arc::new(index), ..self.clone() }, built)
    }

    /// The same router over another index, such as one with more vectors.
    #[must_use]
    pub fn with_index(&self, index: Arc<RouteIndex>) -> Self {
        Self { index, ..self.clone() }
    }

    /// Degradations that are known before any message arrives.
    fn initial_degraded(&self) -> Vec<DegradedSignal> {
        let mut out = self.models.missing.clone();
        if self.models.encoder.is_some() && !self.index.is_empty() && self.index.pending_count() > 0
        {
            out.push(self.vectors_pending());
        }
        out
    }

    pub(crate) fn vectors_pending(&self) -> DegradedSignal {
        DegradedSignal {
            kind: DegradedKind::VectorsPending,
            signal: "encoder",
            cause: None,
            message: format!(
                "{} of {} skills are not indexed by meaning yet",
                self.index.pending_count(),
                self.index.len()
            ),
            remedy: "it goes on in the background; `sinew index rebuild` waits for it".to_owned(),
        }
    }

    /// The right skills for a message.
    pub fn route(&self, message: &UserMessage<'_>, context: &RouteContext<'_>) -> RouteResult {
        self.route_scored(&self.score(message), context)
    }

    /// The right skills for a message if these were the documents; unchanged ones are reused. The
    /// answer is that of [`Router::updated`], in a fraction of its time.
    pub fn route_with_documents(
        &self,
        documents: &[RouteDocument],
        message: &UserMessage<'_>,
        context: &RouteContext<'_>,
    ) -> RouteResult {
        let query = PreparedQuery::new(message, self.config.bridge, self.config.aids.spelling);
        let meant: Vec<&str> = query
            .terms()
            .filter_map(|term| misspelt(term, self.index.find_term(&term.word), &self.index))
            .map(|term| self.index.term(term))
            .collect();
        let words: Vec<&str> = query.terms().map(|term| term.word.as_str()).chain(meant).collect();
        let index = self.index.update_for(documents, &self.models, &words);
        self.with_index(Arc::new(index)).route(message, context)
    }

    /// The right skills for a message that was scored before.
    pub fn route_scored(&self, heard: &ScoredQuery, context: &RouteContext<'_>) -> RouteResult {
        let start = Instant::now();
        let ranking = CandidateRanking::of(self, heard, context);
        let mut result = ranking.into_result(self, heard.took);
        result.took.decide += micros(start);
        result.took.total += micros(start);
        result
    }

    /// The ids of the models in use.
    pub(crate) fn model_name(&self, with_encoder: bool) -> String {
        let table = self.models.table.as_ref().map(|table| table.id());
        let encoder =
            self.models.encoder.as_ref().map(|encoder| encoder.id()).filter(|_| with_encoder);
        let ids: Vec<&str> = table.into_iter().chain(encoder).collect();
        if ids.is_empty() { "words".to_owned() } else { ids.join("+") }
    }

    /// The calibration for the signals in use, or the nearest one.
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
}
