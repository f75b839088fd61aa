//! Learning from what an agent did: a transcript goes in, drafts for the workshop come out, and what is
//! kept of a run can be looked at and drafted later.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sinew_engine::LearnFrom;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Answer, Ask, At, Body};
use super::openapi::Refusals;
use super::page::{Page, Wanted, newest_first};
use super::{Problem, records};
use crate::access::Caller;
use crate::app::App;

/// The largest transcript: a long day of an agent.
pub(super) const MAX_TRANSCRIPT: usize = 16 << 20;

/// A transcript
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transcript {
    /// Its lines, as the agent wrote them
    #[schema(min_length = 1)]
    text: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

/// Runs that were learned from, newest first
#[utoipa::path(
    get, path = "/traces", tag = "workshop", operation_id = "kept_runs", params(ListQuery),
    responses((status = 200, body = Page<records::Trace>), Refusals)
)]
pub(crate) async fn list(
    State(app): State<App>,
    _caller: Caller,
    Ask(query): Ask<ListQuery>,
) -> Result<Answer, Problem> {
    app.ask(move |look| {
        let runs = look.engine.kept_runs()?;
        let keyed = runs.into_iter().map(|run| {
            let place = i64::try_from(run.number).unwrap_or(i64::MAX);
            (newest_first(place, &run.id), run)
        });
        let wanted = Wanted { limit: query.limit, cursor: query.cursor.clone() };
        Answer::of(&Page::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// One run, with what was done in it where that is kept; everything private is taken out
#[utoipa::path(
    get, path = "/traces/{id}", tag = "workshop", operation_id = "kept_run",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, body = records::TraceDetail), Refusals)
)]
pub(crate) async fn show(
    State(app): State<App>,
    _caller: Caller,
    At(id): At<String>,
) -> Result<Answer, Problem> {
    app.ask(move |look| {
        let (run, clean) = look.engine.kept_run(&id)?;
        let done = clean.as_ref().map(|clean| clean.run.steps.as_slice()).unwrap_or_default();
        let redactions = clean.as_ref().map(|clean| &clean.redactions);
        Answer::of(&json!({"run": run, "steps": done, "redactions": redactions}))
    })
    .await
}

/// Propose a skill from a run that is kept
#[utoipa::path(
    post, path = "/traces/{id}/distill", tag = "workshop", operation_id = "distil",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, body = records::Learned), Refusals)
)]
pub(crate) async fn distil(
    State(app): State<App>,
    _caller: Caller,
    At(id): At<String>,
) -> Result<Answer, Problem> {
    app.change(move |look| Answer::of(&look.engine.distil(&id)?)).await
}

/// Learn from a transcript; what is private is taken out before anything is kept
#[utoipa::path(
    post, path = "/traces", tag = "workshop", operation_id = "learn", request_body = Transcript,
    responses((status = 201, body = records::LearnReport), Refusals)
)]
pub(crate) async fn learn(
    State(app): State<App>,
    _caller: Caller,
    Body(transcript): Body<Transcript>,
) -> Result<(StatusCode, Answer), Problem> {
    app.change(move |look| {
        let from = LearnFrom::Bytes(transcript.text.into_bytes());
        let report = look.engine.learn(&from, None, &|_, _| {})?;
        Ok((StatusCode::CREATED, Answer::of(&report)?))
    })
    .await
}
