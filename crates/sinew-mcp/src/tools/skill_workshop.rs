//! `skill_workshop`: the documented tool under its own name, with its own actions and words.
//!
//! Applying a proposal may need a person: then they are asked through the client, or later. A review
//! that waits for a client's model is done before the state of the workshop is shown.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use sinew_settings::config::ReviewerProvider;
use sinew_workshop::WorkshopCaller;

use super::approve::{ApprovalNeeded, decide};
use super::{LOOK, McpToolCall, ToolHints, ToolSpec};
use crate::host::workshop_is_on;
use crate::questions::{ClientQuestion, ClientReply, McpToolResponse, QuestionSubject};
use crate::tool_answer::{McpToolAnswer, one_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: sinew_workshop::TOOL,
    description: "Keep a procedure as a skill: suggest, revise, reject, apply, undo. A person approves \
                  what is written.",
    input: sinew_workshop::schema,
    output: Some(tool_schema::any_object),
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false },
    offered: workshop_is_on,
    call,
    resume: Some(resume),
};

pub(super) const STATUS: ToolSpec = ToolSpec {
    name: "workshop_status",
    description: "Proposals: counts, lists, one of them, a skill's history.",
    input: look_schema,
    output: Some(tool_schema::any_object),
    hints: LOOK,
    offered: workshop_is_on,
    call: act,
    resume: None,
};

/// The actions of the tool that change nothing.
const LOOKS: [&str; 5] = ["status", "list_pending", "list_quarantine", "inspect", "history"];

/// What `workshop_status` takes: the tool's own words for its actions that only look.
fn look_schema() -> Value {
    let text = json!({"type": "string"});
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "action": {"type": "string", "enum": LOOKS},
            "id": text, "status": text, "skillName": text,
        },
    })
}

/// The documented answers, which have no field in common. A list is wrapped; what the workshop says as
/// an object goes out as it is.
#[derive(Serialize)]
#[serde(untagged)]
enum SkillWorkshopOutput {
    Proposals { proposals: Vec<Value> },
    Versions { versions: Vec<Value> },
    Written(WorkshopUpdateOutput),
    Unapproved(ApprovalNeeded),
    Said(Value),
}

/// A proposal that was written after a person's yes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkshopUpdateOutput {
    status: &'static str,
    proposal: WorkshopUpdateProposal,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_path: Option<String>,
}

#[derive(Serialize)]
struct WorkshopUpdateProposal {
    id: String,
    status: &'static str,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    match waiting_review(call)? {
        Some(question) => Ok(McpToolResponse::Ask(question)),
        None => act(call),
    }
}

/// A review that this client's model can do now. It comes before reading actions, never before writes.
fn waiting_review(call: &McpToolCall<'_>) -> Result<Option<ClientQuestion>, EngineError> {
    let (settings, _) = call.look.engine.workshop().settings();
    let looks = matches!(call.arguments["action"].as_str(), None | Some("status" | "list_pending"));
    if !looks || !call.caller.samples || settings.provider != Some(ReviewerProvider::Mcp) {
        return Ok(None);
    }
    let within = Duration::from_millis(settings.review_timeout_ms);
    let queued = call.look.engine.workshop().queued_review()?;
    Ok(queued.map(|review| ClientQuestion::Review {
        system: review.system,
        prompt: review.prompt,
        within,
    }))
}

fn act(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let caller = WorkshopCaller {
        by: call.caller.actor(),
        agent_id: Some(call.caller.name.clone()),
        session_id: None,
    };
    let engine = &call.look.engine;
    let value = match engine.workshop().tool(&call.arguments, &caller) {
        Ok(answer) => answer.value,
        Err(error) if call.arguments["action"] == "apply" && needs_a_person(&error) => {
            let id = call.arguments["id"].as_str().unwrap_or_default();
            let approval = engine.workshop().ask_to_apply(id, &call.caller.actor())?;
            return Ok(match call.caller.elicits {
                true => McpToolResponse::Ask(ClientQuestion::Approval(Box::new(approval))),
                false => unapproved(ApprovalNeeded::waiting(&approval)).into(),
            });
        }
        Err(error) => return Err(error),
    };
    let text = lines(&value);
    let data = match value {
        Value::Array(versions) if call.arguments["action"] == "history" => {
            SkillWorkshopOutput::Versions { versions }
        }
        Value::Array(proposals) => SkillWorkshopOutput::Proposals { proposals },
        other => SkillWorkshopOutput::Said(other),
    };
    Ok(McpToolAnswer::exact(&data, text).into())
}

/// A line for each row of a list; what is one thing is said whole.
fn lines(value: &Value) -> String {
    let Value::Array(rows) = value else { return value.to_string() };
    let field = |row: &Value, name: &str| row[name].as_str().map(one_line);
    let row = |row: &Value| {
        let id = field(row, "id").unwrap_or_default();
        let known: Vec<String> =
            ["status", "skillName", "title"].iter().filter_map(|name| field(row, name)).collect();
        format!("- {id}: {}", known.join(", "))
    };
    [vec![format!("{} found", rows.len())], rows.iter().map(row).collect()].concat().join("\n")
}

fn needs_a_person(error: &EngineError) -> bool {
    matches!(error.code, ErrorCode::NeedsApproval | ErrorCode::Held)
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, EngineError> {
    let engine = &call.look.engine;
    if *about == QuestionSubject::Review {
        let said = match &reply {
            ClientReply::Said(Ok(text)) => Ok(text.as_str()),
            ClientReply::Said(Err(why)) => Err(why.as_str()),
            _ => Err("the client gave no answer"),
        };
        engine.workshop().finish_review(said)?;
        return act(call);
    }
    let approval = decide(call, about, reply)?;
    if !approval.is_approved() {
        return Ok(unapproved(match approval.is_pending() {
            true => ApprovalNeeded::waiting(&approval),
            false => ApprovalNeeded::declined(&approval),
        })
        .into());
    }
    let done = engine.workshop().apply_approved(&approval.id)?;
    let status = done.proposal.status.as_str();
    let data = SkillWorkshopOutput::Written(WorkshopUpdateOutput {
        status,
        proposal: WorkshopUpdateProposal { id: done.proposal.id, status },
        skill_path: done.skill_path,
    });
    let text = serde_json::to_string(&data).unwrap_or_default();
    Ok(McpToolAnswer::exact(&data, text).into())
}

/// The answer to a caller who has no yes.
fn unapproved((data, text): (ApprovalNeeded, String)) -> McpToolAnswer {
    McpToolAnswer::new(&SkillWorkshopOutput::Unapproved(data), text)
}
