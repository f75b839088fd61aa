//! OpenPocket's steps: in the entries of a tree, and in flat lines of events.

use serde_json::Value;

use super::{Records, take_text, text};
use crate::traces::run::{Action, Ending};
use crate::traces::segment::{NewResult, NewStep, Segments};

/// Events of the flat form.
const EVENTS: &[&str] =
    &["session_started", "step_appended", "runtime_event_appended", "session_finalized"];

/// Whether this is an event of the flat form.
pub(super) fn is_event(name: &str) -> bool {
    EVENTS.contains(&name)
}

/// Reads the flat form.
pub(super) struct Flat {
    segments: Segments,
}

impl Flat {
    pub(super) fn new(mut segments: Segments) -> Self {
        segments.session.agent = "openpocket".to_owned();
        Self { segments }
    }
}

impl Records for Flat {
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
                let found = Found {
                    action,
                    thought: take_text(&mut record, "thought"),
                    result: take_text(&mut record, "result"),
                    at: take_text(&mut record, "at"),
                    app: record.pointer("/trace/currentApp").and_then(Value::as_str),
                    status: record.pointer("/trace/status").and_then(Value::as_str),
                    kind: record.pointer("/trace/actionType").and_then(Value::as_str),
                };
                found.hand_to(to);
            }
            "session_finalized" => {
                to.agent_said(take_text(&mut record, "message"));
                to.ended(stated(text(&record, "status")));
            }
            "runtime_event_appended" => {}
            _ => return false,
        }
        true
    }

    fn segments(&mut self) -> Vec<&mut Segments> {
        vec![&mut self.segments]
    }
}

/// What a word says about the end of a session.
pub(super) fn stated(word: &str) -> Ending {
    match word.to_ascii_lowercase().as_str() {
        "success" | "succeeded" | "completed" | "ok" | "done" => Ending::Succeeded,
        "" => Ending::Open,
        _ => Ending::Failed,
    }
}

/// A step, as one of the forms writes it.
pub(super) struct Found<'f> {
    pub(super) action: Value,
    pub(super) thought: String,
    pub(super) result: String,
    pub(super) at: String,
    pub(super) app: Option<&'f str>,
    pub(super) status: Option<&'f str>,
    /// The type of the action, should its JSON be unreadable.
    pub(super) kind: Option<&'f str>,
}

impl Found<'_> {
    pub(super) fn hand_to(mut self, to: &mut Segments) {
        let action = Action::from_json(&mut self.action)
            .unwrap_or_else(|| Action::new(self.kind.unwrap_or("unknown")));
        let is_work = to.step(NewStep {
            call: None,
            action,
            app: self.app.map(str::to_owned),
            thought: self.thought,
            at: self.at,
            ..NewStep::default()
        });
        let failed = self.status.map(|status| status != "ok");
        if is_work {
            to.last_result(NewResult { text: self.result, failed, is_final: true });
        }
    }
}

/// The step of an `openpocket_step` entry; its number comes back, so that the trace that repeats it
/// is told apart.
pub(super) fn entry(data: &mut Value, at: &str, to: &mut Segments) -> Option<i64> {
    let content = take_text(data, "content");
    let details = data.get("details").unwrap_or(&Value::Null);
    let trace = details.get("trace").unwrap_or(&Value::Null);
    let number = details.get("stepNo").and_then(Value::as_i64);
    let found = Found {
        action: serde_json::from_str(between(&content, "action_json:", Some("execution_result:")))
            .unwrap_or_default(),
        thought: between(&content, "thought:", Some("action_json:")).to_owned(),
        result: between(&content, "execution_result:", None).to_owned(),
        at: at.to_owned(),
        app: trace.get("currentApp").and_then(Value::as_str),
        status: trace.get("status").and_then(Value::as_str),
        kind: trace.get("actionType").and_then(Value::as_str),
    };
    found.hand_to(to);
    number
}

/// The step of an `openpocket_action_trace` entry, for a file that lost the step itself.
pub(super) fn trace(data: &mut Value, at: &str, to: &mut Segments) {
    let Some(details) = data.get_mut("details") else { return };
    let (thought, result) = (take_text(details, "reasoning"), take_text(details, "result"));
    let found = Found {
        action: Value::Null,
        thought,
        result,
        at: at.to_owned(),
        app: details.get("currentApp").and_then(Value::as_str),
        status: details.get("status").and_then(Value::as_str),
        kind: details.get("actionType").and_then(Value::as_str),
    };
    found.hand_to(to);
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
