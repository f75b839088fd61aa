//! What a prompt block is built from.

use serde::{Deserialize, Serialize};

use sinew_settings::config::{PromptOrder, PromptPlanner};

use super::wording::{PromptOverhead, PromptWording};
use crate::profile::Tier;

/// The length limit of a prompt in the OpenPocket profile.
pub const OPENPOCKET_MAX_CHARS: usize = 12_000;

/// The smallest limit that a caller of the OpenPocket profile may set.
pub const OPENPOCKET_MIN_CHARS: usize = 200;

/// More hints than this add nothing.
pub(super) const MAX_HINTS: usize = 8;

/// One skill that the model may see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// The full description.
    pub description: &'a str,
    /// Words that suggest it, shown after the description; see [`trigger_hints`].
    pub hints: Vec<&'a str>,
    /// Where the model can read it, already shortened.
    pub location: &'a str,
    /// A remark on that location.
    pub location_note: Option<&'a str>,
    /// The source's name, which orders equal names.
    pub source: &'a str,
    /// The file, which orders equal names of one source.
    pub path: &'a str,
    /// Where it comes from: the workspace's own skills stay before installed and bundled ones.
    pub tier: Tier,
    /// Whether the configuration pins it.
    pub pinned: bool,
    /// Whether the message names it explicitly.
    pub referenced: bool,
    /// How well it fits the message, according to the router.
    pub score: Option<f64>,
    /// When it last worked, on any clock.
    pub last_success: Option<i64>,
}

/// Hints from a skill's triggers: `any` before `all`, each once, the first eight.
pub fn trigger_hints<'a>(any: &'a [String], all: &'a [String]) -> Vec<&'a str> {
    let mut hints: Vec<&str> = Vec::new();
    for hint in any.iter().chain(all).map(|hint| hint.trim()) {
        if hints.len() < MAX_HINTS && !hint.is_empty() && !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}

/// How much of a system prompt the agent gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptMode {
    /// Everything.
    #[default]
    Full,
    /// What a sub-agent needs.
    Minimal,
    /// Nothing.
    None,
}

/// Which characters are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptEscapes {
    /// All five of XML.
    #[default]
    All,
    /// OpenPocket's four: the apostrophe stays.
    KeepApostrophe,
}

/// How long the block may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptLimits {
    /// The maximum number of skills.
    #[serde(rename = "maxSkillsInPrompt")]
    pub max_skills: usize,
    /// The maximum number of UTF-16 code units.
    #[serde(rename = "maxSkillsPromptChars")]
    pub max_chars: usize,
}

impl Default for PromptLimits {
    fn default() -> Self {
        Self { max_skills: 150, max_chars: 30_000 }
    }
}

/// Everything that decides the text of a block.
#[derive(Debug, Clone)]
pub struct PromptRequest<'a> {
    /// The skills that the model may see.
    pub skills: &'a [PromptSkill<'a>],
    /// How they are fitted into the limits.
    pub planner: PromptPlanner,
    /// The limits.
    pub limits: PromptLimits,
    /// The order of the entries.
    pub order: PromptOrder,
    /// How much of a prompt this agent gets.
    pub mode: PromptMode,
    /// Whether the agent can read files.
    pub read_tool: bool,
    /// A line about skills of other machines.
    pub remote_note: Option<&'a str>,
    /// The tokens that the model's context leaves for the prompt.
    pub context_tokens: Option<u64>,
    /// How many of the best ranked keep their description longest, if a message is known.
    pub full_descriptions: usize,
    /// Whether this block is for a known message; without one, scores do not count.
    pub message_known: bool,
    /// Which characters are escaped.
    pub escapes: PromptEscapes,
    /// The host's tool that finds skills that are not listed.
    pub search_tool: Option<&'a str>,
    /// The command that shows what was left out.
    pub audit_command: &'a str,
    /// The sentences around the block.
    pub wording: PromptWording,
    /// Lengths to plan with instead of the wording's own, for comparing plans across programs.
    pub overhead: Option<PromptOverhead>,
    /// Planner `prefix`: include the first entry even if it exceeds the budget (OpenPocket).
    pub keep_first: bool,
}

impl<'a> PromptRequest<'a> {
    /// A request with every default.
    pub fn new(skills: &'a [PromptSkill<'a>]) -> Self {
        Self {
            skills,
            planner: PromptPlanner::default(),
            limits: PromptLimits::default(),
            order: PromptOrder::default(),
            mode: PromptMode::default(),
            read_tool: true,
            remote_note: None,
            context_tokens: None,
            full_descriptions: 8,
            message_known: false,
            escapes: PromptEscapes::default(),
            search_tool: None,
            audit_command: "sinew check",
            wording: PromptWording::default(),
            overhead: None,
            keep_first: false,
        }
    }
}
