//! The catalog: every skill, one skill, one file, its switches, and whether a text is valid.

use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Deserializer};
use sinew_catalog::{Catalog, CatalogEntry, EntryFilter, SkillStateFilter};
use sinew_engine::{EngineError, SkillDetails, SkillFile, SkillSettingsPatch, ValidationTarget};
use sinew_settings::{ErrorCode, path_text};
use sinew_skill::validate::RuleSet;
use utoipa::{IntoParams, ToSchema};

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath, UrlQuery};
use super::openapi::ProblemResponses;
use super::page::{CursorPage, PageRequest};
use crate::access::WebCaller;
use crate::app::WebApp;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SkillListQuery {
    /// One state, or `all`
    #[serde(default)]
    #[param(inline)]
    state: SkillStateFilter,
    /// A tier, such as `workspace`
    tier: Option<String>,
    /// Letters of the name or the description
    #[param(max_length = 200)]
    q: Option<String>,
    /// A tag, keyword or trigger phrase of the skill
    tag: Option<String>,
    /// Entries of a page
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Where the page begins: `next_cursor` of the page before
    cursor: Option<String>,
}

impl SkillListQuery {
    fn filter(&self) -> EntryFilter {
        EntryFilter::new(self.state, self.tier.as_deref(), self.q.as_deref())
    }

    fn has_tag(&self, entry: &CatalogEntry) -> bool {
        let tagged = |tag: &String| {
            let skill = entry.skill.as_ref();
            skill.is_some_and(|skill| skill.triggers.any.iter().any(|own| own == tag))
        };
        self.tag.as_ref().is_none_or(tagged)
    }
}

/// Every skill, whatever its state, ordered by name
#[utoipa::path(
    get, path = "/skills", tag = "skills", operation_id = "snapshot", params(SkillListQuery),
    responses((status = 200, body = CursorPage<CatalogEntry>), ProblemResponses)
)]
pub(crate) async fn list(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlQuery(query): UrlQuery<SkillListQuery>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let actor = caller.actor();
        let filter = query.filter();
        let entries = look.snapshot.catalog.entries.iter();
        let taken = entries.filter(|entry| filter.takes(entry) && query.has_tag(entry));
        let keyed = taken.map(|entry| {
            let key = format!("{}\0{}", entry.name, path_text(&entry.file_path));
            (key, look.engine.skills().entry_visible_to(entry, &actor))
        });
        let wanted = PageRequest { limit: query.limit, cursor: query.cursor.clone() };
        JsonReply::of(&CursorPage::cut(keyed, &wanted, look.snapshot.version)?)
    })
    .await
}

/// One skill, with why it is in or out
#[utoipa::path(
    get, path = "/skills/{name}", tag = "skills", operation_id = "details",
    params(("name" = String, Path, description = "Its name or key")),
    responses((status = 200, body = SkillDetails), ProblemResponses)
)]
pub(crate) async fn show(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(name): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let catalog = &look.snapshot.catalog;
        let entry = look.engine.find(catalog, &name)?;
        JsonReply::of(&look.engine.skills().details(catalog, entry, &caller.actor()))
    })
    .await
}

/// One file of a skill, and nothing outside its folder
#[utoipa::path(
    get, path = "/skills/{name}/files/{path}", tag = "skills", operation_id = "read_file",
    params(
        ("name" = String, Path, description = "Its name or key"),
        ("path" = String, Path, description = "The file below the skill's folder; slashes are `%2F`"),
    ),
    responses((status = 200, body = sinew_engine::SkillFile), ProblemResponses)
)]
pub(crate) async fn file(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath((name, path)): UrlPath<(String, String)>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let (engine, actor) = (&look.engine, caller.actor());
        let read = |catalog: &Catalog| -> Result<SkillFile, EngineError> {
            let entry = engine.find(catalog, &name)?;
            if !caller.is_person() {
                engine.skills().check_usable(entry, &actor)?;
            }
            engine.skills().read_file(catalog, &entry.name, Some(&path))
        };
        JsonReply::of(&match read(&look.snapshot.catalog) {
            // What was written a moment ago is scanned before it is served.
            Err(error) if error.code == ErrorCode::ChangedMeanwhile => {
                read(&engine.snapshot().catalog)?
            }
            read => read?,
        })
    })
    .await
}

/// What is to be set. Secrets go in and never come out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct SkillPatchBody {
    /// Whether it may be used
    enabled: Option<bool>,
    /// Whether it keeps its place in the prompt when room is short
    pinned: Option<bool>,
    /// Its API key; `null` takes it out
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<String>, write_only)]
    api_key: Option<Option<String>>,
    /// Variables for its runs; `null` takes one out
    #[serde(default)]
    #[schema(write_only)]
    env: BTreeMap<String, Option<String>>,
}

/// Keeps `null` apart from nothing at all.
fn said<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(value).map(Some)
}

/// Switch a skill on or off, pin it, or give it what it needs; a person alone can
#[utoipa::path(
    patch, path = "/skills/{name}", tag = "skills", operation_id = "set_skill",
    params(("name" = String, Path, description = "Its name or key")),
    request_body = SkillPatchBody,
    responses((status = 200, body = SkillDetails), ProblemResponses)
)]
pub(crate) async fn set(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(name): UrlPath<String>,
    JsonBody(patch): JsonBody<SkillPatchBody>,
) -> Result<JsonReply, Problem> {
    let wanted = name.clone();
    let actor = caller.actor();
    app.change(move |look| {
        let entry = look.engine.find(&look.snapshot.catalog, &wanted)?;
        let settings = SkillSettingsPatch {
            enabled: patch.enabled,
            pinned: patch.pinned,
            api_key: patch.api_key,
            env: patch.env,
        };
        look.engine.settings().set_skill(entry, &settings, &actor)
    })
    .await?;
    show(State(app), caller, UrlPath(name)).await
}

/// What is to be validated: a text, or every skill file there is
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidationBody {
    /// The text of a SKILL.md; every skill file where absent
    text: Option<String>,
    /// The folder's name that the text is for
    #[schema(max_length = 200)]
    name: Option<String>,
    /// Whose rules apply
    #[serde(default)]
    rules: RuleSetName,
}

/// Whose rules apply.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum RuleSetName {
    #[default]
    Agentskills,
    Openclaw,
    Openpocket,
    OpenpocketStrict,
}

impl From<RuleSetName> for RuleSet {
    fn from(rules: RuleSetName) -> Self {
        match rules {
            RuleSetName::Agentskills => Self::LENIENT,
            RuleSetName::Openclaw => Self::OpenClaw,
            RuleSetName::Openpocket => Self::OpenPocket,
            RuleSetName::OpenpocketStrict => Self::OpenPocketStrict,
        }
    }
}

/// Validate a text, or every skill file there is
#[utoipa::path(
    post, path = "/skills/validate", tag = "skills", operation_id = "validate",
    request_body = ValidationBody,
    responses((status = 200, body = sinew_engine::ValidationReport), ProblemResponses)
)]
pub(crate) async fn validate(
    State(app): State<WebApp>,
    _caller: WebCaller,
    JsonBody(wanted): JsonBody<ValidationBody>,
) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let (engine, rules) = (&look.engine, wanted.rules.into());
        JsonReply::of(&match &wanted.text {
            Some(text) => engine.quality().validate_text(
                wanted.name.as_deref().unwrap_or("skill"),
                text,
                rules,
            ),
            None => {
                let all = ValidationTarget::Sources;
                engine.quality().validate(&look.snapshot.catalog, &all, rules, false)?
            }
        })
    })
    .await
}
