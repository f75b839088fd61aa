//! `explain`: why something is as it is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sinew_engine::approval::{Approval, ApprovalState};
use sinew_engine::{
    DecisionExplanation, EngineError, ExplanationMark, ExplanationStep, PromptOptions, RouteAnswer,
    RouteMatch, RouteRequest,
};
use sinew_route::{RouteDecision, ScoreParts};
use sinew_workshop::WorkshopCaller;
use utoipa::ToSchema;

use super::approve::ApprovalSummary;
use super::{LOOK, McpToolAnswer, McpToolCall, McpToolResponse, ToolSpec, always};
use crate::questions::approval_question;
use crate::tool_answer::one_line;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "explain",
    description: "Why a skill is in or out, the scores of a message, where an approval or proposal stands.",
    input: tool_schema::input::<ExplainInput>,
    output: Some(tool_schema::any_object),
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
    skill: Option<String>,
    #[schema(min_length = 1, max_length = 20000)]
    message: Option<String>,
    approval: Option<String>,
    proposal: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ExplainOutput {
    #[serde(flatten)]
    why: DecisionExplanation,
    /// The numbers behind the answer to a message
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<ExplainRoute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalSummary>,
}

/// The numbers behind an answer.
#[derive(Serialize, ToSchema)]
struct ExplainRoute {
    decision: RouteDecision,
    /// How sure it is that any skill fits
    fit: f64,
    /// The probability a match needed
    threshold: f64,
    /// The lead it needed
    margin: f64,
    model: String,
    matches: Vec<ExplainMatch>,
}

/// The numbers behind one skill's rank.
#[derive(Serialize, ToSchema)]
struct ExplainMatch {
    name: String,
    probability: f64,
    score: f64,
    parts: ScoreParts,
    /// Words it shares with the message, best first
    terms: Vec<String>,
}

impl ExplainRoute {
    fn of(answer: &RouteAnswer) -> Self {
        let of_match = |found: &RouteMatch| ExplainMatch {
            name: found.name.clone(),
            probability: found.probability,
            score: found.score,
            parts: found.parts,
            terms: found.terms.iter().map(|term| term.term.clone()).collect(),
        };
        Self {
            decision: answer.decision,
            fit: answer.fit,
            threshold: answer.threshold,
            margin: answer.margin,
            model: answer.model.clone(),
            matches: answer.matches.iter().map(of_match).collect(),
        }
    }
}

impl ExplainOutput {
    fn of(why: DecisionExplanation) -> Self {
        Self { why, route: None, approval: None }
    }

    fn answer(&self) -> McpToolResponse {
        McpToolAnswer::new(self, lines(&self.why)).into()
    }
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
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
        let route = Some(ExplainRoute::of(&answer));
        return Ok(ExplainOutput { route, ..ExplainOutput::of(why) }.answer());
    }
    if let Some(id) = &input.approval {
        let approval = engine.approvals().get(id)?;
        let why = of_approval(&approval);
        let approval = Some(ApprovalSummary::of(&approval));
        return Ok(ExplainOutput { approval, ..ExplainOutput::of(why) }.answer());
    }
    let id = input.proposal.as_deref().unwrap_or_default();
    let caller = WorkshopCaller { by: call.caller.actor(), agent_id: None, session_id: None };
    let asked = json!({"action": "inspect", "id": id});
    let record = engine.workshop().tool(&asked, &caller)?.value;
    Ok(ExplainOutput::of(of_proposal(&record)).answer())
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
