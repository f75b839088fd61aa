//! The server: its address, the part of it that may be shown, and whether the connection is
//! encrypted.
//!
//! Connections to a server on this machine are not encrypted. Connections to other machines are
//! encrypted and the certificate is checked, unless the address says `sslmode=disable`. There is no
//! mode that encrypts without checking, because that would not stop an attacker.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

/// How long a server may take to accept a connection, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(10);

/// How long sent bytes may stay unacknowledged before the connection counts as dead.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// A server and how to connect to it.
pub(super) struct PostgresServer {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// Host, port and database: never user or password.
    pub(super) shown: String,
}

impl PostgresServer {
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        // Nothing of an address that cannot be parsed is shown: a password may be anywhere in it.
        let bad = |why: String| StoreError::BadUrl { shown: "postgres://…".to_owned(), why };
        let (plain, encryption) = EncryptionParameters::take(url).map_err(bad)?;
        let mut config: Config = plain.parse().map_err(|error| bad(parse_problem(&error)))?;
        if config.get_hosts().is_empty() {
            return Err(bad("the host is missing".to_owned()));
        }
        let local = config.get_hosts().iter().all(is_local);
        config.ssl_mode(match encryption.required {
            Some(true) => SslMode::Require,
            Some(false) => SslMode::Disable,
            None if local => SslMode::Disable,
            None => SslMode::Require,
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_application_name().is_none() {
            config.application_name("sinew");
        }
        let tls = encryption.connector().map_err(bad)?;
        Ok(Self { shown: shown(&config), config, tls })
    }
}

/// The encryption parameters of the address, which the driver does not know.
#[derive(Debug, Default)]
struct EncryptionParameters {
    required: Option<bool>,
    authority: Option<String>,
}

impl EncryptionParameters {
    /// Takes `sslmode` and `sslrootcert` out of the address.
    fn take(url: &str) -> Result<(String, Self), String> {
        let mut encryption = Self::default();
        let Some((front, query)) = url.split_once('?') else {
            return Ok((url.to_owned(), encryption));
        };
        let mut rest = Vec::new();
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => {
                    encryption.required = match mode {
                        "disable" => Some(false),
                        "require" | "verify-ca" | "verify-full" => Some(true),
                        "allow" | "prefer" => None,
                        _ => return Err("sslmode is `disable` or `verify-full`".to_owned()),
                    };
                }
                Some(("sslrootcert", "system")) => {}
                Some(("sslrootcert", path)) => encryption.authority = Some(decode(path)),
                _ => rest.push(pair),
            }
        }
        let plain =
            if rest.is_empty() { front.to_owned() } else { format!("{front}?{}", rest.join("&")) };
        Ok((plain, encryption))
    }

    fn connector(&self) -> Result<MakeRustlsConnect, String> {
        let mut roots = RootCertStore::empty();
        match &self.authority {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(path) => {
                let wrong = |why: String| format!("sslrootcert `{path}` cannot be used: {why}");
                let certificates = CertificateDer::pem_file_iter(Path::new(path))
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                    .map_err(|error| wrong(error.to_string()))?;
                for certificate in certificates {
                    roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(wrong("it contains no certificate".to_owned()));
                }
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }
}

/// Decodes `%2F` and the like.
fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(index, host)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    });
    let hosts: Vec<String> = hosts.collect();
    format!("postgres://{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

/// The driver's message about an address, without the parts of the address that it may quote.
fn parse_problem(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match error.source().map(ToString::to_string) {
        Some(why) if why.starts_with("invalid value for option") => why,
        Some(why) if why.starts_with("unknown option") => "it has an unknown option".to_owned(),
        _ => "it cannot be parsed".to_owned(),
    }
}
