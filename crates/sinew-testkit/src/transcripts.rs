//! Transcripts that tests make up: traces in the generic format, and sessions of Claude Code.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// A generic trace of a run that succeeded.
#[derive(Debug, Clone)]
pub struct GenericTrace {
    task: String,
    session: String,
    ok: bool,
    message: String,
    steps: Vec<Value>,
}

/// A generic trace of this task, without steps yet.
pub fn generic_trace(task: &str) -> GenericTrace {
    GenericTrace {
        task: task.to_owned(),
        session: format!("session of {task}"),
        ok: true,
        message: "Done.".to_owned(),
        steps: Vec::new(),
    }
}

impl GenericTrace {
    /// Of another session.
    #[must_use]
    pub fn session(mut self, id: &str) -> Self {
        id.clone_into(&mut self.session);
        self
    }

    /// A run that failed.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.ok = false;
        self
    }

    /// With another last message.
    #[must_use]
    pub fn saying(mut self, message: &str) -> Self {
        message.clone_into(&mut self.message);
        self
    }

    /// With a step: its action, what came back, and what it was done to.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "callers write the values with `json!`")]
    pub fn step_with(mut self, action: Value, result: &str, ui: Value) -> Self {
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

    /// With a step of which nothing came back.
    #[must_use]
    pub fn step(self, action: Value) -> Self {
        self.step_with(action, "", Value::Null)
    }

    /// With a command.
    #[must_use]
    pub fn exec(self, command: &str) -> Self {
        self.step(json!({"type": "exec", "command": command}))
    }

    /// The trace as JSON lines.
    pub fn lines(&self) -> String {
        let head = json!({
            "type": "trace", "version": 1, "id": self.session, "agent": "tester",
            "task": self.task, "startedAt": "2026-11-01T10:00:00.000Z",
        });
        let end = json!({"type": "end", "ok": self.ok, "finalMessage": self.message});
        let records = [head].into_iter().chain(self.steps.iter().cloned()).chain([end]);
        records.map(|record| format!("{record}\n")).collect()
    }

    /// The trace as one object.
    pub fn object(&self) -> String {
        serde_json::to_string_pretty(&json!({
            "task": self.task, "sessionPath": self.session, "ok": self.ok,
            "finalMessage": self.message, "traces": self.steps,
        }))
        .expect("JSON")
    }
}

/// A session of Claude Code: what the user says, and what the agent runs for it.
pub fn claude_code_session(turns: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    let mut number = 0;
    let mut record = |kind: &str, message: Value| {
        number += 1;
        let at = format!("2026-10-02T09:{:02}:{:02}.000Z", number / 60, number % 60);
        let record = json!({
            "type": kind, "uuid": number.to_string(), "sessionId": "s", "cwd": "/home/robin/x",
            "timestamp": at, "isSidechain": false, "message": message,
        });
        let _ = writeln!(text, "{record}");
    };
    for (said, commands) in turns {
        record("user", json!({"role": "user", "content": said}));
        for (at, command) in commands.iter().enumerate() {
            let id = format!("{said}{at}");
            let call = json!({"type": "tool_use", "id": id, "name": "Bash",
                "input": {"command": command}});
            record("assistant", json!({"id": id, "stop_reason": "tool_use", "content": [call]}));
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": "fine"});
            record("user", json!({"role": "user", "content": [result]}));
        }
        let said = json!([{"type": "text", "text": "Done."}]);
        record("assistant", json!({"id": "m", "stop_reason": "end_turn", "content": said}));
    }
    text
}
