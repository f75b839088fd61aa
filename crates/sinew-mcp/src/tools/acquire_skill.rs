//! `acquire_skill`: from a task that no installed skill fits to one that does, and back.
//!
//! The flow is the engine's; this tool only passes calls and answers on. Questions are not answered
//! here: they go to the client's user, or wait.

use serde::Deserialize;
use serde_json::{Value, json};
use sinew_cortex::acquire::{AcquireRun, ChosenSkill};
use sinew_engine::EngineError;
use sinew_engine::acquire::{
    AcquireHost, AcquireProgress, AcquireRequest, AcquireStatus, AcquireWait,
};
use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver, ConsentChannel};
use sinew_engine::hub::{
    HubOverrides, NameMatching, RegistryQuery, SearchSources, ShorthandMeaning, SkillReference,
};
use sinew_settings::{Actor, ErrorCode};

use super::approve::{decide, needs_approval};
use super::{McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always, text};
use crate::questions::{ClientQuestion, ClientReply, McpToolResponse, QuestionSubject};
use crate::tool_answer::{McpToolAnswer, one_line};

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "acquire_skill",
    title: "Acquire a skill",
    description: "When find_skill says `none`: search registries for a skill, propose one for the user's \
                  approval, and install it for this task. Read and follow it, then tell how it went with \
                  report_outcome and the run: it is taken away again unless the user keeps it.",
    input,
    output,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: true },
    offered: always,
    call,
    resume: Some(resume),
};

/// Candidates in an answer: a person chooses among three, hardly among ten.
const SHOWN: usize = 3;

fn input() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["action"],
        "properties": {
            "action": {
                "type": "string",
                "enum": ["search", "propose", "install", "release", "retain", "status"],
            },
            "need": {
                "type": "string", "minLength": 1, "maxLength": 2_000,
                "description": "search, propose: what the skill must be able to do",
            },
            "task": {
                "type": "string", "minLength": 1, "maxLength": 300,
                "description": "search, propose: the user's task in one line; need counts where it is missing",
            },
            "keywords": {
                "type": "array", "minItems": 3, "maxItems": 5,
                "items": {"type": "string", "maxLength": 60, "pattern": "^[A-Za-z0-9][A-Za-z0-9+.#_-]*$"},
                "description": "search, propose: three to five English words to search with",
            },
            "ref": {
                "type": "string", "minLength": 1, "maxLength": 300,
                "description": "propose: this one skill, as search named it, and no other",
            },
            "version": {
                "type": "string", "minLength": 1, "maxLength": 80,
                "description": "propose: exactly this version of ref; the newest where it is missing",
            },
            "read_only": {
                "type": "boolean", "default": false,
                "description": "propose: the task only looks, so a skill that changes anything is none for it",
            },
            "approval": {
                "type": "string", "maxLength": 40,
                "description": "install: an approval that the user gave",
            },
            "run": {
                "type": "string", "maxLength": 60,
                "description": "install, release, retain, status: the run that propose began",
            },
            "anyway": {
                "type": "boolean", "default": false,
                "description": "propose: look for a skill although an installed one seems to fit",
            },
        },
    })
}

fn output() -> (Value, &'static [&'static str]) {
    let objects = json!({"type": "array", "items": {"type": "object"}});
    let properties = json!({
        "status": {
            "type": "string",
            "enum": ["found", "needs_approval", "notice", "ready", "waiting", "closed", "open"],
        },
        "run": text(), "state": text(), "waits": {"type": "object"},
        "approval": {"type": "object"}, "question": text(),
        "candidates": objects, "events": objects, "runs": objects,
        "network": {"type": "string", "enum": ["offline"]},
    });
    (properties, &["status"])
}

#[derive(Deserialize)]
struct AcquireSkillInput {
    action: AcquireSkillAction,
    need: Option<String>,
    task: Option<String>,
    keywords: Option<Vec<String>>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    version: Option<String>,
    #[serde(default)]
    read_only: bool,
    approval: Option<String>,
    run: Option<String>,
    #[serde(default)]
    anyway: bool,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum AcquireSkillAction {
    Search,
    Propose,
    Install,
    Release,
    Retain,
    Status,
}

/// An agent's program: it collects what happens and decides nothing.
#[derive(Default)]
pub(super) struct AcquisitionListener {
    pub(super) agent: String,
    events: Vec<Value>,
}

/// Questions go to the agent as approvals that wait.
impl Approver for AcquisitionListener {
    fn ask(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        ApprovalAnswer::ABSENT
    }
}

impl AcquireHost for AcquisitionListener {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        self.events.extend(serde_json::to_value(told));
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (Actor::Agent { name: self.agent.clone() }, ConsentChannel::Relay)
    }
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    act(call).map_err(|refusal| without_rules(call, refusal))
}

/// An agent learns that a candidate is held back; which rules did it is for people.
fn without_rules(call: &McpToolCall<'_>, refusal: McpToolRefusal) -> McpToolRefusal {
    match refusal {
        McpToolRefusal::Engine(mut error) => {
            error.message = call.look.engine.skills().mask_rule_names(&error.message);
            McpToolRefusal::Engine(error)
        }
        invalid => invalid,
    }
}

fn hide_rules(call: &McpToolCall<'_>, value: &mut Value) {
    match value {
        Value::String(text) => *text = call.look.engine.skills().mask_rule_names(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_rules(call, item)),
        Value::Object(fields) => fields.values_mut().for_each(|field| hide_rules(call, field)),
        _ => {}
    }
}

fn act(call: &McpToolCall<'_>) -> Result<McpToolResponse, McpToolRefusal> {
    let input: AcquireSkillInput = call.read()?;
    let engine = &call.look.engine;
    let required = |name: &str| McpToolRefusal::Invalid(format!("{name} is required"));
    match input.action {
        AcquireSkillAction::Search => search(call, &input).map(McpToolResponse::Done),
        AcquireSkillAction::Status => status(call, input.run.as_deref()).map(McpToolResponse::Done),
        AcquireSkillAction::Propose => {
            let wish = AcquireRequest {
                chosen: chosen(&input)?,
                task: input.task.or(input.need).ok_or_else(|| required("task or need"))?,
                keywords: input.keywords.unwrap_or_default(),
                anyway: input.anyway,
                read_only: input.read_only,
                ..AcquireRequest::default()
            };
            let market = engine.hub().market(&HubOverrides::default())?;
            let mut host = listener(call);
            let standing = engine.hub().acquisition(&market).begin(&wish, &mut host)?;
            run_response(call, &standing, &host)
        }
        AcquireSkillAction::Install => {
            let run = match (&input.run, &input.approval) {
                (Some(run), _) => run.clone(),
                (None, Some(id)) => {
                    engine.approvals().get(id)?.run.ok_or_else(|| not_of_a_run(id))?
                }
                (None, None) => return Err(required("run or approval")),
            };
            go_on(call, &run)
        }
        AcquireSkillAction::Retain => {
            let run = input.run.ok_or_else(|| required("run"))?;
            let state = engine.cortex()?.run(&run)?.state.name();
            if state != "retain" {
                let said = format!("the run {run} is in {state}; there is nothing to keep now");
                return Err(EngineError::new(ErrorCode::NotNow, said)
                    .hint("report a success first; sinew asks when a skill is worth keeping")
                    .into());
            }
            go_on(call, &run)
        }
        AcquireSkillAction::Release => {
            let run = input.run.ok_or_else(|| required("run"))?;
            let market = engine.hub().market(&HubOverrides::default())?;
            let mut host = listener(call);
            let standing = engine.hub().acquisition(&market).cancel(&run, &mut host)?;
            run_response(call, &standing, &host)
        }
    }
}

/// The one skill that the agent names. A folder on this machine is for a person to install.
fn chosen(input: &AcquireSkillInput) -> Result<Option<ChosenSkill>, McpToolRefusal> {
    let Some(text) = &input.reference else {
        return match &input.version {
            Some(_) => Err(McpToolRefusal::Invalid("version is of a ref".to_owned())),
            None => Ok(None),
        };
    };
    match SkillReference::parse(text, ShorthandMeaning::GitHub) {
        Ok(SkillReference::Local(_)) => Err(McpToolRefusal::Invalid(
            "ref names a folder on this machine; `sinew install` installs it".to_owned(),
        )),
        Ok(_) => Ok(Some(ChosenSkill { reference: text.clone(), version: input.version.clone() })),
        Err(error) => Err(McpToolRefusal::Invalid(format!("ref: {error}"))),
    }
}

pub(super) fn listener(call: &McpToolCall<'_>) -> AcquisitionListener {
    AcquisitionListener { agent: call.caller.name.clone(), events: Vec::new() }
}

fn not_of_a_run(id: &str) -> EngineError {
    EngineError::new(ErrorCode::OtherSubject, format!("the approval {id} belongs to no run"))
}

/// Continues a run from its present state.
fn go_on(call: &McpToolCall<'_>, run: &str) -> Result<McpToolResponse, McpToolRefusal> {
    let engine = &call.look.engine;
    let market = engine.hub().market(&HubOverrides::default())?;
    let mut host = listener(call);
    let standing = engine.hub().acquisition(&market).resume_after_notice(run, &mut host)?;
    run_response(call, &standing, &host)
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, McpToolRefusal> {
    let approval = decide(call, about, reply)?;
    match &approval.run {
        Some(run) if !approval.is_pending() => {
            go_on(call, run).map_err(|refusal| without_rules(call, refusal))
        }
        _ => Ok(needs_approval(&approval).into()),
    }
}

/// The state of a run, or the question it waits for.
pub(super) fn run_response(
    call: &McpToolCall<'_>,
    standing: &AcquireStatus,
    host: &AcquisitionListener,
) -> Result<McpToolResponse, McpToolRefusal> {
    let run = standing.run.id.as_str();
    let (status, next) = match &standing.waits {
        AcquireWait::Approval { approval } if call.caller.elicits => {
            return Ok(McpToolResponse::Ask(ClientQuestion::Approval(approval.clone())));
        }
        AcquireWait::Approval { approval } => {
            let next = format!("ask the user and wait; `sinew approve {}` decides it", approval.id);
            ("needs_approval", next)
        }
        AcquireWait::Notice => {
            ("notice", "show the notice; then call install with this run".to_owned())
        }
        AcquireWait::Use { slug, .. } => {
            let next =
                format!("read {} with read_skill, follow it, report_outcome", one_line(slug));
            ("ready", next)
        }
        AcquireWait::Outcome { .. } => {
            ("waiting", "tell how it went with report_outcome".to_owned())
        }
        AcquireWait::Credentials { slug } => {
            ("waiting", format!("ask the user to check the credentials of {}", one_line(slug)))
        }
        AcquireWait::Retry => ("waiting", "call install with this run to try again".to_owned()),
        AcquireWait::Nothing { end } => {
            ("closed", json!(end).as_str().unwrap_or_default().to_owned())
        }
    };
    let mut data = json!({
        "status": status, "run": run, "state": standing.run.state.name(),
        "waits": standing.waits, "events": host.events,
    });
    hide_rules(call, &mut data["events"]);
    hide_rules(call, &mut data["waits"]);
    if let AcquireWait::Approval { approval } = &standing.waits {
        data["approval"] = json!(approval);
        data["question"] = json!(crate::questions::approval_question(approval));
    }
    let mut lines = vec![format!("{status}: run {run}, {next}")];
    lines.extend(data["question"].as_str().map(str::to_owned));
    Ok(McpToolAnswer::new(&data, lines.join("\n")).into())
}

/// What registries have, without beginning anything.
fn search(
    call: &McpToolCall<'_>,
    input: &AcquireSkillInput,
) -> Result<McpToolAnswer, McpToolRefusal> {
    let words = match (&input.keywords, input.task.as_ref().or(input.need.as_ref())) {
        (Some(keywords), _) => keywords.join(" "),
        (None, Some(task)) => task.clone(),
        (None, None) => {
            return Err(McpToolRefusal::Invalid("task, need or keywords is required".to_owned()));
        }
    };
    let engine = &call.look.engine;
    let hub = engine.hub().open(&HubOverrides::default())?;
    let query = RegistryQuery {
        words,
        sources: SearchSources::Usual,
        matching: NameMatching::Words,
        limit: SHOWN,
    };
    let found = engine.hub().search(&hub, &query)?;
    let rows = &found.candidates[..found.candidates.len().min(SHOWN)];
    let mut lines = vec![format!("{} candidates", rows.len())];
    for row in rows {
        let review = if row.candidate.reviewed { "" } else { ", unreviewed" };
        lines.push(format!(
            "- {} ({}{review}): {}",
            one_line(&row.candidate.reference),
            one_line(&row.candidate.source),
            one_line(&row.candidate.summary)
        ));
    }
    let mut data = json!({"status": "found", "candidates": rows});
    if found.age_ms.is_some() || rows.is_empty() && !found.diagnostics.is_empty() {
        data["network"] = json!("offline");
        lines.push("the registries could not be asked".to_owned());
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}

/// One run, or those that are not over.
fn status(call: &McpToolCall<'_>, run: Option<&str>) -> Result<McpToolAnswer, McpToolRefusal> {
    let cortex = call.look.engine.cortex()?;
    let runs = match run {
        Some(run) => vec![cortex.run(run)?],
        None => cortex.open_runs()?,
    };
    let brief = |run: &AcquireRun| {
        json!({
            "run": run.id, "state": run.state.name(), "region": run.region,
            "skill": run.current().map(|offer| offer.slug.clone()), "installed": run.installed,
        })
    };
    let lines = runs.iter().map(|run| format!("- {}: {}", run.id, run.state.name()));
    let text = [vec![format!("{} runs", runs.len())], lines.collect()].concat().join("\n");
    let data = json!({"status": "open", "runs": runs.iter().map(brief).collect::<Vec<_>>()});
    Ok(McpToolAnswer::new(&data, text))
}
