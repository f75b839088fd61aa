//! What happened to a skill: its versions with what each changed, and how its uses went.

use axum::extract::{Path, State};
use axum::response::Redirect;
use sinew_cortex::UtcInstant;
use sinew_engine::{ActivityFilter, Engine, EngineError};
use sinew_settings::Actor;
use sinew_workshop::{SkillVersion, UndoForce, UndoTarget, VersionCause};

use super::diff;
use super::frame::{FormResult, SignedForm};
use super::text::{ago, line, path_segment};
use crate::app::WebApp;

/// Versions shown.
const MAX_VERSIONS: usize = 20;
/// Lines of a change that are shown; the rest is what `sinew workshop history` leads to.
const MAX_LINES: usize = 300;

/// A version in the list.
pub(super) struct HistoryVersion {
    pub(super) id: String,
    pub(super) what: &'static str,
    pub(super) by: String,
    pub(super) when: String,
    pub(super) files: usize,
    /// Whether its change is shown.
    pub(super) open: bool,
    pub(super) can_undo: bool,
    /// Whether everything after it can be undone at once.
    pub(super) can_return: bool,
}

/// What a version changed.
pub(super) struct HistoryChange {
    pub(super) what: &'static str,
    pub(super) when: String,
    pub(super) diff: Vec<diff::DiffLine>,
    pub(super) more_lines: usize,
}

/// One use of a skill.
pub(super) struct HistoryUse {
    pub(super) when: String,
    pub(super) at: String,
    pub(super) by: String,
    pub(super) text: String,
}

fn done(action: VersionCause) -> &'static str {
    match action {
        VersionCause::Apply => "applied",
        VersionCause::SupportFile => "support file",
        VersionCause::Undo => "undone",
        VersionCause::Rollback => "rolled back",
        VersionCause::Save => "kept",
        VersionCause::Promote => "promoted",
        VersionCause::Retire => "retired",
    }
}

/// Whether a version is in force: it was never undone, or every undo of it was itself undone.
fn is_in_force(history: &[SkillVersion], id: &str) -> bool {
    let mut against = history.iter().filter(|version| version.undoes.as_deref() == Some(id));
    !against.any(|undo| is_in_force(history, &undo.id))
}

/// The versions of a skill, newest first, and what the wanted one changed.
pub(super) fn versions(
    engine: &Engine,
    skill: &str,
    wanted: Option<&str>,
    now: UtcInstant,
) -> (Vec<HistoryVersion>, Option<HistoryChange>) {
    // A skill whose name the workshop cannot write has no history there.
    let history = engine.workshop().with(|shop| shop.history(skill)).unwrap_or_default();
    let newest = history.iter().find(|version| {
        version.action == VersionCause::Apply && is_in_force(&history, &version.id)
    });
    let newest = newest.map(|version| version.id.clone());
    let when = |version: &SkillVersion| ago(UtcInstant::from_clock(version.at), now);
    let change = history.iter().find(|version| Some(version.id.as_str()) == wanted);
    let change = change.and_then(|version| {
        let diff = engine.workshop().with(|shop| shop.version_diff(version)).ok()?;
        let mut diff = diff::lines(&diff);
        let more_lines = diff.len().saturating_sub(MAX_LINES);
        diff.truncate(MAX_LINES);
        Some(HistoryChange { what: done(version.action), when: when(version), diff, more_lines })
    });
    let rows = history.iter().enumerate().take(MAX_VERSIONS).map(|(at, version)| HistoryVersion {
        id: version.id.clone(),
        what: done(version.action),
        by: line(&version.by),
        when: when(version),
        files: version.files.len(),
        open: Some(version.id.as_str()) == wanted,
        can_undo: newest.as_ref() == Some(&version.id),
        can_return: at > 0,
    });
    (rows.collect(), change)
}

/// How the uses of a skill went, newest first.
pub(super) fn uses(
    engine: &Engine,
    skill: &str,
    now: UtcInstant,
) -> Result<Vec<HistoryUse>, EngineError> {
    if !engine.config().cortex.enabled {
        return Ok(Vec::new());
    }
    let filter = ActivityFilter {
        kind: Some("outcome".to_owned()),
        skill: Some(skill.to_owned()),
        ..ActivityFilter::default()
    };
    let found = engine.status().activity(&filter)?;
    let uses = found.iter().map(|one| HistoryUse {
        when: ago(one.at, now),
        at: one.at.to_string(),
        by: one.by.as_deref().map(line).unwrap_or_default(),
        text: line(&one.text),
    });
    Ok(uses.collect())
}

/// Undoes what a version wrote, or everything after it.
pub(super) async fn undo(
    State(app): State<WebApp>,
    Path(name): Path<String>,
    form: SignedForm,
) -> FormResult {
    let version = form.text("version").unwrap_or_default();
    let to = format!("/skills/{}?done=undone#history", path_segment(&name));
    let wish = match form.text("return").is_some() {
        true => UndoTarget::BackTo { skill: name, version },
        false => UndoTarget::Id(version),
    };
    app.change(move |look| {
        let by = Actor::on_page();
        look.engine.workshop().with(|shop| shop.undo(&wish, UndoForce::No, &by))
    })
    .await?;
    Ok(Redirect::to(&to))
}
