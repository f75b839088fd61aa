//! What the model does: a list of steps, one for each answer of a conversation.

use serde_json::Value;

use crate::agent_request::{ModelReply, OfferedTool};

/// One answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStep {
    /// It says something, and its turn is over.
    Text(String),
    /// It calls a tool.
    Tool {
        /// How the tool's name ends: agents put the server's name before it.
        name: String,
        /// What it is called with.
        arguments: Value,
    },
}

/// The answers of a conversation. After the last one, the last one is repeated as text.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelScript {
    calls: Vec<(String, Value)>,
    last_words: String,
}

/// What the script comes to for one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ScriptedAnswer {
    Text(String),
    Call { tool: OfferedTool, arguments: Value },
    Missing { wanted: String, text: String },
}

impl ModelScript {
    /// A model that only says this.
    pub fn text(words: &str) -> Self {
        Self { calls: Vec::new(), last_words: words.to_owned() }
    }

    /// The same after a call of one more tool, whose name ends like this.
    #[must_use]
    pub fn calling(mut self, tool: &str, arguments: Value) -> Self {
        self.calls.push((tool.to_owned(), arguments));
        self
    }

    /// The steps.
    pub fn steps(&self) -> Vec<ModelStep> {
        let calls = self.calls.iter().map(|(name, arguments)| ModelStep::Tool {
            name: name.clone(),
            arguments: arguments.clone(),
        });
        calls.chain([ModelStep::Text(self.last_words.clone())]).collect()
    }

    /// The answer to a request that offers these tools and brings back this many results. A request
    /// without tools is one of the agent's own, for a title say, and is answered with text.
    pub(crate) fn answer(&self, tools: &[OfferedTool], results: usize) -> ScriptedAnswer {
        let call = self.calls.get(results).filter(|_| !tools.is_empty());
        let Some((wanted, arguments)) = call else {
            return ScriptedAnswer::Text(self.last_words.clone());
        };
        let exact = tools.iter().find(|tool| tool.name == *wanted);
        match exact.or_else(|| tools.iter().find(|tool| tool.name.ends_with(wanted.as_str()))) {
            Some(tool) => ScriptedAnswer::Call { tool: tool.clone(), arguments: arguments.clone() },
            None => ScriptedAnswer::Missing {
                wanted: wanted.clone(),
                text: format!("The tool {wanted} is not offered. {}", self.last_words),
            },
        }
    }
}

impl ScriptedAnswer {
    /// The answer as it is recorded.
    pub(crate) fn reply(&self) -> ModelReply {
        match self {
            Self::Text(_) => ModelReply::Text,
            Self::Call { tool, .. } => ModelReply::ToolCall { tool: tool.full_name() },
            Self::Missing { wanted, .. } => ModelReply::ToolMissing { wanted: wanted.clone() },
        }
    }

    /// The text, or the call.
    pub(crate) fn parts(&self) -> Result<(&OfferedTool, &Value), &str> {
        match self {
            Self::Text(text) | Self::Missing { text, .. } => Err(text),
            Self::Call { tool, arguments } => Ok((tool, arguments)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> OfferedTool {
        OfferedTool {
            group: None,
            name: name.to_owned(),
            description: String::new(),
            schema: Value::Null,
        }
    }

    fn reply(names: &[&str], results: usize) -> ModelReply {
        let script =
            ModelScript::text("done").calling("find", json!({})).calling("read", json!({}));
        let tools: Vec<OfferedTool> = names.iter().map(|name| tool(name)).collect();
        script.answer(&tools, results).reply()
    }

    #[test]
    fn steps_follow_the_results_that_come_back() {
        let call = |tool: &str| ModelReply::ToolCall { tool: tool.to_owned() };
        assert_eq!(reply(&["a", "mcp__s__find", "read"], 0), call("mcp__s__find"));
        assert_eq!(reply(&["a", "mcp__s__find", "read"], 1), call("read"));
        assert_eq!(reply(&["a", "find", "read"], 2), ModelReply::Text);
        assert_eq!(reply(&["a"], 0), ModelReply::ToolMissing { wanted: "find".to_owned() });
        // A title for the session needs no tool.
        assert_eq!(reply(&[], 0), ModelReply::Text);
        // The whole name counts before one that only ends like it.
        assert_eq!(reply(&["mcp__s__find", "find"], 0), call("find"));
    }
}
