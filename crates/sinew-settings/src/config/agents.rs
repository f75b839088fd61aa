//! `agents` and `agent`: which skills each agent sees, and what OpenPocket's agent is told.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::gate;
use super::reader::ConfigReader;
use super::section::{choices, section};

section! {
    /// `agents`: which skills each agent sees.
    pub struct AgentsSection at "agents" {
        /// Skills that agents see unless their own list says otherwise.
        "defaults.skills" => defaults: Option<Vec<String>> = None, shown "all";
        /// In the openclaw profile, the folder that agents work in.
        "defaults.workspace" => workspace: Option<String> = None;
        /// In the openclaw profile, `explicit` where no agent is the default one.
        "ownership" => ownership: Option<String> = None;
        also {
            /// The settings of single agents, by name.
            entries: BTreeMap<String, AgentSettings> = BTreeMap::new();
        }
    }
}

section! {
    /// `agents.entries.<id>`: one agent's settings.
    pub struct AgentSettings at "agents.entries.<id>" {
        /// Skills this agent sees: names, `prefix-*`, `!name`.
        "skills" => skills: Option<Vec<String>> = None, shown "all";
        /// In the openclaw profile, the folder that this agent works in.
        "workspace" or "workspaceDir" => workspace: Option<String> = None;
        /// In the openclaw profile, whether this agent's folders are read where no agent is named.
        "default" => is_default: bool = false;
        /// This agent's own length of the prompt block.
        "skillsLimits.maxSkillsPromptChars" => max_skills_prompt_chars: Option<usize> = None;
    }
}

impl AgentsSection {
    /// OpenClaw's agent where none is named: the only one, or the one that is marked; nothing where there
    /// are none, or several of which none is meant.
    pub fn default_agent(&self) -> Option<&str> {
        let marked =
            self.entries.iter().filter(|(_, agent)| agent.is_default && !self.is_explicit());
        let mut marked = marked.map(|(id, _)| id.as_str());
        if let (Some(one), None) = (marked.next(), marked.next()) {
            return Some(one);
        }
        match self.entries.len() {
            1 => self.entries.keys().next().map(String::as_str),
            _ => None,
        }
    }

    /// Whether every agent has to be named.
    pub fn is_explicit(&self) -> bool {
        self.ownership.as_deref() == Some("explicit")
    }
}

impl AgentSettings {
    /// An agent whose list of skills cannot be read, or is misspelt, sees none.
    pub(super) fn close_list(
        &mut self,
        map: &Map<String, Value>,
        at: &str,
        reader: &mut ConfigReader,
    ) {
        let known = ["skills"];
        for name in map.keys().filter(|name| *name != "skills" && gate::is_near(name, "skills")) {
            reader.unknown_key(name, at, &known);
            self.skills.get_or_insert_default();
        }
        let list = map.get("skills").filter(|list| !list.is_null());
        if list.is_some_and(|list| !list.is_array()) {
            self.skills = Some(Vec::new());
        }
    }
}

section! {
    /// `agent`: what OpenPocket tells its agent.
    pub struct OpenPocketAgentSection at "agent" {
        /// In the openpocket profile, what counts as a skill.
        "skillsSpecMode" or "skills_spec_mode" => mode: OpenPocketMode = OpenPocketMode::Mixed;
        /// OpenPocket's name for traces.enabled.
        "autoArtifactsEnabled" => auto_artifacts_enabled: Option<bool> = None, shown "true";
    }
}

choices! {
    /// What counts as a skill in OpenPocket's profile.
    #[derive(Default, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OpenPocketMode {
        /// Any Markdown file.
        Legacy = "legacy",
        /// Legacy files and strict skills.
        #[default]
        Mixed = "mixed",
        /// Only `SKILL.md` that passes strict validation.
        Strict = "strict",
    }
}
