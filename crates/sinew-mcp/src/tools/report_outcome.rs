//! `report_outcome`: how the use of a skill went, so that the next choice is better.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_cortex::acquire::{AcquireStep, UseReport};
use sinew_cortex::failure::FailureKind;
use sinew_cortex::record::{OutcomeReporter, UseResult};
use sinew_engine::acquire::AcquireWait;
use sinew_engine::hub::HubOverrides;
use sinew_engine::{NewOutcome, OutcomeEffect};
use sinew_skill::YamlValue;

use super::acquire_skill::listener;
use super::{
    McpToolAnswer, McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always, number, text, texts,
};
use crate::questions::{McpToolResponse, approval_question};
use crate::tool_answer::one_line;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "report_outcome",
    title: "Report an outcome",
    description: "Tell how the use of a skill went: success, or a failure with its kind. Say what the \
                  task was; it names the task area and is not stored.",
    input,
    output,
    hints: ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false },
    offered: always,
    call,
    resume: None,
};

/// What a skill without a version is recorded under.
const NO_VERSION: &str = "unversioned";

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["outcome"],
        "anyOf": [{"required": ["run"]}, {"required": ["skill"]}],
        "properties": {
            "run": {"type": "string", "maxLength": 100},
            "skill": {"type": "string", "minLength": 1, "maxLength": 128},
            "version": {"type": "string", "maxLength": 128},
            "region": {"type": "string", "maxLength": 128, "description": "The task area, such as pdf-merge"},
            "outcome": {"type": "string", "enum": ["success", "failure"]},
            "failure": {
                "type": "string",
                "enum": [
                    "dependency_missing", "api_error", "auth_error", "task_mismatch", "runtime_error",
                ],
                "description": "Required for a failure",
            },
            "detail": {"type": "string", "maxLength": 500},
            "missing": {
                "type": "string", "maxLength": 100,
                "description": "The program or variable that is missing, by name",
            },
            "side_effects": {
                "type": "array", "maxItems": 20,
                "items": {
                    "type": "string", "maxLength": 128,
                    "pattern": "^(read|write|delete|shell|network|env)(:.+)?$",
                },
            },
            "task": {"type": "string", "maxLength": 300},
            "session": {"type": "string", "maxLength": 200},
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    // Some clients hand schemas to models that take no list of types.
    let maybe = |kind: &str| json!({"anyOf": [{"type": kind}, {"type": "null"}]});
    let properties = json!({
        "id": text(), "at": text(), "run": text(), "state": text(),
        "region": maybe("string"), "skill": maybe("string"),
        "version": text(),
        "previous_weight": maybe("number"), "weight": maybe("number"),
        "effective_weight": maybe("number"),
        "reflex": {"type": "boolean"},
        "reflex_change": {"type": "string", "enum": ["set", "reset"]},
        "handling": text(),
        "reflex_state": maybe("object"), "runs": maybe("object"),
        "streak": {"type": "integer"}, "lower_bound": number(), "lessons": texts(),
        "waits": {"type": "object"},
        "pruned": {"type": "array", "items": {"type": "object"}}, "signals": texts(),
    });
    (properties, &["region", "skill", "weight", "effective_weight", "reflex"])
}

#[derive(Deserialize)]
struct ReportOutcomeInput {
    run: Option<String>,
    skill: Option<String>,
    version: Option<String>,
    region: Option<String>,
    outcome: ReportOutcomeResult,
    failure: Option<FailureKind>,
    detail: Option<String>,
    missing: Option<String>,
    side_effects: Option<Vec<String>>,
    task: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ReportOutcomeResult {
    Success,
    Failure,
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: ReportOutcomeInput = call.read()?;
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
        side_effects: input.side_effects.clone(),
        origin: OutcomeReporter::Agent,
        agent: Some(call.caller.name.clone()),
        ..NewOutcome::default()
    })?;
    let mut lines = vec![format!("recorded for {}", one_line(&recorded.skill))];
    if let Some(weight) = recorded.weight {
        lines.push(format!("weight {weight:.2} in {}", one_line(&recorded.region)));
    }
    lines.extend(recorded.handling.map(|handling| format!("next: {handling}")));
    Ok(McpToolAnswer::new(&recorded, lines.join("\n")))
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
        side_effects: input.side_effects.clone().unwrap_or_default(),
        ..UseReport::success()
    };
    let market = engine.hub().market(&HubOverrides::default())?;
    let mut host = listener(call);
    let standing = engine.hub().acquisition(&market).report(run, finish, &mut host)?;
    let stepped = AcquireStep { run: standing.run, effects: Vec::new() };
    let mut data = json!(engine.cortex()?.reported_run(&stepped)?);
    data["waits"] = json!(standing.waits);
    let mut lines = vec![format!("{run} is in {}", stepped.run.state.name())];
    if let Some(handling) = input.failure.map(FailureKind::remedy) {
        data["handling"] = json!(handling);
        lines.push(format!("next: {handling}"));
    }
    if let AcquireWait::Approval { approval } = &standing.waits {
        lines.push(format!("needs_approval {}: {}", approval.id, approval_question(approval)));
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}
