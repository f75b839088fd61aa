//! What an agent's hooks report while it works, as records of the generic trace.
//!
//! A record is written at once and the run is cleaned much later, so each record is cleaned by itself
//! first. A key or an address is recognised by its form wherever it occurs. A password is recognised
//! only by the words before it, and a later record may hold it without them: a run in which one was
//! found is `held back`, and is learned from its transcript instead, which can be cleaned as a whole.

use serde_json::{Value, json};
use sinew_guard::secrets::SecretKind;

use crate::program;
use crate::readers::action_of;
use crate::redact::RunRedactor;
use crate::run::{self, RunStep};

/// Bytes of a result that are inspected: a longer one is a printed file, and the agent is waiting.
const MAX_INSPECTED: usize = 64 * 1024;

/// Bytes of a field that are recorded; a longer command is not a step worth repeating.
const MAX_FIELD: usize = 16 * 1024;

/// The application of steps that read and write files.
const FILES: &str = "fs";

/// Kinds that are recognised by the words before them, not by their form.
const KNOWN_BY_CONTEXT: &[SecretKind] =
    &[SecretKind::Auth, SecretKind::Assignment, SecretKind::Url, SecretKind::Otp];

/// A tool call, as a hook reports it.
#[derive(Debug, Clone, Copy)]
pub struct LiveStep<'s> {
    /// Whose tool it is.
    pub agent: &'s str,
    /// The tool.
    pub tool: &'s str,
    /// What it was given.
    pub input: &'s Value,
    /// Its output.
    pub said: &'s str,
    /// Whether it failed.
    pub failed: bool,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// When the hook was called.
    pub at: &'s str,
}

/// The record that a session begins with.
pub fn live_trace(agent: &str, session: &str, cwd: &str) -> Value {
    json!({"type": "trace", "version": 1, "agent": agent, "id": session, "cwd": cwd})
}

/// The record of something that the user said.
pub fn live_message(text: &str, at: &str) -> Value {
    let mut text = text.to_owned();
    let held = mask(&mut text);
    record(json!({"type": "user", "text": run::clip_message(text), "at": at}), held)
}

/// The record of a step.
pub fn live_step(step: &LiveStep<'_>) -> Value {
    let mut said = step.said.to_owned();
    run::keep_start(&mut said, MAX_INSPECTED);
    let mut held = mask(&mut said);
    let mut done = RunStep {
        action: action_of(step.agent, step.tool, step.input.clone()),
        ..RunStep::default()
    };
    for field in done.action.fields.values_mut() {
        if let Value::String(text) = field {
            held |= mask(text);
            run::keep_start(text, MAX_FIELD);
        }
    }
    let app = program::app(&done.action);
    if app == FILES && !step.failed {
        // The content of a file is not the result of a step.
        said.clear();
    }
    done.set_result(said, Some(step.failed));
    let mut action = done.action.fields.clone();
    action.insert("type".to_owned(), Value::String(done.action.kind.clone()));
    let mut told = json!({
        "type": "step",
        "action": action,
        "currentApp": app,
        "result": done.result,
        "status": if done.failed { "error" } else { "ok" },
        "startedAt": step.at,
    });
    if step.interrupted {
        told["interrupted"] = Value::Bool(true);
    }
    record(told, held)
}

/// The record of a turn's end: the agent stopped by itself, and whether it worked is unknown.
pub fn live_end(said: Option<&str>) -> Value {
    let mut said = said.unwrap_or_default().to_owned();
    let held = mask(&mut said);
    record(json!({"type": "end", "finalMessage": run::clip_message(said)}), held)
}

fn record(mut record: Value, held_back: bool) -> Value {
    if held_back {
        record["heldBack"] = Value::Bool(true);
    }
    record
}

/// Redacts secrets; returns whether one of them could recur in a form that is not recognised.
fn mask(text: &mut String) -> bool {
    let mut redactor = RunRedactor::default();
    redactor.patterns(text, SecretKind::Entropy);
    KNOWN_BY_CONTEXT.iter().any(|kind| redactor.has_redacted(*kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(agent: &str, tool: &str, input: &Value, said: &str) -> Value {
        live_step(&LiveStep {
            agent,
            tool,
            input,
            said,
            failed: false,
            interrupted: false,
            at: "t",
        })
    }

    #[test]
    fn a_call_is_told_as_its_transcript_would() {
        let told = step("claude-code", "Bash", &json!({"command": "cargo test"}), "ok");
        assert_eq!(told["action"], json!({"type": "exec", "command": "cargo test"}));
        assert_eq!((&told["currentApp"], &told["status"]), (&json!("cargo"), &json!("ok")));
        let told = step("codex", "shell", &json!({"command": ["bash", "-lc", "ls -l"]}), "");
        assert_eq!(told["action"], json!({"type": "exec", "command": "ls -l"}));
        let told = step("gemini", "run_shell_command", &json!({"command": "make"}), "");
        assert_eq!(told["action"], json!({"type": "exec", "command": "make"}));
        let told = step("gemini", "read_file", &json!({"absolute_path": "/a/b"}), "");
        assert_eq!(told["action"], json!({"type": "read", "path": "/a/b"}));
    }

    #[test]
    fn what_looks_like_a_secret_is_taken_out_and_what_may_come_again_holds_the_run_back() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let told = step("claude-code", "Bash", &json!({"command": format!("gh auth {token}")}), "");
        assert!(!told.to_string().contains("a1B2a1B2") && told.get("heldBack").is_none(), "{told}");
        let command = json!({"command": "export DB_PASSWORD=tr0ub4dor-and-3"});
        let told = step("claude-code", "Bash", &command, "");
        assert!(!told.to_string().contains("tr0ub4dor") && told["heldBack"] == true, "{told}");
        let said = live_message("log in with password: tr0ub4dor-and-3", "t");
        assert!(!said.to_string().contains("tr0ub4dor"), "{said}");
    }

    #[test]
    fn a_result_is_cut_and_a_refusal_is_a_failure() {
        let told = step("claude-code", "Bash", &json!({"command": "x"}), &"a b ".repeat(9_000));
        let length = told["result"].as_str().map_or(0, str::len);
        assert!((1_000..3_000).contains(&length), "{length}");
        let told = step("claude-code", "Read", &json!({"file_path": "/x"}), "what it holds");
        assert_eq!(told["result"], "");
        let told = step("claude-code", "mcp__shop__buy", &json!({}), "{\"ok\":false}");
        assert_eq!(
            (&told["action"]["type"], &told["status"]),
            (&json!("mcp.shop.buy"), &json!("error"))
        );
    }
}
