//! HTTP requests to hosts that others run: bounded in time and size, retried when the host asks for
//! it, and careful with tokens.
//!
//! **Must never happen here:** a token sent to another origin than its own, a request to a private
//! address that an untrusted answer pointed to, an answer without a size cap, a socket opened while
//! offline.

mod host_gate;
mod retry;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;
use sinew_exec::install::{CheckedResolver, NameResolution, RefusedAddress, authorities};
use sinew_guard::Untrusted;
use sinew_settings::Clock;
use ureq::http;
use ureq::tls::TlsConfig;
use url::Url;

use crate::error::HubError;
use host_gate::HostGate;
pub use retry::RequestLimits;
use retry::{RetryPause, pause};
use sinew_settings::ErrorCode;
pub use write::{HttpWrite, HttpWriteMethod};

/// Redirects that are followed; a download behind a mirror needs two.
const MAX_REDIRECTS: usize = 5;
/// The cap on a JSON answer; the largest real page has 2 MB.
const MAX_JSON: u64 = 16 * 1024 * 1024;
/// Characters of a server's own message that are shown.
const MAX_SERVER_MESSAGE: usize = 500;
/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// A secret that authorises requests to one registry. `Debug` never shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// The token, or `None` if the text is empty.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && !text.chars().any(char::is_control)).then(|| Self(text.to_owned()))
    }

    /// The token itself, for the header or file that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(set)")
    }
}

/// Whether the network may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkAccess {
    /// As needed.
    On,
    /// No socket is opened at all.
    Off,
}

/// How requests are made.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Whether the network may be used.
    pub network: NetworkAccess,
    /// Hosts (`name:port`) that the configuration names; only these may use plain http or private
    /// addresses.
    pub trusted: Vec<String>,
    /// Certificate authorities to trust, in PEM; the usual ones if absent.
    pub authorities: Option<Vec<u8>>,
    /// How host names are resolved.
    pub names: NameResolution,
    /// How long requests may take.
    pub times: RequestLimits,
}

/// Makes requests.
pub struct HttpClient {
    agent: ureq::Agent,
    options: HttpOptions,
    clock: Arc<dyn Clock>,
    gates: Mutex<BTreeMap<String, Arc<HostGate>>>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Http({:?})", self.options.network)
    }
}

/// What a request is for, which decides its time and size limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPurpose {
    /// A document.
    Document,
    /// An archive of at most this many bytes.
    Download(u64),
}

/// One request.
#[derive(Debug)]
pub struct HttpRequest<'a> {
    /// The address.
    pub url: Url,
    /// The token, which is sent to this origin alone.
    pub token: Option<&'a AccessToken>,
    /// The `Accept` header.
    pub accept: &'a str,
    /// The JSON body to post; without it the request is a GET.
    pub post: Option<&'a Value>,
    /// What it is for.
    pub purpose: RequestPurpose,
}

impl<'a> HttpRequest<'a> {
    /// A GET request for JSON.
    pub fn get(url: Url) -> Self {
        Self {
            url,
            token: None,
            accept: "application/json",
            post: None,
            purpose: RequestPurpose::Document,
        }
    }

    /// The same request with a token.
    #[must_use]
    pub fn with_token(mut self, token: Option<&'a AccessToken>) -> Self {
        self.token = token;
        self
    }

    /// The same request, accepting any content type.
    #[must_use]
    pub fn accept_any(mut self, purpose: RequestPurpose) -> Self {
        (self.accept, self.purpose) = ("*/*", purpose);
        self
    }
}

/// What a server answered.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: http::HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// The address that answered, after redirects.
    pub url: Url,
}

impl HttpResponse {
    /// A header, as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the request worked.
    pub fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the content type is JSON.
    pub fn is_json(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.contains("json"))
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<Value, HubError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            HubError::new(
                ErrorCode::Network,
                format!("{} did not send JSON: {error}", origin(&self.url)),
            )
            .caused_by(error)
        })
    }

    /// The server's own error message, shortened and safe to show.
    pub fn server_message(&self) -> String {
        let text: String =
            String::from_utf8_lossy(&self.body).chars().take(MAX_SERVER_MESSAGE).collect();
        Untrusted::new(text.trim()).for_terminal()
    }
}

/// Called with the bytes received so far, and the total if known.
pub type DownloadProgress<'a> = &'a mut dyn FnMut(u64, Option<u64>);

impl HttpClient {
    /// A client with these options.
    pub fn new(options: HttpOptions, clock: Arc<dyn Clock>) -> Result<Self, HubError> {
        let roots = authorities(options.authorities.as_deref()).map_err(|reason| {
            HubError::new(ErrorCode::File, reason.detail.clone()).hint("check SSL_CERT_FILE")
        })?;
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(options.times.connect))
            .timeout_recv_response(Some(options.times.answer))
            .user_agent(concat!("sinew/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        let checked =
            CheckedResolver { allow: options.trusted.clone(), names: options.names.clone() };
        let connector = ureq::unversioned::transport::DefaultConnector::default();
        let agent = ureq::Agent::with_parts(config, connector, checked);
        Ok(Self { agent, options, clock, gates: Mutex::default() })
    }

    /// Whether the network may be used.
    pub fn network(&self) -> NetworkAccess {
        self.options.network
    }

    /// Sends a request, retries it when that may help, and returns the final answer.
    pub fn call(
        &self,
        call: &HttpRequest<'_>,
        progress: DownloadProgress<'_>,
    ) -> Result<HttpResponse, HubError> {
        let host = origin(&call.url);
        if self.options.network == NetworkAccess::Off {
            return Err(HubError::new(
                ErrorCode::Offline,
                format!("{host} was not contacted: sinew is offline"),
            )
            .hint("remove --offline and SINEW_OFFLINE, or name a version that is cached"));
        }
        let gate = self.gate(&host);
        let mut attempt = 1;
        loop {
            let result = {
                let _turn = gate.enter();
                self.follow(call, progress)
            };
            let pause = match &result {
                Ok(answer) => pause(answer, attempt, self.clock.now_ms()),
                Err(broken) if broken.again => RetryPause::backoff(attempt),
                Err(_) => RetryPause::None,
            };
            let wait = match pause {
                RetryPause::None => return result.map_err(|broken| broken.error),
                RetryPause::TooLong { until_ms } => return Err(rate_limited(&host, until_ms)),
                RetryPause::For { .. } if attempt >= self.options.times.attempts => {
                    return match result {
                        Ok(answer) if matches!(answer.status, 429) => {
                            Err(rate_limited(&host, self.clock.now_ms()))
                        }
                        other => other.map_err(|broken| broken.error),
                    };
                }
                RetryPause::For { wait, everyone } => {
                    if everyone {
                        gate.close_for(wait);
                    }
                    wait
                }
            };
            attempt += 1;
            thread::sleep(wait);
        }
    }

    fn gate(&self, host: &str) -> Arc<HostGate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(host.to_owned()).or_default())
    }

    /// One attempt, redirects included. The token is sent only to the origin it belongs to.
    fn follow(
        &self,
        call: &HttpRequest<'_>,
        progress: DownloadProgress<'_>,
    ) -> Result<HttpResponse, FailedAttempt> {
        let mut url = call.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let token = call.token.filter(|_| url.origin() == call.url.origin());
            let answer = self.send(call, &url, token)?;
            if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return self.take(answer, url, call.purpose, progress);
            }
            let to = answer.headers().get("location").and_then(|to| to.to_str().ok());
            url = to
                .and_then(|to| url.join(to).ok())
                .ok_or_else(|| FailedAttempt::final_(&url, "redirects without a usable address"))?;
        }
        Err(FailedAttempt::final_(&url, "redirects too often"))
    }

    /// Plain http is allowed only for configured hosts: elsewhere, anyone on the network path could
    /// answer.
    fn check(&self, url: &Url) -> Result<(), FailedAttempt> {
        let port = url.port_or_known_default().unwrap_or(0);
        let trusted = url.host_str().is_some_and(|host| {
            let checked = CheckedResolver {
                allow: self.options.trusted.clone(),
                names: self.options.names.clone(),
            };
            checked.is_allowed(host, port)
        });
        match url.scheme() {
            "https" => Ok(()),
            "http" if trusted => Ok(()),
            "http" => Err(FailedAttempt::final_(
                url,
                "is plain http; use https, or add the host to skills.install.allowPrivateHosts",
            )),
            _ => Err(FailedAttempt::final_(url, "is neither http nor https")),
        }
    }

    fn send(
        &self,
        call: &HttpRequest<'_>,
        url: &Url,
        token: Option<&AccessToken>,
    ) -> Result<http::Response<ureq::Body>, FailedAttempt> {
        let times = &self.options.times;
        let whole = match call.purpose {
            RequestPurpose::Document => times.connect + times.answer,
            RequestPurpose::Download(_) => times.download,
        };
        let bearer = token.map(|token| format!("Bearer {}", token.expose()));
        let result = match call.post {
            None => {
                let mut request = self.agent.get(url.as_str()).header("accept", call.accept);
                if let Some(bearer) = &bearer {
                    request = request.header("authorization", bearer);
                }
                request.config().timeout_global(Some(whole)).build().call()
            }
            Some(body) => {
                let mut request = self
                    .agent
                    .post(url.as_str())
                    .header("accept", call.accept)
                    .header("content-type", "application/json");
                if let Some(bearer) = &bearer {
                    request = request.header("authorization", bearer);
                }
                request.config().timeout_global(Some(whole)).build().send(body.to_string())
            }
        };
        let status = result.as_ref().ok().map(|answer| answer.status().as_u16());
        // The path and the query may hold what a user typed; the host does not.
        tracing::debug!(host = url.host_str(), ?status, "asked a registry");
        result.map_err(|error| FailedAttempt::from_ureq(url, &error))
    }

    /// Reads the body, up to a cap. A separate thread reads it, so that a stalled server is noticed
    /// before the time for the whole download is over.
    fn take(
        &self,
        answer: http::Response<ureq::Body>,
        url: Url,
        purpose: RequestPurpose,
        progress: DownloadProgress<'_>,
    ) -> Result<HttpResponse, FailedAttempt> {
        let limit = match purpose {
            RequestPurpose::Document => MAX_JSON,
            RequestPurpose::Download(limit) => limit,
        };
        let (parts, body) = answer.into_parts();
        let announced = body.content_length();
        if announced.is_some_and(|length| length > limit) {
            return Err(FailedAttempt::too_large(&url, limit));
        }
        let mut reader = body.into_with_config().limit(limit + 1).reader();
        let (to, from) = sync_channel::<io::Result<Vec<u8>>>(4);
        thread::spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match reader.read(&mut chunk) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let last = !matches!(read, Ok(1..));
                let sent = to.send(read.map(|count| {
                    chunk.truncate(count);
                    chunk
                }));
                if last || sent.is_err() {
                    break;
                }
            }
        });
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            match from.recv_timeout(self.options.times.stall) {
                Ok(Ok(chunk)) if chunk.is_empty() => break,
                Ok(Ok(chunk)) => {
                    bytes.extend(chunk);
                    if bytes.len() as u64 > limit {
                        return Err(FailedAttempt::too_large(&url, limit));
                    }
                    progress(bytes.len() as u64, announced);
                }
                Ok(Err(error)) => {
                    return Err(FailedAttempt::again(
                        &url,
                        &format!("broke the connection: {error}"),
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(FailedAttempt::again(&url, "stopped sending"));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if announced.is_some_and(|announced| announced != bytes.len() as u64) {
            return Err(FailedAttempt::again(&url, "closed the connection before the end"));
        }
        Ok(HttpResponse { status: parts.status.as_u16(), headers: parts.headers, body: bytes, url })
    }
}

/// An attempt that got no answer, and whether trying again may help.
struct FailedAttempt {
    error: HubError,
    again: bool,
}

impl FailedAttempt {
    fn final_(url: &Url, what: &str) -> Self {
        let error = HubError::new(ErrorCode::Network, format!("{} {what}", origin(url)));
        Self { error, again: false }
    }

    fn again(url: &Url, what: &str) -> Self {
        let error = HubError::new(ErrorCode::Network, format!("{} {what}", origin(url)))
            .hint("check the network, and try again");
        Self { error, again: true }
    }

    fn too_large(url: &Url, limit: u64) -> Self {
        let message = format!("{} sent more than {limit} bytes", origin(url));
        Self { error: HubError::new(ErrorCode::TooLarge, message), again: false }
    }

    fn from_ureq(url: &Url, error: &ureq::Error) -> Self {
        if let Some(refused) = RefusedAddress::find_in_error(error) {
            let error =
                HubError::new(ErrorCode::Network, format!("the request was not sent: {refused}"))
                    .hint("if that host is yours, add it to skills.install.allowPrivateHosts");
            return Self { error, again: false };
        }
        match error {
            ureq::Error::Timeout(_) => Self::again(url, "did not answer in time"),
            ureq::Error::HostNotFound => Self::final_(url, "cannot be found"),
            ureq::Error::Io(inner) if inner.kind() == io::ErrorKind::ConnectionRefused => {
                Self::final_(url, "refuses the connection")
            }
            ureq::Error::Io(inner) => Self::again(url, &format!("cannot be reached: {inner}")),
            other => Self::final_(url, &format!("cannot be reached: {other}")),
        }
    }
}

fn rate_limited(host: &str, until_ms: u64) -> HubError {
    let until = jiff::Timestamp::from_millisecond(i64::try_from(until_ms).unwrap_or(i64::MAX))
        .map(|time| time.round(jiff::Unit::Second).unwrap_or(time).to_string())
        .unwrap_or_default();
    let mut error = HubError::new(
        ErrorCode::RateLimited,
        format!("{host} has limited our requests: its rate limit is reached"),
    )
    .hint(format!("try again after {until}"));
    error.retry_at_ms = Some(until_ms);
    error
}

/// Scheme, host and port: what a token belongs to.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// `host:port`, as trusted hosts are listed.
pub fn host_and_port(url: &Url) -> Option<String> {
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}
