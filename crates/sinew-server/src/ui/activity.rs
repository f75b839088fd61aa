//! Everything that was decided or done, with its why.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;
use sinew_cortex::Stamp;
use sinew_engine::ActivityFilter;

use super::frame::{Frame, Page, Shown, Visitor};
use super::overview::Happening;
use crate::app::App;

/// Rows of a page.
const ROWS: usize = 100;

/// The kinds that a reader may ask for, by what they begin with.
const KINDS: [(&str, &str); 6] = [
    ("proposal", "Proposals"),
    ("approval", "Approvals"),
    ("outcome", "Outcomes"),
    ("lesson", "Lessons"),
    ("run", "Acquisitions"),
    ("finding", "Accepted findings"),
];

#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    skill: String,
}

#[derive(Template)]
#[template(path = "activity.html")]
struct ActivityPage {
    frame: Frame,
    kinds: Vec<(&'static str, &'static str, bool)>,
    skill: String,
    rows: Vec<Happening>,
    found: usize,
}

pub(super) async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(filter): Query<Filter>,
) -> Shown {
    let page = app.ask(move |look| {
        let now = Stamp::from_clock(look.engine.environment().clock.now_ms());
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let wanted = ActivityFilter {
            kind: given(&filter.kind),
            skill: given(&filter.skill),
            ..ActivityFilter::default()
        };
        let found = look.engine.activity(&wanted)?;
        Page::of(&ActivityPage {
            frame: visitor.frame(look, "activity", "Activity"),
            kinds: KINDS
                .into_iter()
                .map(|(kind, name)| (kind, name, kind == filter.kind))
                .collect(),
            skill: filter.skill.clone(),
            rows: found.iter().take(ROWS).map(|one| Happening::of(one, now)).collect(),
            found: found.len(),
        })
    });
    Ok(page.await?)
}
