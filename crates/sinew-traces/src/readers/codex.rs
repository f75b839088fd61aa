//! Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

use serde_json::Value;

use super::{RecordReader, of_server, take_content, take_text, text};
use crate::program::command_text;
use crate::run::{RunEnding, StepAction};
use crate::segment::{RunSegmenter, TranscriptResult, TranscriptStep};

/// Reads the records of one rollout.
pub(super) struct CodexReader {
    segments: RunSegmenter,
    /// The last summary of what the model thought.
    thought: String,
}

impl CodexReader {
    pub(super) fn new(mut segments: RunSegmenter) -> Self {
        segments.session.agent = "codex".to_owned();
        Self { segments, thought: String::new() }
    }

    fn item(&mut self, payload: &mut Value, at: String) {
        match text(payload, "type") {
            "message" => {
                let role = text(payload, "role").to_owned();
                let said = payload.get_mut("content").map(take_content).unwrap_or_default();
                match role.as_str() {
                    "user" if !is_scaffolding(&said) => self.segments.user(said, &at),
                    "assistant" => self.segments.agent_message(said),
                    _ => {}
                }
            }
            "reasoning" => {
                self.thought = payload.get_mut("summary").map(take_content).unwrap_or_default();
            }
            "function_call" => {
                let name = take_text(payload, "name");
                let arguments = match payload.get_mut("arguments").map(Value::take) {
                    Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
                    Some(value) => value,
                    None => Value::Null,
                };
                self.call(payload, &name, &arguments, at);
            }
            "local_shell_call" => {
                let action = payload.get_mut("action").map(Value::take).unwrap_or_default();
                self.call(payload, "local_shell_call", &action, at);
            }
            "custom_tool_call" => {
                let name = take_text(payload, "name");
                let input = payload.get_mut("input").map(Value::take).unwrap_or_default();
                self.call(payload, &name, &input, at);
            }
            "web_search_call" => self.call(payload, "web_search", &Value::Null, at),
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let call = take_text(payload, "call_id");
                let (text, failed) = output(payload);
                self.segments.result(&call, TranscriptResult { text, failed, is_final: false });
            }
            _ => {}
        }
    }

    fn call(&mut self, payload: &mut Value, name: &str, input: &Value, at: String) {
        let call = ["call_id", "id"].iter().map(|field| take_text(payload, field));
        let call = call.into_iter().find(|id| !id.is_empty());
        let thought = std::mem::take(&mut self.thought);
        let thought = thought.trim().trim_matches('*').to_owned();
        let action = action(name, input);
        self.segments.step(TranscriptStep {
            call,
            action,
            thought,
            at,
            ..TranscriptStep::default()
        });
    }

    fn event(&mut self, payload: &mut Value) {
        match text(payload, "type") {
            "exec_command_end" => {
                let call = take_text(payload, "call_id");
                let failed = payload.get("exit_code").and_then(Value::as_i64).map(|code| code != 0);
                let text = take_text(payload, "aggregated_output");
                self.segments.result(&call, TranscriptResult { text, failed, is_final: true });
            }
            "task_complete" => {
                let said = take_text(payload, "last_agent_message");
                self.segments.agent_message(said);
                self.segments.set_ending(RunEnding::Completed);
            }
            "turn_aborted" => self.segments.set_ending(RunEnding::Aborted),
            _ => {}
        }
    }
}

impl RecordReader for CodexReader {
    fn record(&mut self, mut record: Value) -> bool {
        let at = text(&record, "timestamp").to_owned();
        let kind = text(&record, "type").to_owned();
        let Some(payload) = record.get_mut("payload") else { return false };
        match kind.as_str() {
            "session_meta" => {
                let ids = [text(payload, "id"), text(payload, "session_id")];
                if let Some(id) = ids.iter().find(|id| !id.is_empty()) {
                    (*id).clone_into(&mut self.segments.session.id);
                }
                self.working_folder(payload);
            }
            "turn_context" => self.working_folder(payload),
            "response_item" => self.item(payload, at),
            "event_msg" => self.event(payload),
            "compacted" => {}
            _ => return false,
        }
        true
    }

    fn segments(&mut self) -> Vec<&mut RunSegmenter> {
        vec![&mut self.segments]
    }
}

impl CodexReader {
    fn working_folder(&mut self, payload: &Value) {
        let cwd = text(payload, "cwd");
        if !cwd.is_empty() {
            self.segments.session.cwd = Some(cwd.to_owned());
        }
    }
}

pub(super) fn action(name: &str, input: &Value) -> StepAction {
    match name {
        "exec_command" | "shell" | "shell_command" | "local_shell_call" | "Bash" => {
            let command = ["cmd", "command"].iter().find_map(|field| input.get(field));
            let command = command.and_then(command_text).unwrap_or_default();
            StepAction::new("exec").with("command", command)
        }
        "apply_patch" => {
            let patch = input.as_str().or_else(|| input.get("input")?.as_str()).unwrap_or_default();
            StepAction::new("apply_patch").with("path", patched_file(patch))
        }
        "update_plan" => StepAction::new("todo_write"),
        name => match name.split_once("__") {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                let server = server.strip_prefix("mcp_").unwrap_or(server);
                of_server(server, tool, input)
            }
            _ => StepAction::new(super::claude_code::snake_case(name)),
        },
    }
}

/// The first file that a patch names.
fn patched_file(patch: &str) -> &str {
    let named = |line: &'_ str| -> Option<std::ops::Range<usize>> {
        let rest = ["Update", "Add", "Delete"]
            .iter()
            .find_map(|what| line.strip_prefix(&format!("*** {what} File: ")))?;
        Some(line.len() - rest.len()..line.len())
    };
    patch.lines().find_map(|line| named(line).map(|range| line[range].trim())).unwrap_or_default()
}

/// The text of an output, which is a text, or JSON in one with what the program said and how it
/// ended.
fn output(payload: &mut Value) -> (String, Option<bool>) {
    let Some(output) = payload.get_mut("output") else { return (String::new(), None) };
    if let Value::Object(fields) = output {
        let failed = fields.get("success").and_then(Value::as_bool).map(|success| !success);
        let text = fields.get_mut("content").map(take_content).unwrap_or_default();
        return (text, failed);
    }
    let text = take_content(output);
    let looks = text.starts_with('{') && text.contains("\"exit_code\"");
    let wrapped = looks.then(|| serde_json::from_str::<Value>(&text).ok()).flatten();
    match wrapped {
        Some(mut wrapped) => {
            let code = wrapped.pointer("/metadata/exit_code").and_then(Value::as_i64);
            let said = take_text(&mut wrapped, "output");
            (said, code.map(|code| code != 0))
        }
        None => (text, None),
    }
}

/// Whether a message is wholly one block that the program wrote in the user's name.
fn is_scaffolding(said: &str) -> bool {
    let said = said.trim();
    let Some(rest) = said.strip_prefix('<') else {
        return said.starts_with("# AGENTS.md instructions");
    };
    let Some((opening, _)) = rest.split_once('>') else { return false };
    let name = opening.split(char::is_whitespace).next().unwrap_or_default();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_name && (said.ends_with(&format!("</{name}>")) || said.ends_with(&format!("</{opening}>")))
}
