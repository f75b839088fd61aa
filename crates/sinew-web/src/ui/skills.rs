//! Every skill, whatever its state, with the reason and what to do.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;
use sinew_catalog::{CatalogEntry, EntryState};
use sinew_engine::PromptOptions;
use sinew_guard::scan::Verdict;

use super::frame::{HtmlPage, PageFrame, PageResult, PageVisitor};
use super::overview::STATES;
use super::switch::is_pinned;
use super::text::{line, line_html, number, path_segment};
use crate::app::WebApp;

/// Rows of a page: it stays below 100 KB.
const ROWS: usize = 50;

#[derive(Debug, Default, Deserialize)]
pub(super) struct SkillsPageQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    source: String,
    /// Anything shows the carried skills that lack something, too.
    #[serde(default)]
    carried: String,
    #[serde(default)]
    page: usize,
}

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsPage {
    frame: PageFrame,
    q: String,
    states: Vec<(&'static str, usize, bool)>,
    sources: Vec<(String, bool)>,
    rows: Vec<SkillListRow>,
    found: usize,
    total: usize,
    /// Carried skills that lack something here, and are only counted.
    unready: usize,
    first: usize,
    last: usize,
    previous: Option<String>,
    next: Option<String>,
    /// The address that a switch comes back to.
    back: String,
}

struct SkillListRow {
    name: String,
    path: String,
    description: String,
    state: &'static str,
    class: &'static str,
    /// HTML, as is the next one.
    reason: String,
    remedy: Option<String>,
    source: String,
    verdict: Option<(&'static str, &'static str)>,
    cost: Option<String>,
    /// Absent for what cannot be switched: a broken skill, or one that another replaces.
    switch: Option<(bool, bool)>,
    /// Whether it is held back, so that a place in the prompt would be no use to it.
    held: bool,
}

/// The class of a state's chip.
pub(super) fn state_class(state: EntryState) -> &'static str {
    match state {
        EntryState::Ready => "good",
        EntryState::NeedsSetup => "warn",
        EntryState::Blocked | EntryState::Broken => "bad",
        EntryState::Excluded => "info",
        EntryState::Disabled | EntryState::Shadowed => "",
    }
}

/// A verdict with the class of its chip.
pub(super) fn verdict_chip(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Allow => ("allow", "good"),
        Verdict::Warn => ("warn", "warn"),
        Verdict::Block => ("block", "bad"),
    }
}

impl SkillsPageQuery {
    fn takes(&self, entry: &CatalogEntry) -> bool {
        let words = self.q.to_lowercase();
        let holds = |word: &str| {
            entry.name.to_lowercase().contains(word)
                || entry.description.to_lowercase().contains(word)
        };
        (self.state.is_empty() || entry.state.as_str() == self.state)
            && (self.source.is_empty() || entry.source == self.source)
            && words.split_whitespace().all(holds)
    }

    /// Whether a carried skill that lacks something is only counted. A search shows all
    /// that fits.
    fn hides(&self, entry: &CatalogEntry) -> bool {
        let is_plain = [&self.q, &self.state, &self.source, &self.carried]
            .iter()
            .all(|filter| filter.trim().is_empty());
        is_plain && entry.is_idle_carried()
    }

    fn query(&self, page: usize) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let page = page.to_string();
        let all = [
            ("q", &self.q),
            ("state", &self.state),
            ("source", &self.source),
            ("carried", &self.carried),
            ("page", &page),
        ];
        for (name, value) in all {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }

    fn address(&self, page: usize) -> String {
        format!("/skills?{}", self.query(page))
    }
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(filter): Query<SkillsPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let (idle, mut found): (Vec<&CatalogEntry>, Vec<&CatalogEntry>) = catalog
            .entries
            .iter()
            .filter(|entry| filter.takes(entry))
            .partition(|entry| filter.hides(entry));
        // Carried skills stand behind the user's own, the skill that is used before those that it
        // replaces, wherever they came from.
        let shadowed = |entry: &CatalogEntry| entry.state == EntryState::Shadowed;
        let is_carried = |entry: &CatalogEntry| entry.bundled && !shadowed(entry);
        found.sort_by(|a, b| {
            (is_carried(a), &a.name, shadowed(a), &a.file_path).cmp(&(
                is_carried(b),
                &b.name,
                shadowed(b),
                &b.file_path,
            ))
        });
        let costs = engine.skills().prompt_costs(catalog);
        let block = engine.skills().prompt(catalog, &PromptOptions::default());
        // Where there is no graver reason, say that the prompt has no room for it.
        let cut = |entry: &CatalogEntry| {
            let mut reasons = block.reasons.iter().filter(|_| entry.model_visible);
            reasons.find(|reason| reason.skill.as_deref() == Some(&entry.name))
        };
        let counts = engine.skills().state_counts(catalog);
        let mut sources: Vec<&str> =
            catalog.entries.iter().map(|entry| entry.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        let begin = filter.page.saturating_mul(ROWS).min(found.len());
        let rows: Vec<SkillListRow> = found
            .iter()
            .skip(begin)
            .take(ROWS)
            .map(|entry| {
                let reason = entry.primary_reason().or_else(|| cut(entry));
                SkillListRow {
                    name: line(&entry.name),
                    path: path_segment(&entry.name),
                    description: line(&entry.description),
                    state: entry.state.as_str(),
                    class: state_class(entry.state),
                    reason: reason.map(|reason| line_html(&reason.detail)).unwrap_or_default(),
                    remedy: reason.and_then(|reason| reason.remedy.as_deref()).map(line_html),
                    source: line(&entry.source),
                    verdict: entry.scan.as_ref().map(|scan| verdict_chip(scan.verdict)),
                    cost: costs
                        .get(entry.name.as_str())
                        .filter(|_| entry.model_visible)
                        .map(|chars| number(*chars)),
                    switch: (!matches!(entry.state, EntryState::Broken | EntryState::Shadowed))
                        .then(|| (!entry.disabled, is_pinned(engine, entry))),
                    held: entry.state == EntryState::Blocked,
                }
            })
            .collect();
        let states = STATES.iter().filter_map(|state| {
            let count = counts.get(state.as_str()).copied()?;
            Some((state.as_str(), count, state.as_str() == filter.state))
        });
        let last = begin + rows.len();
        HtmlPage::of(&SkillsPage {
            frame: visitor.frame(look, "skills", "Skills"),
            states: states.collect(),
            sources: sources
                .into_iter()
                .map(|source| (line(source), source == filter.source))
                .collect(),
            found: found.len(),
            total: catalog.entries.len(),
            unready: idle.len(),
            first: if rows.is_empty() { 0 } else { begin + 1 },
            last,
            previous: (filter.page > 0).then(|| filter.address(filter.page - 1)),
            next: (last < found.len()).then(|| filter.address(filter.page + 1)),
            rows,
            back: filter.query(filter.page),
            q: filter.q.clone(),
        })
    });
    Ok(page.await?)
}
