//! The HTTP API: one file per group of endpoints. A request is parsed, one method of the engine is
//! asked, its answer is written.
//!
//! **Must never happen here:** a rule about skills, a route without a caller, an answer with the
//! value of a secret.

mod about;
mod acquire;
mod activity;
mod approvals;
mod commands;
mod cortex;
mod events;
mod extract;
mod limits;
mod openapi;
mod outcomes;
mod page;
mod problem;
mod prompt;
mod proposal_reply;
mod proposals;
mod registry;
mod remotes;
mod scan;
mod schema_choices;
mod skills;
mod traces;

use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Json, Router};
use sinew_settings::ErrorCode;
use utoipa::OpenApi as _;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use crate::access::{identify, require_for_api, require_for_metrics};
use crate::app::{WebApp, count};
pub(crate) use cortex::{DECAY_AHEAD, curves};
pub(crate) use problem::Problem;
pub(crate) use prompt::prompt_for;
pub(crate) use registry::{
    DeferredApprover, InstalledSkills, install_with_approval, update_with_approval,
};

/// Where the API begins. A change that breaks callers gets another one.
pub(crate) const BASE: &str = "/api/v1";

/// The routes below [`BASE`] with their description.
fn described() -> OpenApiRouter<WebApp> {
    let routes = OpenApiRouter::new()
        .routes(routes!(skills::list))
        .routes(routes!(skills::show, skills::set))
        .routes(routes!(skills::file))
        .routes(routes!(skills::validate))
        .routes(routes!(prompt::prompt))
        .routes(routes!(prompt::route))
        .routes(routes!(commands::dispatch))
        .routes(routes!(remotes::list))
        .routes(routes!(remotes::put, remotes::forget))
        .routes(routes!(cortex::overview))
        .routes(routes!(cortex::region))
        .routes(routes!(cortex::blacklist_add))
        .routes(routes!(cortex::blacklist_remove))
        .routes(routes!(outcomes::list, outcomes::report))
        .routes(routes!(acquire::list, acquire::begin))
        .routes(routes!(acquire::show, acquire::step))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::show))
        .routes(routes!(approvals::decide))
        .routes(routes!(proposals::list, proposals::suggest))
        .routes(routes!(proposals::show))
        .routes(routes!(proposals::diff))
        .routes(routes!(proposals::apply))
        .routes(routes!(proposals::reject))
        .routes(routes!(proposals::revise))
        .routes(routes!(proposals::restore))
        .routes(routes!(proposals::undo))
        .routes(routes!(registry::search))
        .routes(routes!(registry::installed))
        .routes(routes!(registry::install))
        .routes(routes!(registry::update))
        .routes(routes!(registry::uninstall))
        .routes(routes!(scan::scan))
        .routes(
            routes!(traces::list, traces::learn)
                .layer(DefaultBodyLimit::max(traces::MAX_TRANSCRIPT)),
        )
        .routes(routes!(traces::show))
        .routes(routes!(traces::distil))
        .routes(routes!(activity::activity))
        .routes(routes!(events::events))
        .routes(routes!(about::version))
        .routes(routes!(about::config));
    OpenApiRouter::with_openapi(openapi::ApiDocument::openapi()).nest(BASE, routes)
}

/// The description of the API, as it is served.
pub(crate) fn document() -> serde_json::Value {
    openapi::complete(described().split_for_parts().1)
}

/// The API's routes, `/metrics` and the description.
pub(crate) fn router(app: &WebApp) -> Router {
    let (routes, document) = described().split_for_parts();
    let document = Json(openapi::complete(document));
    let numbers = Router::new()
        .route("/metrics", axum::routing::get(about::metrics))
        .layer(from_fn_with_state(app.clone(), require_for_metrics));
    // The description tells nothing of this machine, and generators of clients have no token.
    let described = Router::new()
        .route(&format!("{BASE}/openapi.json"), axum::routing::get(|| async { document }))
        .method_not_allowed_fallback(not_so);
    routes
        .route(&format!("{BASE}/{{*rest}}"), axum::routing::any(nothing_here))
        .method_not_allowed_fallback(not_so)
        .layer(from_fn(require_for_api))
        .merge(described)
        .merge(numbers)
        .layer(from_fn_with_state(app.clone(), identify))
        .layer(from_fn_with_state(app.clone(), count))
        .with_state(app.clone())
}

async fn nothing_here() -> Problem {
    Problem::new(ErrorCode::UnknownRoute, "the API has no such address")
        .hint(format!("{BASE}/openapi.json lists all there are"))
}

async fn not_so() -> Problem {
    let said = "this address is not asked that way";
    Problem::new(ErrorCode::WrongMethod, said)
}
