//! `approve`: what waits for a person, and passing on a person's answer.

use serde::{Deserialize, Serialize};
use sinew_engine::EngineError;
use sinew_engine::approval::{
    Approval, ApprovalDecision, ConsentAnswer, ConsentChannel, ConsentScope,
};
use sinew_settings::Actor;
use utoipa::ToSchema;

use super::{McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always};
use crate::questions::{
    ClientQuestion, ClientReply, McpToolResponse, QuestionSubject, approval_question,
};
use crate::tool_answer::{McpToolAnswer, one_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "approve",
    title: "Approvals",
    description: "List what waits for the user's approval, or pass on the user's decision with the \
                  user's own words in `quote`. You cannot approve anything yourself; some approvals only \
                  the user can give.",
    input: tool_schema::input::<ApproveInput>,
    output: tool_schema::output::<ApproveOutput>,
    hints: ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false },
    offered: always,
    call,
    resume: Some(resume),
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ApproveInput {
    #[serde(default)]
    #[schema(default = "list")]
    action: ApproveAction,
    #[schema(min_length = 1, max_length = 40)]
    id: Option<String>,
    decision: Option<ApproveDecision>,
    /// What the user said, word for word
    #[schema(min_length = 1, max_length = 500)]
    quote: Option<String>,
}

#[derive(Deserialize, ToSchema, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ApproveAction {
    #[default]
    List,
    Decide,
    Withdraw,
}

#[derive(Deserialize, ToSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ApproveDecision {
    Approve,
    Reject,
}

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum ApproveOutput {
    Listed {
        /// What waits for the user
        approvals: Vec<Approval>,
    },
    One {
        /// The approval as it is now
        approval: Box<Approval>,
    },
}

/// What a caller gets who needs an approval and cannot ask the user.
#[derive(Serialize, ToSchema)]
pub(super) struct ApprovalNeeded<'a> {
    status: &'static str,
    approval: &'a Approval,
    /// What to ask the user
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ApproveInput = call.read()?;
    let engine = &call.look.engine;
    if input.action == ApproveAction::List {
        let waiting = engine.approvals().list(true)?;
        let mut lines = vec![format!("{} wait for the user", waiting.len())];
        lines.extend(waiting.iter().map(line));
        let data = ApproveOutput::Listed { approvals: waiting };
        return Ok(McpToolAnswer::new(&data, lines.join("\n")).into());
    }
    let id = input.id.ok_or_else(|| McpToolRefusal::Invalid("id is required".to_owned()))?;
    if input.action == ApproveAction::Withdraw {
        return Ok(approval_answer(engine.approvals().withdraw(&id, &call.caller.actor())?).into());
    }
    let approval = engine.approvals().get(&id)?;
    if call.caller.elicits && approval.is_pending() {
        // The person can be asked, so only their own answer counts, not what the model says of it.
        return Ok(McpToolResponse::Ask(ClientQuestion::Approval(Box::new(approval))));
    }
    let said = match input.decision {
        Some(ApproveDecision::Approve) => ConsentAnswer::Yes(ConsentScope::Listed),
        Some(ApproveDecision::Reject) => ConsentAnswer::No,
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
    Ok(approval_answer(engine.approvals().decide(&id, &decision)?).into())
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, McpToolRefusal> {
    Ok(approval_answer(decide(call, about, reply)?).into())
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

fn approval_answer(approval: Approval) -> McpToolAnswer {
    let text = line(&approval);
    McpToolAnswer::new(&ApproveOutput::One { approval: Box::new(approval) }, text)
}

fn line(approval: &Approval) -> String {
    let about = one_line(approval.evidence.name.as_deref().unwrap_or(&approval.subject.name));
    let state = approval.state.as_str();
    format!("- {} ({} of {about}): {state}", approval.id, approval.kind.as_str())
}

impl<'a> ApprovalNeeded<'a> {
    /// The question, for a caller who cannot ask the user, and what to do with it.
    pub(super) fn waiting(approval: &'a Approval) -> (Self, String) {
        let question = approval_question(approval);
        let lines = format!(
            "needs_approval {}: ask the user and wait.\n{question}\nThe user can answer with `sinew approve {}`.",
            approval.id, approval.id
        );
        (Self { status: "needs_approval", approval, question: Some(question) }, lines)
    }

    /// The approval that a person did not give.
    pub(super) fn declined(approval: &'a Approval) -> (Self, String) {
        let lines = format!("the user said no to {}", approval.id);
        (Self { status: approval.state.as_str(), approval, question: None }, lines)
    }
}

/// The answer that an approval is needed.
pub(super) fn needs_approval(approval: &Approval) -> McpToolAnswer {
    let (data, lines) = ApprovalNeeded::waiting(approval);
    McpToolAnswer::new(&data, lines)
}
