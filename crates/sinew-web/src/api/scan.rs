//! Scanning a skill or a text.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sinew_engine::{AgentScanVerdict, ScanSubject};
use sinew_guard::scan::ScanReport;
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::Problem;
use super::extract::{JsonBody, JsonReply};
use super::openapi::ProblemResponses;
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

/// What a scan comes to: everything that was found for people, the verdict for programs
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum ScanReply {
    Person(Box<ScanReport>),
    Program(AgentScanVerdict),
}

/// Look for malware, leaks and tricks; programs get the verdict, people everything that was found
#[utoipa::path(
    post, path = "/scan", tag = "guard", operation_id = "scan_verdict", request_body = ScanBody,
    responses((status = 200, body = ScanReply), ProblemResponses)
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
            (scanned.verdict, ScanReply::Person(Box::new(scanned.report)))
        } else {
            let subject = match (&target.skill, &target.text) {
                (Some(skill), _) => ScanSubject::Skill(skill),
                (None, text) => ScanSubject::Text(text.as_deref().unwrap_or_default()),
            };
            let told = engine.skills().scan_verdict(catalog, subject, false)?;
            (told.verdict, ScanReply::Program(told))
        };
        look.app.bus().publish(ServerEventKind::ScanFinished, json!({"verdict": verdict}));
        JsonReply::of(&answer)
    })
    .await
}
