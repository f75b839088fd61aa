//! Answers of the person at the page. Approvals are shown where they matter: on the start page and
//! with the registry.

use axum::extract::{Path, State};
use axum::response::Redirect;
use sinew_engine::approval::{
    Approval, ApprovalDecision, ConsentAnswer, ConsentChannel, ConsentScope, PlanStep,
};
use sinew_settings::Actor;

use super::frame::{FormResult, SignedForm};
use super::text::{block, line};

/// Questions shown on one page; the others come when these are answered.
const MAX_WAITING: usize = 10;
/// Lines of a change that are shown with a question.
const MAX_LINES: usize = 120;
use crate::api::{DeferredApprover, install_with_approval, update_with_approval};
use crate::app::{PendingInstall, WebApp};

/// An approval that waits, as a page shows it.
#[derive(Debug)]
pub(super) struct ApprovalCard {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) about: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) steps: Vec<(String, String)>,
    pub(super) diff: Option<String>,
    /// Lines of the change that are not shown.
    pub(super) more_lines: usize,
    pub(super) blocked: bool,
    pub(super) critical: usize,
}

impl ApprovalCard {
    /// The first of those that wait, and how many more there are.
    pub(super) fn first(approvals: &[Approval]) -> (Vec<Self>, usize) {
        let shown = approvals.iter().take(MAX_WAITING).map(Self::of).collect();
        (shown, approvals.len().saturating_sub(MAX_WAITING))
    }

    fn of(approval: &Approval) -> Self {
        let evidence = &approval.evidence;
        let kind = serde_json::to_value(approval.kind).ok();
        let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("change");
        let question = match kind {
            "install" => "Install this skill?",
            "plan" => "Carry out this plan?",
            "dependency" => "Install what it needs?",
            "retain" => "Keep this skill for good?",
            "switch_candidate" => "Try the next skill instead?",
            "proposal_apply" => "Write this proposal?",
            "quarantine_restore" => "Take it out of quarantine?",
            "config_write" => "Change the configuration?",
            _ => "Go ahead?",
        };
        let version = approval.subject.version.as_deref().map(|v| format!(" {v}"));
        let about = format!("{}{}", approval.subject.name, version.unwrap_or_default());
        let mut facts = Vec::new();
        let mut fact = |name: &'static str, value: Option<String>| {
            facts.extend(value.map(|value| (name, line(&value))));
        };
        fact("What it is for", evidence.description.clone());
        fact("Source", evidence.source.clone());
        fact(
            "Reviewed there",
            evidence.reviewed.map(|yes| if yes { "yes" } else { "no" }.to_owned()),
        );
        fact("Stars", evidence.stars.map(|stars| stars.to_string()));
        fact("Downloads", evidence.downloads.map(|downloads| downloads.to_string()));
        fact(
            "It can",
            (!evidence.capabilities.is_empty()).then(|| evidence.capabilities.join(", ")),
        );
        let missing = (!evidence.missing.is_empty()).then(|| evidence.missing.join(", "));
        fact("Needs, and is not here", missing);
        fact(
            "Scan",
            evidence.scan.map(|scan| {
                let verdict = serde_json::to_value(scan.verdict).ok();
                let verdict =
                    verdict.as_ref().and_then(|v| v.as_str()).unwrap_or("unknown").to_owned();
                format!("{verdict}: {} critical, {} warnings", scan.critical, scan.warn)
            }),
        );
        fact("History", evidence.history.clone());
        fact("Command", evidence.command.clone());
        fact("Learned before", (!evidence.lessons.is_empty()).then(|| evidence.lessons.join("; ")));
        fact("Asked by", Some(approval.asked_by.to_string()));
        let step = |step: &PlanStep| (step.stakes(), line(&step.text));
        let diff = evidence.diff.as_deref().unwrap_or_default();
        let shown: Vec<&str> = diff.lines().take(MAX_LINES).collect();
        Self {
            id: approval.id.clone(),
            question: question.to_owned(),
            about: line(&about),
            facts,
            steps: evidence.steps.iter().map(step).collect(),
            diff: (!shown.is_empty()).then(|| block(&shown.join("\n"))),
            more_lines: diff.lines().count() - shown.len(),
            blocked: evidence.scan.is_some_and(|scan| {
                scan.verdict == sinew_engine::approval::CandidateVerdict::Block
            }),
            critical: evidence.scan.map_or(0, |scan| scan.critical),
        }
    }
}

/// Takes the answer of the person at this page.
pub(super) async fn decide(
    State(app): State<WebApp>,
    Path(id): Path<String>,
    form: SignedForm,
) -> FormResult {
    let yes = form.text("decision").as_deref() == Some("approve");
    let decision = ApprovalDecision {
        said: if yes { ConsentAnswer::Yes(ConsentScope::Listed) } else { ConsentAnswer::No },
        by: Actor::on_page(),
        channel: ConsentChannel::Dashboard,
        can_elicit: false,
        via: None,
        quote: None,
        comment: form.text("comment"),
        remember: false,
    };
    let install = app.install_of(&id);
    app.change(move |look| {
        look.engine.approvals().decide(&id, &decision)?;
        // An install that a page asked for continues once it is approved.
        if let Some(install) = install.filter(|_| yes) {
            let mut approver = DeferredApprover::new(&look.engine, Actor::on_page());
            match install {
                PendingInstall::New { reference, place } => {
                    install_with_approval(look, &reference, place, &mut approver)?;
                }
                PendingInstall::Update { key, place } => {
                    update_with_approval(look, &key, place, false, &mut approver)?;
                }
            }
        }
        Ok(())
    })
    .await?;
    Ok(Redirect::to(if yes { "/?done=approved" } else { "/?done=refused" }))
}
