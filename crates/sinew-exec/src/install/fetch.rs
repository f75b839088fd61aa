//! Fetching one file over HTTPS from a checked address.
//!
//! The name is resolved once per request, every address is checked, and the connection goes to a
//! checked address: a name that resolves differently a moment later changes nothing. Redirects are
//! followed manually and pass the same check. Proxies are not used, because behind a proxy the
//! destination of a connection cannot be checked.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use sinew_guard::address::non_public_reason;
use sinew_settings::{Reason, ReasonCode};
use ureq::http::Uri;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use url::Url;

/// The largest download: a compiler or a speech model, not a disk image.
pub const MAX_DOWNLOAD: u64 = 256 * 1024 * 1024;
/// Redirects that are followed; a release behind a mirror needs two or three.
const MAX_REDIRECTS: usize = 5;
/// How long to wait for a server that does not respond.
const CONNECT: Duration = Duration::from_secs(30);

/// Fetches files.
#[derive(Debug, Clone)]
pub struct FileFetcher {
    /// Hosts (`name` or `name:port`) whose addresses need not be public.
    pub allow: Vec<String>,
    /// Certificate authorities to trust, in PEM; the usual ones if absent.
    pub authorities: Option<Vec<u8>>,
    /// How host names are resolved.
    pub names: NameResolution,
    /// The maximum number of bytes.
    pub max: u64,
    /// How long the whole download may take.
    pub timeout: Duration,
}

impl Default for FileFetcher {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            authorities: None,
            names: NameResolution::System,
            max: MAX_DOWNLOAD,
            timeout: super::installer_timeout(None),
        }
    }
}

/// How host names are resolved.
#[derive(Debug, Clone)]
pub enum NameResolution {
    /// By the system.
    System,
    /// By this table alone.
    Fixed(Arc<BTreeMap<String, IpAddr>>),
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Its size in bytes.
    pub length: u64,
    /// Their digest, in lower case.
    pub sha256: String,
}

impl FileFetcher {
    /// Fetches `url` into `into`. Plain http is allowed only if a digest will be checked;
    /// `progress` is called with the bytes so far, and the total if known.
    pub fn fetch(
        &self,
        url: &Url,
        verified: bool,
        into: &mut dyn Write,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<FetchedFile, Reason> {
        let agent = self.agent()?;
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            if url.scheme() == "http" && !verified {
                let detail = format!("{} is not https and there is no digest", host(&url));
                return Err(Reason::new(ReasonCode::InstallSpecInvalid, detail)
                    .remedy("use https, or give a sha256"));
            }
            let answer = agent.get(url.as_str()).call().map_err(|error| failed(&url, error))?;
            let status = answer.status().as_u16();
            match status {
                200 => return self.take(answer, into, progress),
                301 | 302 | 303 | 307 | 308 => url = redirected(&url, &answer)?,
                _ => {
                    return Err(Reason::new(
                        ReasonCode::DownloadHttpStatus,
                        format!("{} answered with {status}", host(&url)),
                    )
                    .remedy("check the address in the skill's `install` entry"));
                }
            }
        }
        Err(Reason::new(
            ReasonCode::DownloadHttpStatus,
            format!("more than {MAX_REDIRECTS} redirects, the last to {}", host(&url)),
        ))
    }

    fn agent(&self) -> Result<ureq::Agent, Reason> {
        let roots = authorities(self.authorities.as_deref())?;
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(self.timeout))
            .user_agent(concat!("sinew/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .build();
        let checked = CheckedResolver { allow: self.allow.clone(), names: self.names.clone() };
        Ok(ureq::Agent::with_parts(config, DefaultConnector::default(), checked))
    }

    fn take(
        &self,
        answer: ureq::http::Response<ureq::Body>,
        into: &mut dyn Write,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<FetchedFile, Reason> {
        let announced = answer.body().content_length();
        if announced.is_some_and(|length| length > self.max) {
            return Err(self.too_large());
        }
        let mut body = answer.into_body().into_with_config().limit(self.max + 1).reader();
        let (mut digest, mut length) = (Sha256::new(), 0);
        let mut chunk = vec![0; 64 * 1024];
        let broken = |error: io::Error| {
            Reason::new(ReasonCode::InstallFailed, format!("the download was interrupted: {error}"))
                .remedy("try again")
        };
        loop {
            let count = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(error)),
            };
            length += count as u64;
            if length > self.max {
                return Err(self.too_large());
            }
            digest.update(&chunk[..count]);
            into.write_all(&chunk[..count]).map_err(broken)?;
            progress(length, announced);
        }
        into.flush().map_err(broken)?;
        if announced.is_some_and(|announced| announced != length) {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(FetchedFile { length, sha256 })
    }

    fn too_large(&self) -> Reason {
        let detail = format!("the download is larger than {} bytes", self.max);
        Reason::new(ReasonCode::DownloadTooLarge, detail).remedy("install it by hand")
    }
}

/// The trusted authorities: those in a PEM file, or the usual ones.
pub fn authorities(pem: Option<&[u8]>) -> Result<RootCerts, Reason> {
    match pem {
        Some(pem) => Ok(RootCerts::Specific(Arc::new(certificates(pem)?))),
        None => Ok(RootCerts::WebPki),
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, Reason> {
    let found: Vec<Certificate<'static>> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if found.is_empty() {
        let detail = "the file of trusted authorities contains no certificate";
        return Err(Reason::new(ReasonCode::InstallFailed, detail).remedy("check SSL_CERT_FILE"));
    }
    Ok(found)
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

fn redirected(from: &Url, answer: &ureq::http::Response<ureq::Body>) -> Result<Url, Reason> {
    let to = answer.headers().get("location").and_then(|value| value.to_str().ok());
    let to = to.and_then(|to| from.join(to).ok());
    let usable = |url: &Url| matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    to.filter(usable).ok_or_else(|| {
        let detail = format!("{} redirects without a usable address", host(from));
        Reason::new(ReasonCode::DownloadHttpStatus, detail)
    })
}

fn failed(url: &Url, error: ureq::Error) -> Reason {
    if let Some(refused) = RefusedAddress::find_in_error(&error) {
        return Reason::new(ReasonCode::DownloadRefusedAddress, refused.to_string())
            .remedy("if that host is yours, add it to skills.install.allowPrivateHosts");
    }
    match error {
        ureq::Error::Timeout(_) => {
            Reason::new(ReasonCode::InstallTimeout, format!("{} took too long", host(url)))
        }
        other => Reason::new(ReasonCode::InstallFailed, format!("{}: {other}", host(url)))
            .remedy("check the network, and try again"),
    }
}

/// An address that must not be connected to.
#[derive(Debug, thiserror::Error)]
#[error("{host} resolves to {address}, which is {what}")]
pub struct RefusedAddress {
    host: String,
    address: IpAddr,
    what: &'static str,
}

impl RefusedAddress {
    /// The refused address behind a connection error, if that was the cause.
    pub fn find_in_error(error: &ureq::Error) -> Option<&Self> {
        match error {
            ureq::Error::Io(inner) => inner.get_ref()?.downcast_ref(),
            _ => None,
        }
    }
}

/// Resolves names and refuses addresses that an untrusted URL must not reach.
#[derive(Debug)]
pub struct CheckedResolver {
    /// Hosts (`name` or `name:port`) whose addresses need not be public.
    pub allow: Vec<String>,
    /// How host names are resolved.
    pub names: NameResolution,
}

impl CheckedResolver {
    /// Whether the configuration allows this host to have a private address.
    pub fn is_allowed(&self, host: &str, port: u16) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let with_port = format!("{host}:{port}");
        self.allow.iter().any(|allowed| {
            [bare, host, &with_port].iter().any(|name| allowed.eq_ignore_ascii_case(name))
        })
    }

    fn fixed(&self, host: &str, port: u16) -> Option<SocketAddr> {
        let NameResolution::Fixed(table) = &self.names else { return None };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let address = table.get(bare).copied().or_else(|| bare.parse().ok())?;
        Some(SocketAddr::new(address, port))
    }
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?;
        let default_port = if uri.scheme_str() == Some("http") { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(default_port);
        let found = match &self.names {
            NameResolution::System => DefaultResolver::default().resolve(uri, config, timeout)?,
            NameResolution::Fixed(_) => {
                let mut found = self.empty();
                found.push(self.fixed(host, port).ok_or(ureq::Error::HostNotFound)?);
                found
            }
        };
        if !self.is_allowed(host, port) {
            // One bad address is enough, because we do not choose which one is connected to.
            for address in found.iter() {
                if let Some(what) = non_public_reason(address.ip()) {
                    let (host, address) = (host.to_owned(), address.ip());
                    let refused = RefusedAddress { host, address, what };
                    return Err(ureq::Error::Io(io::Error::other(refused)));
                }
            }
        }
        Ok(found)
    }
}
