//! One error, as HTTP carries it: `application/problem+json` (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

/// Why a request was not answered, and what to do next.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the code says more than an address would.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The status.
    status: u16,
    /// What happened, where.
    detail: String,
    /// A stable name, for programs.
    #[schema(value_type = String)]
    code: ErrorCode,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Problem {
    /// A problem of this surface's own.
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        let status =
            StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            code,
            hint: None,
        }
    }

    /// The caller has not said who it is.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::Unauthorized, detail)
            .hint("send `Authorization: Bearer <token>`; `sinew serve` says where the token is")
    }

    /// A bug of ours: said without its insides.
    pub(crate) fn internal() -> Self {
        Self::new(ErrorCode::Internal, "the request failed inside sinew")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn title(&self) -> &'static str {
        self.title
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let hint = (!error.hints.is_empty()).then(|| error.hints.join("; "));
        Self { hint, ..Self::new(error.code, error.to_string()) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(&self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
