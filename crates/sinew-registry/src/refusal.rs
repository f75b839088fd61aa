//! What a route answers: JSON, bytes, or a refusal in plain text.
//!
//! The texts of refusals are part of the protocol: the upstream client reads some of them.

use axum::Json;
use axum::http::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use sinew_store::StoreError;

use super::blobs::BlobError;

/// A refusal: a status, and what it says.
#[derive(Debug)]
pub(crate) struct RegistryRefusal {
    pub(crate) status: StatusCode,
    body: RefusalBody,
    retry_after: Option<u64>,
}

#[derive(Debug)]
enum RefusalBody {
    Text(String),
    Json(Value),
}

impl RegistryRefusal {
    pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, body: RefusalBody::Text(text.into()), retry_after: None }
    }

    /// A refusal that a program reads.
    pub(crate) fn json(status: StatusCode, value: Value) -> Self {
        Self { status, body: RefusalBody::Json(value), retry_after: None }
    }

    /// The request is invalid, or a rule forbids it.
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::text(StatusCode::BAD_REQUEST, text)
    }

    pub(crate) fn not_found(what: &'static str) -> Self {
        Self::text(StatusCode::NOT_FOUND, what)
    }

    pub(crate) fn skill_not_found() -> Self {
        Self::not_found("Skill not found")
    }

    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::text(StatusCode::FORBIDDEN, text)
    }

    pub(crate) fn no_token() -> Self {
        Self::text(
            StatusCode::UNAUTHORIZED,
            "Unauthorized: API token is missing. Run `clawhub login` to authenticate.",
        )
    }

    pub(crate) fn bad_token() -> Self {
        Self::text(
            StatusCode::UNAUTHORIZED,
            "Unauthorized: API token is invalid or revoked. Run `clawhub login` again.",
        )
    }

    pub(crate) fn too_large(text: impl Into<String>) -> Self {
        Self::text(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    pub(crate) fn rate_limited(seconds: u64) -> Self {
        let text = Self::text(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded");
        Self { retry_after: Some(seconds), ..text }
    }

    /// A failure of the server; the same request may work later.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        let text = Self::text(StatusCode::SERVICE_UNAVAILABLE, text);
        Self { retry_after: Some(1), ..text }
    }

    /// A slug that several owners hold, with what to write instead.
    pub(crate) fn ambiguous(
        slug: &str,
        owners: &[String],
        base: &str,
        shape: RefusalFormat,
    ) -> Self {
        let refs: Vec<String> = owners.iter().map(|owner| format!("@{owner}/{slug}")).collect();
        let message = format!("Ambiguous skill slug \"{slug}\". Use one of: {}", refs.join(", "));
        let body = match shape {
            RefusalFormat::Text => RefusalBody::Text(message),
            RefusalFormat::Json => {
                let row = |owner: &String| {
                    json!({
                        "ownerHandle": owner,
                        "slug": slug,
                        "ref": format!("@{owner}/{slug}"),
                        "url": format!("{base}/api/v1/skills/{slug}?ownerHandle={owner}"),
                    })
                };
                let matches: Vec<Value> = owners.iter().map(row).collect();
                let code = "AMBIGUOUS_SKILL_SLUG";
                RefusalBody::Json(json!({
                    "code": code, "message": message, "slug": slug, "matches": matches,
                }))
            }
        };
        Self { status: StatusCode::CONFLICT, body, retry_after: None }
    }

    /// What it says, for records and other surfaces.
    pub(crate) fn message(&self) -> String {
        match &self.body {
            RefusalBody::Text(text) => text.clone(),
            RefusalBody::Json(value) => value.to_string(),
        }
    }
}

/// In which form a route refuses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RefusalFormat {
    Text,
    Json,
}

impl IntoResponse for RegistryRefusal {
    fn into_response(self) -> Response {
        let mut response = match self.body {
            RefusalBody::Text(text) => {
                (self.status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
            }
            RefusalBody::Json(value) => (self.status, Json(value)).into_response(),
        };
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<StoreError> for RegistryRefusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => {
                Self::text(StatusCode::CONFLICT, "It changed meanwhile; try again")
            }
            _ => Self::unavailable("The registry's database does not answer"),
        }
    }
}

impl From<BlobError> for RegistryRefusal {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing(_) => Self::not_found("File not found"),
            BlobError::Altered(_) => {
                Self::unavailable("A stored file no longer has its digest and is not served")
            }
            BlobError::Failed(_) => Self::unavailable("The registry's file store does not answer"),
        }
    }
}

/// The answer of a route.
pub(crate) type RegistryReply = Result<Response, RegistryRefusal>;

/// JSON.
pub(crate) fn json_answer<T: Serialize>(value: &T) -> RegistryReply {
    let bytes = serde_json::to_vec(value)
        .map_err(|_| RegistryRefusal::unavailable("The answer cannot be written"))?;
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// A header whose value is ours.
pub(crate) fn header(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}
