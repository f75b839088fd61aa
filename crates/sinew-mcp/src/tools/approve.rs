//! `list_approvals`: what waits for a person. `approve`: passing on a person's answer.

use serde::{Deserialize, Serialize};
use sinew_engine::EngineError;
use sinew_engine::approval::{
    Approval, ApprovalDecision, ApprovalState, ConsentAnswer, ConsentChannel, ConsentScope,
};
use sinew_settings::Actor;
use utoipa::ToSchema;

use super::{LOOK, McpToolCall, ToolHints, ToolSpec, always};
use crate::questions::{
    ClientQuestion, ClientReply, McpToolResponse, QuestionSubject, approval_question,
};
use crate::tool_answer::{McpToolAnswer, bad_argument, one_line};
use crate::tool_schema;

pub(super) const LIST: ToolSpec = ToolSpec {
    name: "list_approvals",
    description: "What waits for the user's approval.",
    input: tool_schema::input::<ListApprovalsInput>,
    output: Some(tool_schema::any_object),
    hints: LOOK,
    offered: always,
    call: list,
    resume: None,
};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "approve",
    description: "Pass on the user's decision, quoting the user. You cannot approve yourself.",
    input: tool_schema::input::<ApproveInput>,
    output: Some(tool_schema::any_object),
    hints: ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false },
    offered: always,
    call,
    resume: Some(resume),
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListApprovalsInput {}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ApproveInput {
    #[serde(default)]
    action: ApproveAction,
    id: Option<String>,
    decision: Option<ApproveDecision>,
    #[schema(max_length = 500)]
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
struct ListApprovalsOutput {
    approvals: Vec<ApprovalSummary>,
}

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum ApproveOutput {
    Listed(ListApprovalsOutput),
    One { approval: ApprovalSummary },
}

/// An approval as an agent needs it: what it is about and where it stands. Which files it is bound to is
/// for the engine to compare.
#[derive(Serialize, ToSchema)]
pub(super) struct ApprovalSummary {
    id: String,
    /// What a yes would allow
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    state: &'static str,
    /// Others that the same yes covers when the first cannot be had
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    /// Where it was decided
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    channel: Option<ConsentChannel>,
}

impl ApprovalSummary {
    pub(super) fn of(approval: &Approval) -> Self {
        let subject = &approval.subject;
        Self {
            id: approval.id.clone(),
            kind: approval.kind.as_str(),
            name: one_line(&subject.name),
            version: subject.version.as_deref().map(one_line),
            state: approval.state.as_str(),
            also: approval.also.iter().map(|other| one_line(&other.name)).collect(),
            channel: match &approval.state {
                ApprovalState::Approved { decided_by, .. }
                | ApprovalState::Rejected { decided_by } => Some(decided_by.channel),
                _ => None,
            },
        }
    }

    fn line(&self) -> String {
        format!("- {} ({} of {}): {}", self.id, self.kind, self.name, self.state)
    }
}

/// What a caller gets who needs an approval and cannot ask the user.
#[derive(Serialize, ToSchema)]
pub(super) struct ApprovalNeeded {
    status: &'static str,
    approval: ApprovalSummary,
    /// What to ask the user
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

fn list(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let (data, text) = listed(call)?;
    Ok(McpToolAnswer::new(&data, text).into())
}

fn listed(call: &McpToolCall<'_>) -> Result<(ListApprovalsOutput, String), EngineError> {
    let waiting = call.look.engine.approvals().list(true)?;
    let approvals: Vec<ApprovalSummary> = waiting.iter().map(ApprovalSummary::of).collect();
    let mut lines = vec![format!("{} wait for the user", approvals.len())];
    lines.extend(approvals.iter().map(ApprovalSummary::line));
    Ok((ListApprovalsOutput { approvals }, lines.join("\n")))
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: ApproveInput = call.read()?;
    let engine = &call.look.engine;
    if input.action == ApproveAction::List {
        let (data, text) = listed(call)?;
        return Ok(McpToolAnswer::new(&ApproveOutput::Listed(data), text).into());
    }
    let id = input.id.ok_or_else(|| {
        bad_argument("`id` is required to decide or withdraw").hint("list_approvals has the ids")
    })?;
    if input.action == ApproveAction::Withdraw {
        let withdrawn = engine.approvals().withdraw(&id, &call.caller.actor())?;
        return Ok(approval_answer(&withdrawn).into());
    }
    let approval = engine.approvals().get(&id)?;
    if call.caller.elicits && approval.is_pending() {
        // The person can be asked, so only their own answer counts, not what the model says of it.
        return Ok(McpToolResponse::Ask(ClientQuestion::Approval(Box::new(approval))));
    }
    let said = match input.decision {
        Some(ApproveDecision::Approve) => ConsentAnswer::Yes(ConsentScope::Listed),
        Some(ApproveDecision::Reject) => ConsentAnswer::No,
        None => return Err(bad_argument("`decision` is required: approve or reject")),
    };
    let decision = ApprovalDecision {
        said,
        by: call.caller.actor(),
        channel: ConsentChannel::Relay,
        can_elicit: call.caller.elicits,
        via: None,
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
) -> Result<McpToolResponse, EngineError> {
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
        by: Actor::asked_by(&call.caller.name),
        channel: ConsentChannel::Elicitation,
        can_elicit: true,
        via: Some(call.caller.name.clone()),
        quote: None,
        comment,
        remember,
    };
    engine.approvals().decide(id, &decision)
}

fn approval_answer(approval: &Approval) -> McpToolAnswer {
    let approval = ApprovalSummary::of(approval);
    let text = approval.line();
    McpToolAnswer::new(&ApproveOutput::One { approval }, text)
}

impl ApprovalNeeded {
    /// The question, for a caller who cannot ask the user, and what to do with it.
    pub(super) fn waiting(approval: &Approval) -> (Self, String) {
        let question = approval_question(approval);
        let lines = format!(
            "needs_approval {}: ask the user and wait.\n{question}\nThe user can answer with `sinew approve {}`.",
            approval.id, approval.id
        );
        let approval = ApprovalSummary::of(approval);
        (Self { status: "needs_approval", approval, question: Some(question) }, lines)
    }

    /// The approval that a person did not give.
    pub(super) fn declined(approval: &Approval) -> (Self, String) {
        let lines = format!("the user said no to {}", approval.id);
        let approval = ApprovalSummary::of(approval);
        (Self { status: approval.state, approval, question: None }, lines)
    }
}

/// The answer that an approval is needed.
pub(super) fn needs_approval(approval: &Approval) -> McpToolAnswer {
    let (data, lines) = ApprovalNeeded::waiting(approval);
    McpToolAnswer::new(&data, lines)
}
