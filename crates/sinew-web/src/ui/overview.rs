//! The start page: the skills, what waits, what happened, and the state of the machine.

use askama::Template;
use axum::extract::State;
use sinew_catalog::{Catalog, EntryState};
use sinew_cortex::UtcInstant;
use sinew_engine::{ActivityEntry, ActivityFilter, ProbeHealth};
use sinew_workshop::Proposal;

use super::approvals::ApprovalCard;
use super::chart;
use super::frame::{HtmlPage, PageFrame, PageResult, PageVisitor};
use super::skills::state_class;
use super::text::{ago, line, line_html, path_segment};
use crate::app::WebApp;

/// Rows of the lists on this page; each has a page of its own.
const ROWS: usize = 6;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: PageFrame,
    total: usize,
    ready: usize,
    states: Vec<StateCount>,
    bar: String,
    waiting: Vec<ApprovalCard>,
    more_waiting: usize,
    proposals: Vec<ProposalRow>,
    more_proposals: usize,
    activity: Vec<ActivityRow>,
    warnings: Vec<(String, String)>,
    workspace: String,
}

struct StateCount {
    name: &'static str,
    class: &'static str,
    count: usize,
}

/// A proposal in a list.
pub(super) struct ProposalRow {
    pub(super) id: String,
    pub(super) skill: String,
    pub(super) title: String,
    pub(super) status: &'static str,
    pub(super) class: &'static str,
    pub(super) kind: &'static str,
    pub(super) when: String,
    pub(super) findings: usize,
}

impl ProposalRow {
    pub(super) fn of(proposal: &Proposal, now: UtcInstant) -> Self {
        let status = proposal.status.as_str();
        Self {
            id: proposal.id.clone(),
            skill: line(&proposal.skill_name),
            title: line(&proposal.title),
            status,
            class: match status {
                "applied" => "good",
                "pending" => "info",
                "quarantined" => "bad",
                "stale" => "warn",
                _ => "",
            },
            kind: proposal.change.kind(),
            when: ago(UtcInstant::from_clock(proposal.updated_at), now),
            findings: proposal.scan_findings.len(),
        }
    }
}

/// One event in a list.
pub(super) struct ActivityRow {
    pub(super) when: String,
    pub(super) at: String,
    pub(super) kind: String,
    pub(super) by: String,
    pub(super) text: String,
    /// What it is about, with the address of its page where there is one.
    pub(super) about: Option<(String, Option<String>)>,
}

/// What something is about: a proposal with its change, or a skill.
fn about(activity: &ActivityEntry, catalog: &Catalog) -> Option<(String, Option<String>)> {
    let skill = activity.skill.as_deref();
    let proposal = activity.subject.as_deref().filter(|_| activity.kind.starts_with("proposal."));
    match (proposal, skill) {
        (Some(id), skill) => {
            let to = format!("/workshop/{}", path_segment(id));
            Some((line(skill.unwrap_or("proposal")), Some(to)))
        }
        (None, Some(skill)) => {
            let known = catalog.lookup(skill).is_ok();
            Some((line(skill), known.then(|| format!("/skills/{}", path_segment(skill)))))
        }
        (None, None) => None,
    }
}

impl ActivityRow {
    pub(super) fn of(activity: &ActivityEntry, now: UtcInstant, catalog: &Catalog) -> Self {
        Self {
            when: ago(activity.at, now),
            at: activity.at.to_string(),
            kind: activity.kind.clone(),
            by: activity.by.as_deref().map(line).unwrap_or_default(),
            text: line(&activity.text),
            about: about(activity, catalog),
        }
    }
}

/// Every state, in the order of interest.
pub(super) const STATES: [EntryState; 7] = [
    EntryState::Ready,
    EntryState::NeedsSetup,
    EntryState::Blocked,
    EntryState::Broken,
    EntryState::Disabled,
    EntryState::Excluded,
    EntryState::Shadowed,
];

pub(super) async fn show(State(app): State<WebApp>, visitor: PageVisitor) -> PageResult {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let now = UtcInstant::from_clock(engine.environment().clock.now_ms());
        let counts = engine.skills().state_counts(catalog);
        let count = |state: &EntryState| counts.get(state.as_str()).copied().unwrap_or_default();
        let states: Vec<StateCount> = STATES
            .iter()
            .map(|state| StateCount {
                name: state.as_str(),
                class: state_class(*state),
                count: count(state),
            })
            .filter(|shown| shown.count > 0)
            .collect();
        let parts: Vec<(&str, &'static str, usize)> =
            states.iter().map(|shown| (shown.name, bar_class(shown.class), shown.count)).collect();
        let open: Vec<Proposal> = engine
            .workshop()
            .proposals()?
            .into_iter()
            .filter(|proposal| proposal.status.is_open())
            .collect();
        let mut open: Vec<&Proposal> = open.iter().collect();
        open.sort_by_key(|proposal| std::cmp::Reverse(proposal.number));
        let activity = engine.status().activity(&ActivityFilter::default())?;
        let diagnosis = engine.status().doctor(catalog);
        let warnings = diagnosis.probes.iter().filter(|probe| probe.health >= ProbeHealth::Warn);
        let warnings = warnings.map(|probe| {
            let remedy = probe.remedy.as_deref().unwrap_or(&probe.detail);
            (line(&probe.name), line_html(remedy))
        });
        let (waiting, more_waiting) = ApprovalCard::first(&engine.approvals().list(true)?);
        HtmlPage::of(&OverviewPage {
            frame: visitor.frame(look, "overview", "Overview"),
            total: catalog.entries.len(),
            ready: count(&EntryState::Ready),
            bar: chart::shares(&parts),
            states,
            waiting,
            more_waiting,
            more_proposals: open.len().saturating_sub(ROWS),
            proposals: open
                .iter()
                .take(ROWS)
                .map(|proposal| ProposalRow::of(proposal, now))
                .collect(),
            activity: activity
                .iter()
                .take(ROWS)
                .map(|one| ActivityRow::of(one, now, catalog))
                .collect(),
            warnings: warnings.collect(),
            workspace: line(&engine.workspace().to_string_lossy()),
        })
    });
    Ok(page.await?)
}

/// The class of a part of a bar, for a chip's.
fn bar_class(chip: &str) -> &'static str {
    match chip {
        "good" => "s-good",
        "warn" => "s-warn",
        "bad" => "s-bad",
        "info" => "s-info",
        _ => "s-plain",
    }
}
