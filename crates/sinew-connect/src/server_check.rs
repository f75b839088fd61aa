//! Asking a server behind an address for its tools, as an agent will: an address in a file is not
//! assumed to work.
//!
//! The token is the one in `SINEW_TOKEN`, which is where the entry makes the agent look for it.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sinew_settings::Environment;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The largest list of tools that is read.
const MAX_ANSWER: u64 = 4 << 20;

/// The protocol that every client speaks.
pub(crate) const REVISION: &str = "2025-06-18";

/// The variable from which agents take the token.
const TOKEN: &str = "SINEW_TOKEN";

/// Whether the server of an entry answers.
#[derive(Debug, Clone, Serialize)]
pub struct ServerCheck {
    /// Its address.
    pub url: String,
    /// Whether it lists its tools.
    pub works: bool,
    /// What was found, or what to do.
    pub detail: String,
}

impl ServerCheck {
    pub(crate) fn of(env: &Environment, url: &str) -> Self {
        let (works, detail) = match tools(env, url) {
            Ok(tools) => (true, format!("{url} offers {} tools", tools.len())),
            Err(why) => (false, format!("{url} {why}")),
        };
        Self { url: url.to_owned(), works, detail }
    }
}

/// The tools of a server, or a sentence about it that says why there are none.
pub(crate) fn tools(env: &Environment, url: &str) -> Result<Vec<Value>, String> {
    let mut session = HttpSession { env, url, id: None };
    session.ask(&hello(1))?;
    session.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let listed = session.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let tools = listed["tools"].as_array().cloned();
    tools.ok_or_else(|| "does not list its tools".to_owned())
}

/// The first message of a client.
pub(crate) fn hello(id: u64) -> Value {
    let client = json!({ "name": "sinew-doctor", "version": env!("CARGO_PKG_VERSION") });
    let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
}

struct HttpSession<'a> {
    env: &'a Environment,
    url: &'a str,
    /// Named by the server, and repeated in every message after that.
    id: Option<String>,
}

impl HttpSession<'_> {
    fn ask(&mut self, message: &Value) -> Result<Value, String> {
        let text = self.tell(message)?;
        let replies = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
        let replies = replies.filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok());
        let mut results = replies.filter(|reply| reply["id"] == message["id"]);
        let result = results.find_map(|reply| reply.get("result").cloned());
        result.ok_or_else(|| "answers, but not as an MCP server".to_owned())
    }

    fn tell(&mut self, message: &Value) -> Result<String, String> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .into();
        let mut request = agent
            .post(self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION);
        let token = self.env.vars.get(TOKEN).filter(|token| !token.is_empty());
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id);
        }
        let silent = |error: ureq::Error| {
            format!("does not answer ({error}); start the server with `sinew serve`")
        };
        let mut answer = request.send(message.to_string()).map_err(silent)?;
        match (answer.status().as_u16(), token) {
            (200..300, _) => {}
            (401 | 403, None) => {
                return Err(format!(
                    "asks for a token; set {TOKEN} where the agent is started, too"
                ));
            }
            (401 | 403, Some(_)) => return Err(format!("does not accept the token in {TOKEN}")),
            (404, _) => return Err("has no MCP server at this path".to_owned()),
            (status, _) => return Err(format!("answers with HTTP status {status}")),
        }
        let id = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        self.id = id.map(str::to_owned).or(self.id.take());
        let body = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_string();
        body.map_err(silent)
    }
}
