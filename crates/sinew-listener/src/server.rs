//! The listener: one address, the parts behind it, and the limits that apply to all of them.
//!
//! **Must never happen here:** a request that reaches a part without its `Host` and `Origin`
//! checked, a body without a cap, a slow client that holds a connection without end.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::oneshot;
use tower::ServiceExt as _;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};
use url::Url;

use crate::blocking::blocking;
use crate::connection_places::{ConnectionLimits, ConnectionPlaces};
use crate::origin_check::{self, HostNames, OriginRule, PeerAddress};
use crate::rate_limit::{ClientRateLimit, limit_rate};
use crate::request_log::log_request;
use crate::write_timeout::WriteTimeout;

/// The largest body of a request, unless a route says otherwise: JSON from people and agents is far
/// smaller.
pub const MAX_BODY: usize = 1 << 20;

/// How long a body or an answer may make no progress.
const STALL_LIMIT: Duration = Duration::from_secs(15);
/// How long a request may take until its answer begins: enough to upload a bundle over a slow line.
const REQUEST_LIMIT: Duration = Duration::from_secs(120);
/// How long requests in progress may take once the server is told to stop.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(10);
/// The largest head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Where to listen, and under which name.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The public address of this server, such as `https://skills.example.org`, where a proxy is in
    /// front of it.
    pub public_url: Option<Url>,
    /// Whether a token exists that this server asks callers for. Without one, it listens on loopback
    /// only.
    pub has_token: bool,
    /// Requests that one client may send in a second where other machines can reach the server; any
    /// number where absent.
    pub per_second: Option<u32>,
}

impl ServerOptions {
    /// This machine alone.
    pub fn loopback(port: u16) -> Self {
        let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        Self { listen, public_url: None, has_token: false, per_second: None }
    }
}

/// Why a server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// Other machines could reach a server that has no token.
    #[error("{address} can be reached from other machines, and this server has no token")]
    Unguarded {
        /// The address.
        address: SocketAddr,
    },
    /// The system failed while the server ran.
    #[error("the server stopped: {0}")]
    Io(#[from] io::Error),
}

/// Says why a part cannot do its work now.
type ReadyCheck = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// One part of what a server answers: its routes, who may call them, and whether it can work.
pub struct ServerPart {
    name: &'static str,
    router: Router,
    origin: OriginRule,
    ready: Option<ReadyCheck>,
    counts_itself: bool,
}

impl fmt::Debug for ServerPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({})", self.name)
    }
}

impl ServerPart {
    /// A part whose routes are full paths from the origin.
    pub fn new(name: &'static str, router: Router) -> Self {
        Self { name, router, origin: OriginRule::Own, ready: None, counts_itself: false }
    }

    /// Whose pages may call it.
    #[must_use]
    pub fn origin(mut self, rule: OriginRule) -> Self {
        self.origin = rule;
        self
    }

    /// It limits requests itself, so the server's own limit does not apply to it.
    #[must_use]
    pub fn counts_itself(mut self) -> Self {
        self.counts_itself = true;
        self
    }

    /// What `/readyz` asks. It may block.
    #[must_use]
    pub fn ready(mut self, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.ready = Some(Arc::new(check));
        self
    }
}

/// A bound address and the parts that will answer there.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    names: Arc<HostNames>,
    origin: String,
    pace: Option<Arc<ClientRateLimit>>,
    limits: ConnectionLimits,
    parts: Vec<ServerPart>,
}

impl HttpServer {
    /// Takes the address.
    #[allow(clippy::needless_pass_by_value, reason = "a server is made of its options")]
    pub fn bind(options: ServerOptions) -> Result<Self, ServeError> {
        let address = options.listen;
        if !address.ip().is_loopback() && !options.has_token {
            return Err(ServeError::Unguarded { address });
        }
        let bind = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let at = listener.local_addr()?;
            Ok((listener, at))
        };
        let (listener, at) = bind().map_err(|error| ServeError::Bind { address, error })?;
        let public = options.public_url.as_ref();
        let origin = match public {
            Some(url) => url.origin().ascii_serialization(),
            None => format!("http://{at}"),
        };
        let names = Arc::new(HostNames::of(at, public));
        let per_second = options.per_second.filter(|_| !at.ip().is_loopback());
        let pace = per_second.map(ClientRateLimit::new);
        let limits = ConnectionLimits::default();
        Ok(Self { listener, address: at, names, origin, pace, limits, parts: Vec::new() })
    }

    /// Adds a part.
    #[must_use]
    pub fn mount(mut self, part: ServerPart) -> Self {
        self.parts.push(part);
        self
    }

    /// Bounds its connections otherwise than by default.
    #[must_use]
    pub fn limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The origin that clients use.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Answers until the process is asked to end, then lets requests in progress finish.
    pub fn run(self) -> Result<(), ServeError> {
        let limits = self.limits;
        let (listener, router) = self.assemble();
        runtime()?.block_on(accept(listener, router, limits, shutdown_signal()))?;
        Ok(())
    }

    /// Answers on threads of its own until it is told to stop.
    pub fn start(self) -> Result<RunningServer, ServeError> {
        let (address, origin, limits) = (self.address, self.origin.clone(), self.limits);
        let (listener, router) = self.assemble();
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = runtime()?;
        let thread = thread::Builder::new().name("sinew-listener".to_owned()).spawn(move || {
            // A dropped sender is a request to stop as well.
            runtime.block_on(accept(listener, router, limits, async { drop(stopped.await) }))
        })?;
        Ok(RunningServer { address, origin, stop: Some(stop), thread: Some(thread) })
    }

    fn assemble(self) -> (TcpListener, Router) {
        let checks: Vec<(&'static str, ReadyCheck)> = self
            .parts
            .iter()
            .filter_map(|part| Some((part.name, Arc::clone(part.ready.as_ref()?))))
            .collect();
        let mut router = Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(move || readiness(checks.clone())));
        for part in self.parts {
            let rule = (Arc::clone(&self.names), part.origin);
            let mut routes =
                part.router.layer(from_fn_with_state(rule, origin_check::check_origin));
            if let (Some(pace), false) = (&self.pace, part.counts_itself) {
                routes = routes.layer(from_fn_with_state(Arc::clone(pace), limit_rate));
            }
            router = router.merge(routes);
        }
        let router = router
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(RequestBodyTimeoutLayer::new(STALL_LIMIT))
            .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, REQUEST_LIMIT))
            .layer(from_fn_with_state(self.names, origin_check::check_host))
            .layer(map_response(with_safe_headers))
            .layer(from_fn(log_request));
        (self.listener, router)
    }
}

/// A running server. It stops when this value is dropped.
#[derive(Debug)]
pub struct RunningServer {
    address: SocketAddr,
    origin: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl RunningServer {
    /// The address it answers at.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The origin that clients use.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Stops it, and waits until the requests in progress are done.
    pub fn stop(mut self) -> Result<(), ServeError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), ServeError> {
        drop(self.stop.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(outcome)) => Ok(outcome?),
            Some(Err(_)) => Err(io::Error::other("its thread panicked").into()),
            None => Ok(()),
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // The handle is gone, so there is no caller left to report a failure to.
        let _ = self.end();
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

async fn accept(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = ConnectionPlaces::new(limits);
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(MAX_HEAD);
    let graceful = GracefulShutdown::new();
    let mut end = std::pin::pin!(end);
    loop {
        let accepted = tokio::select! {
            accepted = async { (places.any().await, listener.accept().await) } => accepted,
            () = &mut end => break,
        };
        let (free, stream, peer) = match accepted {
            (Some(free), Ok((stream, peer))) => (free, stream, peer),
            // No file descriptors left, or a client that hung up at once: try the next one.
            (_, refused) => {
                if let Err(error) = refused {
                    tracing::warn!(%error, "a connection could not be accepted");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        // Beyond its share an address is hung up on: there is no request yet to answer.
        let Some(place) = places.of(peer.ip(), free) else { continue };
        // Small answers are sent at once instead of being collected (Nagle's algorithm).
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(PeerAddress(peer));
            router.clone().oneshot(request)
        });
        let stream = TokioIo::new(WriteTimeout::new(stream, STALL_LIMIT));
        let connection = graceful.watch(protocol.serve_connection(stream, service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_LIMIT, graceful.shutdown()).await;
    Ok(())
}

/// Ends when the process is interrupted or terminated.
async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

async fn readiness(checks: Vec<(&'static str, ReadyCheck)>) -> Response {
    let looked = blocking(move || {
        let failed = |(name, check): &(&'static str, ReadyCheck)| {
            check().err().map(|why| format!("{name}: {why}\n"))
        };
        checks.iter().filter_map(failed).collect::<String>()
    });
    match looked.await {
        Some(trouble) if trouble.is_empty() => "ready\n".into_response(),
        Some(trouble) => (StatusCode::SERVICE_UNAVAILABLE, trouble).into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, "a check failed\n").into_response(),
    }
}

/// The headers of every answer, unless its part has set them.
async fn with_safe_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    absent(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    absent(headers, REFERRER_POLICY, "no-referrer");
    absent(headers, CACHE_CONTROL, "no-store");
    absent(headers, CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}

fn absent(headers: &mut HeaderMap, name: axum::http::HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
