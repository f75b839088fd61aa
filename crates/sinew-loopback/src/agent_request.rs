//! A request as the agent sent it, and what is in it, whatever the dialect.

use serde::Serialize;
use serde_json::Value;

use crate::dialect::ModelDialect;

/// A request for an answer of the model.
#[derive(Debug, Clone)]
pub struct AgentRequest {
    /// The provider whose protocol it follows.
    pub dialect: ModelDialect,
    /// Everything it holds.
    pub body: Value,
    /// What it was answered.
    pub reply: ModelReply,
}

/// What a request was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ModelReply {
    /// A text.
    Text,
    /// A call of this tool.
    ToolCall {
        /// Its name as it was offered.
        tool: String,
    },
    /// A text, because the tool of this step was not offered.
    ToolMissing {
        /// How the tool's name should have ended.
        wanted: String,
    },
    /// An error of the provider.
    Refused {
        /// Its sentence.
        why: String,
    },
}

/// A tool that the agent offers its model.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// The group that it is offered in, where the dialect has groups.
    pub group: Option<String>,
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// What it takes.
    pub schema: Value,
}

impl OfferedTool {
    pub(crate) fn of(tool: &Value, schema: &str) -> Option<Self> {
        Some(Self {
            group: None,
            name: tool["name"].as_str()?.to_owned(),
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            schema: tool[schema].clone(),
        })
    }

    /// Its name with the group before it.
    pub fn full_name(&self) -> String {
        match &self.group {
            Some(group) => format!("{group}{}", separated(group, &self.name)),
            None => self.name.clone(),
        }
    }

    /// Characters that it costs in a request: name, description and schema.
    pub fn chars(&self) -> usize {
        [&self.name, &self.description, &self.schema.to_string()]
            .map(|text| text.chars().count())
            .iter()
            .sum()
    }
}

/// The name after a group: groups of MCP servers end in `__` in some versions.
fn separated(group: &str, name: &str) -> String {
    if group.ends_with('_') { name.to_owned() } else { format!("__{name}") }
}

/// Who a text of a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestRole {
    /// The agent's maker and the agent: system and developer messages.
    System,
    /// The user, and what the agent adds to the user's message.
    User,
    /// The model.
    Model,
    /// A tool's result.
    Tool,
}

/// A piece of text in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestText {
    /// Who it is from.
    pub role: RequestRole,
    /// The text.
    pub text: String,
}

impl RequestText {
    pub(crate) fn new(role: RequestRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }
}

impl AgentRequest {
    /// The tools that it offers.
    pub fn tools(&self) -> Vec<OfferedTool> {
        self.dialect.tools(&self.body)
    }

    /// Its texts, in order.
    pub fn texts(&self) -> Vec<RequestText> {
        self.dialect.texts(&self.body)
    }

    /// The results of tools that it brings back.
    pub fn tool_results(&self) -> Vec<String> {
        let results = self.texts().into_iter().filter(|text| text.role == RequestRole::Tool);
        results.map(|text| text.text).collect()
    }

    /// Whether any text holds this one.
    pub fn contains(&self, text: &str) -> bool {
        self.texts().iter().any(|piece| piece.text.contains(text))
    }

    /// Characters of all its texts.
    pub fn chars(&self) -> usize {
        self.texts().iter().map(|piece| piece.text.chars().count()).sum()
    }
}
