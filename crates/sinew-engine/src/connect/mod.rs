//! Connecting agents: our entry in the configuration of programs that people already use.
//!
//! [`Engine::plan_connect`] says what would change, [`Engine::connect`] writes it, with a backup and a
//! line in a ledger, and [`Engine::disconnect`] takes exactly that out again. Agents are rows of a
//! table; one writer serves them all.
//!
//! What must never happen here: a file that is half written or was not understood, somebody else's entry
//! that is replaced without being told to, a secret in a file.

pub(crate) mod agents;
pub(crate) mod config_file;
mod connections;
mod disconnect;
pub(crate) mod edit;
mod ledger;
mod plan;
mod probe;
mod skill_links;

use std::path::PathBuf;

use serde::Serialize;
use sinew_cortex::UtcInstant;
use sinew_skill::names;

pub use agents::ConnectScope;
pub use connections::{AgentConnection, ConnectionFile};
pub use disconnect::{DisconnectReport, DisconnectedFile};
pub use plan::{FileChange, FileChangeStatus};

use crate::{Engine, EngineError, ErrorKind};
use agents::{AGENTS, ConnectableAgent};
use ledger::{ConnectChange, ConnectLedger};
pub use skill_links::SkillLinks;

/// What of an agent is connected; nothing named means what makes sense for it.
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
    /// What of it.
    pub parts: ConnectParts,
    /// The address of a server that runs already, instead of a program that is started.
    pub http: Option<String>,
    /// Whether an entry of ours that says something else is replaced.
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

impl Engine {
    /// What connecting an agent would change. Nothing is written.
    pub fn plan_connect(&self, request: &ConnectRequest) -> Result<ConnectPlan, EngineError> {
        let agent = find_agent(&request.agent)?;
        let files = self.plan(agent, request)?;
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
    ) -> Result<ConnectPlan, EngineError> {
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
            ledger.record_connect(change).map_err(|error| self.ledger_failed(&error))?;
        }
        if let Some(skills) = &plan.skills {
            self.create_links(skills)?;
        }
        plan.written = true;
        Ok(plan)
    }

    fn ledger(&self) -> ConnectLedger {
        ConnectLedger::below(&self.env.sinew_home())
    }

    fn ledger_failed(&self, error: &std::io::Error) -> EngineError {
        EngineError::file("write", &self.env.sinew_home().join("connections.jsonl"), error)
    }

    fn stamp(&self) -> String {
        UtcInstant::from_clock(self.env.clock.now_ms()).to_string()
    }
}

pub(crate) fn find_agent(name: &str) -> Result<&'static ConnectableAgent, EngineError> {
    ConnectableAgent::find(name).ok_or_else(|| {
        let known = || AGENTS.iter().map(|agent| agent.id);
        let error = EngineError::new(
            ErrorKind::Usage,
            "unknown-agent",
            format!("there is no agent `{name}`"),
        );
        let error = match names::nearest(name, known()).first() {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("agents: {}", known().collect::<Vec<_>>().join(", ")))
    })
}

/// Where sinew's own skills go for an agent that has a folder for them.
fn skills_folder(engine: &Engine, agent: &ConnectableAgent) -> Option<PathBuf> {
    match agent.skills {
        agents::AgentSkillAccess::Folder(place) => {
            Some(place.path(&engine.env, engine.workspace()))
        }
        agents::AgentSkillAccess::Listed(_) => None,
    }
}
