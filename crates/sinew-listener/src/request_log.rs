//! A request as an event: which, how it ended, how long it took, and an id to find it by.
//!
//! The query and the body are never in it: they may hold what a user wrote, or a token.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A longer id from outside is replaced: it would only fill the log.
const MAX_ID: usize = 64;

/// Gives the request an id, or keeps the one that a proxy gave it, and records how it ended.
pub(crate) async fn log_request(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request.headers().get(&REQUEST_ID).and_then(sound_id).unwrap_or_else(new_id);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = tracing::info_span!("request", id);
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, ms) = (response.status(), u64::try_from(began.elapsed().as_millis()).ok());
    span.in_scope(|| {
        let status = status.as_u16();
        if response.status().is_server_error() {
            tracing::warn!(%method, path, status, ms, "a request failed");
        } else if response.status() == StatusCode::REQUEST_TIMEOUT {
            tracing::warn!(%method, path, status, ms, "a request took too long");
        } else {
            tracing::info!(%method, path, status, ms, "answered");
        }
    });
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// An id from outside, where it is one word of plain characters.
fn sound_id(value: &HeaderValue) -> Option<String> {
    let id = value.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!id.is_empty() && id.len() <= MAX_ID && id.bytes().all(plain)).then(|| id.to_owned())
}

/// An id that no other request has: a random number of this process, and a count.
fn new_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static PROCESS: OnceLock<u64> = OnceLock::new();
    let process = PROCESS.get_or_init(|| RandomState::new().build_hasher().finish());
    format!("{process:016x}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_outside_is_kept_only_where_it_is_one_plain_word() {
        let sound = |text: &str| sound_id(&HeaderValue::from_str(text).expect("a header"));
        assert_eq!(sound("abc-1.2_3"), Some("abc-1.2_3".to_owned()));
        for odd in ["", "two words", "{\"json\":1}", &"x".repeat(65)] {
            assert_eq!(sound(odd), None, "{odd}");
        }
    }

    #[test]
    fn ids_differ() {
        assert_ne!(new_id(), new_id());
    }
}
