//! Connecting an agent: planned, then written with a backup and a line in the ledger.

use serde::Serialize;
use sinew_settings::ErrorCode;

use crate::agents::{AGENTS, ConnectScope, ConnectableAgent};
use crate::ledger::ConnectChange;
use crate::plan::{FileChange, FileChangeStatus};
use crate::{ConnectError, Connector, SkillLinks, config_file};

/// Which parts of an agent are connected; where none is named, the parts that suit the agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectParts {
    /// The MCP server.
    pub mcp: bool,
    /// The hooks.
    pub hooks: bool,
    /// sinew's own skills, in the agent's folder.
    pub skills: bool,
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
    /// Whether an entry under our name with another content is replaced.
    pub force: bool,
}

/// What connecting changes, or changed.
#[derive(Debug, Serialize)]
pub struct ConnectPlan {
    /// The agent.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its files.
    pub files: Vec<FileChange>,
    /// Skills that are put into its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<SkillLinks>,
    /// What the user has to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Whether it was written.
    pub written: bool,
}

impl ConnectPlan {
    /// Whether there is anything to write.
    pub fn is_unchanged(&self) -> bool {
        let files = self.files.iter().all(|file| file.status == FileChangeStatus::Unchanged);
        files && self.skills.as_ref().is_none_or(|skills| skills.added.is_empty())
    }
}

impl Connector<'_> {
    /// What connecting an agent would change. Nothing is written.
    pub fn plan(&self, request: &ConnectRequest) -> Result<ConnectPlan, ConnectError> {
        let agent = find_agent(&request.agent)?;
        let files = self.plan_files(agent, request)?;
        let skills = match request.parts.skills {
            true => self.plan_skills(agent)?,
            false => None,
        };
        let mut written = files.iter().flat_map(|file| &file.written);
        let hooks = written.any(|written| written.at().first() == Some(&"hooks"));
        let note = agent.note.filter(|_| hooks);
        Ok(ConnectPlan { agent: agent.id, title: agent.title, files, skills, note, written: false })
    }

    /// Writes what was planned.
    pub fn connect(
        &self,
        request: &ConnectRequest,
        mut plan: ConnectPlan,
    ) -> Result<ConnectPlan, ConnectError> {
        let ledger = self.ledger();
        let stamp = self.stamp();
        for file in plan.files.iter().filter(|file| file.status != FileChangeStatus::Unchanged) {
            let backup = file.found.back_up(&stamp.replace([':', '-', '.'], ""))?;
            file.found.replace(&file.text, request.scope)?;
            let change = ConnectChange {
                at: stamp.clone(),
                agent: plan.agent.to_owned(),
                scope: request.scope,
                file: file.found.path.clone(),
                written: file.written.clone(),
                made: file.made.clone(),
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

pub(crate) fn find_agent(name: &str) -> Result<&'static ConnectableAgent, ConnectError> {
    ConnectableAgent::find(name).ok_or_else(|| {
        let known = || AGENTS.iter().map(|agent| agent.id);
        let error =
            ConnectError::new(ErrorCode::UnknownAgent, format!("there is no agent `{name}`"));
        let error = match sinew_settings::nearest(name, known()).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("agents: {}", known().collect::<Vec<_>>().join(", ")))
    })
}
