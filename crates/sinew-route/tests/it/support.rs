//! Routers over small catalogs, and a caching encoder.

#[path = "../../examples/common/remembering.rs"]
mod remembering;

use std::sync::{Arc, OnceLock};

use sinew_route::eval::read_skills;
use sinew_route::{
    RouteContext, RouteDocument, RouteIndex, RouteResult, Router, RouterConfig, RouterModels,
    UserMessage,
};

use remembering::Remembering;

/// Reports that a test did not run.
#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn skipped(why: &str) {
    eprintln!("SKIPPED: {why}");
}

/// Whether the binary has both models; a test that needs them reports if it has not.
pub(crate) fn has_models() -> bool {
    let models = RouterModels::embedded();
    let has = models.table.is_some() && models.encoder.is_some();
    if !has {
        skipped("this build has no weights");
    }
    has
}

/// The models of the binary; one encoder for all tests.
pub(crate) fn models() -> RouterModels {
    static MODELS: OnceLock<RouterModels> = OnceLock::new();
    MODELS
        .get_or_init(|| {
            let models = RouterModels::embedded();
            match models.encoder.clone() {
                Some(inner) => models.with_encoder(Arc::new(Remembering::of(inner))),
                None => models,
            }
        })
        .clone()
}

/// A router with all vectors.
pub(crate) fn router_with(
    documents: &[RouteDocument],
    models: RouterModels,
    config: RouterConfig,
) -> Router {
    let mut index = RouteIndex::build(documents, &models);
    if let Some(encoder) = &models.encoder {
        let pending = index.pending();
        index.fill(&**encoder, &pending, &|_| ()).expect("a local model");
    }
    Router::from_index(Arc::new(index), models, config).0
}

pub(crate) fn router(documents: &[RouteDocument]) -> Router {
    router_with(documents, models(), RouterConfig::default())
}

pub(crate) fn corpus_skills() -> Vec<RouteDocument> {
    let read = read_skills(include_str!("../corpus/skills.jsonl"));
    assert_eq!(read.bad, []);
    read.rows
}

/// The router over the regression corpus, built once.
pub(crate) fn corpus_router() -> &'static Router {
    static ROUTER: OnceLock<Router> = OnceLock::new();
    ROUTER.get_or_init(|| router(&corpus_skills()))
}

pub(crate) fn ask(router: &Router, text: &str) -> RouteResult {
    router.route(&UserMessage::from_user(text), &RouteContext::default())
}

pub(crate) fn names(result: &RouteResult) -> Vec<&str> {
    result.matches.iter().map(|one| one.name.as_str()).collect()
}

/// The JSON of a result without its timings.
pub(crate) fn json(mut result: RouteResult) -> String {
    result.took = sinew_route::RouteTiming::default();
    serde_json::to_string(&result).expect("plain data")
}
