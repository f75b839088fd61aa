//! Library mode: an agent lists a core of skills, and sinew brings the others when a message needs them.
//!
//! The agent is told by its own settings, one value per skill that is left out. What the user decided
//! about a skill stays as it is. A skill that is installed later follows with
//! [`Connector::follow_library`]: what is written is always the difference.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use sinew_settings::{CodedError, ErrorCode, path_text};

use super::agents::{AgentLibrary, ConnectScope, ConnectableAgent, LibraryForm};
use super::connect::find_agent;
use super::disconnect::format_of;
use super::file_change::{PlannedValue, TakenPlace};
use super::ledger::{ConnectChange, WrittenValue};
use super::plan::PlannedFiles;

use crate::{ConnectParts, ConnectPlan, ConnectRequest, Connector};

/// A skill that an agent finds by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// What it says it is for.
    pub description: String,
    /// Its file.
    pub file: PathBuf,
}

impl Connector<'_> {
    /// Brings every agent in library mode up to date with the skills that there are now; gives what was
    /// changed.
    pub fn follow_library(&self) -> Result<Vec<ConnectPlan>, CodedError> {
        // Without such an agent this is one look at a file.
        if self.library_agents()?.is_empty() {
            return Ok(Vec::new());
        }
        let _alone = self.lock()?;
        let mut changed = Vec::new();
        for (agent, scope) in self.library_agents()? {
            let request = ConnectRequest { scope, ..ConnectRequest::new(agent.id) };
            let parts = ConnectParts { library: true, ..ConnectParts::default() };
            let files = self.plan_parts(agent, &request, parts)?;
            let plan = ConnectPlan::of_files(agent, files);
            if !plan.is_unchanged() {
                changed.push(self.write(&request, plan)?);
            }
        }
        Ok(changed)
    }

    /// Whether an agent is in library mode.
    pub fn is_library(&self, agent: &str) -> Result<bool, CodedError> {
        let agent = find_agent(agent)?;
        Ok(self.library_agents()?.iter().any(|(of, _)| of.id == agent.id))
    }

    /// The agents in library mode, with whose configuration says so.
    fn library_agents(&self) -> Result<Vec<(&'static ConnectableAgent, ConnectScope)>, CodedError> {
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let mut agents: Vec<(&'static ConnectableAgent, ConnectScope)> = Vec::new();
        for change in changes.iter().filter(|change| change.library) {
            let agent = find_agent(&change.agent)?;
            if !agents.iter().any(|(of, scope)| of.id == agent.id && *scope == change.scope) {
                agents.push((agent, change.scope));
            }
        }
        Ok(agents)
    }

    /// What an agent is told about the skills that it finds by itself.
    pub(super) fn plan_library(
        &self,
        agent: &ConnectableAgent,
        scope: ConnectScope,
        files: &mut PlannedFiles,
    ) -> Result<(), CodedError> {
        let Some(library) = &agent.library else {
            return Err(CodedError::new(
                ErrorCode::NoLibraryMode,
                format!("{} has no setting that leaves skills out of its list", agent.title),
            )
            .hint("leave --library out"));
        };
        let file = self.config(agent, library.configs, scope)?;
        let core: BTreeSet<String> = self.host.core_skills().into_iter().collect();
        let listed = self.host.listed_skills(agent.id)?;
        let hidden = listed.iter().filter(|skill| !core.contains(&skill.name));
        let mut values: Vec<PlannedValue> = match library.form {
            LibraryForm::Limit => vec![library.limit()],
            _ => hidden.map(|skill| library.leave_out(skill)).collect(),
        };
        let changes = self.ledger().changes().map_err(|error| self.ledger_failed(error))?;
        let changes: Vec<ConnectChange> = changes
            .into_iter()
            .filter(|change| change.agent == agent.id && change.file == file && change.library)
            .collect();
        for (_, written) in ConnectChange::standing(&changes) {
            let is_about_skills = written.at().starts_with(library.at);
            if is_about_skills && !values.iter().any(|value| value.is(written)) {
                values.push(PlannedValue::Gone(written.clone()));
            }
        }
        let format = format_of(agent, &file);
        files.add_library(file, format, values);
        Ok(())
    }
}

impl AgentLibrary {
    fn limit(&self) -> PlannedValue {
        let at = self.at.iter().map(|key| (*key).to_owned()).collect();
        PlannedValue::Entry { at, value: json!(0), taken: TakenPlace::Replace }
    }

    /// The name that the agent goes by.
    fn name_of(&self, skill: &ListedSkill) -> String {
        let folder = skill.file.parent().and_then(|folder| folder.file_name());
        match (self.form, folder) {
            (LibraryForm::FolderWords(_), Some(folder)) => folder.to_string_lossy().into_owned(),
            _ => skill.name.clone(),
        }
    }

    fn leave_out(&self, skill: &ListedSkill) -> PlannedValue {
        let at = self.at.iter().map(|key| (*key).to_owned());
        match self.form {
            LibraryForm::Words(word) | LibraryForm::FolderWords(word) => PlannedValue::Entry {
                at: at.chain([self.name_of(skill)]).collect(),
                value: word.into(),
                taken: TakenPlace::Keep,
            },
            LibraryForm::FileSwitches => PlannedValue::Item {
                at: at.collect(),
                value: json!({ "path": path_text(&skill.file), "enabled": false }),
                mark: String::new(),
            },
            LibraryForm::Names | LibraryForm::Limit => PlannedValue::Item {
                at: at.collect(),
                value: Value::from(skill.name.as_str()),
                mark: String::new(),
            },
        }
    }
}

impl PlannedValue {
    /// Whether this is the value that was written.
    fn is(&self, written: &WrittenValue) -> bool {
        match (self, written) {
            (Self::Entry { at, value, .. }, WrittenValue::Entry { at: there, value: said, .. })
            | (Self::Item { at, value, .. }, WrittenValue::Item { at: there, value: said }) => {
                at == there && value == said
            }
            _ => false,
        }
    }
}
