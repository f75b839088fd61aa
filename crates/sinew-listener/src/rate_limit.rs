//! How many requests one client may send, where others than this machine can reach the server.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::origin_check::PeerAddress;

/// Requests of one client in a second, unless the configuration says otherwise: a page with its parts
/// and an agent at work stay far below it.
pub const PER_SECOND: u32 = 50;

/// Clients that are counted at once; a flood of addresses costs no more memory than this.
const MAX_COUNTED: usize = 100_000;

/// Counts requests by the second and by address.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    per_second: u32,
    began: Instant,
    seen: Mutex<HashMap<IpAddr, (u64, u32)>>,
}

impl RateLimiter {
    pub(crate) fn new(per_second: u32) -> Arc<Self> {
        Arc::new(Self { per_second, began: Instant::now(), seen: Mutex::default() })
    }

    /// Whether a client may send one more request in this second.
    fn allows(&self, client: IpAddr, second: u64) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MAX_COUNTED {
            seen.retain(|_, (at, _)| *at == second);
            if seen.len() >= MAX_COUNTED {
                seen.clear();
            }
        }
        let (at, count) = seen.entry(client).or_insert((second, 0));
        if *at != second {
            (*at, *count) = (second, 0);
        }
        *count = count.saturating_add(1);
        *count <= self.per_second
    }
}

/// Refuses what comes too fast.
pub(crate) async fn limit_rate(
    State(pace): State<Arc<RateLimiter>>,
    request: Request,
    next: Next,
) -> Response {
    let client = request.extensions().get::<PeerAddress>().map(|peer| peer.0.ip());
    let second = pace.began.elapsed().as_secs();
    if client.is_none_or(|client| pace.allows(client, second)) {
        return next.run(request).await;
    }
    // A problem as the HTTP API describes one (RFC 9457).
    let status = StatusCode::TOO_MANY_REQUESTS;
    let problem = json!({
        "type": "about:blank",
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": format!("more than {} requests in a second", pace.per_second),
        "code": "too-many-requests",
        "hint": "wait a second; serve.ratePerSecond sets how many may come",
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
        let pace = RateLimiter::new(2);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        assert!(pace.allows(one, 0) && pace.allows(one, 0));
        assert!(!pace.allows(one, 0));
        assert!(pace.allows(other, 0), "another client");
        assert!(pace.allows(one, 1), "the next second");
    }
}
