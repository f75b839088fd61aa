//! Scanning a skill or a text.

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use sinew_engine::ScanSubject;
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::extract::{JsonBody, JsonReply};
use super::openapi::ProblemResponses;
use super::{Problem, records};
use crate::access::WebCaller;
use crate::app::{ServerEventKind, WebApp};

/// What is to be scanned: a skill, or a text
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanBody {
    /// A skill of the catalog
    skill: Option<String>,
    /// A text, as if it were a SKILL.md
    text: Option<String>,
}

/// Look for malware, leaks and tricks; programs get the verdict, people everything that was found
#[utoipa::path(
    post, path = "/scan", tag = "guard", operation_id = "scan_verdict", request_body = ScanBody,
    responses((status = 200, body = records::ScanReply), ProblemResponses)
)]
pub(crate) async fn scan(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(target): JsonBody<ScanBody>,
) -> Result<JsonReply, Problem> {
    if target.skill.is_some() == target.text.is_some() {
        return Err(Problem::new(ErrorCode::BadTarget, "name either a `skill` or a `text`"));
    }
    app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let (verdict, answer) = if caller.is_person() {
            let scanned = match (&target.skill, &target.text) {
                (Some(skill), _) => engine.quality().scan_skill(catalog, skill)?,
                (None, text) => engine.quality().scan_text(text.as_deref().unwrap_or_default()),
            };
            (scanned.verdict, JsonReply::of(&scanned.report)?)
        } else {
            let subject = match (&target.skill, &target.text) {
                (Some(skill), _) => ScanSubject::Skill(skill),
                (None, text) => ScanSubject::Text(text.as_deref().unwrap_or_default()),
            };
            let told = engine.skills().scan_verdict(catalog, subject, false)?;
            (told.verdict, JsonReply::of(&told)?)
        };
        look.app.bus().publish(ServerEventKind::ScanFinished, json!({"verdict": verdict}));
        Ok(answer)
    })
    .await
}
