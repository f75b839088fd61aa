//! How many requests one caller may send: fixed windows of time, counted for each of them.
//!
//! A [`RateLimiter`] counts for the parts that have limits of their own; [`limit_rate`] guards all
//! others where other machines can reach the server.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use sinew_settings::ErrorCode;

use crate::origin_check::PeerAddress;

/// Callers that are counted at once. Beyond it old windows are dropped; a flood of addresses costs no
/// more memory than this.
const MAX_COUNTED: usize = 100_000;

/// Counts requests in windows of one length, for each key.
#[derive(Debug)]
pub struct RateLimiter<K> {
    window_ms: u64,
    /// The window that a key was last seen in, and its requests there.
    windows: Mutex<HashMap<K, (u64, u64)>>,
}

/// Where a caller stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateStanding {
    /// Requests that a window allows.
    pub limit: u64,
    /// Those that are left.
    pub remaining: u64,
    /// When the window ends, in seconds of the clock that the caller passed.
    pub reset_at: u64,
    /// Seconds until then.
    pub reset_in: u64,
    /// Whether this request was one too many.
    pub exceeded: bool,
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// Windows of this length, of a millisecond at least.
    pub fn new(window: Duration) -> Self {
        let window_ms = u64::try_from(window.as_millis()).unwrap_or(u64::MAX).max(1);
        Self { window_ms, windows: Mutex::default() }
    }

    /// Counts one request of `key`, which may send `limit` in a window, at this time.
    pub fn count(&self, key: K, limit: u64, now_ms: u64) -> RateStanding {
        let window = now_ms / self.window_ms;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_COUNTED {
            windows.retain(|_, (at, _)| *at == window);
            if windows.len() >= MAX_COUNTED {
                windows.clear();
            }
        }
        let (at, count) = windows.entry(key).or_insert((window, 0));
        if *at != window {
            (*at, *count) = (window, 0);
        }
        *count = count.saturating_add(1);
        let reset_ms = (window + 1).saturating_mul(self.window_ms);
        RateStanding {
            limit,
            remaining: limit.saturating_sub(*count),
            reset_at: reset_ms / 1000,
            reset_in: (reset_ms - now_ms).div_ceil(1000),
            exceeded: *count > limit,
        }
    }
}

/// The limit in front of parts that have none of their own: so many requests a second from each
/// address.
#[derive(Debug)]
pub(crate) struct ClientRateLimit {
    per_second: u32,
    began: Instant,
    clients: RateLimiter<IpAddr>,
}

impl ClientRateLimit {
    pub(crate) fn new(per_second: u32) -> Arc<Self> {
        let clients = RateLimiter::new(Duration::from_secs(1));
        Arc::new(Self { per_second, began: Instant::now(), clients })
    }

    /// Whether a client may send one more request now.
    fn allows(&self, client: IpAddr) -> bool {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        !self.clients.count(client, self.per_second.into(), now).exceeded
    }
}

/// Refuses what comes too fast.
pub(crate) async fn limit_rate(
    State(limit): State<Arc<ClientRateLimit>>,
    request: Request,
    next: Next,
) -> Response {
    let client = request.extensions().get::<PeerAddress>().map(|peer| peer.0.ip());
    if client.is_none_or(|client| limit.allows(client)) {
        return next.run(request).await;
    }
    // A problem as the HTTP API describes one (RFC 9457).
    let code = ErrorCode::TooManyRequests;
    let status = StatusCode::TOO_MANY_REQUESTS;
    let problem = json!({
        "type": "about:blank",
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": format!("more than {} requests in a second", limit.per_second),
        "code": code,
        "hint": "wait a second; serve.ratePerSecond sets the limit",
    });
    let mut response = (status, problem.to_string()).into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_second() {
        let seconds = RateLimiter::new(Duration::from_secs(1));
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let allows = |client, now_ms| !seconds.count(client, 2, now_ms).exceeded;
        assert!(allows(one, 0) && allows(one, 0));
        assert!(!allows(one, 999));
        assert!(allows(other, 0), "another client");
        assert!(allows(one, 1_000), "the next second");
    }
}
