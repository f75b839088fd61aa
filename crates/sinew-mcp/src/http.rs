//! MCP over HTTP, at `/mcp`, as a part of a server.
//!
//! The listener checks host names, origins, sizes and times for all of its parts; the transport checks
//! host names and origins once more, and the headers that the protocol prescribes.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use sinew_engine::EngineError;
use sinew_listener::{MAX_BODY, PeerAddress, ServerPart};
use sinew_settings::ErrorCode;
use tokio::runtime::Runtime;
use url::Url;

use super::host::McpHost;
use super::server::McpServer;
use super::session_cap::{CLIENT, CappedSessions, SessionCaps};

/// Where the service is mounted.
pub const PATH: &str = "/mcp";

/// Names under which this machine reaches itself.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Origins of pages that this machine serves itself. An empty list would switch the check off.
const LOCAL_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Who may call.
#[derive(Debug, Clone, Default)]
pub struct McpAccess {
    /// The token that calls must carry; `None` on a loopback listener that needs none.
    pub token: Option<String>,
    /// The public address of this server, where a proxy is in front of it.
    pub public_url: Option<Url>,
}

/// The route `/mcp`.
pub fn router(host: &Arc<McpHost>, access: McpAccess) -> Router {
    let host = Arc::clone(host);
    router_of(move || McpServer::new(&host), access)
}

/// The route `/mcp` for another handler that wraps ours.
pub fn router_of<S: ServerHandler>(
    conversation: impl Fn() -> S + Send + Sync + 'static,
    access: McpAccess,
) -> Router {
    router_with_caps(conversation, access, SessionCaps::default())
}

fn router_with_caps<S: ServerHandler>(
    conversation: impl Fn() -> S + Send + Sync + 'static,
    access: McpAccess,
    caps: SessionCaps,
) -> Router {
    let own = |local: [&str; 3], more: Option<String>| -> Vec<String> {
        local.into_iter().map(str::to_owned).chain(more).collect()
    };
    let public = access.public_url.as_ref();
    let public_host = public.and_then(Url::host_str).map(str::to_owned);
    let public_origin = public.map(|url| url.origin().ascii_serialization());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(own(LOCAL_HOSTS, public_host))
        .with_allowed_origins(own(LOCAL_ORIGINS, public_origin))
        .with_max_request_body_bytes(MAX_BODY);
    let service = StreamableHttpService::new(
        move || Ok(conversation()),
        Arc::new(CappedSessions::new(caps)),
        config,
    );
    let routes = Router::new().route_service(PATH, service).layer(middleware::from_fn(tell_client));
    match access.token {
        None => routes,
        Some(token) => {
            let expected: [u8; 32] = Sha256::digest(format!("Bearer {token}")).into();
            routes.layer(middleware::from_fn(move |request: Request, next: Next| async move {
                if carries(&request, &expected) { next.run(request).await } else { unauthorised() }
            }))
        }
    }
}

/// Tells the sessions below who asks: the transport has no place for it.
async fn tell_client(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<PeerAddress>();
    let client = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    CLIENT.scope(client, next.run(request)).await
}

/// Whether a request carries the token. Digests are compared, so that timing reveals nothing.
fn carries(request: &Request, expected: &[u8; 32]) -> bool {
    let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let given: [u8; 32] = Sha256::digest(given.unwrap_or_default()).into();
    given.iter().zip(expected).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn unauthorised() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response()
}

/// The service as a part of a server.
pub fn part(host: &Arc<McpHost>, access: McpAccess) -> ServerPart {
    ServerPart::new("mcp", router(host, access))
}

/// A small runtime: the work is the engine's, on threads of its own.
pub(super) fn runtime() -> Result<Runtime, EngineError> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(
        |error| {
            EngineError::new(ErrorCode::NoRuntime, format!("cannot start threads: {error}"))
                .caused_by(error)
        },
    )
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use axum::body::{Body, to_bytes};
    use axum::http::request::Builder;
    use tower::ServiceExt as _;

    use super::*;

    #[derive(Debug, Clone)]
    struct QuietHandler;

    impl ServerHandler for QuietHandler {}

    const BEGIN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":
        "2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    const BEGUN: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

    struct McpClient<'r> {
        router: &'r Router,
        client: [u8; 4],
    }

    impl McpClient<'_> {
        fn request(&self) -> Builder {
            Request::builder()
                .method("POST")
                .uri(PATH)
                .header("host", "localhost")
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .extension(PeerAddress(SocketAddr::from((self.client, 4000))))
        }

        async fn send(&self, request: Builder, body: &'static str) -> Response {
            let request = request.body(Body::from(body)).expect("a request");
            self.router.clone().oneshot(request).await.expect("an answer")
        }

        async fn begin(&self) -> String {
            let answer = self.send(self.request(), BEGIN).await;
            assert_eq!(answer.status(), StatusCode::OK);
            let id = answer.headers()["mcp-session-id"].to_str().expect("plain").to_owned();
            to_bytes(answer.into_body(), 1 << 20).await.expect("an answer");
            let begun = self.request().header("mcp-session-id", &id);
            assert_eq!(self.send(begun, BEGUN).await.status(), StatusCode::ACCEPTED);
            id
        }

        async fn ping(&self, id: &str) -> StatusCode {
            let request = self.request().header("mcp-session-id", id);
            self.send(request, PING).await.status()
        }
    }

    fn routes(caps: SessionCaps) -> Router {
        router_with_caps(|| QuietHandler, McpAccess::default(), caps)
    }

    #[tokio::test]
    async fn sessions_of_one_client_are_bounded_and_the_idlest_ends() {
        let routes = routes(SessionCaps { per_client: 3, in_all: 5, ..SessionCaps::default() });
        let (one, other) = (
            McpClient { router: &routes, client: [10, 0, 0, 1] },
            McpClient { router: &routes, client: [10, 0, 0, 2] },
        );
        let theirs = other.begin().await;
        let first = one.begin().await;
        let second = one.begin().await;
        assert_eq!(one.ping(&first).await, StatusCode::OK);
        for _ in 0..2 {
            one.begin().await;
        }
        assert_eq!(one.ping(&second).await, StatusCode::NOT_FOUND, "it was idle for longest");
        assert_eq!(one.ping(&first).await, StatusCode::OK);
        assert_eq!(other.ping(&theirs).await, StatusCode::OK, "another client is left alone");
    }

    #[tokio::test]
    async fn a_session_ends_when_it_is_idle() {
        let idle = Duration::from_millis(50);
        let routes = routes(SessionCaps { idle, ..SessionCaps::default() });
        let one = McpClient { router: &routes, client: [10, 0, 0, 1] };
        let id = one.begin().await;
        while one.ping(&id).await == StatusCode::OK {
            tokio::time::sleep(2 * idle).await;
        }
        assert_eq!(one.ping(&id).await, StatusCode::NOT_FOUND);
    }
}
