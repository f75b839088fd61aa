//! Claude Code: `~/.claude/projects/<dir>/<session>.jsonl`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::model_turn::{ToolCallWords, read_model_turn};
use super::{RecordReader, of_server, take_content, take_text, text};
use crate::run::{RunEnding, StepAction};
use crate::segment::{RunSegmenter, TranscriptResult};

/// Delegates of one session that are followed separately; further ones share one segment.
const MAX_DELEGATES: usize = 32;

/// Records that say nothing about the work.
const QUIET: &[&str] = &[
    "summary",
    "system",
    "file-history-snapshot",
    "attachment",
    "queue-operation",
    "progress",
    "ai-title",
    "custom-title",
    "last-prompt",
];

/// Prefixes of messages that the program writes in the user's name.
const MARKUP: &[&str] = &["<command-", "<local-command-", "<bash-"];

/// Written instead of a message when the user stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Tools, with the kind of action of each.
const TOOLS: &[(&str, &str)] = &[
    ("Bash", "exec"),
    ("Read", "read"),
    ("Write", "write"),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("NotebookEdit", "edit"),
    ("Grep", "search"),
    ("Glob", "search"),
    ("LS", "search"),
    ("WebFetch", "fetch"),
    ("WebSearch", "web_search"),
    ("TodoWrite", "todo_write"),
    ("AskUserQuestion", "request_user_input"),
    ("Task", "delegate"),
    ("Agent", "delegate"),
    ("Skill", "use_skill"),
];

/// Reads the records of one file; delegates have runs of their own.
pub(super) struct ClaudeCodeReader {
    main: ClaudeConversation,
    delegates: BTreeMap<String, ClaudeConversation>,
}

struct ClaudeConversation {
    segments: RunSegmenter,
    /// The text before the next call, and the message that contains it.
    thought: String,
    message: String,
}

impl ClaudeCodeReader {
    pub(super) fn new(mut segments: RunSegmenter) -> Self {
        segments.session.agent = "claude-code".to_owned();
        Self { main: ClaudeConversation::new(segments), delegates: BTreeMap::new() }
    }

    fn delegate(&mut self, record: &Value) -> &mut ClaudeConversation {
        let mut id = text(record, "agentId").to_owned();
        if self.delegates.len() >= MAX_DELEGATES && !self.delegates.contains_key(&id) {
            id.clear();
        }
        let parent = &self.main.segments.session;
        self.delegates.entry(id.clone()).or_insert_with(|| {
            let mut session = parent.clone();
            session.parent = Some(session.id.clone());
            session.id = format!("{}/{id}", session.id);
            ClaudeConversation::new(RunSegmenter::new(session))
        })
    }
}

impl RecordReader for ClaudeCodeReader {
    fn record(&mut self, mut record: Value) -> bool {
        let kind = text(&record, "type").to_owned();
        if QUIET.contains(&kind.as_str()) {
            return true;
        }
        let session = &mut self.main.segments.session;
        let id = text(&record, "sessionId");
        if !id.is_empty() {
            id.clone_into(&mut session.id);
        }
        let cwd = text(&record, "cwd");
        if !cwd.is_empty() {
            session.cwd = Some(cwd.to_owned());
        }
        let is_delegate = record.get("isSidechain") == Some(&Value::Bool(true));
        let to = if is_delegate { self.delegate(&record) } else { &mut self.main };
        match kind.as_str() {
            "user" => to.user(&mut record),
            "assistant" => to.assistant(&mut record),
            _ => return false,
        }
        true
    }

    fn segments(&mut self) -> Vec<&mut RunSegmenter> {
        let delegates = self.delegates.values_mut().map(|delegate| &mut delegate.segments);
        [&mut self.main.segments].into_iter().chain(delegates).collect()
    }
}

impl ClaudeConversation {
    fn new(segments: RunSegmenter) -> Self {
        Self { segments, thought: String::new(), message: String::new() }
    }

    fn user(&mut self, record: &mut Value) {
        let at = text(record, "timestamp").to_owned();
        let is_meta = record.get("isMeta") == Some(&Value::Bool(true));
        let outcome = record.get("toolUseResult");
        let errs = outcome.and_then(Value::as_str).is_some_and(|said| said.starts_with("Error"));
        let interrupted =
            outcome.and_then(|outcome| outcome.get("interrupted")) == Some(&Value::Bool(true));
        let Some(content) = record.pointer_mut("/message/content") else { return };
        let mut said = String::new();
        match content {
            Value::Array(blocks) => {
                for block in blocks {
                    match text(block, "type") {
                        "tool_result" => {
                            let call = take_text(block, "tool_use_id");
                            let failed = block.get("is_error") == Some(&Value::Bool(true)) || errs;
                            let text =
                                block.get_mut("content").map(take_content).unwrap_or_default();
                            let result =
                                TranscriptResult { text, failed: Some(failed), is_final: false };
                            self.segments.result(&call, result);
                        }
                        "text" => {
                            said.push_str(text(block, "text"));
                            said.push('\n');
                        }
                        _ => {}
                    }
                }
            }
            content => said = take_content(content),
        }
        let said = said.trim();
        if interrupted || said.starts_with(INTERRUPTED) {
            self.segments.set_ending(RunEnding::Aborted);
        } else if !is_meta && !MARKUP.iter().any(|start| said.starts_with(start)) {
            self.segments.user(said.to_owned(), &at);
        }
    }

    fn assistant(&mut self, record: &mut Value) {
        let at = text(record, "timestamp").to_owned();
        let Some(message) = record.get_mut("message") else { return };
        // One turn of the model may be several records with the same id.
        let id = text(message, "id");
        if id.is_empty() || id != self.message {
            self.thought.clear();
            id.clone_into(&mut self.message);
        }
        let ends = matches!(text(message, "stop_reason"), "end_turn" | "stop_sequence");
        let calls = ToolCallWords { kind: "tool_use", input: "input" };
        let said =
            read_model_turn(&mut self.segments, message, &calls, action, &mut self.thought, &at);
        self.segments.agent_message(said);
        if ends {
            self.segments.set_ending(RunEnding::Normal);
        }
    }
}

pub(super) fn action(name: &str, mut input: Value) -> StepAction {
    if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"))
    {
        return of_server(server, tool, &input);
    }
    let known = TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, kind)| *kind);
    let action = StepAction::new(known.map_or_else(|| snake_case(name), str::to_owned));
    match action.kind.as_str() {
        "exec" => action.with("command", take_text(&mut input, "command")),
        "read" | "write" | "edit" => {
            let path = ["file_path", "notebook_path", "absolute_path", "path"]
                .iter()
                .map(|field| take_text(&mut input, field))
                .find(|path| !path.is_empty());
            action.with("path", path.unwrap_or_default())
        }
        _ => action,
    }
}

/// `KillShell` is `kill_shell`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars().take(100) {
        if c.is_uppercase() && after_lower {
            snake.push('_');
        }
        after_lower = c.is_lowercase() || c.is_ascii_digit();
        match c {
            c if c.is_alphanumeric() || matches!(c, '_' | '.') => snake.extend(c.to_lowercase()),
            _ => snake.push('_'),
        }
    }
    snake
}
