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
use utoipa::ToSchema;

use super::acquire_output::{AcquireRunRow, AcquireSkillOutput, AcquireSkillStatus};
use super::approve::{decide, needs_approval};
use super::{McpToolCall, McpToolRefusal, ToolHints, ToolSpec, always};
use crate::questions::{ClientQuestion, ClientReply, McpToolResponse, QuestionSubject};
use crate::tool_answer::{McpToolAnswer, one_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "acquire_skill",
    title: "Acquire a skill",
    description: "When find_skill says `none`: search registries for a skill, propose one for the user's \
                  approval, and install it for this task. Read and follow it, then tell how it went with \
                  report_outcome and the run: it is taken away again unless the user keeps it.",
    input: tool_schema::input::<AcquireSkillInput>,
    output: tool_schema::output::<AcquireSkillOutput>,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: true },
    offered: always,
    call,
    resume: Some(resume),
};

/// Candidates in an answer: a person chooses among three, hardly among ten.
const SHOWN: usize = 3;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AcquireSkillInput {
    action: AcquireSkillAction,
    /// search, propose: what the skill must be able to do
    #[schema(min_length = 1, max_length = 2000)]
    need: Option<String>,
    /// search, propose: the user's task in one line; need counts where it is missing
    #[schema(min_length = 1, max_length = 300)]
    task: Option<String>,
    /// search, propose: three to five English words to search with
    #[schema(min_items = 3, max_items = 5)]
    keywords: Option<Vec<SearchKeyword>>,
    /// propose: this one skill, as search named it, and no other
    #[serde(rename = "ref")]
    #[schema(min_length = 1, max_length = 300)]
    reference: Option<String>,
    /// propose: exactly this version of ref; the newest where it is missing
    #[schema(min_length = 1, max_length = 80)]
    version: Option<String>,
    /// propose: the task only looks, so a skill that changes anything is none for it
    #[serde(default)]
    #[schema(default = false)]
    read_only: bool,
    /// install: an approval that the user gave
    #[schema(max_length = 40)]
    approval: Option<String>,
    /// install, release, retain, status: the run that propose began
    #[schema(max_length = 60)]
    run: Option<String>,
    /// propose: look for a skill although an installed one seems to fit
    #[serde(default)]
    #[schema(default = false)]
    anyway: bool,
}

#[derive(Deserialize, ToSchema)]
#[schema(max_length = 60, pattern = "^[A-Za-z0-9][A-Za-z0-9+.#_-]*$")]
struct SearchKeyword(String);

impl AcquireSkillInput {
    fn keywords(&self) -> Option<Vec<String>> {
        let each = self.keywords.as_ref()?.iter();
        Some(each.map(|word| word.0.clone()).collect())
    }
}

#[derive(Deserialize, ToSchema, Clone, Copy, PartialEq, Eq)]
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
                keywords: input.keywords().unwrap_or_default(),
                task: input.task.or(input.need).ok_or_else(|| required("task or need"))?,
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
            (AcquireSkillStatus::NeedsApproval, next)
        }
        AcquireWait::Notice => {
            let next = "show the notice; then call install with this run".to_owned();
            (AcquireSkillStatus::Notice, next)
        }
        AcquireWait::Use { slug, .. } => {
            let next =
                format!("read {} with read_skill, follow it, report_outcome", one_line(slug));
            (AcquireSkillStatus::Ready, next)
        }
        AcquireWait::Outcome { .. } => {
            (AcquireSkillStatus::Waiting, "tell how it went with report_outcome".to_owned())
        }
        AcquireWait::Credentials { slug } => {
            let next = format!("ask the user to check the credentials of {}", one_line(slug));
            (AcquireSkillStatus::Waiting, next)
        }
        AcquireWait::Retry => {
            let next = "call install with this run to try again".to_owned();
            (AcquireSkillStatus::Waiting, next)
        }
        AcquireWait::Nothing { end } => {
            (AcquireSkillStatus::Closed, json!(end).as_str().unwrap_or_default().to_owned())
        }
    };
    let mut waits = json!(standing.waits);
    hide_rules(call, &mut waits);
    let mut events = host.events.clone();
    events.iter_mut().for_each(|event| hide_rules(call, event));
    let mut data = AcquireSkillOutput {
        run: Some(run.to_owned()),
        state: Some(standing.run.state.name()),
        waits: Some(waits),
        events: Some(events),
        ..AcquireSkillOutput::of(status)
    };
    let mut lines = vec![format!("{}: run {run}, {next}", status.as_str())];
    if let AcquireWait::Approval { approval } = &standing.waits {
        let question = crate::questions::approval_question(approval);
        lines.push(question.clone());
        data.question = Some(question);
        data.approval = Some(approval.clone());
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")).into())
}

/// What registries have, without beginning anything.
fn search(
    call: &McpToolCall<'_>,
    input: &AcquireSkillInput,
) -> Result<McpToolAnswer, McpToolRefusal> {
    let words = match (input.keywords(), input.task.as_ref().or(input.need.as_ref())) {
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
    let mut rows = found.candidates;
    rows.truncate(SHOWN);
    let mut lines = vec![format!("{} candidates", rows.len())];
    for row in &rows {
        let review = if row.candidate.reviewed { "" } else { ", unreviewed" };
        lines.push(format!(
            "- {} ({}{review}): {}",
            one_line(&row.candidate.reference),
            one_line(&row.candidate.source),
            one_line(&row.candidate.summary)
        ));
    }
    let offline = found.age_ms.is_some() || rows.is_empty() && !found.diagnostics.is_empty();
    if offline {
        lines.push("the registries could not be asked".to_owned());
    }
    let data = AcquireSkillOutput {
        candidates: Some(rows),
        network: offline.then_some("offline"),
        ..AcquireSkillOutput::of(AcquireSkillStatus::Found)
    };
    Ok(McpToolAnswer::new(&data, lines.join("\n")))
}

/// One run, or those that are not over.
fn status(call: &McpToolCall<'_>, run: Option<&str>) -> Result<McpToolAnswer, McpToolRefusal> {
    let cortex = call.look.engine.cortex()?;
    let runs = match run {
        Some(run) => vec![cortex.run(run)?],
        None => cortex.open_runs()?,
    };
    let brief = |run: &AcquireRun| AcquireRunRow {
        run: run.id.clone(),
        state: run.state.name(),
        region: run.region.clone(),
        skill: run.current().map(|offer| offer.slug.clone()),
        installed: run.installed.clone(),
    };
    let lines = runs.iter().map(|run| format!("- {}: {}", run.id, run.state.name()));
    let text = [vec![format!("{} runs", runs.len())], lines.collect()].concat().join("\n");
    let runs = Some(runs.iter().map(brief).collect());
    let data = AcquireSkillOutput { runs, ..AcquireSkillOutput::of(AcquireSkillStatus::Open) };
    Ok(McpToolAnswer::new(&data, text))
}
