//! An agent on this machine: what connecting or disconnecting it changes, and the button for it.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Redirect;
use sinew_engine::connect::{AgentConnection, ConnectRequest, FileChangeStatus, new_client_word};
use sinew_engine::{Engine, EngineError};
use sinew_settings::ErrorCode;

use super::diff;
use super::frame::{FormResult, HtmlPage, PageFrame, PageResult, PageVisitor, SignedForm};
use super::text::line;
use crate::app::WebApp;

/// An agent, as a row shows it.
#[derive(Debug)]
pub(super) struct AgentRow {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) word: &'static str,
    pub(super) class: &'static str,
    pub(super) connected: bool,
    /// Entries that no longer hold what was written.
    pub(super) changed: Vec<String>,
}

impl AgentRow {
    pub(super) fn of(connection: &AgentConnection) -> Self {
        let connected = !connection.files.is_empty();
        let (word, class) = match (connected, connection.found) {
            (true, _) => ("connected", "good"),
            (false, true) => ("found", "info"),
            (false, false) => ("not found", ""),
        };
        let changed = connection.files.iter().flat_map(|file| &file.changed);
        Self {
            id: connection.agent,
            title: connection.title,
            word,
            class,
            connected,
            changed: changed.map(|place| line(place)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "agent.html")]
struct AgentPage {
    frame: PageFrame,
    row: AgentRow,
    files: Vec<AgentFileRow>,
    note: Option<&'static str>,
    /// Whether there is nothing to write.
    unchanged: bool,
}

struct AgentFileRow {
    path: String,
    what: &'static str,
    diff: Vec<diff::DiffLine>,
    /// Entries that were changed since; they stay.
    stays: Vec<String>,
}

fn found(engine: &Engine, name: &str) -> Result<AgentRow, EngineError> {
    let all = engine.connect().connections()?;
    let found = all.iter().find(|connection| connection.agent == name).map(AgentRow::of);
    found.ok_or_else(|| {
        let said = format!("there is no agent `{name}` that can be connected");
        EngineError::new(ErrorCode::UnknownAgent, said)
    })
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Path(name): Path<String>,
) -> PageResult {
    let page = app.ask(move |look| {
        let engine = &look.engine;
        let row = found(engine, &name)?;
        let frame = visitor.frame(look, "health", row.title);
        if row.connected {
            let undone = engine.connect().disconnect(&name, false)?;
            let files = undone.files.iter().map(|file| AgentFileRow {
                path: line(&file.file.to_string_lossy()),
                what: if file.restored { "as it was before" } else { "without our entry" },
                diff: diff::lines(&file.diff),
                stays: file.changed_by_user.iter().map(|place| line(place)).collect(),
            });
            let files = files.collect();
            return HtmlPage::of(&AgentPage { frame, row, files, note: None, unchanged: false });
        }
        let plan = engine.connect().plan(&request_of_person(&name)?)?;
        let files = plan.files.iter().map(|file| AgentFileRow {
            path: line(&file.file.to_string_lossy()),
            what: match file.status {
                FileChangeStatus::Unchanged => "unchanged",
                FileChangeStatus::Created => "to be made",
                FileChangeStatus::Changed => "to be changed",
            },
            diff: diff::lines(&file.diff),
            stays: Vec::new(),
        });
        let (files, unchanged) = (files.collect(), plan.is_unchanged());
        HtmlPage::of(&AgentPage { frame, row, files, note: plan.note, unchanged })
    });
    Ok(page.await?)
}

/// The request of the person at the page, whom the agent may then put questions to.
fn request_of_person(name: &str) -> Result<ConnectRequest, EngineError> {
    Ok(ConnectRequest { client_word: Some(new_client_word()?), ..ConnectRequest::new(name) })
}

/// Connects the agent, or disconnects it.
pub(super) async fn set(
    State(app): State<WebApp>,
    Path(name): Path<String>,
    form: SignedForm,
) -> FormResult {
    let connect = form.text("set").as_deref() == Some("connect");
    app.change(move |look| {
        let engine = &look.engine;
        match connect {
            true => {
                let request = request_of_person(found(engine, &name)?.id)?;
                let plan = engine.connect().plan(&request)?;
                engine.connect().connect(&request, plan)?;
                Ok(())
            }
            false => Ok(engine.connect().disconnect(&name, true).map(drop)?),
        }
    })
    .await?;
    let done = if connect { "connected" } else { "disconnected" };
    Ok(Redirect::to(&format!("/health?done={done}")))
}
