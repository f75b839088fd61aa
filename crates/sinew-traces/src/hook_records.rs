//! What an agent's hooks tell while it works, as records of the generic trace.
//!
//! A record is written down at once and the run is cleaned much later, so that each record is cleaned
//! by itself first. A key or an address is known by its looks wherever it turns up. A password is known
//! only by what stands before it, and a later record may tell it bare: a run in which one was found is
//! `held back`, and its transcript, which can be cleaned as a whole, is what to learn it from.

use serde_json::{Value, json};
use sinew_guard::secrets::SecretKind;

use crate::program;
use crate::readers::action_of;
use crate::redact::RunRedactor;
use crate::run::{self, RunStep};

/// Bytes of a result that are looked at: more is a file that was printed, and an agent waits.
const MAX_LOOKED_AT: usize = 64 * 1024;

/// Bytes of a field that are written down; a longer command is no step that anybody repeats.
const MAX_FIELD: usize = 16 * 1024;

/// The application of steps that read and write files.
const FILES: &str = "fs";

/// Kinds that are known by what stands before them, not by their looks.
const TOLD_BY_NEIGHBOURS: &[SecretKind] =
    &[SecretKind::Auth, SecretKind::Assignment, SecretKind::Url, SecretKind::Otp];

/// A call of a tool, as a hook hears of it.
#[derive(Debug, Clone, Copy)]
pub struct LiveStep<'s> {
    /// Whose tool it is.
    pub agent: &'s str,
    /// The tool.
    pub tool: &'s str,
    /// What it was given.
    pub input: &'s Value,
    /// What it said.
    pub said: &'s str,
    /// Whether it failed.
    pub failed: bool,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// When it was heard of.
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
    run::keep_start(&mut said, MAX_LOOKED_AT);
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
        // What a file holds is not what a step says.
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

/// The record of a turn's end: the agent stopped by itself, and nobody has said how it went.
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

/// Takes out what must not be written down; whether some of it could come again unrecognised.
fn mask(text: &mut String) -> bool {
    let mut redactor = RunRedactor::default();
    redactor.patterns(text, SecretKind::Entropy);
    TOLD_BY_NEIGHBOURS.iter().any(|kind| redactor.has_redacted(*kind))
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
