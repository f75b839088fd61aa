//! Everything that was decided or done, with the reason.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use sinew_cortex::UtcInstant;
use sinew_engine::ActivityFilter;

use super::frame::{HtmlPage, PageError, PageFrame, PageResult, PageVisitor};
use super::overview::ActivityRow;
use super::text::line;
use crate::app::WebApp;

/// Rows of a page.
const ROWS: usize = 100;

/// Names to choose from; any other name can be given in the address (`by=`).
const PEOPLE: usize = 50;

/// The kinds that a reader may ask for, by what they begin with.
const KINDS: [(&str, &str); 7] = [
    ("proposal", "Proposals"),
    ("approval", "Approvals"),
    ("outcome", "Outcomes"),
    ("lesson", "Lessons"),
    ("run", "Acquisitions"),
    ("finding", "Accepted findings"),
    ("setting", "Settings of skills"),
];

#[derive(Debug, Default, Deserialize)]
pub(super) struct ActivityPageQuery {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    skill: String,
    #[serde(default)]
    by: String,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    frame: PageFrame,
    kinds: Vec<(&'static str, &'static str, bool)>,
    skill: String,
    /// The names found in the log, and whether each is the one filtered by.
    people: Vec<(String, bool)>,
    rows: Vec<ActivityRow>,
    found: usize,
    /// The address of the same list as lines of JSON.
    export: String,
}

impl ActivityPageQuery {
    fn wanted(&self) -> ActivityFilter {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        ActivityFilter {
            kind: given(&self.kind),
            skill: given(&self.skill),
            by: given(&self.by),
            ..ActivityFilter::default()
        }
    }
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(filter): Query<ActivityPageQuery>,
) -> PageResult {
    let page = app.ask(move |look| {
        let now = UtcInstant::from_clock(look.engine.environment().clock.now_ms());
        let catalog = &look.snapshot.catalog;
        let found = look.engine.status().activity(&filter.wanted())?;
        let by_anyone = match filter.by.is_empty() {
            true => found.clone(),
            false => {
                look.engine.status().activity(&ActivityFilter { by: None, ..filter.wanted() })?
            }
        };
        let mut people: Vec<&str> = by_anyone.iter().filter_map(|one| one.by.as_deref()).collect();
        people.sort_unstable();
        people.dedup();
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("kind", &filter.kind).append_pair("skill", &filter.skill);
        query.append_pair("by", &filter.by);
        HtmlPage::of(&ActivityPage {
            frame: visitor.frame(look, "activity", "Activity"),
            kinds: KINDS
                .into_iter()
                .map(|(kind, name)| (kind, name, kind == filter.kind))
                .collect(),
            skill: filter.skill.clone(),
            people: people
                .into_iter()
                .take(PEOPLE)
                .map(|name| (line(name), name == filter.by))
                .collect(),
            rows: found.iter().take(ROWS).map(|one| ActivityRow::of(one, now, catalog)).collect(),
            found: found.len(),
            export: format!("/activity.jsonl?{}", query.finish()),
        })
    });
    Ok(page.await?)
}

/// The same as lines of JSON, all of them.
pub(super) async fn export(
    State(app): State<WebApp>,
    _: PageVisitor,
    Query(filter): Query<ActivityPageQuery>,
) -> Result<Response, PageError> {
    let lines = app.ask(move |look| {
        let mut lines = String::new();
        for one in look.engine.status().activity(&filter.wanted())? {
            lines.push_str(&serde_json::to_string(&one).unwrap_or_default());
            lines.push('\n');
        }
        Ok(lines)
    });
    let headers = [
        (CONTENT_TYPE, "application/jsonl"),
        (CONTENT_DISPOSITION, "attachment; filename=\"activity.jsonl\""),
    ];
    Ok((headers, lines.await?).into_response())
}
