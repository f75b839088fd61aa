//! Reading a request and writing an answer, with every refusal as a [`Problem`].

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use utoipa::{IntoParams, ToSchema};

use super::{Problem, limits};
use crate::access::WebCaller;

/// The JSON body of a request. Unknown fields are refused by the types themselves, and what is beyond the
/// bounds that the description names is refused here.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + ToSchema> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        // A form of another site can send text, never this type.
        if kind != "application/json" {
            let said = "the body must be JSON, and its `Content-Type` must say so";
            return Err(Problem::new(ErrorCode::NotJson, said));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|error| match error {
            BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
                let said = "the body is larger than this server takes";
                Problem::new(ErrorCode::TooLarge, said)
            }
            _ => Problem::new(ErrorCode::BadBody, "the body did not arrive whole"),
        })?;
        let read: Result<T, _> = serde_json::from_slice(&bytes);
        let read = read.map_err(|error| Problem::new(ErrorCode::BadBody, error.to_string()))?;
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        limits::check_body::<T>(&value)?;
        Ok(Self(read))
    }
}

/// The query of a request.
pub(crate) struct UrlQuery<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + IntoParams> FromRequestParts<S> for UrlQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => {
                limits::check_query::<T>(parts.uri.query().unwrap_or_default())?;
                Ok(Self(value))
            }
            Err(error) => Err(Problem::new(ErrorCode::BadQuery, error.body_text())),
        }
    }
}

/// The parts of a path.
pub(crate) struct UrlPath<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for UrlPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(error) => Err(Problem::new(ErrorCode::BadPath, error.body_text())),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for WebCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::unauthorized("this needs to know who calls"))
    }
}

/// An answer, already written: values that borrow from the engine do not leave its thread.
#[derive(Debug)]
pub(crate) struct JsonReply(Vec<u8>);

impl JsonReply {
    pub(crate) fn of(value: &impl Serialize) -> Result<Self, EngineError> {
        let written = serde_json::to_vec(value).map(Self);
        written.map_err(|error| {
            EngineError::new(ErrorCode::NotWritable, format!("no JSON: {error}")).caused_by(error)
        })
    }
}

impl IntoResponse for JsonReply {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}
