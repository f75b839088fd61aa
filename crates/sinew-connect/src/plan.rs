//! What connecting an agent would change, worked out before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};
use similar::TextDiff;
use sinew_settings::ErrorCode;

use super::agents::{AgentPath, AgentSkillAccess, ConnectScope, ConnectableAgent};
use super::config_file::{AgentConfigFile, unreadable_error};
use super::edit::{ConfigDocument, ConfigFormat};
use super::ledger::WrittenValue;
use super::{ConnectParts, ConnectRequest};

use crate::{ConnectError, Connector};

/// The name of our entry, everywhere.
pub(super) const ENTRY: &str = "sinew";

/// A file and what becomes of it.
#[derive(Debug, Serialize)]
pub struct FileChange {
    /// The file.
    pub file: PathBuf,
    /// Whether anything changes.
    pub status: FileChangeStatus,
    /// What changes, as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip)]
    pub(super) found: AgentConfigFile,
    #[serde(skip)]
    pub(super) text: String,
    #[serde(skip)]
    pub(super) written: Vec<WrittenValue>,
    #[serde(skip)]
    pub(super) made: Vec<Vec<String>>,
}

/// Whether a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeStatus {
    /// Everything is there already.
    Unchanged,
    /// It is created.
    Created,
    /// It is changed.
    Changed,
}

/// A value that is to be written into a file.
enum PlannedValue {
    Entry {
        at: Vec<&'static str>,
        value: Value,
    },
    /// An item of a list; `ours` recognises an item that an earlier connection left there.
    Item {
        at: Vec<&'static str>,
        value: Value,
        ours: String,
    },
}

impl Connector<'_> {
    /// What connecting would change, file by file.
    pub(super) fn plan_files(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
    ) -> Result<Vec<FileChange>, ConnectError> {
        let mut files: BTreeMap<PathBuf, (ConfigFormat, Vec<PlannedValue>)> = BTreeMap::new();
        let place = |configs: &[(ConnectScope, &[AgentPath])]| {
            let of_scope = configs.iter().find(|(scope, _)| *scope == request.scope);
            let places = of_scope.map(|(_, places)| *places).ok_or_else(|| {
                ConnectError::new(
                    ErrorCode::NoSuchScope,
                    format!("{} has no project configuration", agent.title),
                )
                .hint("leave --scope out")
            })?;
            let paths = places.iter().map(|place| place.path(self.env, self.workspace));
            let paths: Vec<PathBuf> = paths.collect();
            let there = paths.iter().find(|path| path.exists()).or(paths.first());
            Ok::<_, ConnectError>(there.cloned().unwrap_or_default())
        };
        let parts = request.parts.or_default(agent);
        if parts.mcp {
            let file = place(agent.configs)?;
            let mut at = agent.servers.to_vec();
            at.push(ENTRY);
            let value = self.server(agent, request)?;
            let entry = files.entry(file).or_insert((agent.format, Vec::new()));
            entry.1.push(PlannedValue::Entry { at, value });
        }
        if parts.hooks {
            let Some(hooks) = &agent.hooks else {
                return Err(ConnectError::new(
                    ErrorCode::NoHooks,
                    format!("{} has no hooks that can add to a message", agent.title),
                )
                .hint("leave --hooks out; the MCP server works"));
            };
            let file = place(hooks.configs)?;
            let entry = files.entry(file).or_insert((ConfigFormat::Json, Vec::new()));
            let command = self.hook_command(agent, request.scope);
            for (event, matcher) in hooks.events {
                let mut hook = Map::new();
                if hooks.named {
                    hook.insert("name".to_owned(), ENTRY.into());
                }
                hook.insert("type".to_owned(), "command".into());
                hook.insert("command".to_owned(), command.clone().into());
                hook.insert("timeout".to_owned(), hooks.timeout.into());
                let mut group = Map::new();
                if let Some(matcher) = matcher {
                    group.insert("matcher".to_owned(), (*matcher).into());
                }
                group.insert("hooks".to_owned(), json!([hook]));
                entry.1.push(PlannedValue::Item {
                    at: vec!["hooks", event],
                    value: group.into(),
                    ours: hook_mark(agent),
                });
            }
        }
        if parts.skills
            && let AgentSkillAccess::Listed(at) = agent.skills
        {
            let folder = self.managed_folder.to_string_lossy().into_owned();
            let entry = files.entry(place(agent.configs)?).or_insert((agent.format, Vec::new()));
            let value = Value::String(folder.clone());
            entry.1.push(PlannedValue::Item { at: at.to_vec(), value, ours: folder });
        }
        let changes = files.into_iter().map(|(file, (format, wanted))| {
            let found = AgentConfigFile::read(self.env, self.workspace, &file)?;
            change(file, found, format, &wanted, request.force)
        });
        changes.collect()
    }

    fn server(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
    ) -> Result<Value, ConnectError> {
        let (template, name, value) = match &request.http {
            Some(url) => (agent.http, "$URL", checked_url(url)?),
            None => (agent.stdio, "$COMMAND", self.command(request.scope)),
        };
        let mut entry: Value = serde_json::from_str(template).unwrap_or_default();
        fill(&mut entry, name, &value);
        Ok(entry)
    }

    /// How sinew is started: by its name where PATH finds this program by it, or the file is shared.
    fn command(&self, scope: ConnectScope) -> String {
        let found = sinew_catalog::find_program(self.env, ENTRY);
        let found = found.and_then(|path| std::fs::canonicalize(path).ok());
        match &self.env.exe {
            Some(exe) if scope == ConnectScope::User && found.as_ref() != Some(exe) => {
                exe.to_string_lossy().into_owned()
            }
            _ => ENTRY.to_owned(),
        }
    }

    /// The command line that an agent runs in a shell.
    fn hook_command(&self, agent: &ConnectableAgent, scope: ConnectScope) -> String {
        let program = match (&self.env.exe, scope) {
            (Some(exe), ConnectScope::User) => {
                format!("'{}'", exe.to_string_lossy().replace('\'', r"'\''"))
            }
            _ => ENTRY.to_owned(),
        };
        format!("{program} {}", hook_mark(agent))
    }
}

impl ConnectParts {
    /// The parts that were named, or those that suit the agent where none was.
    fn or_default(self, agent: &ConnectableAgent) -> Self {
        match self {
            Self { mcp: false, hooks: false, skills: false } => {
                Self { mcp: true, hooks: agent.hooks.is_some(), skills: false }
            }
            named => named,
        }
    }
}

fn hook_mark(agent: &ConnectableAgent) -> String {
    format!("hook auto --agent {}", agent.id)
}

fn fill(value: &mut Value, name: &str, with: &str) {
    match value {
        Value::String(text) if text == name => with.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, name, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, name, with)),
        _ => {}
    }
}

/// Checks an address before it is written into a file: it must be valid and hold no secret.
fn checked_url(url: &str) -> Result<String, ConnectError> {
    let bad = |why: &str| {
        Err(ConnectError::new(ErrorCode::BadUrl, format!("`{url}` {why}"))
            .hint("name the address that `sinew serve` prints, such as http://127.0.0.1:7411/mcp"))
    };
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(rest) = rest else { return bad("does not begin with http:// or https://") };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return bad("is not a valid address");
    }
    if host.contains('@') {
        return bad("contains a user name or a password");
    }
    Ok(url.to_owned())
}

fn change(
    file: PathBuf,
    found: AgentConfigFile,
    format: ConfigFormat,
    wanted: &[PlannedValue],
    force: bool,
) -> Result<FileChange, ConnectError> {
    let mut document = found.document(format)?;
    let before = found.text.clone().unwrap_or_default();
    let mut written = Vec::new();
    let mut made = Vec::new();
    let failed = |trouble| unreadable_error(&found.path, &trouble);
    for want in wanted {
        match want {
            PlannedValue::Entry { at, value } => {
                let ours = document.value_after_put(at, value);
                match document.get(at) {
                    Some(there) if there == ours => continue,
                    Some(_) if !force => return Err(conflict(&file, at)),
                    Some(_) => document.remove(at),
                    None => {}
                }
                note_made(&document, at, &mut made);
                document.put(at, value).map_err(failed)?;
                written.push(WrittenValue::Entry { at: owned(at), value: ours });
            }
            PlannedValue::Item { at, value, ours } => {
                let items = match document.get(at) {
                    Some(Value::Array(items)) => items,
                    Some(_) => {
                        return Err(failed(super::edit::ConfigEditError::Shape {
                            at: at.join("."),
                        }));
                    }
                    None => Vec::new(),
                };
                if items.contains(value) {
                    continue;
                }
                // What an earlier connection left there, or an entry of ours that was changed since.
                let old: Vec<&Value> =
                    items.iter().filter(|item| item.to_string().contains(ours.as_str())).collect();
                if !old.is_empty() && !force {
                    return Err(conflict(&file, at));
                }
                for item in old {
                    document.remove_item(at, item);
                }
                note_made(&document, at, &mut made);
                if !document.has(at) && !made.contains(&owned(at)) {
                    made.push(owned(at));
                }
                document.push(at, value).map_err(failed)?;
                written.push(WrittenValue::Item { at: owned(at), value: value.clone() });
            }
        }
    }
    let status = match (&found.text, written.is_empty()) {
        (_, true) => FileChangeStatus::Unchanged,
        (None, false) => FileChangeStatus::Created,
        (Some(_), false) => FileChangeStatus::Changed,
    };
    let text = match status {
        FileChangeStatus::Unchanged => before.clone(),
        FileChangeStatus::Changed => document.text(),
        FileChangeStatus::Created => with_last_newline(document.text()),
    };
    Ok(FileChange { diff: diff(&file, &before, &text), file, status, found, text, written, made })
}

fn with_last_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Notes the maps around a place that are about to be created, outermost first.
fn note_made(document: &ConfigDocument, at: &[&str], made: &mut Vec<Vec<String>>) {
    for depth in 1..at.len() {
        let around = owned(&at[..depth]);
        if !made.contains(&around) && !document.has(&at[..depth]) {
            made.push(around);
        }
    }
}

fn owned(at: &[&str]) -> Vec<String> {
    at.iter().map(|key| (*key).to_owned()).collect()
}

pub(super) fn diff(file: &Path, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let name = file.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(3).header(&name, &name).to_string()
}

fn conflict(file: &Path, at: &[&str]) -> ConnectError {
    ConnectError::new(
        ErrorCode::Conflict,
        format!("{} has an entry `{}` that says something else", file.display(), at.join(".")),
    )
    .hint("look at it, then remove it, or replace it with --force")
}
