//! What the list of skills costs an agent in every session: characters, tokens, and which skill most.

use serde::Serialize;
use sinew_settings::CodedError;

use super::agent_table::AGENTS;
use super::agents::LibraryForm;
use super::connect::find_agent;

use crate::Connector;

/// Characters of a token, on average, in the English that descriptions are written in.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Skills that are named as the most costly.
const COSTLIEST: usize = 5;

/// What an agent's list of skills costs.
#[derive(Debug, Serialize)]
pub struct AgentContext {
    /// The agent.
    pub agent: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether it is on this machine.
    pub found: bool,
    /// Whether library mode is on; `None` where the agent has no setting for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<bool>,
    /// The whole list.
    pub all: ContextCost,
    /// The list in library mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<ContextCost>,
    /// The skills that cost most, the most costly first.
    pub costliest: Vec<SkillCost>,
}

/// What a list costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ContextCost {
    /// Its skills.
    pub skills: usize,
    /// Its characters.
    pub characters: usize,
    /// About as many tokens.
    pub tokens: usize,
}

/// What a skill costs.
#[derive(Debug, Serialize)]
pub struct SkillCost {
    /// The skill.
    pub name: String,
    /// Its characters in the list.
    pub characters: usize,
}

impl Connector<'_> {
    /// What skills cost each agent, or one of them, in every session: as the agent would list them,
    /// before it cuts anything itself.
    pub fn context(&self, agent: Option<&str>) -> Result<Vec<AgentContext>, CodedError> {
        let one = agent.map(find_agent).transpose()?;
        let core = self.host.core_skills();
        let mut contexts = Vec::new();
        for agent in AGENTS.iter().filter(|agent| one.is_none_or(|one| one.id == agent.id)) {
            let found = agent.is_installed(self.env);
            if one.is_none() && !found {
                continue;
            }
            let listed = self.host.listed_skills(agent.id)?;
            let cost = |name: &str, description: &str, file: &std::path::Path| {
                let line = agent.list_line;
                let line = line.replace("$NAME", name).replace("$DESCRIPTION", description);
                line.replace("$FILE", &sinew_settings::path_text(file)).chars().count()
            };
            let mut costs: Vec<SkillCost> = listed
                .iter()
                .map(|skill| SkillCost {
                    name: skill.name.clone(),
                    characters: cost(&skill.name, &skill.description, &skill.file),
                })
                .collect();
            let all = ContextCost::of(&costs);
            let library = agent.library.as_ref();
            let in_core = library.map(|library| match library.form {
                LibraryForm::Limit => ContextCost::default(),
                _ => ContextCost::of(costs.iter().filter(|cost| core.contains(&cost.name))),
            });
            costs.sort_by(|a, b| b.characters.cmp(&a.characters).then(a.name.cmp(&b.name)));
            costs.truncate(COSTLIEST);
            contexts.push(AgentContext {
                agent: agent.id,
                title: agent.title,
                found,
                library: library.map(|_| self.is_library(agent.id)).transpose()?,
                all,
                core: in_core,
                costliest: costs,
            });
        }
        Ok(contexts)
    }
}

impl ContextCost {
    fn of<'c>(costs: impl IntoIterator<Item = &'c SkillCost>) -> Self {
        let (mut skills, mut characters) = (0, 0);
        for cost in costs {
            skills += 1;
            characters += cost.characters;
        }
        Self { skills, characters, tokens: characters.div_ceil(CHARACTERS_PER_TOKEN) }
    }
}
