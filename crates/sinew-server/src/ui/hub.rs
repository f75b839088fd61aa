//! What was installed from registries, and what waits for a yes.

use askama::Template;
use axum::extract::State;
use sinew_catalog::Entry;

use super::approvals::Waiting;
use super::frame::{Frame, Page, Shown, Visitor};
use super::skills::{state_class, verdict_chip};
use super::text::{in_path, line};
use crate::app::App;

#[derive(Template)]
#[template(path = "hub.html")]
struct Hub {
    frame: Frame,
    folder: String,
    rows: Vec<Row>,
    waiting: Vec<Waiting>,
}

struct Row {
    name: String,
    path: String,
    state: &'static str,
    class: &'static str,
    verdict: Option<(&'static str, &'static str)>,
    digest: String,
    reviewed: bool,
}

pub(super) async fn show(State(app): State<App>, visitor: Visitor) -> Shown {
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let folder = engine.managed_folder();
        let managed = |entry: &&Entry| entry.base_dir.starts_with(&folder);
        let rows = catalog.entries.iter().filter(managed).map(|entry| Row {
            name: line(&entry.name),
            path: in_path(&entry.name),
            state: entry.state.as_str(),
            class: state_class(entry.state),
            verdict: entry.scan.as_ref().map(|scan| verdict_chip(scan.verdict)),
            digest: entry.scan.as_ref().map(|scan| scan.digest.clone()).unwrap_or_default(),
            reviewed: entry.reviewed,
        });
        Page::of(&Hub {
            frame: visitor.frame(look, "hub", "Registry"),
            rows: rows.collect(),
            folder: line(&folder.to_string_lossy()),
            waiting: engine.approvals(true)?.iter().map(Waiting::of).collect(),
        })
    });
    Ok(page.await?)
}
