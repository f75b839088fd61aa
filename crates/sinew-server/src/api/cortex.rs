//! What was learned: regions, candidates, lessons, and skills that are never offered.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sinew_cortex::weight;
use sinew_engine::{LessonRow, Overview};
use utoipa::ToSchema;

use super::extract::{Answer, At, Body};
use super::openapi::Refusals;
use super::{Problem, records};
use crate::access::Caller;
use crate::app::App;

/// Days that a curve looks ahead: by then disuse has taken all it takes.
pub(crate) const DECAY_AHEAD: u32 = 180;
/// Days between two points of a curve.
const DECAY_STEP: usize = 6;

#[derive(Serialize)]
struct Learned {
    #[serde(flatten)]
    overview: Overview,
    /// Every lesson, by its number.
    lessons: Vec<LessonRow>,
    /// What disuse will make of each weight.
    decay: Vec<Curve>,
}

/// What disuse makes of a weight, from today on.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Curve {
    /// The region.
    pub(crate) region: String,
    /// The skill.
    pub(crate) slug: String,
    /// Days from today, and the weight as it will count then.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub(crate) points: Vec<(u32, f64)>,
}

/// The curves of everything in an overview.
pub(crate) fn curves(overview: &Overview) -> Vec<Curve> {
    let each = overview.regions.iter().flat_map(|region| {
        region.candidates.iter().map(|candidate| Curve {
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

async fn learned(app: App, region: Option<String>) -> Result<Answer, Problem> {
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
        Answer::of(&Learned { overview, lessons, decay })
    })
    .await
}

/// Everything that was learned
#[utoipa::path(
    get, path = "/cortex", tag = "cortex", operation_id = "overview",
    responses((status = 200, body = records::Cortex), Refusals)
)]
pub(crate) async fn overview(State(app): State<App>, _caller: Caller) -> Result<Answer, Problem> {
    learned(app, None).await
}

/// What was learned about one area of tasks
#[utoipa::path(
    get, path = "/cortex/regions/{id}", tag = "cortex", operation_id = "overview_of",
    params(("id" = String, Path, description = "The region")),
    responses((status = 200, body = records::Cortex), Refusals)
)]
pub(crate) async fn region(
    State(app): State<App>,
    _caller: Caller,
    At(id): At<String>,
) -> Result<Answer, Problem> {
    learned(app, Some(id)).await
}

/// A skill that is never to be offered
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hidden {
    /// The skill
    #[schema(min_length = 1, max_length = 128)]
    slug: String,
    /// Why
    #[schema(max_length = 300)]
    reason: Option<String>,
}

/// Never offer a skill again
#[utoipa::path(
    post, path = "/cortex/blacklist", tag = "cortex", operation_id = "blacklist_add",
    request_body = Hidden,
    responses(
        (status = 200, description = "It was hidden already", body = records::Hidden),
        (status = 201, description = "It is hidden from now on", body = records::Hidden),
        Refusals
    )
)]
pub(crate) async fn blacklist_add(
    State(app): State<App>,
    _caller: Caller,
    Body(hidden): Body<Hidden>,
) -> Result<(StatusCode, Answer), Problem> {
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let added = cortex.blacklist_add(&hidden.slug, hidden.reason.as_deref())?;
        let status = if added { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, Answer::of(&json!({"slug": hidden.slug, "hidden": true}))?))
    })
    .await
}

/// Let a skill be offered again
#[utoipa::path(
    delete, path = "/cortex/blacklist/{slug}", tag = "cortex", operation_id = "blacklist_remove",
    params(("slug" = String, Path, description = "The skill")),
    responses((status = 200, body = records::Hidden), Refusals)
)]
pub(crate) async fn blacklist_remove(
    State(app): State<App>,
    _caller: Caller,
    At(slug): At<String>,
) -> Result<Answer, Problem> {
    let removed = slug.clone();
    let was = app.change(move |look| look.engine.cortex()?.blacklist_remove(&removed)).await?;
    if !was {
        let said = format!("`{}` is not hidden", slug.escape_debug());
        return Err(Problem::new(StatusCode::NOT_FOUND, "not-hidden", said));
    }
    Ok(Answer::of(&json!({"slug": slug, "hidden": false}))?)
}
