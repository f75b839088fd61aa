//! A model's server on loopback: OpenAI's chat completions and Anthropic's messages, as they are on
//! the wire, and the ways in which such servers fail.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How the server answers a request.
#[derive(Debug, Clone)]
pub enum ModelManner {
    /// It answers with this text.
    Says(String),
    /// It refuses with this status, and asks to be tried again later.
    Refuses(u16),
    /// It reads the request and never answers.
    Hangs,
    /// It ends in the middle of its answer.
    CutShort,
    /// It answers with something that is not its protocol.
    Rubbish,
    /// It redirects the caller.
    Redirects(String),
}

/// A request that came in.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The path.
    pub path: String,
    /// Headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

impl ModelRequest {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A model's server on loopback.
#[derive(Debug)]
pub struct ModelServer {
    address: String,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ModelServer {
    /// A server that answers in these ways, one after the other; the last one stays.
    pub fn new(manners: impl IntoIterator<Item = ModelManner>) -> Self {
        let manners: Vec<ModelManner> = manners.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests: Arc<Mutex<Vec<ModelRequest>>> = Arc::default();
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for (at, stream) in listener.incoming().flatten().enumerate() {
                let manner = manners.get(at).or(manners.last()).cloned();
                let seen = Arc::clone(&seen);
                thread::spawn(move || manner.and_then(|manner| serve(stream, &manner, &seen)));
            }
        });
        Self { address, requests }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What came in so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(
    mut stream: TcpStream,
    manner: &ModelManner,
    seen: &Mutex<Vec<ModelRequest>>,
) -> Option<()> {
    let request = read(&stream)?;
    let answer = match protocol_error(&request) {
        Some(error) => ("400 Bad Request", error.to_string()),
        None => match manner {
            ModelManner::Says(text) => ("200 OK", answer(&request, text).to_string()),
            ModelManner::Refuses(status) => {
                let error = json!({"error": {"type": "overloaded_error", "message": "try later"}});
                (status_line(*status), error.to_string())
            }
            ModelManner::Hangs => {
                seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                thread::sleep(Duration::from_secs(600));
                return None;
            }
            ModelManner::CutShort => ("200 OK", answer(&request, "{\"action\":").to_string()),
            ModelManner::Rubbish => ("200 OK", "<html>welcome</html>".to_owned()),
            ModelManner::Redirects(_) => ("302 Found", String::new()),
        },
    };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    let (status, body) = answer;
    let more = match manner {
        ModelManner::Redirects(to) => format!("location: {to}\r\n"),
        ModelManner::Refuses(_) => "retry-after: 7\r\n".to_owned(),
        _ => String::new(),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .ok()?;
    let sent = match manner {
        ModelManner::CutShort => &body[..body.len() / 2],
        _ => &body,
    };
    stream.write_all(sent.as_bytes()).ok()
}

fn read(stream: &TcpStream) -> Option<ModelRequest> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
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
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ModelRequest { path, headers, body: serde_json::from_slice(&body).ok()? })
}

/// What the real server would say about a request that is not in its form.
fn protocol_error(request: &ModelRequest) -> Option<Value> {
    let wrong = |message: &str| {
        Some(json!({"error": {"type": "invalid_request_error", "message": message}}))
    };
    let body = &request.body;
    if !body["model"].is_string() || !body["max_tokens"].is_u64() || !body["messages"].is_array() {
        return wrong("model, max_tokens and messages are required");
    }
    match request.path.as_str() {
        "/v1/chat/completions" => None,
        "/v1/messages" if request.header("anthropic-version").is_none() => {
            wrong("anthropic-version: header is required")
        }
        "/v1/messages" if body["messages"][0]["role"] != "user" => wrong("system is a parameter"),
        "/v1/messages" => None,
        _ => wrong("no such path"),
    }
}

fn answer(request: &ModelRequest, text: &str) -> Value {
    let model = &request.body["model"];
    match request.path.as_str() {
        "/v1/messages" => json!({
            "id": "msg_01", "type": "message", "role": "assistant", "model": model,
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": text},
            ],
            "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }),
        _ => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": model,
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": null},
                "finish_reason": "stop", "logprobs": null,
            }],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }),
    }
}

fn status_line(status: u16) -> &'static str {
    match status {
        401 => "401 Unauthorized",
        429 => "429 Too Many Requests",
        503 => "503 Service Unavailable",
        529 => "529 Overloaded",
        _ => "500 Internal Server Error",
    }
}
