//! `report_outcome`: how the use of a skill went, so that the next choice is better.

use serde::{Deserialize, Serialize};
use sinew_cortex::acquire::{AcquireStep, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, UseResult};
use sinew_engine::acquire::AcquireWait;
use sinew_engine::hub::HubOverrides;
use sinew_engine::{NewOutcome, OutcomeEffect, ReportedRun};
use sinew_skill::YamlValue;
use utoipa::ToSchema;

use super::acquire_skill::listener;
use super::{McpToolAnswer, McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always};
use crate::questions::{McpToolResponse, approval_question};
use crate::tool_answer::one_line;
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "report_outcome",
    title: "Report an outcome",
    description: "Tell how the use of a skill went: success, or a failure with its kind. Name the run \
                  or the skill, and say what the task was; it names the task area and is not stored.",
    input: tool_schema::input::<ReportOutcomeInput>,
    output: tool_schema::output::<ReportOutcomeOutput>,
    hints: ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false },
    offered: always,
    call,
    resume: None,
};

/// What a skill without a version is recorded under.
const NO_VERSION: &str = "unversioned";

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReportOutcomeInput {
    /// The run that acquire_skill began; or a skill
    #[schema(max_length = 100)]
    run: Option<String>,
    #[schema(min_length = 1, max_length = 128)]
    skill: Option<String>,
    #[schema(max_length = 128)]
    version: Option<String>,
    /// The task area, such as pdf-merge
    #[schema(max_length = 128)]
    region: Option<String>,
    outcome: ReportOutcomeResult,
    /// Required for a failure
    failure: Option<FailureKind>,
    #[schema(max_length = 500)]
    detail: Option<String>,
    /// The program or variable that is missing, by name
    #[schema(max_length = 100)]
    missing: Option<String>,
    #[schema(max_items = 20)]
    side_effects: Option<Vec<SideEffectText>>,
    #[schema(max_length = 300)]
    task: Option<String>,
    #[schema(max_length = 200)]
    #[expect(dead_code, reason = "documented, and not kept")]
    session: Option<String>,
}

#[derive(Deserialize, ToSchema, Clone)]
#[schema(max_length = 128, pattern = "^(read|write|delete|shell|network|env)(:.+)?$")]
struct SideEffectText(String);

impl ReportOutcomeInput {
    fn side_effects(&self) -> Option<Vec<String>> {
        let each = self.side_effects.as_ref()?.iter();
        Some(each.map(|effect| effect.0.clone()).collect())
    }
}

/// What the outcome of a skill did to the memory, or where its run stands now.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum ReportOutcomeOutput {
    Skill(Box<OutcomeEffect>),
    Run(Box<ReportedRunOutput>),
}

#[derive(Serialize, ToSchema)]
struct ReportedRunOutput {
    #[serde(flatten)]
    run: ReportedRun,
    /// What the run waits for
    waits: AcquireWait,
    /// What to do about the failure
    #[serde(skip_serializing_if = "Option::is_none")]
    handling: Option<&'static str>,
}

#[derive(Deserialize, ToSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ReportOutcomeResult {
    Success,
    Failure,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ReportOutcomeInput = call.read()?;
    if input.run.is_none() && input.skill.is_none() {
        let said = "the arguments must have one of run, skill";
        return Err(McpToolRefusal::Invalid(said.to_owned()));
    }
    if (input.outcome == ReportOutcomeResult::Failure) != input.failure.is_some() {
        let said = match input.outcome {
            ReportOutcomeResult::Failure => "failure is required when outcome is failure",
            ReportOutcomeResult::Success => "failure is only for outcome failure",
        };
        return Err(McpToolRefusal::Invalid(said.to_owned()));
    }
    match &input.run {
        Some(run) => of_run(call, &input, run).map(McpToolResponse::Done),
        None => of_skill(call, &input).map(McpToolResponse::Done),
    }
}

fn of_skill(
    call: &McpToolCall<'_>,
    input: &ReportOutcomeInput,
) -> Result<McpToolAnswer, McpToolRefusal> {
    let engine = &call.look.engine;
    let skill = input.skill.clone().unwrap_or_default();
    let known = call.look.snapshot.catalog.unshadowed().find(|entry| entry.name == skill);
    let written = known
        .and_then(|entry| entry.skill.as_ref()?.frontmatter.get("version"))
        .and_then(YamlValue::source_text);
    let recorded: OutcomeEffect = engine.cortex()?.record(&NewOutcome {
        region: input.region.clone(),
        task: input.task.clone(),
        slug: skill,
        version: input.version.clone().or(written).unwrap_or_else(|| NO_VERSION.to_owned()),
        worked: Some(input.outcome == ReportOutcomeResult::Success),
        kind: input.failure,
        detail: input.detail.clone(),
        key: input.missing.clone(),
        side_effects: input.side_effects(),
        origin: OutcomeReporter::Agent,
        agent: Some(call.caller.name.clone()),
        ..NewOutcome::default()
    })?;
    let mut lines = vec![format!("recorded for {}", one_line(&recorded.skill))];
    if let Some(weight) = recorded.weight {
        lines.push(format!("weight {weight:.2} in {}", one_line(&recorded.region)));
    }
    lines.extend(recorded.handling.map(|handling| format!("next: {handling}")));
    let data = ReportOutcomeOutput::Skill(Box::new(recorded));
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}

/// A run goes on from here: to a question, to the next candidate, or to putting the skill back.
fn of_run(
    call: &McpToolCall<'_>,
    input: &ReportOutcomeInput,
    run: &str,
) -> Result<McpToolAnswer, McpToolRefusal> {
    let engine = &call.look.engine;
    let finish = UseReport {
        result: match input.outcome {
            ReportOutcomeResult::Success => UseResult::Success,
            ReportOutcomeResult::Failure => UseResult::Failure,
        },
        kind: input.failure,
        detail: input.detail.clone(),
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
    if let AcquireWait::Approval { approval } = &standing.waits {
        lines.push(format!("needs_approval {}: {}", approval.id, approval_question(approval)));
    }
    let run = engine.cortex()?.reported_run(&stepped)?;
    let data = ReportedRunOutput { run, waits: standing.waits, handling };
    let data = ReportOutcomeOutput::Run(Box::new(data));
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}
