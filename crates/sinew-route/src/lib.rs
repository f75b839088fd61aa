//! Routing: from a user's message to the right skill, or to none.
//!
//! A [`Router`] ranks the skills of a catalog for a message by words (BM25F with a bridge lexicon
//! for nine languages), by a static token table and by an encoder, adds up the scores, and turns
//! the sum into a calibrated probability. The answer is a `match` (one, with confidence), a
//! `shortlist`, or `none`; each score can be broken down.
//!
//! ```
//! use sinew_route::{
//!     RouteContext, RouteDecision, RouteDocument, Router, RouterConfig, RouterModels, UserMessage,
//! };
//!
//! let skills = [
//!     RouteDocument::from_description("pdf", "pdf-tools", "Split, merge and rotate PDF files"),
//!     RouteDocument::from_description("wx", "weather", "Forecasts and current weather for a place"),
//! ];
//! let (router, _notices) = Router::build(&skills, RouterModels::embedded(), RouterConfig::default());
//! let result = router.route(&UserMessage::from_user("$pdf-tools join these two"), &RouteContext::default());
//! assert_eq!(result.decision, RouteDecision::Match);
//! assert_eq!(result.matches[0].name, "pdf-tools");
//! assert!(router.route(&UserMessage::from_user("🙂"), &RouteContext::default()).is_none());
//! ```
//!
//! **Promise:** the same input gives the same bytes on any machine with any number of threads
//! (timings aside); "nothing fits" is one answer, "a model failed" is another ([`DegradedSignal`]);
//! no input panics. **Left out on purpose:** files, network and the environment (bytes and an
//! [`EmbedTransport`] are passed in), and learning, which is passed in as a [`SkillPrior`].

mod calibrate;
mod constraint;
mod decision;
mod document;
pub mod eval;
mod explain;
mod index;
mod keyword;
mod lexical;
mod mention;
mod message;
mod message_vector;
mod ranking;
mod rare_name;
mod result;
mod router;
mod router_models;
mod scored_query;
mod several;
mod signal_scale;
mod signals;
mod sorted_table;
mod spelling;
mod stuffing;
mod text;
mod top_documents;
pub mod words;

pub use calibrate::{
    Calibration, CalibrationSample, CalibrationSet, FEATURES, LogisticModel, MatchFeatures,
    SignalBackground, SignalWeights, fit,
};
pub use document::RouteDocument;
pub use explain::RankExplanation;
pub use index::{
    DocumentKey, IndexBuildCounts, IndexError, MeaningVectors, RouteIndex, SharedBytes,
};
pub use lexical::{Bm25fParams, DocumentField};
pub use message::{MAX_MESSAGE, UserMessage};
pub use message_vector::{encoder_input, static_vector};
pub use result::{
    AbstainReason, DegradedKind, DegradedSignal, MatchedTerm, RouteDecision, RouteResult,
    RouteTiming, ScorePart, ScoreParts, SkillMatch,
};
pub use router::{RankingAids, RouteContext, Router, RouterConfig, SkillPrior};
pub use router_models::RouterModels;
pub use scored_query::ScoredQuery;
pub use several::TaskStep;
pub use sinew_models::{
    EmbedDialect, EmbedError, EmbedTransport, Embedder, KernelLevel, ModelLoadError,
    REMOTE_DEADLINE, RemoteEmbedder, StaticModel, TEMPLATE_VERSION, TextEncoder, TextSide,
};
pub use stuffing::StuffingReason;
pub use text::language::{Language, guess as guess_language};
