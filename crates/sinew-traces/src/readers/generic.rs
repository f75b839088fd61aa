//! sinew's own step traces: JSON lines, or one object.
//!
//! A trace that another program exports names its task. One that hooks write while an agent works does
//! not: it has the user's messages (`user`) and ends of turns without a verdict (`end` without `ok`).

use std::fmt;
use std::io;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{RecordReader, TranscriptSource, take_text, text};
use crate::lines::LineCounts;
use crate::run::{AgentRun, RunEnding, StepAction, StepTarget};
use crate::segment::{RunSegmenter, TraceSession, TranscriptResult, TranscriptStep};

/// Reads `trace`, `step` and `end` records.
pub(super) struct GenericTraceReader {
    segments: RunSegmenter,
}

impl GenericTraceReader {
    pub(super) fn new(mut segments: RunSegmenter) -> Self {
        segments.session.agent = "generic".to_owned();
        Self { segments }
    }
}

impl RecordReader for GenericTraceReader {
    fn record(&mut self, mut record: Value) -> bool {
        match text(&record, "type") {
            "trace" => {
                let session = &mut self.segments.session;
                for (field, to) in [("agent", &mut session.agent), ("id", &mut session.id)] {
                    let given = text(&record, field);
                    if !given.is_empty() {
                        given.clone_into(to);
                    }
                }
                session.cwd = Some(text(&record, "cwd").to_owned()).filter(|cwd| !cwd.is_empty());
                if record.get("task").is_some() {
                    let task = take_text(&mut record, "task");
                    self.segments.task(task, text(&record, "startedAt"));
                }
            }
            "user" => {
                let said = take_text(&mut record, "text");
                self.segments.user(said, text(&record, "at"));
            }
            "step" => step(&mut record, &mut self.segments),
            "end" => end(&mut record, &mut self.segments),
            _ => return false,
        }
        if record.get("heldBack") == Some(&Value::Bool(true)) {
            self.segments.hold_back();
        }
        true
    }

    fn segments(&mut self) -> Vec<&mut RunSegmenter> {
        vec![&mut self.segments]
    }
}

fn step(record: &mut Value, to: &mut RunSegmenter) {
    let Some(action) = record.get_mut("action").and_then(StepAction::from_json) else { return };
    let target = record.get_mut("uiContext").map(target).unwrap_or_default();
    let failed = match text(record, "status") {
        "" => None,
        status => Some(status != "ok"),
    };
    let is_work = to.step(TranscriptStep {
        call: None,
        action,
        app: Some(take_text(record, "currentApp")),
        thought: take_text(record, "thought"),
        target,
        at: take_text(record, "startedAt"),
    });
    if is_work {
        to.last_result(TranscriptResult {
            text: take_text(record, "result"),
            failed,
            is_final: true,
        });
    }
    if record.get("interrupted") == Some(&Value::Bool(true)) {
        to.set_ending(RunEnding::Aborted);
    }
}

fn end(record: &mut Value, to: &mut RunSegmenter) {
    to.agent_message(take_text(record, "finalMessage"));
    match record.get("ok").and_then(Value::as_bool) {
        Some(true) => to.set_ending(RunEnding::Succeeded),
        Some(false) => to.set_ending(RunEnding::Failed),
        None if text(record, "type") == "end" => to.set_ending(RunEnding::Normal),
        None => {}
    }
}

/// What a step was done to, by the tree of the screen.
fn target(value: &mut Value) -> StepTarget {
    let mut text = |field: &str| {
        let mut text = take_text(value, field);
        crate::run::clip(&mut text, 2_000);
        Some(text).filter(|text| !text.is_empty())
    };
    StepTarget {
        text: text("text").or_else(|| text("label")),
        resource_id: text("resourceId"),
        content_desc: text("contentDesc"),
        class_name: text("className"),
        clickable: value.get("clickable").and_then(Value::as_bool),
        inferred: false,
    }
}

/// Whether a source starts with one JSON object that holds traces.
pub(super) fn is_object(from: &mut dyn TranscriptSource) -> bool {
    struct TraceObjectProbe;
    impl<'de> Visitor<'de> for TraceObjectProbe {
        type Value = bool;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with traces")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            let mut found = false;
            while let Some(key) = map.next_key::<String>()? {
                found |= key == "traces";
                map.next_value::<IgnoredAny>()?;
            }
            Ok(found)
        }
    }
    let mut json = serde_json::Deserializer::from_reader(from);
    serde::Deserializer::deserialize_map(&mut json, TraceObjectProbe).unwrap_or(false)
}

/// Reads one object; steps are taken in one at a time.
pub(super) fn read_object(
    from: &mut dyn TranscriptSource,
    mut session: TraceSession,
    counts: &mut LineCounts,
    sink: &mut dyn FnMut(AgentRun),
) -> io::Result<()> {
    session.agent = "generic".to_owned();
    let mut object = TraceObjectReader {
        segments: RunSegmenter::new(session),
        task: String::new(),
        end: Value::Null,
        counts,
    };
    let mut json = serde_json::Deserializer::from_reader(from);
    // Everything before the invalid JSON still counts; without an end it makes no draft.
    if serde::Deserializer::deserialize_map(&mut json, &mut object).is_err() {
        object.counts.malformed += 1;
        object.end = Value::Null;
    }
    let TraceObjectReader { mut segments, task, mut end, counts } = object;
    self::end(&mut end, &mut segments);
    segments.finish();
    counts.steps_left_out += segments.left_out;
    segments.emit_ready(&mut |mut run| {
        run.task.clone_from(&task);
        sink(run);
    });
    Ok(())
}

struct TraceObjectReader<'c> {
    segments: RunSegmenter,
    task: String,
    end: Value,
    counts: &'c mut LineCounts,
}

impl<'de> Visitor<'de> for &mut TraceObjectReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut end = serde_json::Map::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "traces" => map.next_value_seed(TraceStepsReader(self))?,
                "task" => {
                    let task: Value = map.next_value()?;
                    self.task =
                        crate::run::clip_message(task.as_str().unwrap_or_default().to_owned());
                }
                "ok" | "finalMessage" => {
                    end.insert(key, map.next_value()?);
                }
                "sessionPath" | "id" | "agent" => {
                    let value: Value = map.next_value()?;
                    let given = value.as_str().unwrap_or_default();
                    let session = &mut self.segments.session;
                    let to = if key == "agent" { &mut session.agent } else { &mut session.id };
                    if !given.is_empty() {
                        given.clone_into(to);
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        self.end = Value::Object(end);
        Ok(())
    }
}

struct TraceStepsReader<'s, 'c>(&'s mut TraceObjectReader<'c>);

impl<'de> DeserializeSeed<'de> for TraceStepsReader<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TraceStepsReader<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of steps")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut steps: A) -> Result<(), A::Error> {
        while let Some(mut record) = steps.next_element::<Value>()? {
            self.0.counts.lines += 1;
            step(&mut record, &mut self.0.segments);
        }
        Ok(())
    }
}
