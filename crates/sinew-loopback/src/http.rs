//! The little of HTTP/1.1 that agents need here: requests with a length or in chunks, answers with a
//! length. Everything is bounded, because what connects is not ours.

use std::io::{self, BufRead, Read, Write};

use flate2::read::GzDecoder;
use serde_json::Value;

/// Bytes of a request line with its headers. Agents send a few hundred.
const MAX_HEAD: u64 = 64 << 10;
/// Bytes of a body, and of what it unpacks to: a long conversation with pictures stays below it.
const MAX_BODY: u64 = 64 << 20;

/// A request.
#[derive(Debug)]
pub(crate) struct HttpMessage {
    pub(crate) method: String,
    /// What is asked for: a path with its query, or an address where we are taken for a proxy.
    pub(crate) target: String,
    pub(crate) body: Vec<u8>,
}

/// Why the next request of a connection could not be read.
#[derive(Debug)]
pub(crate) enum HttpFault {
    /// The other side closed the connection, was silent for too long, or the network failed.
    Gone,
    /// It is not a request that is understood here.
    Bad { status: u16, why: &'static str },
}

impl From<io::Error> for HttpFault {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

fn bad(status: u16, why: &'static str) -> HttpFault {
    HttpFault::Bad { status, why }
}

/// What the headers say about the body.
#[derive(Debug, Default)]
struct BodyHeaders {
    length: Option<u64>,
    chunked: bool,
    encoding: Option<String>,
    expects_continue: bool,
}

impl HttpMessage {
    /// Reads the next request. `writer` is told to go on where the client waits for that.
    pub(crate) fn read(
        reader: &mut impl BufRead,
        writer: &mut impl Write,
    ) -> Result<Self, HttpFault> {
        let mut head = reader.by_ref().take(MAX_HEAD);
        let first = line(&mut head)?;
        let mut words = first.split(' ');
        let (Some(method), Some(target), Some(version)) =
            (words.next(), words.next(), words.next())
        else {
            return Err(bad(400, "the first line is not a request"));
        };
        if !version.starts_with("HTTP/1.") || method.is_empty() || target.is_empty() {
            return Err(bad(400, "the first line is not a request of HTTP/1.1"));
        }
        let (method, target) = (method.to_owned(), target.to_owned());
        let headers = BodyHeaders::read(&mut head)?;
        if headers.expects_continue {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = headers.body(reader)?;
        Ok(Self { method, target, body })
    }
}

/// A line without its end. A head that is too long ends in the middle of one.
fn line(head: &mut impl BufRead) -> Result<String, HttpFault> {
    let mut bytes = Vec::new();
    head.read_until(b'\n', &mut bytes)?;
    match bytes.pop() {
        Some(b'\n') => {}
        None => return Err(HttpFault::Gone),
        Some(_) => return Err(bad(431, "the head of the request is too long, or breaks off")),
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    String::from_utf8(bytes).map_err(|_| bad(400, "the head of the request is not text"))
}

impl BodyHeaders {
    fn read(head: &mut impl BufRead) -> Result<Self, HttpFault> {
        let mut headers = Self::default();
        loop {
            let line = line(head)?;
            if line.is_empty() {
                return Ok(headers);
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(bad(400, "a header has no colon"));
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    let length = value.parse().map_err(|_| bad(400, "the length is not a number"));
                    headers.length = Some(length?);
                }
                "transfer-encoding" => headers.chunked = value.eq_ignore_ascii_case("chunked"),
                "content-encoding" => headers.encoding = Some(value.to_ascii_lowercase()),
                "expect" => headers.expects_continue = value.eq_ignore_ascii_case("100-continue"),
                _ => {}
            }
        }
    }

    fn body(&self, reader: &mut impl BufRead) -> Result<Vec<u8>, HttpFault> {
        let bytes = if self.chunked {
            chunks(reader)?
        } else {
            let length = self.length.unwrap_or(0);
            exactly(reader, length, MAX_BODY)?
        };
        match self.encoding.as_deref() {
            None | Some("identity" | "") => Ok(bytes),
            Some("gzip") => {
                let mut unpacked = Vec::new();
                let mut decoder = GzDecoder::new(bytes.as_slice()).take(MAX_BODY + 1);
                let count = decoder.read_to_end(&mut unpacked);
                let count = count.map_err(|_| bad(400, "the body is not valid gzip"))?;
                if count as u64 > MAX_BODY {
                    return Err(bad(413, "the body is too long once it is unpacked"));
                }
                Ok(unpacked)
            }
            Some(_) => Err(bad(415, "the body's encoding is not understood")),
        }
    }
}

/// Reads this many bytes. Memory grows with what comes, not with what is announced.
fn exactly(reader: &mut impl BufRead, length: u64, most: u64) -> Result<Vec<u8>, HttpFault> {
    if length > most {
        return Err(bad(413, "the body is too long"));
    }
    let mut bytes = Vec::new();
    reader.by_ref().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(HttpFault::Gone) }
}

fn chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, HttpFault> {
    let mut body = Vec::new();
    loop {
        let size = line(&mut reader.by_ref().take(MAX_HEAD))?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16)
            .map_err(|_| bad(400, "the size of a chunk is not a number"))?;
        if size == 0 {
            // Trailers end with an empty line, like headers.
            let mut rest = reader.by_ref().take(MAX_HEAD);
            while !line(&mut rest)?.is_empty() {}
            return Ok(body);
        }
        let room = MAX_BODY - body.len() as u64;
        body.extend(exactly(reader, size, room)?);
        if !line(&mut reader.by_ref().take(MAX_HEAD))?.is_empty() {
            return Err(bad(400, "a chunk is longer than it says"));
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl HttpReply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", body: body.to_string().into_bytes() }
    }

    /// A stream of events, each with the name that its `type` says.
    pub(crate) fn named_events(events: &[Value]) -> Self {
        let each = events.iter().map(|event| {
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
        });
        Self::stream(each.collect())
    }

    /// A stream of events without names.
    pub(crate) fn events(events: &[String]) -> Self {
        Self::stream(events.iter().map(|event| format!("data: {event}\n\n")).collect())
    }

    fn stream(text: String) -> Self {
        Self { status: 200, kind: "text/event-stream", body: text.into_bytes() }
    }

    pub(crate) fn write(&self, writer: &mut impl Write, with_body: bool) -> io::Result<()> {
        let word = match self.status {
            200 => "OK",
            _ => "Refused",
        };
        let head = format!(
            "HTTP/1.1 {} {word}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        writer.write_all(head.as_bytes())?;
        if with_body {
            writer.write_all(&self.body)?;
        }
        writer.flush()
    }
}
