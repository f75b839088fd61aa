//! The model as agents meet it: bytes over a socket.

mod bad_requests;
mod dialects;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};
use sinew_loopback::{LoopbackModel, ModelScript, SchemaRule};

/// A model that calls `find_skill`, then says that it is done.
fn model(rule: SchemaRule) -> LoopbackModel {
    let script =
        ModelScript::text("All done.").calling("find_skill", json!({"message": "a photo"}));
    LoopbackModel::start(script, rule).expect("a free port")
}

/// Everything that comes back for these bytes, once our side is closed.
fn exchange(model: &LoopbackModel, bytes: &[u8]) -> String {
    let address = model.address();
    let mut stream =
        TcpStream::connect(address.trim_start_matches("http://")).expect("a connection");
    // The model may have answered and closed before all was sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("answers are text")
}

fn post(model: &LoopbackModel, path: &str, body: &Value) -> String {
    let body = body.to_string();
    exchange(
        model,
        format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            .as_bytes(),
    )
}
