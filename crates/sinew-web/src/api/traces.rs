//! Learning from what an agent did: a transcript goes in, drafts for the workshop come out, and what is
//! kept of a run can be looked at and drafted later.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sinew_engine::{LearnReport, LearnSource};
use sinew_traces::RunStep;
use sinew_workshop::{LearnResult, RememberedRun};
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest, newest_first};
use crate::access::WebCaller;
use crate::app::WebApp;

/// The largest transcript: a long day of an agent.
pub(super) const MAX_TRANSCRIPT: usize = 16 << 20;

/// A transcript
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TranscriptBody {
    /// Its lines, as the agent wrote them
    #[schema(min_length = 1)]
    text: String,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TraceListQuery {
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

/// Runs that were learned from, newest first
#[utoipa::path(
    get, path = "/traces", tag = "workshop", operation_id = "kept_runs", params(TraceListQuery),
    responses((status = 200, body = CursorPage<RememberedRun>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlQuery(query): UrlQuery<TraceListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let runs = look.engine.traces().remembered_runs()?;
        let keyed = runs.into_iter().map(|run| {
            let place = i64::try_from(run.number).unwrap_or(i64::MAX);
            (newest_first(place, &run.id), run)
        });
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// A run with what was done in it
#[derive(Serialize, ToSchema)]
struct TraceReply {
    run: RememberedRun,
    /// What was done, where that is kept
    steps: Vec<RunStep>,
    /// How many of which kind were taken out
    redactions: Option<BTreeMap<String, u64>>,
}

/// One run, with what was done in it where that is kept; everything private is taken out
#[utoipa::path(
    get, path = "/traces/{id}", tag = "workshop", operation_id = "kept_run",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, body = TraceReply), ProblemResponses)
)]
pub(crate) async fn show(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let (run, clean) = look.engine.traces().remembered_run(&id)?;
        let (steps, redactions) = match clean {
            Some(clean) => (clean.run.steps, Some(clean.redactions)),
            None => (Vec::new(), None),
        };
        JsonReply::of(&TraceReply { run, steps, redactions })
    })
    .await
}

/// Propose a skill from a run that is kept
#[utoipa::path(
    post, path = "/traces/{id}/distill", tag = "workshop", operation_id = "distil",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, body = LearnResult), ProblemResponses)
)]
pub(crate) async fn distil(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.change(move |look| JsonReply::of(&look.engine.traces().draft_remembered_run(&id)?)).await
}

/// Learn from a transcript; what is private is taken out before anything is kept
#[utoipa::path(
    post, path = "/traces", tag = "workshop", operation_id = "learn", request_body = TranscriptBody,
    responses((status = 201, body = LearnReport), ProblemResponses)
)]
pub(crate) async fn learn(
    State(app): State<WebApp>,
    _caller: WebCaller,
    JsonBody(transcript): JsonBody<TranscriptBody>,
) -> Result<(StatusCode, JsonReply), Problem> {
    app.change(move |look| {
        let from = LearnSource::Bytes(transcript.text.into_bytes());
        let report = look.engine.traces().learn(&from, None, &|_, _| {})?;
        Ok((StatusCode::CREATED, JsonReply::of(&report)?))
    })
    .await
}
