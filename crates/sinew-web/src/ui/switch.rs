//! The switches of a skill: on or off, pinned or not, each with its undo.

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Redirect;
use sinew_catalog::CatalogEntry;
use sinew_engine::{Engine, EngineError, SkillSettingsPatch};
use sinew_settings::{Actor, ErrorCode};
use url::form_urlencoded;

use super::frame::{FormResult, SignedForm};
use super::text::{line, path_segment};
use crate::api::Problem;
use crate::app::WebApp;

/// A switch that can be undone.
#[derive(Debug, Clone)]
pub(super) struct SwitchUndo {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) set: &'static str,
    /// Where the list comes back to.
    pub(super) back: Option<String>,
}

impl SwitchUndo {
    /// The undo of the action that a page's address names, where that was a switch.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let query = uri.query().unwrap_or_default().as_bytes();
        let said = |wanted: &str| {
            let mut pairs = form_urlencoded::parse(query);
            pairs.find(|(key, _)| key == wanted).map(|(_, value)| value.into_owned())
        };
        let (done, skill) = (said("done")?, said("skill")?);
        let switch = SkillSwitch::ALL.into_iter().find(|switch| switch.done() == done)?;
        let back = (uri.path() == "/skills").then(|| without_done(query).finish());
        let (name, path) = (line(&skill), path_segment(&skill));
        Some(Self { name, path, set: switch.back().as_str(), back })
    }
}

/// A query without the fields that name an action.
fn without_done(query: &[u8]) -> form_urlencoded::Serializer<'static, String> {
    let kept = form_urlencoded::parse(query).filter(|(key, _)| !matches!(&**key, "done" | "skill"));
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(kept);
    query
}

/// What a person sets about a skill with one button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SkillSwitch {
    Enable,
    Disable,
    Pin,
    Unpin,
}

impl SkillSwitch {
    const ALL: [Self; 4] = [Self::Enable, Self::Disable, Self::Pin, Self::Unpin];

    /// The switch that a form means.
    fn read(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|switch| switch.as_str() == word)
    }

    /// Its word in a form.
    fn as_str(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Pin => "pin",
            Self::Unpin => "unpin",
        }
    }

    /// The word in a page's address for the action.
    fn done(self) -> &'static str {
        match self {
            Self::Enable => "enabled",
            Self::Disable => "disabled",
            Self::Pin => "pinned",
            Self::Unpin => "unpinned",
        }
    }

    /// The one that undoes it.
    fn back(self) -> Self {
        match self {
            Self::Enable => Self::Disable,
            Self::Disable => Self::Enable,
            Self::Pin => Self::Unpin,
            Self::Unpin => Self::Pin,
        }
    }

    fn settings(self) -> SkillSettingsPatch {
        match self {
            Self::Enable | Self::Disable => SkillSettingsPatch {
                enabled: Some(self == Self::Enable),
                ..SkillSettingsPatch::default()
            },
            Self::Pin | Self::Unpin => SkillSettingsPatch {
                pinned: Some(self == Self::Pin),
                ..SkillSettingsPatch::default()
            },
        }
    }
}

/// Whether a skill keeps its place in the prompt.
pub(super) fn is_pinned(engine: &Engine, entry: &CatalogEntry) -> bool {
    let pins = &engine.config().prompt.pin;
    pins.contains(&entry.name) || pins.contains(&entry.skill_key)
}

/// Turns a switch. A form on the list names the address that it comes back to.
pub(super) async fn set(
    State(app): State<WebApp>,
    Path(name): Path<String>,
    form: SignedForm,
) -> FormResult {
    let wish = form.text("set").unwrap_or_default();
    let Some(switch) = SkillSwitch::read(&wish) else {
        let said = format!("there is no switch `{}`", wish.escape_debug());
        return Err(Problem::from(EngineError::new(ErrorCode::UnknownSwitch, said)).into());
    };
    let said = |before: &[u8]| {
        let mut query = without_done(before);
        query.append_pair("done", switch.done()).append_pair("skill", &name).finish()
    };
    let to = match form.text("back") {
        Some(back) => format!("/skills?{}", said(back.as_bytes())),
        None => format!("/skills/{}?{}", path_segment(&name), said(b"")),
    };
    app.change(move |look| {
        let entry = look.engine.find(&look.snapshot.catalog, &name)?;
        look.engine.settings().set_skill(entry, &switch.settings(), &Actor::on_page())
    })
    .await?;
    Ok(Redirect::to(&to))
}
