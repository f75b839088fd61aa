//! `skill_workshop`: the documented tool under its own name, with its own actions and words.

use serde_json::{Value, json};
use sinew_workshop::Caller as WorkshopCaller;

use super::{Answer, Call, Hints, Refusal, Spec};
use crate::mcp::host::Look;

pub(super) const SPEC: Spec = Spec {
    name: sinew_workshop::TOOL,
    title: "Skill workshop",
    description: "Keep a procedure as a skill: suggest a new or changed skill, look at proposals, revise, \
                  reject or apply them, and undo what was written. A person approves what is written.",
    input: sinew_workshop::schema,
    output,
    hints: Hints { read_only: false, destructive: true, idempotent: false, open_world: false },
    offered: Look::workshop_is_on,
    call,
};

/// The documented answers have no field in common: a list is wrapped, the rest is as it is.
fn output() -> (Value, &'static [&'static str]) {
    let count = json!({"type": "integer"});
    let properties = json!({
        "proposals": {"type": "array", "items": {"type": "object"}},
        "versions": {"type": "array", "items": {"type": "object"}},
        "pending": count, "quarantined": count, "applied": count, "rejected": count,
        "proposal": {"type": "object"},
    });
    (properties, &[])
}

fn call(call: &Call<'_>) -> Result<Answer, Refusal> {
    let caller = WorkshopCaller {
        by: call.caller.by(),
        agent_id: Some(call.caller.name.clone()),
        session_id: None,
    };
    let answer = call.look.engine.workshop_tool(&call.arguments, &caller)?;
    let text = answer.value.to_string();
    let data = match answer.value {
        Value::Array(list) if call.arguments["action"] == "history" => json!({"versions": list}),
        Value::Array(list) => json!({"proposals": list}),
        other => other,
    };
    Ok(Answer::exact(data, text))
}
