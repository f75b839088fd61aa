//! Finished runs become drafts.

mod drafts;
mod fingerprints;
mod merging;
mod reading;
mod replay;
mod samples;
mod secrets;
mod seeds;

use std::io::Cursor;

use serde_json::{Value, json};
use sinew_catalog::Config;
use sinew_workshop::LearnResult;
use sinew_workshop::traces::{
    self, AgentRun, LineCounts, PrivateNames, TraceSettings, TranscriptOptions,
};

use crate::bench::Bench;

/// The runs of a transcript, and what was met in it.
pub(crate) fn read(transcript: &[u8]) -> (Vec<AgentRun>, LineCounts) {
    let reading = TranscriptOptions { agent: None, name: "here", progress: &|_| {} };
    let mut runs = Vec::new();
    let read = traces::read(&mut Cursor::new(transcript), &reading, &mut |run| runs.push(run));
    let (_, counts) = read.expect("a transcript");
    (runs, counts)
}

/// Learns from a transcript under a configuration.
pub(crate) fn learn_under(bench: &Bench, config: Value, transcript: &str) -> Vec<LearnResult> {
    let settings = TraceSettings::of(&Config::from_tree(config).0);
    let private = PrivateNames { homes: vec!["/home/robin".to_owned()], hosts: Vec::new() };
    let (runs, _) = read(transcript.as_bytes());
    let learn = |run| bench.shop(|shop| shop.learn(run, &settings, &private));
    runs.into_iter().map(|run| learn(run).expect("the store works")).collect()
}

/// Learns from a transcript.
pub(crate) fn learn(bench: &Bench, transcript: &str) -> Vec<LearnResult> {
    learn_under(bench, json!({}), transcript)
}

/// A generic trace of a run that succeeded.
pub(crate) struct Told {
    task: String,
    session: String,
    ok: bool,
    message: String,
    steps: Vec<Value>,
}

pub(crate) fn told(task: &str) -> Told {
    Told {
        task: task.to_owned(),
        session: format!("session of {task}"),
        ok: true,
        message: "Done.".to_owned(),
        steps: Vec::new(),
    }
}

impl Told {
    pub(crate) fn session(mut self, id: &str) -> Self {
        id.clone_into(&mut self.session);
        self
    }

    pub(crate) fn failed(mut self) -> Self {
        self.ok = false;
        self
    }

    pub(crate) fn saying(mut self, message: &str) -> Self {
        message.clone_into(&mut self.message);
        self
    }

    /// With a step: its action, what came back, and what it was done to.
    pub(crate) fn step_with(mut self, action: Value, result: &str, ui: Value) -> Self {
        let app = match action["type"].as_str() {
            Some("exec") => String::new(),
            _ => "com.example.app".to_owned(),
        };
        self.steps.push(json!({
            "type": "step", "step": self.steps.len() + 1, "currentApp": app, "action": action,
            "result": result, "status": "ok", "uiContext": ui,
        }));
        self
    }

    pub(crate) fn step(self, action: Value) -> Self {
        self.step_with(action, "", Value::Null)
    }

    pub(crate) fn exec(self, command: &str) -> Self {
        self.step(json!({"type": "exec", "command": command}))
    }

    /// The trace as JSON lines.
    pub(crate) fn lines(&self) -> String {
        let head = json!({
            "type": "trace", "version": 1, "id": self.session, "agent": "tester",
            "task": self.task, "startedAt": "2026-11-01T10:00:00.000Z",
        });
        let end = json!({"type": "end", "ok": self.ok, "finalMessage": self.message});
        let records = [head].into_iter().chain(self.steps.iter().cloned()).chain([end]);
        records.map(|record| format!("{record}\n")).collect()
    }

    /// The trace as one object.
    pub(crate) fn object(&self) -> String {
        serde_json::to_string_pretty(&json!({
            "task": self.task, "sessionPath": self.session, "ok": self.ok,
            "finalMessage": self.message, "traces": self.steps,
        }))
        .expect("JSON")
    }
}
