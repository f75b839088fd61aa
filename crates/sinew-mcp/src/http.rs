//! MCP over HTTP, at `/mcp`, as a part of a server.
//!
//! The listener checks host names, origins, sizes and times for all of its parts; the transport checks
//! host names and origins once more, and the headers that the protocol prescribes.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use sinew_engine::EngineError;
use sinew_listener::{MAX_BODY, ServerPart};
use sinew_settings::ErrorCode;
use tokio::runtime::Runtime;
use url::Url;

use super::host::McpHost;
use super::server::McpServer;

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
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let routes = Router::new().route_service(PATH, service);
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
