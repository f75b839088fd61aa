//! A tool's answer: data for programs, a few lines for models, or an error with its next step.
//!
//! Hosts differ in what they hand to their model: Claude Code and Codex the data alone, others the text
//! alone, some both. So each says enough by itself, and both together stay short.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};
use sinew_engine::EngineError;
use sinew_guard::Untrusted;
use sinew_settings::ErrorCode;

/// A tool's answer.
#[derive(Debug)]
pub(super) struct McpToolAnswer {
    /// The data; none where the text is all there is.
    value: Option<Value>,
    blocks: Vec<ContentBlock>,
}

impl McpToolAnswer {
    /// Data without control and invisible characters, and a few lines about it.
    pub(super) fn new(data: &impl Serialize, text: impl Into<String>) -> Self {
        let mut value = serde_json::to_value(data).unwrap_or_else(|_| json!({}));
        clean(&mut value);
        Self::of_value(value, text)
    }

    /// Data as it is: what a model wrote stays what it is.
    pub(super) fn exact(data: &impl Serialize, text: impl Into<String>) -> Self {
        let value = serde_json::to_value(data).unwrap_or_else(|_| json!({}));
        Self::of_value(value, text)
    }

    fn of_value(value: Value, text: impl Into<String>) -> Self {
        Self { value: Some(value), blocks: vec![ContentBlock::text(text.into())] }
    }

    /// Content alone. A host that prefers data to text would withhold the text of a skill.
    pub(super) fn content(blocks: Vec<ContentBlock>) -> Self {
        Self { value: None, blocks }
    }

    /// The answer as a client of this revision reads it: before data had a place of its own, it was
    /// text.
    pub(super) fn into_result(self, data: StructuredContent) -> CallToolResult {
        let mut result = CallToolResult::success(self.blocks);
        match (self.value, data) {
            (Some(value), StructuredContent::Known) => result.structured_content = Some(value),
            (Some(value), StructuredContent::Unknown) => {
                result.content.push(ContentBlock::text(value.to_string()));
            }
            (None, _) => {}
        }
        result
    }
}

/// Whether the revision that a client speaks knows structured content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StructuredContent {
    /// It does.
    Known,
    /// It is older.
    Unknown,
}

/// Arguments that are not what the tool declares.
pub(super) fn bad_argument(message: impl Into<String>) -> EngineError {
    EngineError::new(ErrorCode::BadParameter, message)
}

/// A refusal as the model reads it, so that it can do better: never an error of the protocol, which
/// hosts keep to themselves.
pub(super) fn refusal(error: &EngineError) -> CallToolResult {
    let mut text = one_line(&error.message);
    for hint in &error.hints {
        text.push_str(&format!("\nhint: {}", one_line(hint)));
    }
    let mut value = json!({ "error": error });
    clean(&mut value);
    let mut result = CallToolResult::structured_error(value);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// Text from outside, on one line and with control characters escaped.
pub(super) fn one_line(text: &str) -> String {
    Untrusted::new(text).for_terminal()
}

/// The same, cut to so many characters.
pub(super) fn short_line(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
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
