//! Testing a connection: the command in an agent's configuration is started, and asked for its tools in
//! plain lines of JSON, as the agent would.

use sinew_settings::CodedError;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::config_file::AgentConfigFile;
use super::connections::AgentConnection;
use super::disconnect::format_of;
use super::ledger::WrittenValue;
use super::plan::ENTRY;
use super::server_check::{self, hello};
use super::tool_list::ToolList;
use crate::{Connector, ServerCheck};

/// How long a server may take to list its tools: what agents allow.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of a connection: whether what was written is there, and its server answers.
#[derive(Debug, Clone)]
pub struct ConnectionProbe {
    /// The agent.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether it works.
    pub works: bool,
    /// What was found.
    pub detail: String,
}

impl Connector<'_> {
    /// Tests every connection, with one answer for each connected agent.
    pub fn probe(&self) -> Result<Vec<ConnectionProbe>, CodedError> {
        let connections = self.connections()?;
        let connected = connections.iter().filter(|connection| !connection.files.is_empty());
        let probed = connected.map(|connection| {
            let (works, detail) = match self.proof(connection) {
                Ok(detail) => (true, detail),
                Err(detail) => (false, detail),
            };
            ConnectionProbe { agent: connection.agent, title: connection.title, works, detail }
        });
        Ok(probed.collect())
    }

    /// What shows that a connection works, or why it does not.
    fn proof(&self, connection: &AgentConnection) -> Result<String, String> {
        let changed: Vec<&str> =
            connection.files.iter().flat_map(|file| &file.changed).map(String::as_str).collect();
        if !changed.is_empty() {
            return Err(format!("changed since it was written: {}", changed.join(", ")));
        }
        match self.configured_server(connection.agent).map_err(|error| error.message)? {
            None => Ok("hooks are in place".to_owned()),
            Some(McpServerEntry::Address(url)) => {
                let check = ServerCheck::of(self.env, &url);
                if check.works { Ok(check.detail) } else { Err(check.detail) }
            }
            Some(McpServerEntry::Command(argv)) => {
                let said = |what: String| format!("`{}` {what}", argv.join(" "));
                self.tools(&argv).and_then(|tools| tools.verdict()).map(said).map_err(said)
            }
        }
    }

    /// The server that the agent's file names now, for what the ledger says was written.
    fn configured_server(&self, agent: &str) -> Result<Option<McpServerEntry>, CodedError> {
        let agent = super::connect::find_agent(agent)?;
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        for change in changes.iter().rev().filter(|change| change.agent == agent.id) {
            let entry = change.written.iter().find(|written| {
                matches!(written, WrittenValue::Entry { .. }) && written.at().last() == Some(&ENTRY)
            });
            let Some(entry) = entry else { continue };
            let found = AgentConfigFile::read(self.env, self.workspace, &change.file)?;
            let document = found.document(format_of(agent, &change.file))?;
            return Ok(document.get(&entry.at()).and_then(|value| McpServerEntry::of(&value)));
        }
        Ok(None)
    }

    /// The tools of the server that the agent's file names, by name: `None` where it names none, an
    /// error where it cannot be asked.
    pub(crate) fn listed_tools(
        &self,
        agent: &str,
    ) -> Result<Option<Result<Vec<String>, String>>, CodedError> {
        Ok(self.configured_server(agent)?.map(|entry| match entry {
            McpServerEntry::Command(argv) => Ok(self.tools(&argv)?.names()),
            McpServerEntry::Address(url) => match server_check::tools(self.env, &url) {
                Ok(tools) => Ok(ToolList::of_tools(&tools).names()),
                Err(why) => Err(format!("{url} {why}")),
            },
        }))
    }

    /// Starts a server and asks for its tools.
    fn tools(&self, argv: &[String]) -> Result<ToolList, String> {
        let (program, args) = argv.split_first().ok_or("is empty")?;
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(&self.env.vars).current_dir(self.workspace);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        let mut child = ChildGuard(child);
        let answer = ask(&mut child.0);
        answer.ok_or_else(|| "does not list its tools".to_owned())
    }
}

/// A program that is ended when this guard is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // It may have ended by itself, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(child: &mut Child) -> Option<ToolList> {
    let mut input = child.stdin.take()?;
    let output = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    let start = Instant::now();
    let answer = |id: u64| loop {
        let line = told.recv_timeout(PATIENCE.saturating_sub(start.elapsed())).ok()?;
        let message: Value = serde_json::from_str(&line).ok()?;
        if message["id"] == id {
            return message.get("result").cloned();
        }
    };
    writeln!(input, "{}", hello(1)).ok()?;
    answer(1)?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let tools = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    writeln!(input, "{ready}\n{tools}").ok()?;
    ToolList::of(&answer(2)?)
}

/// What an entry starts or names.
enum McpServerEntry {
    Command(Vec<String>),
    Address(String),
}

impl McpServerEntry {
    fn of(entry: &Value) -> Option<Self> {
        for name in ["url", "httpUrl", "uri"] {
            if let Some(url) = entry[name].as_str() {
                return Some(Self::Address(url.to_owned()));
            }
        }
        let words = |value: &Value| -> Vec<String> {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let program = entry["command"].as_str().or_else(|| entry["cmd"].as_str());
        let argv = match program {
            Some(program) => [vec![program.to_owned()], words(&entry["args"])].concat(),
            None => words(&entry["command"]),
        };
        (!argv.is_empty()).then_some(Self::Command(argv))
    }
}
