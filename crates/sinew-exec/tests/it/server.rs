//! A server on this machine that speaks HTTPS with a certificate from its own authority.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The server's answer to one path.
#[derive(Clone)]
pub(crate) enum Answer {
    /// This body, with its length.
    Body(Vec<u8>),
    /// This body, without a length.
    Unannounced(Vec<u8>),
    /// An announced length that is not delivered.
    Promise(u64),
    /// A redirect to another address.
    Redirect(String),
    /// A status and nothing else.
    Status(u16),
}

/// A running server.
pub(crate) struct Server {
    /// Its port.
    pub(crate) port: u16,
    /// Its authority's certificate.
    pub(crate) authority: Vec<u8>,
    routes: Arc<Mutex<Vec<(String, Answer)>>>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server with TLS.
    pub(crate) fn https() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let names = ["localhost", "127.0.0.1", "::1", "files.example.org"];
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let leaf_key = KeyPair::generate().expect("a key");
        let leaf = CertificateParams::new(names)
            .and_then(|params| params.signed_by(&leaf_key, &authority))
            .expect("a certificate");
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], private)
            })
            .expect("a configuration");
        Self::start(Some(Arc::new(config)), authority.pem().into_bytes())
    }

    /// Starts a server without TLS.
    pub(crate) fn http() -> Self {
        Self::start(None, Vec::new())
    }

    fn start(tls: Option<Arc<ServerConfig>>, authority: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let routes: Arc<Mutex<Vec<(String, Answer)>>> = Arc::default();
        let requests = Arc::new(AtomicUsize::new(0));
        let (known, count) = (Arc::clone(&routes), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (known, tls, count) = (Arc::clone(&known), tls.clone(), Arc::clone(&count));
                thread::spawn(move || match tls {
                    Some(config) => {
                        if let Ok(connection) = ServerConnection::new(config) {
                            serve(StreamOwned::new(connection, stream), &known, &count);
                        }
                    }
                    None => serve(stream, &known, &count),
                });
            }
        });
        Self { port, authority, routes, requests }
    }

    /// Sets the answer for a path.
    pub(crate) fn answer_with(&self, path: &str, answer: Answer) {
        self.routes.lock().expect("routes").push((path.to_owned(), answer));
    }

    /// The number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

trait Connection: Read + Write {}
impl Connection for TcpStream {}
impl Connection for StreamOwned<ServerConnection, TcpStream> {}

fn serve(
    mut stream: impl Connection,
    routes: &Mutex<Vec<(String, Answer)>>,
    requests: &AtomicUsize,
) {
    let mut request = Vec::new();
    let mut byte = [0; 1];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return,
        }
    }
    requests.fetch_add(1, Ordering::Relaxed);
    let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let found = routes.lock().expect("routes").iter().find(|(known, _)| *known == path).cloned();
    let answer = found.map_or(Answer::Status(404), |(_, answer)| answer);
    let head =
        |status: u16, more: &str| format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{more}\r\n");
    let _ = match answer {
        Answer::Body(body) => stream
            .write_all(head(200, &format!("content-length: {}\r\n", body.len())).as_bytes())
            .and_then(|()| stream.write_all(&body)),
        Answer::Unannounced(body) => {
            stream.write_all(head(200, "").as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Answer::Promise(length) => {
            stream.write_all(head(200, &format!("content-length: {length}\r\n")).as_bytes())
        }
        Answer::Redirect(to) => stream
            .write_all(head(302, &format!("location: {to}\r\ncontent-length: 0\r\n")).as_bytes()),
        Answer::Status(status) => {
            stream.write_all(head(status, "content-length: 0\r\n").as_bytes())
        }
    };
    let _ = stream.flush();
}
