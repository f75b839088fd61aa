//! Connecting an agent: planned, then written with a backup and a line in the ledger.

use serde::Serialize;
use sinew_settings::{CodedError, ErrorCode};

use crate::agent_table::AGENTS;
use crate::agents::{ConnectScope, ConnectableAgent};
use crate::file_change::{FileChange, FileChangeStatus};
use crate::ledger::{ConnectChange, WrittenValue};
use crate::{Connector, ServerCheck, SkillLinks, config_file};

/// Which parts of an agent are connected; where none is named, the parts that suit the agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectParts {
    /// The MCP server.
    pub mcp: bool,
    /// The hooks.
    pub hooks: bool,
    /// sinew's own skills, in the agent's folder.
    pub skills: bool,
    /// Beside these: library mode, in which the agent lists a core of skills only.
    pub library: bool,
}

/// How an agent is to be connected.
#[derive(Debug, Clone)]
pub struct ConnectRequest {
    /// The agent.
    pub agent: String,
    /// Whose configuration.
    pub scope: ConnectScope,
    /// Which parts of it.
    pub parts: ConnectParts,
    /// The address of a running server, instead of a program that the agent starts.
    pub http: Option<String>,
    /// Whether the agent is told that tools which only read need no question.
    pub allow_read: bool,
    /// Whether an entry under our name with another content is replaced.
    pub force: bool,
    /// A word for the client's entry, where a person connects it: the client may then put questions to
    /// its person.
    pub client_word: Option<String>,
}

impl ConnectRequest {
    /// The user's own configuration of an agent, with the parts that suit it.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            scope: ConnectScope::User,
            parts: ConnectParts::default(),
            http: None,
            allow_read: false,
            force: false,
            client_word: None,
        }
    }
}

/// What connecting changes, or changed.
#[derive(Debug, Serialize)]
pub struct ConnectPlan {
    /// The agent.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The profile that its server and hooks work with, where that is not sinew's own.
    #[serde(skip)]
    pub profile: Option<&'static str>,
    /// Its files.
    pub files: Vec<FileChange>,
    /// Skills that are put into its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<SkillLinks>,
    /// Whether the server behind the address answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCheck>,
    /// Whether connecting could also tell the agent that tools which only read need no question.
    #[serde(skip)]
    pub offers_allow_read: bool,
    /// What the user has to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Whether it was written.
    pub written: bool,
}

impl ConnectPlan {
    pub(crate) fn of_files(agent: &ConnectableAgent, files: Vec<FileChange>) -> Self {
        Self {
            agent: agent.id,
            title: agent.title,
            profile: agent.profile,
            files,
            skills: None,
            server: None,
            offers_allow_read: false,
            note: None,
            written: false,
        }
    }

    /// Whether there is anything to write.
    pub fn is_unchanged(&self) -> bool {
        let files = self.files.iter().all(|file| file.status == FileChangeStatus::Unchanged);
        files && self.skills.as_ref().is_none_or(|skills| skills.added.is_empty())
    }
}

impl Connector<'_> {
    /// What connecting an agent would change. Nothing is written.
    pub fn plan(&self, request: &ConnectRequest) -> Result<ConnectPlan, CodedError> {
        let agent = find_agent(&request.agent)?;
        let files = self.plan_files(agent, request)?;
        let skills = match request.parts.skills {
            true => self.plan_skills(agent)?,
            false => None,
        };
        let mut written = files.iter().flat_map(|file| &file.written);
        let hooks = written.any(|written| {
            *written == WrittenValue::File || written.at().first() == Some(&"hooks")
        });
        let note = agent.note.filter(|_| hooks);
        let has_tools = agent.read_tools.is_some() && request.parts.or_default(agent).mcp;
        Ok(ConnectPlan {
            skills,
            server: request.http.as_deref().map(|url| ServerCheck::of(self.env, url)),
            offers_allow_read: has_tools && !request.allow_read,
            note,
            ..ConnectPlan::of_files(agent, files)
        })
    }

    /// Writes what was planned.
    pub fn connect(
        &self,
        request: &ConnectRequest,
        plan: ConnectPlan,
    ) -> Result<ConnectPlan, CodedError> {
        let _alone = self.lock()?;
        self.write(request, plan)
    }

    /// Writes what was planned, under the lock.
    pub(crate) fn write(
        &self,
        request: &ConnectRequest,
        mut plan: ConnectPlan,
    ) -> Result<ConnectPlan, CodedError> {
        let ledger = self.ledger();
        let stamp = self.stamp();
        let known = ledger.changes().map_err(|error| self.ledger_failed(error))?;
        let known: Vec<_> = known.into_iter().filter(|change| change.agent == plan.agent).collect();
        for file in plan.files.iter().filter(|file| file.status != FileChangeStatus::Unchanged) {
            let left = known.iter().rev().find(|change| change.file == file.found.path);
            // What we left there ourselves needs no copy: the first one leads back.
            let is_ours =
                left.is_some_and(|left| file.found.digest().as_ref() == Some(&left.after));
            let backup = match is_ours {
                true => None,
                false => file.found.back_up(&stamp.replace([':', '-', '.'], ""))?,
            };
            file.found.replace(&file.text, request.scope)?;
            let change = ConnectChange {
                at: stamp.clone(),
                agent: plan.agent.to_owned(),
                scope: request.scope,
                file: file.found.path.clone(),
                written: file.written.clone(),
                removed: file.removed.clone(),
                made: file.made.clone(),
                library: file.library,
                before: file.found.digest(),
                after: config_file::digest(&file.text),
                backup,
            };
            ledger.record_connect(change).map_err(|error| self.ledger_failed(error))?;
        }
        if let Some(skills) = &plan.skills {
            self.create_links(skills)?;
        }
        plan.written = true;
        Ok(plan)
    }
}

pub(crate) fn find_agent(name: &str) -> Result<&'static ConnectableAgent, CodedError> {
    ConnectableAgent::find(name).ok_or_else(|| {
        let known = || AGENTS.iter().map(|agent| agent.id);
        let error = CodedError::new(ErrorCode::UnknownAgent, format!("there is no agent `{name}`"));
        let error = match sinew_settings::nearest(name, known()).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("agents: {}", known().collect::<Vec<_>>().join(", ")))
    })
}
