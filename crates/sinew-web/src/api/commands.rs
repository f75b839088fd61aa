//! Slash commands, resolved for a host that makes the call itself.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::Problem;
use super::extract::{JsonBody, JsonReply};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::WebApp;

/// A message that may be a slash command
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DispatchBody {
    /// What the user typed
    #[schema(min_length = 1, max_length = 20000)]
    message: String,
    /// The tools that the caller may use
    #[serde(default)]
    #[schema(max_items = 1000)]
    tools: Vec<String>,
}

/// What the message asks for: `kind` is `message`, `skill`, `prompt`, `dispatch` or `refused`
#[derive(Serialize, ToSchema)]
struct DispatchReply {
    /// What it is
    kind: String,
    /// The command and its skill
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Value>,
    /// The tool that the host calls
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// What the tool is called with
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Value>,
    /// What the model gets
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// The text after the command
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    /// Why nothing is called
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Value>,
}

/// What a message asks for, and the call that the host makes
#[utoipa::path(
    post, path = "/dispatch", tag = "route", operation_id = "dispatched",
    request_body = DispatchBody,
    responses((status = 200, body = DispatchReply), ProblemResponses)
)]
pub(crate) async fn dispatch(
    State(app): State<WebApp>,
    _caller: WebCaller,
    JsonBody(asked): JsonBody<DispatchBody>,
) -> Result<JsonReply, Problem> {
    if asked.message.trim().is_empty() {
        return Err(Problem::new(ErrorCode::BadMessage, "`message` is blank"));
    }
    app.change(move |look| {
        let skills = look.engine.skills();
        let found = skills.resolve_command(&look.snapshot.catalog, &asked.message, &asked.tools)?;
        let value = serde_json::to_value(&found).unwrap_or_default();
        let text = |at: &Value| at.as_str().map(str::to_owned);
        JsonReply::of(&DispatchReply {
            kind: text(&value["kind"]).unwrap_or_default(),
            command: value.get("command").cloned(),
            tool: text(&value["dispatch"]["tool"]),
            payload: value["dispatch"].get("payload").cloned(),
            body: text(&value["body"]),
            arguments: text(&value["arguments"]),
            reason: value.get("reason").cloned(),
        })
    })
    .await
}
