//! `skill_workshop`: the documented tool under its own name, with its own actions and words.
//!
//! Applying a proposal may need a person: then they are asked through the client, or later. A review
//! that waits for a client's model is done before the state of the workshop is shown.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use sinew_settings::config::ReviewerProvider;
use sinew_workshop::{SkillVersion, ToolProposal, WorkshopCaller, WorkshopToolReply};
use utoipa::ToSchema;

use super::approve::{ApprovalNeeded, decide};
use super::{McpToolCall, McpToolRefusal, ToolHints, ToolSpec};
use crate::host::workshop_is_on;
use crate::questions::{ClientQuestion, ClientReply, McpToolResponse, QuestionSubject};
use crate::tool_answer::McpToolAnswer;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: sinew_workshop::TOOL,
    title: "Skill workshop",
    description: "Keep a procedure as a skill: suggest a new or changed skill, look at proposals, revise, \
                  reject or apply them, and undo what was written. A person approves what is written.",
    input: sinew_workshop::schema,
    output: tool_schema::output::<SkillWorkshopOutput<'static>>,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false },
    offered: workshop_is_on,
    call,
    resume: Some(resume),
};

/// The documented answers, which have no field in common. A list is wrapped; what the workshop says as
/// an object goes out as it is.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum SkillWorkshopOutput<'a> {
    Proposals {
        #[schema(value_type = Vec<ToolProposal>)]
        proposals: Vec<Value>,
    },
    Versions {
        #[schema(value_type = Vec<SkillVersion>)]
        versions: Vec<Value>,
    },
    Written(WorkshopUpdateOutput),
    Unapproved(ApprovalNeeded<'a>),
    Said(WorkshopSaid),
}

/// An answer of the workshop, as it gave it.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = WorkshopToolReply)]
struct WorkshopSaid(Value);

/// A proposal that was written after a person's yes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WorkshopUpdateOutput {
    status: &'static str,
    proposal: WorkshopUpdateProposal,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill_path: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct WorkshopUpdateProposal {
    id: String,
    status: &'static str,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
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

fn act(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
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
        Err(error) => return Err(error.into()),
    };
    let text = value.to_string();
    let data = match value {
        Value::Array(versions) if call.arguments["action"] == "history" => {
            SkillWorkshopOutput::Versions { versions }
        }
        Value::Array(proposals) => SkillWorkshopOutput::Proposals { proposals },
        other => SkillWorkshopOutput::Said(WorkshopSaid(other)),
    };
    Ok(McpToolAnswer::exact(&data, text).into())
}

fn needs_a_person(error: &EngineError) -> bool {
    matches!(error.code, ErrorCode::NeedsApproval | ErrorCode::Held)
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, McpToolRefusal> {
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
fn unapproved((data, text): (ApprovalNeeded<'_>, String)) -> McpToolAnswer {
    McpToolAnswer::new(&SkillWorkshopOutput::Unapproved(data), text)
}
