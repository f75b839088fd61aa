//! `approve`: what waits for a person, and passing on a person's answer.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_engine::EngineError;
use sinew_engine::approval::{
    Approval, ApprovalDecision, ConsentAnswer, ConsentChannel, ConsentScope,
};
use sinew_settings::Actor;

use super::{McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always, text};
use crate::questions::{
    ClientQuestion, ClientReply, McpToolResponse, QuestionSubject, approval_question,
};
use crate::tool_answer::{McpToolAnswer, one_line};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "approve",
    title: "Approvals",
    description: "List what waits for the user's approval, or pass on the user's decision with the \
                  user's own words in `quote`. You cannot approve anything yourself; some approvals only \
                  the user can give.",
    input,
    output,
    hints: ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false },
    offered: always,
    call,
    resume: Some(resume),
};

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "action": {"type": "string", "enum": ["list", "decide", "withdraw"], "default": "list"},
            "id": {"type": "string", "minLength": 1, "maxLength": 40},
            "decision": {"type": "string", "enum": ["approve", "reject"]},
            "quote": {
                "type": "string", "minLength": 1, "maxLength": 500,
                "description": "What the user said, word for word",
            },
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let approval = json!({
        "type": "object",
        "required": ["id", "kind", "subject", "evidence", "state"],
        "properties": {
            "id": text(), "kind": text(), "subject": {"type": "object"},
            "evidence": {"type": "object"}, "expires_at": text(),
            "state": {
                "type": "string",
                "enum": ["pending", "approved", "rejected", "expired", "withdrawn"],
            },
        },
    });
    let properties = json!({
        "approvals": {"type": "array", "items": approval},
        "approval": approval,
    });
    (properties, &[])
}

#[derive(Deserialize)]
struct ApproveInput {
    action: Option<String>,
    id: Option<String>,
    decision: Option<String>,
    quote: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ApproveInput = call.read()?;
    let engine = &call.look.engine;
    let action = input.action.as_deref().unwrap_or("list");
    if action == "list" {
        let waiting = engine.approvals().list(true)?;
        let mut lines = vec![format!("{} wait for the user", waiting.len())];
        lines.extend(waiting.iter().map(line));
        return Ok(McpToolAnswer::new(&json!({"approvals": waiting}), lines.join("\n")).into());
    }
    let id = input.id.ok_or_else(|| McpToolRefusal::Invalid("id is required".to_owned()))?;
    if action == "withdraw" {
        return Ok(approval_answer(&engine.approvals().withdraw(&id, &call.caller.actor())?).into());
    }
    let approval = engine.approvals().get(&id)?;
    if call.caller.elicits && approval.is_pending() {
        // The person can be asked, so only their own answer counts, not what the model says of it.
        return Ok(McpToolResponse::Ask(ClientQuestion::Approval(Box::new(approval))));
    }
    let said = match input.decision.as_deref() {
        Some("approve") => ConsentAnswer::Yes(ConsentScope::Listed),
        Some(_) => ConsentAnswer::No,
        None => return Err(McpToolRefusal::Invalid("decision is required".to_owned())),
    };
    let decision = ApprovalDecision {
        said,
        by: call.caller.actor(),
        channel: ConsentChannel::Relay,
        can_elicit: call.caller.elicits,
        quote: input.quote,
        comment: None,
        remember: false,
    };
    Ok(approval_answer(&engine.approvals().decide(&id, &decision)?).into())
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, McpToolRefusal> {
    Ok(approval_answer(&decide(call, about, reply)?).into())
}

/// The approval after its person was asked: decided, or still open.
pub(super) fn decide(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<Approval, EngineError> {
    let engine = &call.look.engine;
    let id = match about {
        QuestionSubject::Approval(id) => id.as_str(),
        QuestionSubject::Review => "",
    };
    let (said, comment, remember) = match reply {
        ClientReply::Yes { comment, remember } => {
            (ConsentAnswer::Yes(ConsentScope::Listed), comment, remember)
        }
        ClientReply::No(comment) => (ConsentAnswer::No, comment, false),
        ClientReply::Nothing | ClientReply::Said(_) => return engine.approvals().get(id),
    };
    let decision = ApprovalDecision {
        said,
        by: Actor::Person { name: None },
        channel: ConsentChannel::Elicitation,
        can_elicit: true,
        quote: None,
        comment,
        remember,
    };
    engine.approvals().decide(id, &decision)
}

fn approval_answer(approval: &Approval) -> McpToolAnswer {
    McpToolAnswer::new(&json!({"approval": approval}), line(approval))
}

fn line(approval: &Approval) -> String {
    let about = one_line(approval.evidence.name.as_deref().unwrap_or(&approval.subject.name));
    let state = approval.state.as_str();
    format!("- {} ({} of {about}): {state}", approval.id, approval.kind.as_str())
}

/// What a caller gets who needs an approval and cannot ask the user.
pub(super) fn needs_approval(approval: &Approval) -> McpToolAnswer {
    let question = approval_question(approval);
    let lines = format!(
        "needs_approval {}: ask the user and wait.\n{question}\nThe user can answer with `sinew approve {}`.",
        approval.id, approval.id
    );
    let data = json!({"status": "needs_approval", "approval": approval, "question": question});
    McpToolAnswer::new(&data, lines)
}
