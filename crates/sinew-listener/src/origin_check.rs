//! Who may call: the exact names of this server, and the pages that may use it.
//!
//! Any page can make a browser send requests here (cross-site requests), or treat this server as the
//! page's own (DNS rebinding). The first sends a foreign `Origin`, the second a foreign `Host`;
//! neither passes.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::Url;

/// The address at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub struct PeerAddress(pub SocketAddr);

/// The origin that the client used for this server, such as `http://127.0.0.1:7411`: where
/// addresses in an answer have to start.
#[derive(Debug, Clone)]
pub struct ServerOrigin(pub Arc<str>);

/// Whose pages may call a part of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginRule {
    /// Pages of this server alone.
    Own,
    /// Any page may read, because reading is public; only pages of this server may change something.
    AnyReads,
}

/// The host names that this server accepts.
#[derive(Debug)]
pub(crate) struct HostNames {
    /// `Host` values, with the origin that each stands for.
    known: Vec<(String, Arc<str>)>,
}

impl HostNames {
    /// The names of a listener at `address`, and its public one.
    pub(crate) fn of(address: SocketAddr, public: Option<&Url>) -> Self {
        let mut names = Self { known: Vec::new() };
        let port = address.port();
        if address.ip().is_unspecified() {
            // Reached from this machine by loopback; from elsewhere only by the public name.
            names.add_http("127.0.0.1", port);
            names.add_http("localhost", port);
        } else {
            match address {
                SocketAddr::V4(at) => names.add_http(&at.ip().to_string(), port),
                SocketAddr::V6(at) => names.add_http(&format!("[{}]", at.ip()), port),
            }
            if address.ip().is_loopback() {
                names.add_http("localhost", port);
            }
        }
        if let Some(url) = public
            && let Some(host) = url.host_str()
        {
            let origin: Arc<str> = url.origin().ascii_serialization().into();
            let host = host.to_ascii_lowercase();
            if let Some(port) = url.port_or_known_default() {
                names.known.push((format!("{host}:{port}"), Arc::clone(&origin)));
            }
            if url.port().is_none() {
                names.known.push((host, origin));
            }
        }
        names
    }

    fn add_http(&mut self, host: &str, port: u16) {
        self.known.push((format!("{host}:{port}"), format!("http://{host}:{port}").into()));
        if port == 80 {
            self.known.push((host.to_owned(), format!("http://{host}").into()));
        }
    }

    /// The origin that a `Host` stands for.
    fn origin_of(&self, headers: &HeaderMap) -> Option<Arc<str>> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
        let host = host.to_str().ok()?.to_ascii_lowercase();
        self.known.iter().find(|(name, _)| *name == host).map(|(_, origin)| Arc::clone(origin))
    }

    fn is_own(&self, origin: &str) -> bool {
        self.known.iter().any(|(_, own)| **own == *origin)
    }
}

/// Refuses requests that name another host, and notes the origin that the client used.
pub(crate) async fn check_host(
    State(names): State<Arc<HostNames>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(origin) = names.origin_of(request.headers()) else {
        let text = "this server does not answer for that host name\n";
        return (StatusCode::MISDIRECTED_REQUEST, text).into_response();
    };
    request.extensions_mut().insert(ServerOrigin(origin));
    next.run(request).await
}

/// Refuses requests that another site's page sent.
pub(crate) async fn check_origin(
    State((names, rule)): State<(Arc<HostNames>, OriginRule)>,
    request: Request,
    next: Next,
) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let mut origins = request.headers().get_all(ORIGIN).iter();
    let allowed = match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(_), _) if rule == OriginRule::AnyReads && reads => true,
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| names.is_own(origin)),
        _ => false,
    };
    if !allowed {
        return (StatusCode::FORBIDDEN, "requests from other sites are refused\n").into_response();
    }
    next.run(request).await
}
