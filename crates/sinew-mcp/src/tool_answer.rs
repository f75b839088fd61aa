//! A tool's answer: data for programs, a few lines for models, or an error with its next step.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};
use sinew_engine::EngineError;
use sinew_guard::Untrusted;

/// A tool's answer.
#[derive(Debug)]
pub(super) struct McpToolAnswer {
    value: Value,
    text: String,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum McpToolRefusal {
    /// The arguments are not what the tool declares.
    Invalid(String),
    /// The engine refused; the caller should read why.
    Engine(EngineError),
}

impl From<EngineError> for McpToolRefusal {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl McpToolAnswer {
    /// Data without control and invisible characters, and a few lines about it.
    pub(super) fn new(data: &impl Serialize, text: impl Into<String>) -> Self {
        let mut answer = Self::exact(data, text);
        clean(&mut answer.value);
        answer
    }

    /// Data as it is: texts of files stay what they are.
    pub(super) fn exact(data: &impl Serialize, text: impl Into<String>) -> Self {
        let value = serde_json::to_value(data).unwrap_or_else(|_| json!({}));
        Self { value, text: text.into() }
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::structured(self.value);
        result.content = vec![ContentBlock::text(self.text)];
        result
    }
}

impl McpToolRefusal {
    /// A refusal as the caller reads it, or as the protocol's own error.
    pub(super) fn into_result(self) -> Result<CallToolResult, ErrorData> {
        match self {
            Self::Invalid(message) => Err(ErrorData::invalid_params(message, None)),
            Self::Engine(error) => {
                let mut text = one_line(&error.message);
                for hint in &error.hints {
                    text.push_str(&format!("\nhint: {}", one_line(hint)));
                }
                let mut value = json!({ "error": error });
                clean(&mut value);
                let mut result = CallToolResult::structured_error(value);
                result.content = vec![ContentBlock::text(text)];
                Ok(result)
            }
        }
    }
}

/// Text from outside, on one line and with control characters escaped.
pub(super) fn one_line(text: &str) -> String {
    Untrusted::new(text).for_terminal()
}

/// Text from a skill without characters that a model reads and a person does not see.
pub(super) fn visible_text(text: &str) -> String {
    Untrusted::new(text).prompt_chars().collect()
}

/// Removes from every text the characters that a model reads and a person does not see.
pub(super) fn clean(value: &mut Value) {
    match value {
        Value::String(text) if !text.is_ascii() || text.chars().any(char::is_control) => {
            *text = visible_text(text);
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}
