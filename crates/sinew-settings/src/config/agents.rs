//! `agents` and `agent`: which skills each agent sees, and what OpenPocket's agent is told.

use std::collections::BTreeMap;

use serde::Serialize;

use super::section::{choices, section};

section! {
    /// `agents`: which skills each agent sees.
    pub struct AgentsSection at "agents" {
        /// Skills that agents see unless their own list says otherwise.
        "defaults.skills" => defaults: Option<Vec<String>> = None, shown "all";
        /// In the openclaw profile, the folder that agents work in.
        "defaults.workspace" => workspace: Option<String> = None;
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
        /// This agent's own length of the prompt block.
        "skillsLimits.maxSkillsPromptChars" => max_skills_prompt_chars: Option<usize> = None;
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
