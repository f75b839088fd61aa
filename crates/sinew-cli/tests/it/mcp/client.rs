//! A client of few words: it sends frames, answers what it is asked, and keeps what it is told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sinew_testkit::TestMachine;

use crate::support::{command, typed_with};

/// How long anything may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// The newest revision that begins with `initialize`.
pub(crate) const SESSION: &str = "2025-11-25";
/// The revision whose requests stand alone.
pub(crate) const STATELESS: &str = "2026-07-28";

/// Variables by name.
pub(crate) type Vars = [(&'static str, String)];

/// Answers what the server asks: from method and params to a result.
type Answers = Box<dyn FnMut(&str, &Value) -> Value>;

/// One conversation with `sinew mcp`.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    frames: Receiver<Value>,
    next: i64,
    /// What every request of a client without a session carries.
    meta: Option<Value>,
    answers: Option<Answers>,
    /// Notices, in their order.
    pub(crate) told: Vec<Value>,
    /// Questions of the server, in their order.
    pub(crate) asked: Vec<Value>,
}

impl Client {
    /// A session on a machine, for a client with these capabilities.
    pub(crate) fn session(machine: &TestMachine, capabilities: Value) -> Self {
        Self::session_with(machine, capabilities, &[])
    }

    /// The same with variables of the server's own.
    pub(crate) fn session_with(machine: &TestMachine, capabilities: Value, vars: &Vars) -> Self {
        Self::spawn(machine, &["mcp"], None, vars).greeted("tester", SESSION, capabilities)
    }

    /// A session of a client that a person has connected.
    pub(crate) fn connected(machine: &TestMachine, capabilities: Value, vars: &Vars) -> Self {
        let args = connected(machine, vars);
        Self::spawn(machine, &args, None, vars).greeted("tester", SESSION, capabilities)
    }

    /// A session of a client that starts the server with these arguments.
    pub(crate) fn session_of(machine: &TestMachine, args: &[&str], capabilities: Value) -> Self {
        Self::spawn(machine, args, None, &[]).greeted("tester", SESSION, capabilities)
    }

    /// A session of the client of that name, which speaks that revision.
    pub(crate) fn session_as(machine: &TestMachine, name: &str, revision: &str) -> Self {
        Self::spawn(machine, &["mcp"], None, &[]).greeted(name, revision, json!({}))
    }

    fn greeted(self, name: &str, revision: &str, capabilities: Value) -> Self {
        let mut client = self;
        let who = json!({"name": name, "version": "1"});
        let hello = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": who,
        });
        let begun = client.request("initialize", hello);
        assert_eq!(begun["result"]["protocolVersion"], revision, "{begun}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// A client whose every request stands alone.
    pub(crate) fn stateless(machine: &TestMachine, capabilities: Value) -> Self {
        Self::stateless_with(machine, capabilities, &[])
    }

    /// The same with variables of the server's own.
    pub(crate) fn stateless_with(machine: &TestMachine, capabilities: Value, vars: &Vars) -> Self {
        Self::spawn(machine, &["mcp"], Some(Self::meta(&capabilities)), vars)
    }

    /// The same for a client that a person has connected.
    pub(crate) fn connected_stateless(
        machine: &TestMachine,
        capabilities: Value,
        vars: &Vars,
    ) -> Self {
        let args = connected(machine, vars);
        Self::spawn(machine, &args, Some(Self::meta(&capabilities)), vars)
    }

    fn meta(capabilities: &Value) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        })
    }

    fn spawn(
        machine: &TestMachine,
        args: &[impl AsRef<str>],
        meta: Option<Value>,
        vars: &Vars,
    ) -> Self {
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let mut child = command(machine, &args)
            .envs(vars.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sinew runs");
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (sender, frames) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nothing but frames on standard output.
                let frame: Value = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("no frame: {error}: {line}"));
                assert_eq!(frame["jsonrpc"], "2.0", "{frame}");
                if sender.send(frame).is_err() {
                    break;
                }
            }
        });
        let (told, asked) = (Vec::new(), Vec::new());
        Self { child, stdin, frames, next: 0, meta, answers: None, told, asked }
    }

    /// Answers what the server asks from now on.
    pub(crate) fn answering(
        mut self,
        answers: impl FnMut(&str, &Value) -> Value + 'static,
    ) -> Self {
        self.answers = Some(Box::new(answers));
        self
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        let stdin = self.stdin.as_mut().expect("an open conversation");
        writeln!(stdin, "{frame}").expect("the server reads");
    }

    /// Sends a request and gives its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let mut params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        if let Some(meta) = &self.meta {
            params.insert("_meta".to_owned(), meta.clone());
        }
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The whole answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let frame = self.frames.recv_timeout(PATIENCE).expect("an answer");
            if frame["id"] == id && frame.get("method").is_none() {
                return frame;
            }
            self.hear(frame);
        }
    }

    fn hear(&mut self, frame: Value) {
        let Some(id) = frame.get("id").cloned() else { return self.told.push(frame) };
        // An answer to a request that is no longer waited for.
        let Some(method) = frame["method"].as_str().map(str::to_owned) else { return };
        let answers = self.answers.as_mut();
        let result = answers.map(|answers| answers(&method, &frame["params"]));
        self.asked.push(frame);
        let result = result.unwrap_or_else(|| panic!("there is no answer for {method}"));
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// The result of a request that succeeds.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The code of a request's error.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.request(method, params);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The data of a tool's answer.
    pub(crate) fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The text of a tool's answer.
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let blocks = result["content"].as_array().into_iter().flatten();
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        texts.join("\n")
    }

    /// The engine's error in a tool's answer.
    pub(crate) fn error(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"]["error"].clone()
    }

    /// Waits for a notice of that method.
    pub(crate) fn wait_for(&mut self, method: &str, within: Duration) -> Option<Value> {
        let end = Instant::now() + within;
        loop {
            if let Some(at) = self.told.iter().position(|told| told["method"] == method) {
                return Some(self.told.remove(at));
            }
            let left = end.saturating_duration_since(Instant::now());
            let frame = self.frames.recv_timeout(left).ok()?;
            self.hear(frame);
        }
    }

    /// Ends the conversation and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().expect("sinew ends").code()
    }
}

/// Connects Cursor as a person at a terminal does; gives the arguments with which it starts the server.
pub(crate) fn connected(machine: &TestMachine, vars: &Vars) -> Vec<String> {
    let told = typed_with(machine, &["connect", "cursor"], "", vars);
    assert!(told.ends_with("exit 0"), "{told}");
    let written = std::fs::read(machine.path("home/.cursor/mcp.json")).expect("its file");
    let written: Value = serde_json::from_slice(&written).expect("JSON");
    let args = written["mcpServers"]["sinew"]["args"].as_array().into_iter().flatten();
    args.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every text in a value, keys included.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| [vec![key.clone()], texts(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}
