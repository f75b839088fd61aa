//! What was learned: regions, candidates, lessons, and skills that are never offered.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use sinew_cortex::memory::CortexStats;
use sinew_cortex::weight;
use sinew_engine::{CortexOverview, LessonRow, RegionRow};
use sinew_settings::ErrorCode;
use utoipa::ToSchema;

use super::Problem;
use super::extract::{JsonBody, JsonReply, UrlPath};
use super::openapi::ProblemResponses;
use crate::access::WebCaller;
use crate::app::{WebApp, WebContext};

/// Days that a curve looks ahead: by then disuse has taken all it takes.
pub(crate) const DECAY_AHEAD: u32 = 180;
/// Days between two points of a curve.
const DECAY_STEP: usize = 6;

/// What was learned
#[derive(Serialize, ToSchema)]
struct CortexReply {
    /// The areas of tasks, each with its candidates
    regions: Vec<RegionRow>,
    /// Every lesson, by its number
    lessons: Vec<LessonRow>,
    /// Skills that are never offered
    blacklist: Vec<String>,
    /// Skills that were kept after their task
    retained: Vec<String>,
    /// How often what happened
    stats: CortexStats,
    /// How many records it is learned from
    records: u64,
    /// What disuse will make of each weight
    decay: Vec<DecayCurve>,
}

/// What disuse makes of a weight, from today on.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DecayCurve {
    /// The region.
    pub(crate) region: String,
    /// The skill.
    pub(crate) slug: String,
    /// Days from today, and the weight as it will count then.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub(crate) points: Vec<(u32, f64)>,
}

/// The curves of everything in an overview.
pub(crate) fn curves(overview: &CortexOverview) -> Vec<DecayCurve> {
    let each = overview.regions.iter().flat_map(|region| {
        region.candidates.iter().map(|candidate| DecayCurve {
            region: region.region.clone(),
            slug: candidate.slug.clone(),
            points: (0..=DECAY_AHEAD)
                .step_by(DECAY_STEP)
                .map(|day| (day, weight::effective(candidate.weight, candidate.days_idle + day)))
                .collect(),
        })
    });
    each.collect()
}

async fn learned(app: WebApp, region: Option<String>) -> Result<JsonReply, Problem> {
    app.ask(move |look| {
        let cortex = look.engine.cortex()?;
        let overview = cortex.overview(region.as_deref())?;
        let mut lessons = cortex.lessons()?;
        if let Some(region) = &region {
            let of_region = |row: &LessonRow| {
                let slugs = || overview.regions.iter().flat_map(|region| &region.candidates);
                row.lesson.lesson.region() == Some(region)
                    || slugs().any(|known| row.lesson.lesson.slug() == Some(&known.slug))
            };
            lessons.retain(of_region);
        }
        let decay = curves(&overview);
        let CortexOverview { regions, blacklist, retained, stats, records, .. } = overview;
        JsonReply::of(&CortexReply { regions, lessons, blacklist, retained, stats, records, decay })
    })
    .await
}

/// Everything that was learned
#[utoipa::path(
    get, path = "/cortex", tag = "cortex", operation_id = "overview",
    responses((status = 200, body = CortexReply), ProblemResponses)
)]
pub(crate) async fn overview(
    State(app): State<WebApp>,
    _caller: WebCaller,
) -> Result<JsonReply, Problem> {
    learned(app, None).await
}

/// What was learned about one area of tasks
#[utoipa::path(
    get, path = "/cortex/regions/{id}", tag = "cortex", operation_id = "overview_of",
    params(("id" = String, Path, description = "The region")),
    responses((status = 200, body = CortexReply), ProblemResponses)
)]
pub(crate) async fn region(
    State(app): State<WebApp>,
    _caller: WebCaller,
    UrlPath(id): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    learned(app, Some(id)).await
}

/// A skill that is never to be offered
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlacklistBody {
    /// The skill
    #[schema(min_length = 1, max_length = 128)]
    slug: String,
    /// Why
    #[schema(max_length = 300)]
    reason: Option<String>,
}

/// Whether a skill is offered
#[derive(Serialize, ToSchema)]
struct BlacklistReply {
    /// The skill
    slug: String,
    /// Whether it is never offered
    hidden: bool,
}

/// Never offer a skill again
#[utoipa::path(
    post, path = "/cortex/blacklist", tag = "cortex", operation_id = "blacklist_add",
    request_body = BlacklistBody,
    responses(
        (status = 200, description = "It was hidden already", body = BlacklistReply),
        (status = 201, description = "It is hidden from now on", body = BlacklistReply),
        ProblemResponses
    )
)]
pub(crate) async fn blacklist_add(
    State(app): State<WebApp>,
    caller: WebCaller,
    JsonBody(hidden): JsonBody<BlacklistBody>,
) -> Result<(StatusCode, JsonReply), Problem> {
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let added =
            cortex.blacklist_add(&hidden.slug, hidden.reason.as_deref(), &caller.actor())?;
        let status = if added { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, JsonReply::of(&BlacklistReply { slug: hidden.slug, hidden: true })?))
    })
    .await
}

/// Let a skill be offered again
#[utoipa::path(
    delete, path = "/cortex/blacklist/{slug}", tag = "cortex", operation_id = "blacklist_remove",
    params(("slug" = String, Path, description = "The skill")),
    responses((status = 200, body = BlacklistReply), ProblemResponses)
)]
pub(crate) async fn blacklist_remove(
    State(app): State<WebApp>,
    caller: WebCaller,
    UrlPath(slug): UrlPath<String>,
) -> Result<JsonReply, Problem> {
    let removed = slug.clone();
    let show =
        move |look: &WebContext| look.engine.cortex()?.blacklist_remove(&removed, &caller.actor());
    let was = app.change(show).await?;
    if !was {
        let said = format!("`{}` is not hidden", slug.escape_debug());
        return Err(Problem::new(ErrorCode::NotHidden, said));
    }
    Ok(JsonReply::of(&BlacklistReply { slug, hidden: false })?)
}
