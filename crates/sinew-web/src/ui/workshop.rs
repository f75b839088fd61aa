//! The workshop: what waits for review, and one proposal with everything a decision needs.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Redirect;
use serde::Deserialize;
use sinew_cortex::UtcInstant;
use sinew_engine::EngineError;
use sinew_settings::{Actor, ErrorCode};
use sinew_workshop::{
    ApplyConsent, Proposal, ProposalChange, ProposalRevision, ProposalSource, UndoForce, UndoTarget,
};

use super::diff;
use super::frame::{FormResult, HtmlPage, PageFrame, PageResult, PageVisitor, SignedForm};
use super::overview::ProposalRow;
use super::text::{ago, block, line, number, percent};
use crate::app::{WebApp, WebContext};

/// Rows of a page.
const ROWS: usize = 100;
/// From here on two skills may be taken for one.
const CLOSE: f64 = 0.5;
/// Characters per token, roughly, for English and Markdown.
const CHARS_PER_TOKEN: usize = 4;

#[derive(Debug, Default, Deserialize)]
pub(super) struct WorkshopPageQuery {
    #[serde(default)]
    status: String,
}

#[derive(Template)]
#[template(path = "workshop.html")]
struct WorkshopPage {
    frame: PageFrame,
    tabs: Vec<WorkshopTab>,
    status: &'static str,
    rows: Vec<ProposalRow>,
    on: bool,
}

const STATUSES: [&str; 5] = ["pending", "quarantined", "applied", "rejected", "stale"];

/// A tab of the workshop: proposals of a status, or runs.
pub(super) struct WorkshopTab {
    pub(super) name: &'static str,
    pub(super) to: String,
    pub(super) count: Option<usize>,
    pub(super) chosen: bool,
}

/// The tabs, with the one that is shown.
pub(super) fn tabs(look: &WebContext, chosen: &str) -> Result<Vec<WorkshopTab>, EngineError> {
    let counts = look.engine.workshop().proposal_counts()?;
    let numbers =
        [counts.pending, counts.quarantined, counts.applied, counts.rejected, counts.stale];
    let proposals = STATUSES.into_iter().zip(numbers).map(|(name, count)| WorkshopTab {
        name,
        to: format!("/workshop?status={name}"),
        count: Some(count),
        chosen: name == chosen,
    });
    let runs = WorkshopTab {
        name: "runs",
        to: "/traces".to_owned(),
        count: None,
        chosen: chosen == "runs",
    };
    Ok(proposals.chain([runs]).collect())
}

fn newest_first(look: &WebContext, status: &str) -> Result<Vec<Proposal>, EngineError> {
    let mut found = look.engine.workshop().with(|shop| shop.list(status))?;
    found.sort_by_key(|proposal| std::cmp::Reverse(proposal.number));
    Ok(found)
}

pub(super) async fn list(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(filter): Query<WorkshopPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let now = UtcInstant::from_clock(look.engine.environment().clock.now_ms());
        let wanted = STATUSES.into_iter().find(|known| *known == filter.status);
        let status = wanted.unwrap_or("pending");
        HtmlPage::of(&WorkshopPage {
            frame: visitor.frame(look, "workshop", "Workshop"),
            tabs: tabs(look, status)?,
            rows: newest_first(look, status)?
                .iter()
                .take(ROWS)
                .map(|proposal| ProposalRow::of(proposal, now))
                .collect(),
            status,
            on: look.engine.workshop().settings().0.is_on(),
        })
    });
    Ok(page.await?)
}

#[derive(Template)]
#[template(path = "proposal.html")]
struct ProposalPage {
    frame: PageFrame,
    row: ProposalRow,
    reason: String,
    source: &'static str,
    revision: u32,
    path: String,
    quotes: Vec<String>,
    diff: Vec<diff::DiffLine>,
    result_sha256: String,
    problem: Option<String>,
    findings: Vec<ProposalFindingRow>,
    /// Rules that hold it and that a person may acknowledge.
    holding: Vec<String>,
    neighbours: Vec<(String, String)>,
    /// A skill that it may be taken for.
    close: Option<String>,
    gained: Vec<String>,
    missed: Vec<String>,
    taken: Vec<String>,
    pushed_out: Vec<String>,
    tokens: String,
    change: String,
    description: String,
    body: String,
    history: Vec<(String, String, String, String)>,
    previous: Option<String>,
    next: Option<String>,
    can_approve: bool,
    can_revise: bool,
    can_undo: bool,
}

struct ProposalFindingRow {
    severity: String,
    class: &'static str,
    rule: String,
    place: String,
    /// Its line in the change above, where that shows it.
    at: Option<usize>,
    message: String,
    excerpt: String,
    suggestion: String,
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Path(id): Path<String>,
) -> PageResult {
    let page = app.ask(move |look| {
        let now = UtcInstant::from_clock(look.engine.environment().clock.now_ms());
        let preview = look.engine.workshop().with(|shop| shop.preview(&id))?;
        let proposal = &preview.proposal;
        let status = proposal.status.as_str();
        let siblings = newest_first(look, status)?;
        let at = siblings.iter().position(|other| other.id == proposal.id);
        let sibling = |by: isize| {
            let at = at.and_then(|at| at.checked_add_signed(by))?;
            siblings.get(at).map(|other| format!("/workshop/{}", other.id))
        };
        let tokens = |text: &str| text.chars().count().div_ceil(CHARS_PER_TOKEN);
        let (before, after) = (tokens(&preview.before), tokens(&preview.after));
        let more = i64::try_from(after).unwrap_or(0) - i64::try_from(before).unwrap_or(0);
        let shown = diff::lines(&preview.diff());
        let gates = &preview.gates;
        let near = gates.duplicate.iter().flat_map(|duplicate| &duplicate.near);
        let (description, body) = match &proposal.change {
            ProposalChange::Create { description, body, .. }
            | ProposalChange::Append { description, body, .. } => {
                (description.clone(), body.clone())
            }
            ProposalChange::Replace { new_text, .. } => (String::new(), new_text.clone()),
            ProposalChange::Rule { description, rule, .. } => (description.clone(), rule.clone()),
            ProposalChange::Retire { .. } | ProposalChange::Reshape { .. } => {
                (String::new(), String::new())
            }
        };
        let mut holding: Vec<String> =
            proposal.open_criticals().map(|finding| finding.rule_id.clone()).collect();
        holding.sort_unstable();
        holding.dedup();
        let lines = |texts: &[String]| texts.iter().map(|text| line(text)).collect::<Vec<_>>();
        let trigger = gates.trigger.as_ref();
        HtmlPage::of(&ProposalPage {
            frame: visitor.frame(look, "workshop", &line(&proposal.skill_name)),
            reason: line(&proposal.reason),
            source: match proposal.source {
                ProposalSource::Tool => "the tool",
                ProposalSource::AgentEnd => "a correction",
                ProposalSource::Reviewer => "the reviewer",
                ProposalSource::Trace => "a finished run",
                ProposalSource::Probation => "its uses",
            },
            revision: proposal.revision,
            path: line(&preview.path),
            quotes: lines(&proposal.evidence),
            result_sha256: preview.result_sha256.clone(),
            problem: preview.problem.as_deref().map(line),
            findings: proposal
                .scan_findings
                .iter()
                .map(|found| ProposalFindingRow {
                    class: if found.is_critical() { "bad" } else { "warn" },
                    severity: line(&found.severity),
                    rule: line(&found.rule_id),
                    place: match found.line {
                        0 => line(&found.file),
                        at => format!("{}:{at}", line(&found.file)),
                    },
                    at: Some(found.line).filter(|at| {
                        let here = preview.path.ends_with(&found.file);
                        here && shown.iter().any(|line| line.at == Some(*at))
                    }),
                    message: line(&found.message),
                    excerpt: line(&found.excerpt),
                    suggestion: line(&found.suggestion),
                })
                .collect(),
            diff: shown,
            holding,
            close: near.clone().find(|near| near.likeness >= CLOSE).map(|near| line(&near.skill)),
            neighbours: near.map(|near| (line(&near.skill), percent(near.likeness))).collect(),
            gained: trigger.map(|trigger| lines(&trigger.gained)).unwrap_or_default(),
            missed: trigger.map(|trigger| lines(&trigger.missed)).unwrap_or_default(),
            taken: trigger.map(|trigger| lines(&trigger.objections())).unwrap_or_default(),
            pushed_out: lines(&gates.prompt_budget),
            tokens: number(after),
            change: format!("{more:+}"),
            description: block(&description),
            body: block(&body),
            history: proposal
                .history
                .iter()
                .map(|step| {
                    let why = step.why.as_deref().map(line).unwrap_or_default();
                    let when = ago(UtcInstant::from_clock(step.at), now);
                    (line(&step.what), line(&step.by), when, why)
                })
                .collect(),
            previous: sibling(-1),
            next: sibling(1),
            can_approve: status == "pending" && preview.problem.is_none(),
            can_revise: matches!(status, "pending" | "quarantined" | "stale"),
            can_undo: status == "applied",
            row: ProposalRow::of(proposal, now),
        })
    });
    Ok(page.await?)
}

/// Approve, reject, revise, restore or undo.
pub(super) async fn act(
    State(app): State<WebApp>,
    Path((id, action)): Path<(String, String)>,
    form: SignedForm,
) -> FormResult {
    let by = Actor::on_page();
    let back = format!("/workshop/{id}");
    let done = app
        .change(move |look| {
            let engine = &look.engine;
            match action.as_str() {
                "apply" => {
                    let consent = ApplyConsent {
                        result_sha256: form.text("result"),
                        accept_stolen: form.text("accept_stolen").is_some(),
                        not_a_duplicate: form.text("not_a_duplicate").is_some(),
                    };
                    engine.workshop().with(|shop| shop.apply(&id, &by, &consent))?;
                    Ok("applied")
                }
                "reject" => {
                    let why = form.text("reason");
                    engine.workshop().with(|shop| shop.reject(&id, why.as_deref(), &by))?;
                    Ok("rejected")
                }
                "revise" => {
                    let revision = ProposalRevision {
                        description: form.text("description"),
                        body: form.text("body"),
                        redact: form.text("redact").is_some(),
                        ..ProposalRevision::default()
                    };
                    let revision = match engine.workshop().with(|shop| shop.inspect(&id))?.change {
                        // What is edited of a replacement is what comes.
                        ProposalChange::Replace { .. } => ProposalRevision {
                            new_text: revision.body.clone(),
                            body: None,
                            description: None,
                            ..revision
                        },
                        _ => revision,
                    };
                    engine.workshop().with(|shop| shop.revise(&id, &revision, &by))?;
                    Ok("revised")
                }
                "restore" => {
                    let (rules, why) = (form.all("rule"), form.text("reason").unwrap_or_default());
                    engine.workshop().with(|shop| shop.restore(&id, &rules, &why, &by))?;
                    Ok("restored")
                }
                "undo" => {
                    let wish = UndoTarget::Id(id.clone());
                    engine.workshop().with(|shop| shop.undo(&wish, UndoForce::No, &by))?;
                    Ok("undone")
                }
                _ => Err(EngineError::new(ErrorCode::UnknownAction, "there is no such action")),
            }
        })
        .await?;
    Ok(Redirect::to(&format!("{back}?done={done}")))
}
