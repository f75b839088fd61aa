//! `acquire_skill`: from a task that no installed skill fits to one that does, and back.
//!
//! The flow is the engine's; this tool only passes calls and answers on. Questions are not answered
//! here: they go to the client's user, or wait.

use serde::Deserialize;
use serde_json::json;
use sinew_cortex::acquire::ChosenSkill;
use sinew_engine::EngineError;
use sinew_engine::acquire::{
    AcquireHost, AcquireProgress, AcquireRequest, AcquireStatus, AcquireWait,
};
use sinew_engine::approval::{ApprovalAnswer, ApprovalQuestion, Approver, ConsentChannel};
use sinew_engine::hub::{HubOverrides, ShorthandMeaning, SkillReference};
use sinew_settings::{Actor, ErrorCode};
use utoipa::ToSchema;

use super::acquire_output::{AcquireNotes, AcquireSkillOutput, AcquireSkillStatus};
use super::acquire_queries::{SearchKeyword, search, status, words_of};
use super::approve::{ApprovalSummary, decide, needs_approval};
use super::{McpToolCall, ToolHints, ToolSpec, always};
use crate::questions::{ClientQuestion, ClientReply, McpToolResponse, QuestionSubject};
use crate::tool_answer::{McpToolAnswer, bad_argument, one_line};
use crate::tool_schema;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "acquire_skill",
    description: "When find_skill says none: propose a skill for approval, install it for this task, remove it after report_outcome.",
    input: tool_schema::input::<AcquireSkillInput>,
    output: Some(tool_schema::any_object),
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: true },
    offered: always,
    call,
    resume: Some(resume),
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AcquireSkillInput {
    action: AcquireSkillAction,
    #[schema(max_length = 2000)]
    need: Option<String>,
    #[schema(max_length = 300)]
    task: Option<String>,
    #[schema(min_items = 3, max_items = 5)]
    keywords: Option<Vec<SearchKeyword>>,
    /// propose only this one
    #[serde(rename = "ref")]
    reference: Option<String>,
    version: Option<String>,
    /// The task changes nothing
    read_only: Option<bool>,
    approval: Option<String>,
    run: Option<String>,
    anyway: Option<bool>,
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
    agent: String,
    pub(super) notes: AcquireNotes,
}

/// Questions go to the agent as approvals that wait.
impl Approver for AcquisitionListener {
    fn ask(&mut self, _question: &ApprovalQuestion<'_>) -> ApprovalAnswer {
        ApprovalAnswer::ABSENT
    }
}

impl AcquireHost for AcquisitionListener {
    fn on_progress(&mut self, told: &AcquireProgress<'_>) {
        self.notes.hear(told);
    }

    fn respondent(&self) -> (Actor, ConsentChannel) {
        (Actor::Agent { name: self.agent.clone() }, ConsentChannel::Relay)
    }
}

fn call(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    act(call).map_err(|refusal| without_rules(call, refusal))
}

/// An agent learns that a candidate is held back; which rules did it is for people.
fn without_rules(call: &McpToolCall<'_>, mut refusal: EngineError) -> EngineError {
    refusal.message = call.look.engine.skills().mask_rule_names(&refusal.message);
    refusal
}

fn act(call: &McpToolCall<'_>) -> Result<McpToolResponse, EngineError> {
    let input: AcquireSkillInput = call.read()?;
    let engine = &call.look.engine;
    let required = |names: &str| bad_argument(format!("{names} is required for this action"));
    match input.action {
        AcquireSkillAction::Search => {
            let words = words_of(input.keywords.as_ref());
            let (candidates, network, text) =
                search(call, words, input.task.or(input.need).as_deref())?;
            let data = AcquireSkillOutput {
                candidates: Some(candidates),
                network,
                ..AcquireSkillOutput::of(AcquireSkillStatus::Found)
            };
            Ok(McpToolAnswer::new(&data, text).into())
        }
        AcquireSkillAction::Status => {
            let (runs, text) = status(call, input.run.as_deref())?;
            let runs = Some(runs);
            let data =
                AcquireSkillOutput { runs, ..AcquireSkillOutput::of(AcquireSkillStatus::Open) };
            Ok(McpToolAnswer::new(&data, text).into())
        }
        AcquireSkillAction::Propose => {
            let wish = AcquireRequest {
                chosen: chosen(&input)?,
                keywords: words_of(input.keywords.as_ref()).unwrap_or_default(),
                task: input.task.or(input.need).ok_or_else(|| required("`task` or `need`"))?,
                anyway: input.anyway.unwrap_or(false),
                read_only: input.read_only.unwrap_or(false),
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
                (None, None) => return Err(required("`run` or `approval`")),
            };
            // Of a run that stands before its question, the reference is one of the others.
            match &input.reference {
                Some(slug) => picked(call, &run, slug),
                None => go_on(call, &run),
            }
        }
        AcquireSkillAction::Retain => {
            let run = input.run.ok_or_else(|| required("`run`"))?;
            let state = engine.cortex()?.run(&run)?.state.name();
            if state != "retain" {
                let said = format!("the run {run} is in {state}; there is nothing to keep now");
                return Err(EngineError::new(ErrorCode::NotNow, said)
                    .hint("report a success first; sinew asks when a skill is worth keeping"));
            }
            go_on(call, &run)
        }
        AcquireSkillAction::Release => {
            let run = input.run.ok_or_else(|| required("`run`"))?;
            let market = engine.hub().market(&HubOverrides::default())?;
            let mut host = listener(call);
            let standing = engine.hub().acquisition(&market).cancel(&run, &mut host)?;
            run_response(call, &standing, &host)
        }
    }
}

/// The one skill that the agent names. A folder on this machine is for a person to install.
fn chosen(input: &AcquireSkillInput) -> Result<Option<ChosenSkill>, EngineError> {
    let Some(text) = &input.reference else {
        return match &input.version {
            Some(_) => Err(bad_argument("`version` needs a `ref` that it is a version of")),
            None => Ok(None),
        };
    };
    match SkillReference::parse(text, ShorthandMeaning::GitHub) {
        Ok(SkillReference::Local(_)) => Err(bad_argument("`ref` names a folder on this machine")
            .hint("`sinew install` installs it")),
        Ok(_) => Ok(Some(ChosenSkill { reference: text.clone(), version: input.version.clone() })),
        Err(error) => Err(bad_argument(format!("`ref`: {error}"))),
    }
}

pub(super) fn listener(call: &McpToolCall<'_>) -> AcquisitionListener {
    AcquisitionListener { agent: call.caller.name.clone(), notes: AcquireNotes::default() }
}

fn not_of_a_run(id: &str) -> EngineError {
    EngineError::new(ErrorCode::OtherSubject, format!("the approval {id} belongs to no run"))
}

/// Continues a run from its present state.
fn go_on(call: &McpToolCall<'_>, run: &str) -> Result<McpToolResponse, EngineError> {
    let engine = &call.look.engine;
    let market = engine.hub().market(&HubOverrides::default())?;
    let mut host = listener(call);
    let standing = engine.hub().acquisition(&market).resume_after_notice(run, &mut host)?;
    run_response(call, &standing, &host)
}

/// Puts another one of a run's candidates first, and asks about it.
fn picked(call: &McpToolCall<'_>, run: &str, slug: &str) -> Result<McpToolResponse, EngineError> {
    let engine = &call.look.engine;
    let standing = engine.cortex()?.run(run)?;
    let usable = standing.candidates.iter().filter(|offer| offer.failed.is_none());
    let names: Vec<&str> = usable.map(|offer| offer.slug.as_str()).collect();
    if !names.contains(&slug) {
        return Err(bad_argument("`ref` names none of the candidates")
            .hint(format!("there are {}", names.join(", "))));
    }
    let market = engine.hub().market(&HubOverrides::default())?;
    let mut host = listener(call);
    let standing = engine.hub().acquisition(&market).pick(run, slug, &mut host)?;
    run_response(call, &standing, &host)
}

fn resume(
    call: &McpToolCall<'_>,
    about: &QuestionSubject,
    reply: ClientReply,
) -> Result<McpToolResponse, EngineError> {
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
) -> Result<McpToolResponse, EngineError> {
    let run = standing.run.id.as_str();
    let mask = |text: &str| call.look.engine.skills().mask_rule_names(text);
    let (mut skill, mut end) = (None, None);
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
            skill = Some(one_line(slug));
            let next =
                format!("read {} with read_skill, follow it, report_outcome", one_line(slug));
            (AcquireSkillStatus::Ready, next)
        }
        AcquireWait::Outcome { slug } => {
            skill = Some(one_line(slug));
            (AcquireSkillStatus::Waiting, "tell how it went with report_outcome".to_owned())
        }
        AcquireWait::Credentials { slug } => {
            skill = Some(one_line(slug));
            let next = format!("ask the user to check the credentials of {}", one_line(slug));
            (AcquireSkillStatus::Waiting, next)
        }
        AcquireWait::Retry => {
            let next = "call install with this run to try again".to_owned();
            (AcquireSkillStatus::Waiting, next)
        }
        AcquireWait::Nothing { end: how } => {
            let how = json!(how).as_str().unwrap_or_default().to_owned();
            end = Some(how.clone());
            (AcquireSkillStatus::Closed, how)
        }
    };
    let notes: Vec<String> = host.notes.lines().iter().map(|note| mask(note)).collect();
    let mut lines = vec![format!("{}: run {run}, {next}", status.as_str())];
    lines.extend(notes.iter().cloned());
    let mut data = AcquireSkillOutput {
        run: Some(run.to_owned()),
        state: Some(standing.run.state.name()),
        skill,
        next: end.is_none().then_some(next),
        end,
        notes,
        ..AcquireSkillOutput::of(status)
    };
    if let AcquireWait::Approval { approval } = &standing.waits {
        let question = crate::questions::approval_question(approval);
        lines.push(question.clone());
        data.question = Some(question);
        data.approval = Some(ApprovalSummary::of(approval));
    }
    Ok(McpToolAnswer::new(&data, lines.join("\n")).into())
}
