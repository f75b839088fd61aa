//! `explain`: why something is as it is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sinew_engine::approval::{Approval, ApprovalState};
use sinew_engine::{
    DecisionExplanation, ExplanationMark, ExplanationStep, PromptOptions, RouteAnswer, RouteRequest,
};
use sinew_workshop::{ToolProposal, WorkshopCaller};
use utoipa::ToSchema;

use super::{LOOK, McpToolAnswer, McpToolCall, McpToolRefusal, McpToolResponse, ToolSpec, always};
use crate::questions::approval_question;
use crate::tool_answer::one_line;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "explain",
    title: "Explain a decision",
    description: "Say why a skill is in or out, how a message was routed, or where an approval or a \
                  proposal stands, step by step. Ask about one of them at a time.",
    input: tool_schema::input::<ExplainInput>,
    output: tool_schema::output::<ExplainOutput>,
    hints: LOOK,
    offered: always,
    call,
    resume: None,
};

/// Matches that a routed message is explained with.
const SHOWN_MATCHES: usize = 5;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ExplainInput {
    #[schema(min_length = 1, max_length = 1000)]
    skill: Option<String>,
    #[schema(min_length = 1, max_length = 20000)]
    message: Option<String>,
    #[schema(min_length = 1, max_length = 40)]
    approval: Option<String>,
    #[schema(min_length = 1, max_length = 100)]
    proposal: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ExplainOutput {
    #[serde(flatten)]
    why: DecisionExplanation,
    /// The answer to a message
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<RouteAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    /// The proposal, as `skill_workshop` shows it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ToolProposal>)]
    proposal: Option<Value>,
}

impl ExplainOutput {
    fn of(why: DecisionExplanation) -> Self {
        Self { why, route: None, approval: None, proposal: None }
    }

    fn answer(&self) -> McpToolResponse {
        McpToolAnswer::new(self, lines(&self.why)).into()
    }
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    call.check_one_of(&["skill", "message", "approval", "proposal"])?;
    let input: ExplainInput = call.read()?;
    let (engine, catalog) = (&call.look.engine, &call.look.snapshot.catalog);
    if let Some(skill) = &input.skill {
        let entry = engine.find(catalog, skill)?;
        let entry = engine.skills().entry_visible_to(entry, &call.caller.actor());
        let why = engine.skills().explain(catalog, &entry, &PromptOptions::default());
        return Ok(ExplainOutput::of(why).answer());
    }
    if let Some(message) = &input.message {
        let request = RouteRequest {
            top: Some(SHOWN_MATCHES),
            actor: call.caller.actor(),
            ..RouteRequest::new(message.as_str())
        };
        let answer = call.look.route(&request);
        let why = DecisionExplanation::of_route(message, &answer);
        return Ok(ExplainOutput { route: Some(answer), ..ExplainOutput::of(why) }.answer());
    }
    if let Some(id) = &input.approval {
        let approval = engine.approvals().get(id)?;
        let why = of_approval(&approval);
        return Ok(ExplainOutput { approval: Some(approval), ..ExplainOutput::of(why) }.answer());
    }
    let id = input.proposal.as_deref().unwrap_or_default();
    let caller = WorkshopCaller { by: call.caller.actor(), agent_id: None, session_id: None };
    let asked = json!({"action": "inspect", "id": id});
    let record = engine.workshop().tool(&asked, &caller)?.value;
    let why = of_proposal(&record);
    Ok(ExplainOutput { proposal: Some(record), ..ExplainOutput::of(why) }.answer())
}

fn step(stage: &'static str, mark: ExplanationMark, text: String) -> ExplanationStep {
    ExplanationStep { stage, mark, text, remedy: None }
}

fn of_approval(approval: &Approval) -> DecisionExplanation {
    let mark = if approval.is_approved() { ExplanationMark::Pass } else { ExplanationMark::Note };
    let mut steps = vec![
        step("asked", ExplanationMark::Pass, approval_question(approval)),
        step(
            "asked",
            ExplanationMark::Note,
            format!("by {} at {}", approval.asked_by, approval.asked_at),
        ),
        step("decided", mark, approval.state.as_str().to_owned()),
    ];
    if let ApprovalState::Pending { changed } = &approval.state
        && !changed.is_empty()
    {
        let said = format!("these changed since a person said yes: {}", changed.join(", "));
        steps.push(step("decided", ExplanationMark::Fail, said));
    }
    DecisionExplanation {
        subject: approval.id.clone(),
        answer: format!("{} is {}", approval.subject.name, approval.state.as_str()),
        usable: approval.is_approved(),
        steps,
    }
}

fn of_proposal(record: &Value) -> DecisionExplanation {
    let field = |name: &str| record[name].as_str().unwrap_or_default();
    let status = field("status");
    let mut steps = vec![step("proposed", ExplanationMark::Pass, field("reason").to_owned())];
    let findings = record["scanFindings"].as_array().map_or(0, Vec::len);
    if findings > 0 {
        steps.push(step(
            "scan",
            ExplanationMark::Note,
            format!("findings of the scan: {findings}"),
        ));
    }
    if status == "quarantined" {
        steps.push(step("scan", ExplanationMark::Fail, field("quarantineReason").to_owned()));
    }
    DecisionExplanation {
        subject: field("id").to_owned(),
        answer: format!("{} for {} is {status}", field("title"), field("skillName")),
        usable: status == "applied",
        steps,
    }
}

fn lines(why: &DecisionExplanation) -> String {
    let mut lines = vec![one_line(&why.answer)];
    for step in &why.steps {
        let mark = match step.mark {
            ExplanationMark::Pass => "+",
            ExplanationMark::Fail => "x",
            ExplanationMark::Note => "-",
        };
        lines.push(format!("{mark} {}: {}", step.stage, one_line(&step.text)));
        lines.extend(step.remedy.iter().map(|remedy| format!("  hint: {}", one_line(remedy))));
    }
    lines.join("\n")
}
