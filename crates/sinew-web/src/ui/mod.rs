//! The dashboard: what the engine knows and decides, as pages.
//!
//! Pages are drawn here, from templates that are checked when the program is built; the one script
//! adds live parts, answers while the user types, and keys. Without it every page shows and does
//! the same.
//!
//! **Must never happen here:** a skill's text as live HTML, a change without the CSRF token that only
//! our own pages have, a rule about skills.

mod activity;
mod agent;
mod approvals;
mod assets;
mod auth;
mod chart;
mod cortex;
mod diff;
mod docs;
mod frame;
mod health;
mod history;
mod hub;
mod markdown;
mod overview;
mod route;
mod skill;
mod skills;
mod switch;
mod text;
mod traces;
mod verdicts;
mod workshop;

use axum::Router;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};

use sinew_settings::ErrorCode;

use self::frame::PageError;
use crate::access::identify;
use crate::api::Problem;
use crate::app::{WebApp, count};

/// What pages may load and run: only files from this server, nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'self'";

/// The dashboard's routes.
pub(crate) fn router(app: &WebApp) -> Router {
    Router::new()
        .route("/", get(overview::show))
        .route("/skills", get(skills::show))
        .route("/skills/{name}", get(skill::show).post(switch::set))
        .route("/skills/{name}/undo", post(history::undo))
        .route("/skills/{name}/remove", post(verdicts::remove))
        .route("/skills/{name}/accept", post(verdicts::accept))
        .route("/route", get(route::show))
        .route("/route/case", post(route::save))
        .route("/cortex", get(cortex::show))
        .route("/cortex/blacklist", post(cortex::blacklist))
        .route("/cortex/read-only", post(cortex::read_only))
        .route("/cortex/reset", post(cortex::reset))
        .route("/cortex/export", get(cortex::export))
        .route("/workshop", get(workshop::list))
        .route("/workshop/{id}", get(workshop::show))
        .route("/workshop/{id}/{action}", post(workshop::act))
        .route("/traces", get(traces::show))
        .route("/traces/{id}/{action}", post(traces::act))
        // Both are parts of other pages.
        .route("/approvals", get(async || Redirect::to("/#waiting-title")))
        .route("/settings", get(async || Redirect::to("/health#config-title")))
        .route("/approvals/{id}", post(approvals::decide))
        .route("/hub", get(hub::show))
        .route("/hub/install", post(hub::install))
        .route("/hub/update", post(hub::update))
        .route("/hub/uninstall", post(hub::uninstall))
        .route("/hub/pin", post(hub::pin))
        .route("/activity", get(activity::show))
        .route("/activity.jsonl", get(activity::export))
        .route("/agents/{name}", get(agent::show).post(agent::set))
        .route("/health", get(health::show))
        .route("/auth", get(auth::show).post(auth::sign_in))
        .route("/sign-out", post(auth::sign_out))
        .route("/theme", post(auth::theme))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/app.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(docs::first))
        .route("/docs/{*path}", get(docs::file))
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_page)
        .layer(map_response(with_policy))
        .layer(from_fn_with_state(app.clone(), identify))
        .layer(from_fn_with_state(app.clone(), count))
        .with_state(app.clone())
}

/// What no route knows: a page for browsers, a problem for programs.
async fn unknown_page(uri: Uri, headers: HeaderMap) -> Response {
    let said = format!("there is no page at {}", uri.path());
    let problem = Problem::new(ErrorCode::UnknownRoute, said)
        .hint("the overview leads to every page; programs find theirs below /api/v1");
    shown(&headers, problem)
}

/// A page that cannot be asked that way, such as a form's address in the address bar.
async fn wrong_method(headers: HeaderMap) -> Response {
    shown(&headers, Problem::new(ErrorCode::WrongMethod, "this address is not asked that way"))
}

fn shown(headers: &HeaderMap, problem: Problem) -> Response {
    let accepts = headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok()).unwrap_or_default();
    match accepts.contains("text/html") {
        true => PageError(problem).into_response(),
        false => problem.into_response(),
    }
}

async fn with_policy(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Without any referrer, browsers send forms with the origin `null`, which looks the same from
    // another site. Other sites still learn nothing.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(opener, HeaderValue::from_static("same-origin"));
    response
}
