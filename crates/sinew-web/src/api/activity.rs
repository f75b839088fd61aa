//! What was decided and done, and why.

use axum::extract::State;
use serde::Deserialize;
use sinew_cortex::UtcInstant;
use sinew_engine::ActivityFilter;
use sinew_settings::ErrorCode;
use utoipa::IntoParams;

use super::Problem;
use super::extract::{JsonReply, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
use crate::access::WebCaller;
use crate::app::WebApp;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ActivityQuery {
    /// Who
    actor: Option<String>,
    /// A kind, or what it begins with: `proposal`
    kind: Option<String>,
    /// A skill
    skill: Option<String>,
    /// Not before; RFC 3339
    #[param(format = "date-time")]
    since: Option<String>,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

/// What was decided and done, newest first
#[utoipa::path(
    get, path = "/activity", tag = "server", operation_id = "activity", params(ActivityQuery),
    responses((status = 200, body = CursorPage<sinew_engine::ActivityEntry>), ProblemResponses)
)]
pub(crate) async fn activity(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<ActivityQuery>,
) -> Result<JsonReply, Problem> {
    let since = match query.since.as_deref().map(str::parse::<UtcInstant>) {
        None => None,
        Some(Ok(since)) => Some(since),
        Some(Err(_)) => {
            return Err(Problem::new(ErrorCode::BadTime, "`since` is no RFC 3339 time"));
        }
    };
    app.ask(move |look| {
        let filter = ActivityFilter {
            kind: query.kind.clone(),
            by: query.actor.clone(),
            skill: query.skill.clone(),
            since,
        };
        let found = look.engine.status().activity(&filter)?;
        // Two entries of one moment are told apart by their place, which does not change.
        let count = found.len();
        let keyed = found.into_iter().enumerate().map(|(at, activity)| {
            let place = format!("{:08}{}", count - at, activity.kind);
            (newest_first(activity.at.ms(), &place), activity)
        });
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}
