//! From a message to the right skill: the router over the catalog, and the answer that every surface
//! shows.

mod answer;
mod cases;
mod catalog_router;
mod description_trial;
mod embedding_client;
mod eval;
mod index_file;
mod models;

pub use answer::{QuestionGuard, ReflexHit, RoutedMessage, RouterPool};
pub use cases::{CASES_FILE, SavedCase};
pub use catalog_router::{CatalogRouteResult, CatalogRouter, IndexStatus};
pub(crate) use catalog_router::{document, read_skill};
pub use eval::{EvalData, EvalRunSide, ModelComparison, VectorProgress};
pub use models::ModelChoice;
