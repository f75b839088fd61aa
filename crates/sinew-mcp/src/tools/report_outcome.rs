//! `report_outcome`: how the use of a skill went, so that the next choice is better.

use serde::{Deserialize, Serialize};
use sinew_cortex::acquire::{AcquireStep, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, UseResult};
use sinew_engine::acquire::AcquireWait;
use sinew_engine::hook::SkillToolUse;
use sinew_engine::hub::HubOverrides;
use sinew_engine::{EngineError, NewOutcome, OutcomeEffect, OutcomeReport, ReflexChange};
use utoipa::ToSchema;

use super::acquire_skill::listener;
use super::approve::ApprovalSummary;
use super::{McpToolAnswer, McpToolCall, ToolHints, ToolSpec, always};
use crate::questions::{McpToolResponse, approval_question};
use crate::tool_answer::{bad_argument, one_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "report_outcome",
    description: "How a skill did. Give run or skill, and the task (not stored).",
    input: tool_schema::input::<ReportOutcomeInput>,
    output: Some(tool_schema::any_object),
    hints: ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false },
    offered: always,
    call,
    resume: None,
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportOutcomeInput {
    run: Option<String>,
    skill: Option<String>,
    version: Option<String>,
    /// The task area: pdf-merge
    region: Option<String>,
    outcome: ReportOutcomeResult,
    failure: Option<FailureKind>,
    #[schema(max_length = 500)]
    detail: Option<String>,
    /// Of its description
    #[schema(max_length = 300)]
    point: Option<String>,
    /// Program or variable
    missing: Option<String>,
    #[schema(max_items = 20)]
    side_effects: Option<Vec<SideEffectText>>,
    #[schema(max_length = 300)]
    task: Option<String>,
    #[expect(dead_code, reason = "documented, and not kept")]
    session: Option<String>,
}

#[derive(Deserialize, ToSchema, Clone)]
#[schema(pattern = "^(read|write|delete|shell|network|env)(:.+)?$")]
struct SideEffectText(String);

impl ReportOutcomeInput {
    fn side_effects(&self) -> Option<Vec<String>> {
        let each = self.side_effects.as_ref()?.iter();
        Some(each.map(|effect| effect.0.clone()).collect())
    }
}

/// What an outcome did to the memory, and where its run stands.
#[derive(Default, Serialize, ToSchema)]
struct ReportOutcomeOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    /// What the skill counts there now
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_weight: Option<f64>,
    /// Successes in a row
    #[serde(skip_serializing_if = "Option::is_none")]
    streak: Option<u32>,
    /// Whether it is trusted to skip the question about its plan
    reflex: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reflex_change: Option<ReflexChange>,
    /// What to do about the failure
    #[serde(skip_serializing_if = "Option::is_none")]
    handling: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lessons: Vec<String>,
    /// Kept under this id until the database answers
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalSummary>,
    /// What to ask the user
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
}

#[derive(Deserialize, ToSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ReportOutcomeResult {
    Success,
    Failure,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: ReportOutcomeInput = call.read()?;
    if input.run.is_none() && input.skill.is_none() {
        return Err(bad_argument("one of `run` and `skill` is required"));
    }
    match (input.outcome, input.failure) {
        (ReportOutcomeResult::Failure, None) => {
            let kinds: Vec<String> = FailureKind::ALL.iter().map(ToString::to_string).collect();
            let said = format!("a failure needs `failure`, one of {}", kinds.join(", "));
            return Err(bad_argument(said));
        }
        (ReportOutcomeResult::Success, Some(_)) => {
            return Err(bad_argument("`failure` is only for `outcome` failure"));
        }
        _ => {}
    }
    match &input.run {
        Some(run) => of_run(call, &input, run).map(McpToolResponse::Done),
        None => of_skill(call, &input).map(McpToolResponse::Done),
    }
}

fn of_skill(
    call: &McpToolCall<'_>,
    input: &ReportOutcomeInput,
) -> Result<McpToolAnswer, EngineError> {
    let engine = &call.look.engine;
    let outcome = NewOutcome {
        region: input.region.clone(),
        task: input.task.clone(),
        slug: input.skill.clone().unwrap_or_default(),
        version: input.version.clone().unwrap_or_default(),
        worked: Some(input.outcome == ReportOutcomeResult::Success),
        kind: input.failure,
        detail: input.detail.clone(),
        point: input.point.clone(),
        key: input.missing.clone(),
        side_effects: input.side_effects(),
        origin: OutcomeReporter::Agent,
        agent: Some(call.caller.name.clone()),
        ..NewOutcome::default()
    };
    let outcome = engine.identified(&call.look.snapshot.catalog, outcome);
    let report = engine.report_outcome(&outcome)?;
    let used = match input.outcome {
        ReportOutcomeResult::Success => SkillToolUse::Worked,
        ReportOutcomeResult::Failure => SkillToolUse::Failed,
    };
    let named = input.skill.as_deref().unwrap_or_default();
    if let Ok(entry) = call.look.snapshot.catalog.lookup(named) {
        engine.hooks().note_tool_use(call.caller.record_name(), &entry.name, used);
    }
    let recorded: OutcomeEffect = match report {
        OutcomeReport::Recorded(effect) => *effect,
        // An error would make a model report it once more.
        OutcomeReport::Waiting { id, .. } => {
            let text =
                format!("kept as {id}: it is recorded when the database answers; do not repeat it");
            let waiting = Some(id.to_string());
            let data = ReportOutcomeOutput { waiting, ..ReportOutcomeOutput::default() };
            return Ok(McpToolAnswer::new(&data, text));
        }
    };
    let mut lines = vec![format!("recorded for {}", one_line(&recorded.skill))];
    if let Some(weight) = recorded.weight {
        lines.push(format!("weight {weight:.2} in {}", one_line(&recorded.region)));
    }
    lines.extend(recorded.handling.map(|handling| format!("next: {handling}")));
    let data = ReportOutcomeOutput {
        skill: Some(recorded.skill),
        version: Some(recorded.version),
        region: Some(recorded.region),
        weight: recorded.weight,
        previous_weight: recorded.previous_weight,
        streak: Some(recorded.streak),
        reflex: recorded.reflex,
        reflex_change: recorded.reflex_change,
        handling: recorded.handling,
        lessons: recorded.lessons,
        ..ReportOutcomeOutput::default()
    };
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}

/// A run goes on from here: to a question, to the next candidate, or to putting the skill back.
fn of_run(
    call: &McpToolCall<'_>,
    input: &ReportOutcomeInput,
    run: &str,
) -> Result<McpToolAnswer, EngineError> {
    let engine = &call.look.engine;
    let finish = UseReport {
        result: match input.outcome {
            ReportOutcomeResult::Success => UseResult::Success,
            ReportOutcomeResult::Failure => UseResult::Failure,
        },
        kind: input.failure,
        detail: input.detail.clone(),
        point: input.point.clone(),
        key: input.missing.clone(),
        origin: OutcomeReporter::Agent,
        side_effects: input.side_effects().unwrap_or_default(),
        ..UseReport::success()
    };
    let market = engine.hub().market(&HubOverrides::default())?;
    let mut host = listener(call);
    let standing = engine.hub().acquisition(&market).report(run, finish, &mut host)?;
    let stepped = AcquireStep { run: standing.run, effects: Vec::new() };
    let handling = input.failure.map(FailureKind::remedy);
    let mut lines = vec![format!("{run} is in {}", stepped.run.state.name())];
    lines.extend(handling.map(|handling| format!("next: {handling}")));
    let reported = engine.cortex()?.reported_run(&stepped)?;
    let mut data = ReportOutcomeOutput {
        run: Some(reported.run),
        state: Some(reported.state),
        region: reported.region,
        skill: reported.skill,
        weight: reported.weight,
        reflex: reported.reflex,
        handling,
        ..ReportOutcomeOutput::default()
    };
    if let AcquireWait::Approval { approval } = &standing.waits {
        let question = approval_question(approval);
        lines.push(format!("needs_approval {}: {question}", approval.id));
        data.approval = Some(ApprovalSummary::of(approval));
        data.question = Some(question);
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}
