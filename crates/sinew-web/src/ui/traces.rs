//! Runs of agents that were learned from: what was asked, how it went, and what became of it.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Redirect;
use serde::Deserialize;
use sinew_engine::EngineError;
use sinew_settings::ErrorCode;
use sinew_traces::{JudgementEvidence, RunJudgement, RunStep};
use sinew_workshop::RememberedRun;

use super::frame::{FormResult, HtmlPage, PageFrame, PageResult, PageVisitor, SignedForm};
use super::text::{line, path_segment, short};
use super::workshop::{WorkshopTab, tabs};
use crate::app::WebApp;

/// Rows of a page.
const ROWS: usize = 50;
/// Steps that are shown of a run.
const STEPS: usize = 40;
/// Characters of a step that are shown.
const STEP_CHARS: usize = 200;

#[derive(Debug, Default, Deserialize)]
pub(super) struct TracesPageQuery {
    /// A run whose steps are shown.
    #[serde(default)]
    run: String,
}

#[derive(Template)]
#[template(path = "traces.html")]
struct TracesPage {
    frame: PageFrame,
    tabs: Vec<WorkshopTab>,
    rows: Vec<TraceRow>,
    found: usize,
}

struct TraceRow {
    id: String,
    task: String,
    agent: String,
    word: &'static str,
    class: &'static str,
    why: &'static str,
    fingerprint: String,
    /// The draft that was made of it, with the address of its page.
    draft: Option<(String, Option<String>)>,
    steps: usize,
    shown: Vec<(String, String, bool)>,
    open: bool,
}

fn result(judgement: RunJudgement) -> (&'static str, &'static str, &'static str) {
    let (word, class) = match judgement.ok {
        Some(true) => ("worked", "good"),
        Some(false) => ("failed", "bad"),
        None => ("unknown", ""),
    };
    let why = match judgement.evidence {
        JudgementEvidence::Stated => "the transcript says so",
        JudgementEvidence::Reported => "the agent reported it",
        JudgementEvidence::Aborted => "it was stopped",
        JudgementEvidence::Complaint => "the user complained",
        JudgementEvidence::LastStepFailed => "the last step failed",
        JudgementEvidence::Confirmed => "the user was content",
        JudgementEvidence::Completed => "the agent recorded it as complete",
        JudgementEvidence::Accepted => "the user went on from there",
        JudgementEvidence::Weak => "most steps worked, and the user said nothing about it",
        JudgementEvidence::Unknown => "nothing says how it went",
    };
    (word, class, why)
}

/// A step in a line: its kind, what it did, and whether it failed.
fn step(step: &RunStep) -> (String, String, bool) {
    let fields = ["command", "script", "path", "text", "message", "question", "capability"];
    let said =
        fields.into_iter().map(|field| step.action.text(field)).find(|text| !text.is_empty());
    let said: String = said.unwrap_or(&step.app).chars().take(STEP_CHARS).collect();
    (line(&step.action.kind), line(&said), step.failed)
}

fn row(run: &RememberedRun, shown: Option<&[RunStep]>) -> TraceRow {
    let (word, class, why) = result(run.judgement);
    let draft = run.skill.as_deref().map(|skill| {
        let to = run.proposal.as_deref().map(|id| format!("/workshop/{}", path_segment(id)));
        (line(skill), to)
    });
    TraceRow {
        id: path_segment(&run.id),
        task: line(run.task.as_deref().unwrap_or_default()),
        agent: line(run.agent.as_deref().unwrap_or_default()),
        word,
        class,
        why,
        fingerprint: short(&line(&run.behavior_fingerprint)),
        draft,
        steps: run.steps,
        open: shown.is_some(),
        shown: shown.unwrap_or_default().iter().take(STEPS).map(step).collect(),
    }
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(wanted): Query<TracesPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let mut runs = look.engine.traces().remembered_runs()?;
        runs.sort_by_key(|run| std::cmp::Reverse(run.number));
        let mut rows = Vec::new();
        for run in runs.iter().take(ROWS) {
            let steps = match run.id == wanted.run {
                true => {
                    look.engine.traces().remembered_run(&run.id)?.1.map(|clean| clean.run.steps)
                }
                false => None,
            };
            rows.push(row(run, steps.as_deref()));
        }
        HtmlPage::of(&TracesPage {
            frame: visitor.frame(look, "workshop", "Runs"),
            tabs: tabs(look, "runs")?,
            rows,
            found: runs.len(),
        })
    });
    Ok(page.await?)
}

/// Makes a proposal of a run, or lets go of what was done in it.
pub(super) async fn act(
    State(app): State<WebApp>,
    Path((id, action)): Path<(String, String)>,
    _form: SignedForm,
) -> FormResult {
    let to = app
        .change(move |look| match action.as_str() {
            "distil" => {
                let learned = look.engine.traces().draft_remembered_run(&id)?;
                match learned.proposal {
                    Some(proposal) => {
                        Ok(format!("/workshop/{}?done=distilled", path_segment(&proposal.id)))
                    }
                    None => {
                        let why = learned.reason.unwrap_or_else(|| "there is no draft".to_owned());
                        let said = format!("the run became nothing: {why}");
                        Err(EngineError::new(ErrorCode::NoDraft, said))
                    }
                }
            }
            "discard" => {
                look.engine.traces().discard_run(&id)?;
                Ok("/traces?done=discarded".to_owned())
            }
            _ => Err(EngineError::new(ErrorCode::UnknownAction, "there is no such action")),
        })
        .await?;
    Ok(Redirect::to(&to))
}
