//! A model on loopback for real agents: Anthropic's messages and OpenAI's responses as streams of
//! events. It calls one tool where that is offered, then says that it is done, and keeps every request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// What it says at the end of a turn.
const DONE: &str = "All done.";

/// A model that agents can be pointed at.
#[derive(Debug)]
pub struct AgentModel {
    address: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl AgentModel {
    /// A model that calls the tool whose name ends like this, with these arguments, once a turn.
    pub fn calling_tool(tool: &'static str, arguments: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let seen = Arc::clone(&requests);
        let call = Arc::new((tool, arguments));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, call) = (Arc::clone(&seen), Arc::clone(&call));
                thread::spawn(move || serve(stream, &seen, &call));
            }
        });
        Self { address, requests }
    }

    /// Its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The bodies that came in so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers requests until the agent closes the connection.
fn serve(stream: TcpStream, seen: &Mutex<Vec<Value>>, call: &(&str, Value)) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let (path, body) = read(&mut reader)?;
        let is_stream = path.starts_with("/v1/messages?")
            || path == "/v1/messages"
            || path.starts_with("/v1/responses");
        let (status, kind, text) = match (is_stream, serde_json::from_slice::<Value>(&body)) {
            (true, Ok(body)) => {
                let text = if path.starts_with("/v1/responses") {
                    responses(&body, call)
                } else {
                    messages(&body, call)
                };
                seen.lock().unwrap_or_else(PoisonError::into_inner).push(body);
                ("200 OK", "text/event-stream", text)
            }
            _ => ("404 Not Found", "application/json", "{}".to_owned()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        writer.write_all(head.as_bytes()).ok()?;
        writer.write_all(text.as_bytes()).ok()?;
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn events(events: &[Value]) -> String {
    let each = events.iter().map(|event| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    });
    each.collect()
}

/// Anthropic's messages.
fn messages(body: &Value, (wanted, arguments): &(&str, Value)) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let offered = list(&body["tools"]).into_iter().find_map(|tool| {
        let name = tool["name"].as_str()?.to_owned();
        name.ends_with(wanted).then_some(name)
    });
    let contents =
        list(&body["messages"]).into_iter().flat_map(|message| list(&message["content"]));
    let called = contents.into_iter().any(|content| content["type"] == "tool_result");
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
                         "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let (block, delta, stop) = match offered.filter(|_| !called) {
        Some(name) => (
            json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": DONE}),
            "end_turn",
        ),
    };
    events(&[
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ])
}

/// OpenAI's responses; tools of a server come in a group of their own.
fn responses(body: &Value, (wanted, arguments): &(&str, Value)) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let ends = |tool: &Value| tool["name"].as_str().is_some_and(|name| name.ends_with(wanted));
    let offered = list(&body["tools"]).into_iter().find_map(|tool| {
        if ends(&tool) {
            return Some((None, tool["name"].clone()));
        }
        let inner = list(&tool["tools"]).into_iter().find(ends)?;
        Some((Some(tool["name"].clone()), inner["name"].clone()))
    });
    let called = list(&body["input"]).iter().any(|item| item["type"] == "function_call_output");
    let item = match offered.filter(|_| !called) {
        Some((group, name)) => {
            let mut call = json!({"type": "function_call", "call_id": "call_1", "name": name,
                                  "arguments": arguments.to_string()});
            if let Some(group) = group {
                call["namespace"] = group;
            }
            call
        }
        None => json!({"type": "message", "role": "assistant",
                       "content": [{"type": "output_text", "text": DONE}]}),
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": null, "output_tokens": 1,
                       "output_tokens_details": null, "total_tokens": 2});
    events(&[
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}),
    ])
}
