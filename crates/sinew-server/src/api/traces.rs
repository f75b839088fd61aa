//! Learning from what an agent did: a transcript goes in, drafts for the workshop come out.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use sinew_engine::LearnFrom;
use utoipa::ToSchema;

use super::extract::{Answer, Body};
use super::openapi::Refusals;
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
