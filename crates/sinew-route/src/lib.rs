//! Routing: from a user's message to the right skill, or to none.
//!
//! A [`Router`] ranks the skills of a catalog for a message by words (BM25F with a bridge lexicon for
//! nine languages), by a static token table and by an encoder, adds what each says, and turns the sum
//! into a calibrated probability. The answer is a `match` (one, with confidence), a `shortlist`, or
//! `none`; each score can be taken apart.
//!
//! ```
//! use sinew_route::{Context, Decision, Document, Message, Models, Router, Config};
//!
//! let skills = [
//!     Document::from_description("pdf", "pdf-tools", "Split, merge and rotate PDF files"),
//!     Document::from_description("wx", "weather", "Forecasts and current weather for a place"),
//! ];
//! let (router, _notices) = Router::build(&skills, Models::embedded(), Config::default());
//! let result = router.route(&Message::from_user("$pdf-tools join these two"), &Context::default());
//! assert_eq!(result.decision, Decision::Match);
//! assert_eq!(result.matches[0].name, "pdf-tools");
//! assert!(router.route(&Message::from_user("🙂"), &Context::default()).is_none());
//! ```
//!
//! **Promise:** the same input gives the same bytes on any machine with any number of threads (timings
//! aside); "nothing fits" is an answer, "a model failed" is another ([`Degraded`]); no input panics.
//! **Left out on purpose:** files, network and the environment (bytes and a [`Transport`] come in), and
//! learning, which arrives as a [`Prior`].

mod answer;
mod best;
mod calibrate;
mod document;
pub mod eval;
mod explain;
mod fnv;
mod fuse;
mod hear;
mod index;
mod kernel;
mod keyword;
mod lexical;
mod mention;
mod message;
mod model;
mod rank;
mod result;
mod router;
mod signals;
mod table;
mod text;
mod tokens;
pub mod words;

/// The version of the texts that models read of a document. Models name the one they were trained on.
pub const TEMPLATE_VERSION: u32 = 1;

pub use calibrate::{
    Background, Calibration, Calibrations, FEATURES, Features, Logistic, Sample, Weights, fit,
};
pub use document::Document;
pub use explain::Explanation;
pub use hear::Heard;
pub use index::{Built, DocumentKey, Index, IndexError, Meanings, SharedBytes};
pub use kernel::Level;
pub use lexical::{Bm25f, Field};
pub use message::{MAX_MESSAGE, Message};
pub use model::embed::{Dialect, EmbedError, Embedder, REMOTE_DEADLINE, Remote, Side, Transport};
pub use model::encoder::Encoder;
pub use model::file::ModelError;
pub use model::set::Models;
pub use model::static_table::StaticModel;
pub use result::{
    Decision, Degraded, DegradedKind, Match, MatchedTerm, Nothing, Part, Parts, RouteResult, Took,
};
pub use router::{Config, Context, Prior, Router};
pub use text::language::{Language, guess as guess_language};
