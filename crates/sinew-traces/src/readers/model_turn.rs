//! A turn of the model in blocks: what it thought, what it said, which tools it called.
//!
//! Claude Code and the session trees of OpenClaw write the same blocks under other names.

use serde_json::Value;

use super::{take_text, text};
use crate::run::StepAction;
use crate::segment::{RunSegmenter, TranscriptStep};

/// How a format names a tool's call.
pub(super) struct ToolCallWords {
    /// The block's type.
    pub(super) kind: &'static str,
    /// Its field of arguments.
    pub(super) input: &'static str,
}

/// Adds the calls of a turn to the run and returns what the model said last. `thought` is what
/// stood before a call, and stays for the next record of the same turn.
pub(super) fn read_model_turn(
    segments: &mut RunSegmenter,
    message: &mut Value,
    words: &ToolCallWords,
    action: fn(&str, Value) -> StepAction,
    thought: &mut String,
    at: &str,
) -> String {
    let mut said = String::new();
    let Some(Value::Array(blocks)) = message.get_mut("content") else { return said };
    for block in blocks {
        match text(block, "type") {
            "text" => {
                said = take_text(block, "text");
                said.clone_into(thought);
            }
            "thinking" => *thought = take_text(block, "thinking"),
            kind if kind == words.kind => {
                let call = take_text(block, "id");
                let name = take_text(block, "name");
                let input = block.get_mut(words.input).map(Value::take).unwrap_or_default();
                segments.step(TranscriptStep {
                    call: Some(call),
                    action: action(&name, input),
                    thought: thought.clone(),
                    at: at.to_owned(),
                    ..TranscriptStep::default()
                });
            }
            _ => {}
        }
    }
    said
}
