//! What connecting an agent would write, worked out before anything is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use sinew_settings::{CodedError, ErrorCode};

use super::agents::{
    AgentHooks, AgentPlugin, AgentSkillAccess, CommandHookForm, CommandHooks, ConnectScope,
    ConnectableAgent, ItemNeed, ProgramName, READ_TOOLS, ScopedPaths,
};
use super::client_word::with_word;
use super::config_file::AgentConfigFile;
use super::edit::ConfigFormat;
use super::file_change::{FileChange, PlannedFile, PlannedValue, ReplacePolicy, TakenPlace};
use super::ledger::ConnectChange;
use super::plugin_files::PROGRAM_LINE;
use super::{ConnectParts, ConnectRequest};

use crate::Connector;

/// The name of our entry, everywhere.
pub(super) const ENTRY: &str = "sinew";

/// The files that are to be written, with what is to stand in them.
#[derive(Debug, Default)]
pub(super) struct PlannedFiles(BTreeMap<PathBuf, PlannedFile>);

impl PlannedFiles {
    pub(super) fn add(&mut self, file: PathBuf, format: ConfigFormat, value: PlannedValue) {
        let planned = PlannedFile::Values { format, values: Vec::new(), library: false };
        if let PlannedFile::Values { values, .. } = self.0.entry(file).or_insert(planned) {
            values.push(value);
        }
    }

    /// Values about which skills the agent lists.
    pub(super) fn add_library(
        &mut self,
        file: PathBuf,
        format: ConfigFormat,
        more: Vec<PlannedValue>,
    ) {
        let planned = PlannedFile::Values { format, values: Vec::new(), library: true };
        if let PlannedFile::Values { values, library, .. } = self.0.entry(file).or_insert(planned) {
            values.extend(more);
            *library = true;
        }
    }
}

impl Connector<'_> {
    /// What connecting would change, file by file.
    pub(super) fn plan_files(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
    ) -> Result<Vec<FileChange>, CodedError> {
        self.plan_parts(agent, request, request.parts.or_default(agent))
    }

    /// What connecting these parts would change, file by file.
    pub(super) fn plan_parts(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
        parts: ConnectParts,
    ) -> Result<Vec<FileChange>, CodedError> {
        let mut files = PlannedFiles::default();
        let scope = request.scope;
        if parts.mcp && agent.servers.is_empty() {
            let message = format!("{} has no MCP client", agent.title);
            return Err(CodedError::new(ErrorCode::NoMcpClient, message)
                .hint("leave --mcp out; a skill tells it how to ask"));
        }
        if parts.mcp {
            let at = [agent.servers, &[ENTRY]].concat();
            let value = PlannedValue::entry(&at, self.server(agent, request)?);
            files.add(self.config(agent, agent.configs, scope)?, agent.format, value);
        }
        if parts.hooks {
            self.plan_hooks(agent, scope, &mut files)?;
        }
        if let AgentSkillAccess::Listed(at) = agent.skills
            && parts.skills
        {
            let folder = self.managed_folder.to_string_lossy().into_owned();
            let value = PlannedValue::item(at, folder.clone().into(), folder);
            files.add(self.config(agent, agent.configs, scope)?, agent.format, value);
        }
        if let Some(tools) = &agent.read_tools
            && request.allow_read
        {
            let file = self.config(agent, tools.configs, scope)?;
            for tool in READ_TOOLS {
                let rule = format!("{}{tool}", tools.prefix);
                let value =
                    PlannedValue::item(tools.at, rule.clone().into(), format!("\"{rule}\""));
                files.add(file.clone(), ConfigFormat::Json, value);
            }
        }
        if parts.library {
            self.plan_library(agent, scope, &mut files)?;
        }
        let ledger = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let changes = files.0.into_iter().map(|(file, planned)| {
            let found = AgentConfigFile::read(self.env, self.workspace, &file)?;
            let policy = policy(&ledger, agent, &found, request.force);
            FileChange::plan(file, found, planned, &policy)
        });
        changes.collect()
    }

    /// The file of an agent in a scope: of several names the first that exists.
    pub(super) fn config(
        &self,
        agent: &ConnectableAgent,
        configs: ScopedPaths,
        scope: ConnectScope,
    ) -> Result<PathBuf, CodedError> {
        let places = configs.iter().find(|(of, _)| *of == scope).map(|(_, places)| *places);
        let places = places.ok_or_else(|| no_such_scope(agent))?;
        let paths = places.iter().map(|place| place.path(self.env, self.workspace));
        let paths: Vec<PathBuf> = paths.collect();
        let there = paths.iter().find(|path| path.exists()).or(paths.first());
        Ok(there.cloned().unwrap_or_default())
    }

    fn plan_hooks(
        &self,
        agent: &ConnectableAgent,
        scope: ConnectScope,
        files: &mut PlannedFiles,
    ) -> Result<(), CodedError> {
        match &agent.hooks {
            AgentHooks::Commands(hooks) => {
                let file = self.config(agent, hooks.configs, scope)?;
                for value in self.hook_values(agent, hooks, scope) {
                    files.add(file.clone(), ConfigFormat::Json, value);
                }
                Ok(())
            }
            AgentHooks::Plugin(plugin) | AgentHooks::Skill(plugin) => {
                self.plan_plugin(agent, plugin, scope, files)
            }
            AgentHooks::None => Err(CodedError::new(
                ErrorCode::NoHooks,
                format!("{} has no hooks that can add to a message", agent.title),
            )
            .hint("leave --hooks out; the MCP server works")),
        }
    }

    fn plan_plugin(
        &self,
        agent: &ConnectableAgent,
        plugin: &AgentPlugin,
        scope: ConnectScope,
        files: &mut PlannedFiles,
    ) -> Result<(), CodedError> {
        let place = plugin.folders.iter().find(|(of, _)| *of == scope).map(|(_, place)| *place);
        let folder = place.ok_or_else(|| no_such_scope(agent))?.path(self.env, self.workspace);
        let program = self.full_program(scope);
        for file in plugin.files {
            // Text that names the program is a file of one machine; others come as they are.
            let line = format!("const PROGRAM = {};", Value::from(program.as_str()));
            let text = file.text.replacen(PROGRAM_LINE, &line, 1);
            files.0.insert(folder.join(file.name), PlannedFile::Whole(text));
        }
        let config = self.config(agent, agent.configs, scope)?;
        for (at, template) in plugin.entries {
            let value = PlannedValue::entry(at, filled(template, "$COMMAND", &program));
            files.add(config.clone(), agent.format, value);
        }
        let found = AgentConfigFile::read(self.env, self.workspace, &config)?;
        let document = found.document(agent.format)?;
        for item in plugin.items {
            if item.need == ItemNeed::WhereListed && !document.has(item.at) {
                continue;
            }
            let value = match item.value {
                "$FOLDER" => folder.to_string_lossy().into_owned(),
                text => text.to_owned(),
            };
            let mark = Value::from(value.as_str()).to_string();
            files.add(
                config.clone(),
                agent.format,
                PlannedValue::item(item.at, value.into(), mark),
            );
        }
        Ok(())
    }

    fn hook_values(
        &self,
        agent: &ConnectableAgent,
        hooks: &CommandHooks,
        scope: ConnectScope,
    ) -> Vec<PlannedValue> {
        let command = self.hook_command(agent, scope);
        let value = |(event, matcher): &(&'static str, Option<&'static str>)| {
            let mut hook = Map::new();
            if hooks.form == CommandHookForm::GroupedWithNames {
                hook.insert("name".to_owned(), ENTRY.into());
            }
            if hooks.form != CommandHookForm::Flat {
                hook.insert("type".to_owned(), "command".into());
            }
            hook.insert("command".to_owned(), command.clone().into());
            hook.insert("timeout".to_owned(), hooks.timeout.into());
            if hooks.form != CommandHookForm::Flat {
                let mut group = Map::new();
                if let Some(matcher) = matcher {
                    group.insert("matcher".to_owned(), (*matcher).into());
                }
                group.insert("hooks".to_owned(), json!([hook]));
                hook = group;
            }
            PlannedValue::item(&["hooks", event], hook.into(), hook_mark(agent))
        };
        let version = (hooks.form == CommandHookForm::Flat).then(|| PlannedValue::Entry {
            at: vec!["version".to_owned()],
            value: 1.into(),
            taken: TakenPlace::Keep,
        });
        version.into_iter().chain(hooks.events.iter().map(value)).collect()
    }

    fn server(
        &self,
        agent: &ConnectableAgent,
        request: &ConnectRequest,
    ) -> Result<Value, CodedError> {
        let (template, name, value) = match &request.http {
            Some(url) => (agent.http, "$URL", checked_url(url)?),
            None => (agent.stdio, "$COMMAND", self.command(agent, request.scope)),
        };
        let entry = filled(template, name, &value);
        Ok(match self.client_word(agent, request)? {
            Some(word) => with_word(entry, &word),
            None => entry,
        })
    }

    /// How sinew is started. A file that colleagues share names no path of this machine.
    fn command(&self, agent: &ConnectableAgent, scope: ConnectScope) -> String {
        match (scope, self.program()) {
            (ConnectScope::User, Some((path, is_on_path)))
                if agent.program_name == ProgramName::Full || !is_on_path =>
            {
                path.to_string_lossy().into_owned()
            }
            _ => ENTRY.to_owned(),
        }
    }

    /// The path of this program, and whether PATH leads to it. The path on PATH is preferred to the one
    /// behind it: package managers replace what is behind it with every version.
    fn program(&self) -> Option<(PathBuf, bool)> {
        let exe = self.env.exe.as_ref()?;
        let found = sinew_catalog::find_program(self.env, ENTRY);
        let found = found.filter(|path| std::fs::canonicalize(path).ok().as_ref() == Some(exe));
        Some(found.map_or_else(|| (exe.clone(), false), |path| (path, true)))
    }

    /// The program by its whole path, but for files that colleagues share.
    fn full_program(&self, scope: ConnectScope) -> String {
        match (self.program(), scope) {
            (Some((path, _)), ConnectScope::User) => path.to_string_lossy().into_owned(),
            _ => ENTRY.to_owned(),
        }
    }

    /// The command line that an agent runs in a shell.
    fn hook_command(&self, agent: &ConnectableAgent, scope: ConnectScope) -> String {
        let program = match self.full_program(scope) {
            name if name == ENTRY => name,
            path => format!("'{}'", path.replace('\'', r"'\''")),
        };
        format!("{program} {}", hook_mark(agent))
    }
}

fn no_such_scope(agent: &ConnectableAgent) -> CodedError {
    let said = format!("{} has no project configuration", agent.title);
    CodedError::new(ErrorCode::NoSuchScope, said).hint("leave --scope out")
}

/// What earlier connections left in a file.
fn policy(
    ledger: &[ConnectChange],
    agent: &ConnectableAgent,
    found: &AgentConfigFile,
    force: bool,
) -> ReplacePolicy {
    let changes = ledger.iter().filter(|change| change.agent == agent.id);
    let changes: Vec<&ConnectChange> = changes.filter(|change| change.file == found.path).collect();
    let ours = changes.iter().flat_map(|change| change.written.iter().cloned()).collect();
    ReplacePolicy { ours, left: changes.last().map(|change| change.after.clone()), force }
}

impl ConnectParts {
    /// The parts that were named, or those that suit the agent where none was.
    pub(super) fn or_default(self, agent: &ConnectableAgent) -> Self {
        match self {
            Self { mcp: false, hooks: false, skills: false, library } => {
                let mcp = !agent.servers.is_empty();
                Self { mcp, hooks: !mcp || agent.adds_to_messages(), skills: false, library }
            }
            named => named,
        }
    }
}

fn hook_mark(agent: &ConnectableAgent) -> String {
    format!("hook auto --agent {}", agent.id)
}

/// A template with a text in the place of a name.
fn filled(template: &str, name: &str, with: &str) -> Value {
    let mut value: Value = serde_json::from_str(template).unwrap_or_default();
    fill(&mut value, name, with);
    value
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
fn checked_url(url: &str) -> Result<String, CodedError> {
    let bad = |why: &str| {
        Err(CodedError::new(ErrorCode::BadUrl, format!("`{url}` {why}"))
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
