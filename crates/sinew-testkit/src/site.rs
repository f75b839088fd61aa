//! A web server on loopback: plain HTTP/1.1, one thread per connection, and the ways in which a
//! server can misbehave while it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;

/// A request that came in.
#[derive(Debug, Clone)]
pub struct SiteRequest {
    /// `GET`, `POST` …
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, decoded, in order.
    pub query: Vec<(String, String)>,
    /// Headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// When it came.
    pub at: Instant,
}

impl SiteRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter's value.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is answered, and how.
#[derive(Debug, Clone)]
pub struct SiteAnswer {
    /// The status.
    pub status: u16,
    /// Headers beside the length.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How the body is sent.
    pub sending: BodyDelivery,
}

/// How a body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyDelivery {
    /// As it should be.
    Whole,
    /// Only half of what was announced.
    Half,
    /// One byte now and then, without end.
    Drip,
    /// Nothing at all after the headers.
    Silence,
}

impl SiteAnswer {
    /// JSON.
    pub fn json(value: &serde_json::Value) -> Self {
        Self::new(200, "application/json", value.to_string())
    }

    /// Text with a status.
    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text)
    }

    /// Bytes of some kind.
    pub fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, body: body.into(), sending: BodyDelivery::Whole }
    }

    /// The same with a further header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A web server on loopback.
#[derive(Debug, Clone)]
pub struct TestSite {
    address: String,
    requests: Arc<Mutex<Vec<SiteRequest>>>,
}

impl TestSite {
    /// A server whose answers come from `answer`.
    pub fn new(answer: impl Fn(&SiteRequest) -> SiteAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests: Arc<Mutex<Vec<SiteRequest>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let request = read(&stream)?;
                    let answer = answer(&request);
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                    send(stream, &answer)
                });
            }
        });
        Self { address, requests }
    }

    /// A server that answers `path` with these bytes, and nothing else.
    pub fn of_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let files: Vec<(String, Vec<u8>)> = files.into_iter().collect();
        Self::new(move |request| match files.iter().find(|(path, _)| *path == request.path) {
            Some((path, bytes)) => {
                let kind = if path.ends_with(".json") { "application/json" } else { "text/plain" };
                SiteAnswer::new(200, kind, bytes.clone())
            }
            None => SiteAnswer::text(404, "Not found"),
        })
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What came in so far.
    pub fn requests(&self) -> Vec<SiteRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The paths that came in so far.
    pub fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}

fn read(stream: &TcpStream) -> Option<SiteRequest> {
    let at = Instant::now();
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    Some(SiteRequest { method, path: decoded(path), query, headers, body, at })
}

fn send(mut stream: TcpStream, answer: &SiteAnswer) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\nconnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", answer.body.len()));
    stream.write_all(head.as_bytes()).ok()?;
    match answer.sending {
        BodyDelivery::Whole => stream.write_all(&answer.body).ok(),
        BodyDelivery::Half => stream.write_all(&answer.body[..answer.body.len() / 2]).ok(),
        BodyDelivery::Silence => {
            thread::sleep(Duration::from_secs(600));
            Some(())
        }
        BodyDelivery::Drip => {
            for byte in answer.body.iter().cycle() {
                stream.write_all(&[*byte]).ok()?;
                thread::sleep(Duration::from_millis(100));
            }
            Some(())
        }
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}
