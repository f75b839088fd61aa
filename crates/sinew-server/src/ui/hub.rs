//! What was installed from registries, and what waits for a yes.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Redirect;
use serde::Deserialize;
use sinew_engine::Actor;
use sinew_engine::hub::{Matching, Place, Query as Wanted, Row as Installed, Said, Sources};

use super::approvals::Waiting;
use super::frame::{Frame, Page, Sent, Shown, Signed, Visitor};
use super::text::{in_path, line};
use crate::api::{Kept, Listing, install_kept};
use crate::app::{App, Install, Look};

/// Rows of a search.
const ROWS: usize = 20;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    q: String,
}

#[derive(Template)]
#[template(path = "hub.html")]
struct Hub {
    frame: Frame,
    q: String,
    found: Option<Search>,
    rows: Vec<Row>,
    waiting: Vec<Waiting>,
}

struct Search {
    rows: Vec<Candidate>,
    notes: Vec<String>,
}

struct Candidate {
    reference: String,
    version: String,
    summary: String,
    reviewed: bool,
    verdict: String,
    class: &'static str,
    history: String,
}

struct Row {
    key: String,
    path: String,
    place: &'static str,
    status: &'static str,
    class: &'static str,
    version: String,
    from: String,
    digest: String,
    note: String,
}

fn row(found: &Installed, place: &'static str) -> Row {
    let note = found.note.as_deref().or(found.pin_reason.as_deref()).unwrap_or_default();
    Row {
        key: line(&found.key),
        path: in_path(&found.key),
        place,
        status: found.status,
        class: match found.status {
            "ok" => "good",
            "pinned" => "info",
            "extraneous" | "upstream-gone" => "warn",
            _ => "bad",
        },
        version: line(found.version.as_deref().unwrap_or_default()),
        from: found
            .source
            .as_ref()
            .map(|source| source.kind.as_str().to_owned())
            .unwrap_or_default(),
        digest: found.digest.clone().unwrap_or_default(),
        note: line(note),
    }
}

/// Searches the configured registries. One that cannot be reached is a note, not a failure.
fn search(look: &Look, words: &str) -> Search {
    let found = look.engine.hub(&Said::default()).and_then(|hub| {
        let wanted = Wanted {
            words: words.to_owned(),
            sources: Sources::default(),
            matching: Matching::Words,
            limit: ROWS,
        };
        look.engine.search_skills(&hub, &wanted)
    });
    let report = match found {
        Ok(report) => report,
        Err(error) => return Search { rows: Vec::new(), notes: vec![line(&error.message)] },
    };
    let rows = report.candidates.iter().take(ROWS).map(|found| {
        let candidate = &found.candidate;
        Candidate {
            reference: line(&candidate.reference),
            version: line(candidate.version.as_deref().unwrap_or_default()),
            summary: line(&candidate.summary),
            reviewed: candidate.reviewed,
            class: match candidate.verdict.as_str() {
                "clean" => "good",
                "malicious" => "bad",
                _ => "warn",
            },
            verdict: line(&candidate.verdict),
            history: match &found.history {
                Some(history) if history.blacklisted => "never offered".to_owned(),
                Some(history) => format!("{} worked, {} failed", history.success, history.fail),
                None => String::new(),
            },
        }
    });
    Search {
        rows: rows.collect(),
        notes: report.diagnostics.iter().map(|note| line(note)).collect(),
    }
}

pub(super) async fn show(
    State(app): State<App>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Shown {
    let page = app.ask(move |look| {
        let listing = Listing::of(look)?;
        // What nobody installed is somebody's own.
        let ours = |found: &&Installed| found.status != "extraneous";
        let managed = listing.managed.iter().filter(ours).map(|found| row(found, "managed"));
        let own = listing.workspace.iter().filter(ours).map(|found| row(found, "workspace"));
        let words = asked.q.trim();
        Page::of(&Hub {
            frame: visitor.frame(look, "hub", "Registry"),
            found: (!words.is_empty()).then(|| search(look, words)),
            q: words.to_owned(),
            rows: own.chain(managed).collect(),
            waiting: look.engine.approvals(true)?.iter().map(Waiting::of).collect(),
        })
    });
    Ok(page.await?)
}

/// Removes an installed skill.
pub(super) async fn uninstall(State(app): State<App>, form: Signed) -> Sent {
    let (key, place) = (form.text("key").unwrap_or_default(), form.text("place"));
    let place = if place.as_deref() == Some("managed") { Place::Managed } else { Place::Workspace };
    app.change(move |look| {
        let hub = look.engine.hub(&Said { registry: None, offline: true })?;
        let removed = hub.uninstall(&key, &look.engine.workdir(place))?;
        look.engine.snapshot();
        Ok(removed)
    })
    .await?;
    Ok(Redirect::to("/hub?done=removed"))
}

/// Asks for an install: it is fetched, verified and scanned, and then waits for a yes.
pub(super) async fn install(State(app): State<App>, form: Signed) -> Sent {
    let reference = form.text("reference").unwrap_or_default().trim().to_owned();
    let done = app
        .change(move |look| {
            let mut gate = Kept::new(&look.engine, Actor::Person { name: None });
            let place = Place::Workspace;
            match (install_kept(look, &reference, place, &mut gate), gate.waits) {
                (Ok(_), _) => Ok("installed"),
                (Err(_), Some(approval)) => {
                    look.app.install_later(approval, Install { reference, place });
                    Ok("asked")
                }
                (Err(error), None) => Err(error),
            }
        })
        .await?;
    Ok(Redirect::to(&format!("/hub?done={done}")))
}
