//! Session trees of OpenClaw, pi and OpenPocket: entries with parents, of which one branch counts.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, SeekFrom};

use serde::Deserialize;
use serde_json::Value;

use super::model_turn::{ToolCallWords, read_model_turn};
use super::{
    TraceAgent, TranscriptOptions, TranscriptSource, each_record, of_server, openpocket,
    take_content, take_text, text,
};
use crate::lines::{self, LineCounts, LineRead};
use crate::program::command_text;
use crate::run::{AgentRun, RunEnding, StepAction};
use crate::segment::{RunSegmenter, TraceSession, TranscriptResult, TranscriptStep};

/// Entries of a tree; a session of 64 MiB has fewer.
const MAX_ENTRIES: usize = 1_000_000;

/// Entries that say nothing about the work.
const QUIET: &[&str] = &[
    "session",
    "model_change",
    "thinking_level_change",
    "custom_message",
    "compaction",
    "reset",
    "branch_summary",
    "label",
    "session_info",
];

/// What the first pass needs of an entry.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionTreeLink<'l> {
    #[serde(borrow, default)]
    id: Option<std::borrow::Cow<'l, str>>,
    #[serde(borrow, default)]
    parent_id: Option<std::borrow::Cow<'l, str>>,
    #[serde(borrow, default)]
    custom_type: Option<std::borrow::Cow<'l, str>>,
}

/// The entries of the branch that ends with the last entry, by the hashes of their ids.
struct SessionTreeBranch {
    active: HashSet<u64>,
    /// Steps that are written in full, so that what repeats them does not count.
    is_pocket: bool,
}

/// Reads a tree in two passes: the branch, then its entries.
pub(super) fn read(
    from: &mut dyn TranscriptSource,
    reading: &TranscriptOptions<'_>,
    session: TraceSession,
    counts: &mut LineCounts,
    sink: &mut dyn FnMut(AgentRun),
) -> io::Result<TraceAgent> {
    let branch = branch(from)?;
    from.seek(SeekFrom::Start(0))?;
    let agent = if branch.is_pocket { TraceAgent::Openpocket } else { TraceAgent::Openclaw };
    let mut segments = RunSegmenter::new(session);
    agent.as_str().clone_into(&mut segments.session.agent);
    let mut tree = SessionTreeReader { segments, steps: HashSet::new(), thought: String::new() };
    each_record(from, counts, reading.progress, |record, counts| {
        let id = text(&record, "id");
        if text(&record, "type") == "session" || branch.active.contains(&hash(id)) {
            counts.unknown += u64::from(!tree.entry(record));
            tree.segments.emit_ready(sink);
        }
    })?;
    tree.segments.finish();
    tree.segments.emit_ready(sink);
    counts.steps_left_out += tree.segments.left_out;
    Ok(agent)
}

fn branch(from: &mut dyn TranscriptSource) -> io::Result<SessionTreeBranch> {
    let mut parents: HashMap<u64, u64> = HashMap::new();
    let mut last = None;
    let mut is_pocket = false;
    let mut line = Vec::new();
    loop {
        match lines::next(from, &mut line)? {
            LineRead::End => break,
            LineRead::TooLong => continue,
            LineRead::Here => {}
        }
        let Ok(link) = serde_json::from_slice::<SessionTreeLink<'_>>(&line) else { continue };
        is_pocket |= link.custom_type.is_some_and(|kind| kind.starts_with("openpocket_"));
        let Some(id) = link.id else { continue };
        if parents.len() < MAX_ENTRIES {
            let parent = link.parent_id.as_deref().map_or(0, hash);
            parents.insert(hash(&id), parent);
            last = Some(hash(&id));
        }
    }
    let mut active = HashSet::new();
    while let Some(id) = last {
        // An entry that is its own ancestor ends the walk.
        if !active.insert(id) {
            break;
        }
        last = parents.get(&id).copied().filter(|parent| *parent != 0);
    }
    Ok(SessionTreeBranch { active, is_pocket })
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish().max(1)
}

struct SessionTreeReader {
    segments: RunSegmenter,
    /// Numbers of OpenPocket's steps since the last task.
    steps: HashSet<i64>,
    thought: String,
}

impl SessionTreeReader {
    /// Reads an entry of the active branch; returns whether its type is known.
    fn entry(&mut self, mut entry: Value) -> bool {
        let at = text(&entry, "timestamp").to_owned();
        match text(&entry, "type") {
            "session" => {
                let session = &mut self.segments.session;
                session.id = take_text(&mut entry, "id");
                session.parent =
                    Some(take_text(&mut entry, "parentSession")).filter(|id| !id.is_empty());
                session.cwd = Some(take_text(&mut entry, "cwd")).filter(|cwd| !cwd.is_empty());
            }
            "message" => {
                if let Some(message) = entry.get_mut("message") {
                    self.message(message, &at);
                }
            }
            "custom" => {
                let kind = take_text(&mut entry, "customType");
                if let Some(data) = entry.get_mut("data") {
                    self.custom(&kind, data, &at);
                }
            }
            kind => return QUIET.contains(&kind),
        }
        true
    }

    fn custom(&mut self, kind: &str, data: &mut Value, at: &str) {
        match kind {
            "openpocket_step" => {
                let number = openpocket::entry(data, at, &mut self.segments);
                self.steps.extend(number);
            }
            "openpocket_action_trace" => {
                let number = data.pointer("/details/stepNo").and_then(Value::as_i64);
                let is_new = number.is_none_or(|number| self.steps.insert(number));
                if is_new {
                    openpocket::trace(data, at, &mut self.segments);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &mut Value, at: &str) {
        match text(message, "role") {
            "user" => {
                let said = message.get_mut("content").map(take_content).unwrap_or_default();
                self.steps.clear();
                self.segments.user(said, at);
            }
            "assistant" => self.assistant(message, at),
            "toolResult" => {
                let call = take_text(message, "toolCallId");
                let code = message.pointer("/details/exitCode").and_then(Value::as_i64);
                let failed = message.get("isError") == Some(&Value::Bool(true))
                    || code.is_some_and(|code| code != 0);
                let text = message.get_mut("content").map(take_content).unwrap_or_default();
                let result = TranscriptResult { text, failed: Some(failed), is_final: true };
                self.segments.result(&call, result);
            }
            "bashExecution" => {
                let action = StepAction::new("exec").with("command", take_text(message, "command"));
                self.segments.step(TranscriptStep {
                    action,
                    at: at.to_owned(),
                    ..TranscriptStep::default()
                });
                let code = message.get("exitCode").and_then(Value::as_i64);
                let text = take_text(message, "output");
                let failed = code.map(|code| code != 0);
                self.segments.last_result(TranscriptResult { text, failed, is_final: true });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, message: &mut Value, at: &str) {
        let ending = match text(message, "stopReason") {
            "stop" if text(message, "model") == "session-task-outcome" => {
                Some(RunEnding::Succeeded)
            }
            "error" if text(message, "model") == "session-task-outcome" => Some(RunEnding::Failed),
            "stop" => Some(RunEnding::Normal),
            "aborted" | "error" => Some(RunEnding::Aborted),
            _ => None,
        };
        // OpenPocket opens each session with a message of its own.
        let is_bootstrap = text(message, "model") == "session-bootstrap";
        self.thought.clear();
        let calls = ToolCallWords { kind: "toolCall", input: "arguments" };
        let said =
            read_model_turn(&mut self.segments, message, &calls, action, &mut self.thought, at);
        if is_bootstrap {
            return;
        }
        self.segments.agent_message(said);
        if let Some(ending) = ending {
            self.segments.set_ending(ending);
        }
    }
}

fn action(name: &str, mut input: Value) -> StepAction {
    match name {
        "exec" | "bash" => {
            let command = input.get("command").and_then(command_text).unwrap_or_default();
            StepAction::new("exec").with("command", command)
        }
        "read" | "write" | "edit" | "apply_patch" => {
            let path = ["path", "file_path"]
                .iter()
                .map(|field| take_text(&mut input, field))
                .find(|path| !path.is_empty());
            StepAction::new(name).with("path", path.unwrap_or_default())
        }
        name => match name.split_once("__") {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                of_server(server, tool, &input)
            }
            _ => of_server("openclaw", &super::claude_code::snake_case(name), &input),
        },
    }
}
