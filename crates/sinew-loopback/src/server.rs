//! The server: one thread that accepts, one for each connection, and the record of what came.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::agent_request::{AgentRequest, ModelReply};
use crate::dialect::ModelDialect;
use crate::http::{HttpFault, HttpMessage, HttpReply};
use crate::schema_rule::SchemaRule;
use crate::script::ModelScript;

/// How long a connection may be silent. Agents keep them open between the messages of a turn.
const SILENCE: Duration = Duration::from_secs(120);
/// Connections at once; an agent opens a few.
const MAX_CONNECTIONS: usize = 64;
/// Requests that are kept, and strays: a loop in an agent must not fill the memory.
const MAX_KEPT: usize = 1_000;
/// Characters of a stray's address that are kept.
const MAX_TARGET: usize = 300;

/// A model that agents can be pointed at. It stops listening when it is dropped.
#[derive(Debug)]
pub struct LoopbackModel {
    address: SocketAddr,
    shared: Arc<SharedRecord>,
}

/// A request that was not one for an answer of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StrayRequest {
    /// What was asked for.
    pub target: String,
    /// What it was told.
    pub why: String,
}

/// What the connections share.
#[derive(Debug)]
struct SharedRecord {
    script: ModelScript,
    rule: SchemaRule,
    requests: Mutex<Vec<AgentRequest>>,
    strays: Mutex<Vec<StrayRequest>>,
    answered: AtomicUsize,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LoopbackModel {
    /// Starts a model on a free port of loopback.
    pub fn start(script: ModelScript, rule: SchemaRule) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(SharedRecord {
            script,
            rule,
            requests: Mutex::default(),
            strays: Mutex::default(),
            answered: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::Builder::new().name("loopback model".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                if accepting.connections.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                    accepting.connections.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
                let serving = Arc::clone(&accepting);
                thread::spawn(move || {
                    // An error means that the agent is gone.
                    let _ = serving.serve(stream);
                    serving.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
        })?;
        Ok(Self { address, shared })
    }

    /// Its address: `http://127.0.0.1:…`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<AgentRequest> {
        lock(&self.shared.requests).clone()
    }

    /// Requests for anything else: other hosts, where this address was given as a proxy, and what was
    /// not understood.
    pub fn strays(&self) -> Vec<StrayRequest> {
        lock(&self.shared.strays).clone()
    }
}

impl Drop for LoopbackModel {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(self.address));
    }
}

impl SharedRecord {
    /// Answers the requests of one connection.
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::new(stream);
        loop {
            match HttpMessage::read(&mut reader, &mut writer) {
                Ok(message) => {
                    let reply = self.reply(&message);
                    reply.write(&mut writer, message.method != "HEAD")?;
                }
                Err(HttpFault::Gone) => return Ok(()),
                Err(HttpFault::Bad { status, why }) => {
                    self.stray("", why);
                    // What follows on this connection cannot be told apart from the rest of it.
                    return HttpReply::json(status, &json!({"error": {"message": why}}))
                        .write(&mut writer, true);
                }
            }
        }
    }

    fn reply(&self, message: &HttpMessage) -> HttpReply {
        let target = message.target.as_str();
        if message.method == "CONNECT" || !target.starts_with('/') {
            self.stray(target, "another host is not reached from here");
            let why = "nothing leaves this machine while the agent is tried";
            return HttpReply::json(403, &json!({"error": {"message": why}}));
        }
        let path = target.split('?').next().unwrap_or_default();
        if message.method != "POST" {
            // Some agents ask for a list of models before they start; an empty one is enough.
            return HttpReply::json(200, &json!({"object": "list", "data": [], "models": []}));
        }
        if path.ends_with("/count_tokens") {
            return HttpReply::json(200, &json!({"input_tokens": 1}));
        }
        if path.ends_with(":countTokens") {
            return HttpReply::json(200, &json!({"totalTokens": 1}));
        }
        let Some(dialect) = ModelDialect::of_path(path) else {
            self.stray(target, "no model is asked by this path");
            return HttpReply::json(404, &json!({"error": {"message": "not found"}}));
        };
        match serde_json::from_slice::<Value>(&message.body) {
            Ok(body) if body.is_object() => self.answer(dialect, target, body),
            _ => {
                self.stray(target, "the body is not a JSON object");
                dialect.refusal("the body is not a JSON object")
            }
        }
    }

    fn answer(&self, dialect: ModelDialect, target: &str, body: Value) -> HttpReply {
        let tools = dialect.tools(&body);
        if let Some(why) = self.rule.broken_by(&tools) {
            let reply = dialect.refusal(&why);
            self.keep(AgentRequest { dialect, body, reply: ModelReply::Refused { why } });
            return reply;
        }
        let answer = self.script.answer(&tools, dialect.results(&body));
        let number = self.answered.fetch_add(1, Ordering::SeqCst) + 1;
        let reply = dialect.answer(target, &body, &answer, number);
        self.keep(AgentRequest { dialect, body, reply: answer.reply() });
        reply
    }

    fn keep(&self, request: AgentRequest) {
        let mut requests = lock(&self.requests);
        if requests.len() < MAX_KEPT {
            requests.push(request);
        } else {
            drop(requests);
            self.stray("", "there were too many requests to keep this one");
        }
    }

    fn stray(&self, target: &str, why: &str) {
        let mut strays = lock(&self.strays);
        if strays.len() < MAX_KEPT {
            let target = target.chars().take(MAX_TARGET).collect();
            strays.push(StrayRequest { target, why: why.to_owned() });
        }
    }
}
