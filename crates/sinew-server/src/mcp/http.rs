//! MCP over HTTP, at `/mcp`, on a listener of its own or beside other routes.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use sinew_engine::{Error, ErrorKind};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::host::Host;
use super::server::McpServer;

/// Where the service is mounted.
pub const PATH: &str = "/mcp";

/// A larger request is no call: messages and texts under test are far below.
const MAX_BODY: usize = 1024 * 1024;

/// Names under which this machine reaches itself.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Origins of pages that this machine serves itself. An empty list would switch the check off.
const LOCAL_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Who may call.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The token that calls must carry; `None` on a loopback listener that needs none.
    pub token: Option<String>,
    /// Further names of this server.
    pub hosts: Vec<String>,
    /// Further origins of pages that may call.
    pub origins: Vec<String>,
}

/// The route `/mcp`. Ends its sessions when `stop` is cancelled.
pub fn router(host: &Arc<Host>, access: Access, stop: CancellationToken) -> Router {
    let own = |local: [&str; 3], more: Vec<String>| -> Vec<String> {
        local.into_iter().map(str::to_owned).chain(more).collect()
    };
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(own(LOCAL_HOSTS, access.hosts))
        .with_allowed_origins(own(LOCAL_ORIGINS, access.origins))
        .with_max_request_body_bytes(MAX_BODY)
        .with_cancellation_token(stop);
    let for_sessions = Arc::clone(host);
    let service = StreamableHttpService::new(
        move || Ok(McpServer::new(&for_sessions)),
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

/// Whether a request carries the token. Digests are compared, so that time tells nothing of it.
fn carries(request: &Request, expected: &[u8; 32]) -> bool {
    let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
    let given: [u8; 32] = Sha256::digest(given.unwrap_or_default()).into();
    given.iter().zip(expected).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn unauthorised() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response()
}

/// Serves `/mcp` alone until `stop` ends; `listening` hears the address.
pub fn serve_http(
    host: &Arc<Host>,
    address: SocketAddr,
    access: Access,
    listening: impl FnOnce(SocketAddr) -> std::io::Result<()>,
) -> Result<(), Error> {
    let runtime = runtime()?;
    host.watch();
    let failed = |doing: &str, error: std::io::Error| {
        Error::new(
            ErrorKind::Environment,
            "cannot-listen",
            format!("cannot {doing} {address}: {error}"),
        )
    };
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| failed("listen on", error).hint("port 0 takes any that is free"))?;
        let local = listener.local_addr().map_err(|error| failed("listen on", error))?;
        let stop = CancellationToken::new();
        let routes = router(host, access, stop.clone());
        listening(local).map_err(|error| failed("announce", error))?;
        let ended = async move {
            // Without a handler for it, the signal ends the process the hard way.
            let _ = tokio::signal::ctrl_c().await;
            stop.cancel();
        };
        let serving = axum::serve(listener, routes).with_graceful_shutdown(ended);
        serving.await.map_err(|error| failed("serve", error))
    });
    runtime.shutdown_background();
    served
}

/// A small runtime: the work is the engine's, on threads of its own.
pub(super) fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(
        |error| {
            Error::new(
                ErrorKind::Environment,
                "no-runtime",
                format!("cannot start threads: {error}"),
            )
        },
    )
}
