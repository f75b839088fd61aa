//! OpenPocket's steps: in the entries of a tree, and in flat lines of events.

use serde_json::Value;

use super::{RecordReader, take_text, text};
use crate::run::{RunEnding, StepAction};
use crate::segment::{RunSegmenter, TranscriptResult, TranscriptStep};

/// Events of the flat form.
const EVENTS: &[&str] =
    &["session_started", "step_appended", "runtime_event_appended", "session_finalized"];

/// Whether this is an event of the flat form.
pub(super) fn is_event(name: &str) -> bool {
    EVENTS.contains(&name)
}

/// Reads the flat form.
pub(super) struct PocketEventReader {
    segments: RunSegmenter,
}

impl PocketEventReader {
    pub(super) fn new(mut segments: RunSegmenter) -> Self {
        segments.session.agent = "openpocket".to_owned();
        Self { segments }
    }
}

impl RecordReader for PocketEventReader {
    fn record(&mut self, mut record: Value) -> bool {
        let to = &mut self.segments;
        match text(&record, "event") {
            "session_started" => {
                let ids = [text(&record, "sessionId"), text(&record, "id")];
                if let Some(id) = ids.iter().find(|id| !id.is_empty()) {
                    (*id).clone_into(&mut to.session.id);
                }
                let task = take_text(&mut record, "task");
                let at = [text(&record, "at"), text(&record, "timestamp")];
                let at = at.into_iter().find(|at| !at.is_empty()).unwrap_or_default();
                to.task(task, at);
            }
            "step_appended" => {
                let action = match record.get_mut("actionJson").map(Value::take) {
                    Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or_default(),
                    Some(value) => value,
                    None => Value::Null,
                };
                let found = PocketStep {
                    action,
                    thought: take_text(&mut record, "thought"),
                    result: take_text(&mut record, "result"),
                    at: take_text(&mut record, "at"),
                    app: record.pointer("/trace/currentApp").and_then(Value::as_str),
                    status: record.pointer("/trace/status").and_then(Value::as_str),
                    kind: record.pointer("/trace/actionType").and_then(Value::as_str),
                };
                found.add_to(to);
            }
            "session_finalized" => {
                to.agent_message(take_text(&mut record, "message"));
                to.set_ending(ending_from_word(text(&record, "status")));
            }
            "runtime_event_appended" => {}
            _ => return false,
        }
        true
    }

    fn segments(&mut self) -> Vec<&mut RunSegmenter> {
        vec![&mut self.segments]
    }
}

/// The ending that a status word stands for.
pub(super) fn ending_from_word(word: &str) -> RunEnding {
    match word.to_ascii_lowercase().as_str() {
        "success" | "succeeded" | "completed" | "ok" | "done" => RunEnding::Succeeded,
        "" => RunEnding::Open,
        _ => RunEnding::Failed,
    }
}

/// A step, as one of the forms writes it.
pub(super) struct PocketStep<'f> {
    pub(super) action: Value,
    pub(super) thought: String,
    pub(super) result: String,
    pub(super) at: String,
    pub(super) app: Option<&'f str>,
    pub(super) status: Option<&'f str>,
    /// The type of the action, should its JSON be unreadable.
    pub(super) kind: Option<&'f str>,
}

impl PocketStep<'_> {
    pub(super) fn add_to(mut self, to: &mut RunSegmenter) {
        let action = StepAction::from_json(&mut self.action)
            .unwrap_or_else(|| StepAction::new(self.kind.unwrap_or("unknown")));
        let is_work = to.step(TranscriptStep {
            call: None,
            action,
            app: self.app.map(str::to_owned),
            thought: self.thought,
            at: self.at,
            ..TranscriptStep::default()
        });
        let failed = self.status.map(|status| status != "ok");
        if is_work {
            to.last_result(TranscriptResult { text: self.result, failed, is_final: true });
        }
    }
}

/// Adds the step of an `openpocket_step` entry and returns its number, so that the trace entry that
/// repeats it can be recognised.
pub(super) fn entry(data: &mut Value, at: &str, to: &mut RunSegmenter) -> Option<i64> {
    let content = take_text(data, "content");
    let details = data.get("details").unwrap_or(&Value::Null);
    let trace = details.get("trace").unwrap_or(&Value::Null);
    let number = details.get("stepNo").and_then(Value::as_i64);
    let found = PocketStep {
        action: serde_json::from_str(between(&content, "action_json:", Some("execution_result:")))
            .unwrap_or_default(),
        thought: between(&content, "thought:", Some("action_json:")).to_owned(),
        result: between(&content, "execution_result:", None).to_owned(),
        at: at.to_owned(),
        app: trace.get("currentApp").and_then(Value::as_str),
        status: trace.get("status").and_then(Value::as_str),
        kind: trace.get("actionType").and_then(Value::as_str),
    };
    found.add_to(to);
    number
}

/// The step of an `openpocket_action_trace` entry, for a file that lost the step itself.
pub(super) fn trace(data: &mut Value, at: &str, to: &mut RunSegmenter) {
    let Some(details) = data.get_mut("details") else { return };
    let (thought, result) = (take_text(details, "reasoning"), take_text(details, "result"));
    let found = PocketStep {
        action: Value::Null,
        thought,
        result,
        at: at.to_owned(),
        app: details.get("currentApp").and_then(Value::as_str),
        status: details.get("status").and_then(Value::as_str),
        kind: details.get("actionType").and_then(Value::as_str),
    };
    found.add_to(to);
}

/// The text between two labels that stand at the start of a line.
fn between<'t>(text: &'t str, from: &str, to: Option<&str>) -> &'t str {
    let line = |label: &str, from: usize| -> Option<usize> {
        let found = text[from..].match_indices(label).map(|(at, _)| from + at);
        found.into_iter().find(|&at| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))
    };
    let Some(start) = line(from, 0).map(|at| at + from.len()) else { return "" };
    let end = to.and_then(|to| line(to, start)).unwrap_or(text.len());
    text[start..end].trim()
}
