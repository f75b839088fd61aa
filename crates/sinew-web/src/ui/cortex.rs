//! What was learned: regions, candidates, curves, lessons, and how the two policies differ.

use askama::Template;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Redirect, Response};
use sinew_cortex::explain::{CandidateView, FilterReason};
use sinew_cortex::lesson::Lesson;
use sinew_cortex::record::ForgetScope;
use sinew_engine::{CortexOverview, EngineError};
use sinew_settings::Actor;

use super::chart::{self, GraphEdge};
use super::frame::{
    FormResult, HtmlPage, PageError, PageFrame, PageResult, PageVisitor, SignedForm,
};
use super::text::{line, percent};
use crate::api::{DECAY_AHEAD, curves};
use crate::app::WebApp;

/// Candidates that are drawn, the strongest ones; more would be unreadable. The page says how many are not.
const DRAWN: usize = 40;
/// Candidates and lessons that are listed; the rest is what `sinew cortex show` prints.
const LISTED: usize = 50;
/// Curves that are drawn; the page says how many are not.
const CURVES: usize = 6;

#[derive(Template)]
#[template(path = "cortex.html")]
struct CortexPage {
    frame: PageFrame,
    /// Why there is nothing to see.
    off: Option<String>,
    policy: String,
    graph: String,
    /// Candidates that the drawing leaves out.
    undrawn: usize,
    rows: Vec<CandidateRow>,
    more_rows: usize,
    regions: Vec<String>,
    curves: Vec<(String, String)>,
    more_curves: usize,
    lessons: Vec<LessonCard>,
    more_lessons: usize,
    hidden: Vec<String>,
    read_only: Vec<ReadOnlyCard>,
    kept: Vec<String>,
    numbers: Vec<(&'static str, u64)>,
}

/// A skill that a person declared read-only.
struct ReadOnlyCard {
    slug: String,
    digest: String,
    by: String,
    contradicted: String,
}

struct CandidateRow {
    region: String,
    slug: String,
    version: String,
    bar: String,
    effective: String,
    weight: String,
    worked: String,
    at_least: String,
    streak: u32,
    idle: String,
    cortex: String,
    bayes: String,
    differs: bool,
    reflex: bool,
    missing: Vec<String>,
    filtered: Option<&'static str>,
}

struct LessonCard {
    number: usize,
    text: String,
    sure: String,
    stale: bool,
}

fn row(region: &str, view: &CandidateView) -> CandidateRow {
    let place = |rank: Option<usize>| rank.map_or("–".to_owned(), |rank| rank.to_string());
    CandidateRow {
        region: line(region),
        slug: line(&view.slug),
        version: line(&view.version),
        bar: chart::weight(view.weight, view.effective_weight, view.bayes.lb),
        effective: format!("{:.2}", view.effective_weight),
        weight: format!("{:.2}", view.weight),
        worked: format!("{} of {}", view.runs.success, view.runs.success + view.runs.fail),
        at_least: percent(view.bayes.lb),
        streak: view.streak,
        idle: match view.days_idle {
            0 => "today".to_owned(),
            1 => "1 day".to_owned(),
            days => format!("{days} days"),
        },
        cortex: place(view.rank.cortex),
        bayes: place(view.rank.bayes),
        differs: view.rank.cortex != view.rank.bayes,
        reflex: view.reflex.fires,
        missing: view.reflex.missing.iter().map(|text| line(text)).collect(),
        filtered: view.filtered.map(|why| match why {
            FilterReason::Blacklisted => "never offered: it is on the blacklist",
            FilterReason::Vanished => "not offered: gone from where it came from",
            FilterReason::Weak => "not offered: too weak today",
            FilterReason::Unfit => "not offered: it was learned for other tasks",
            FilterReason::LastResort => "not offered: recently shown as a last resort",
        }),
    }
}

/// A lesson in a sentence.
fn lesson_text(lesson: &Lesson) -> String {
    line(&match lesson {
        Lesson::DependencyWarning { region, key } => {
            format!("{region} needs {key}, which is often missing")
        }
        Lesson::SkillQualityWarning { slug, detail } => {
            format!("the description of {slug} misleads: {detail}")
        }
        Lesson::EnvReady { region, key } => format!("{key} is set for {region}"),
    })
}

/// What was learned, as pictures and rows, with how much of it is not drawn.
struct CortexDrawing {
    graph: String,
    undrawn: usize,
    rows: Vec<CandidateRow>,
    curves: Vec<(String, String)>,
    more_curves: usize,
}

fn drawn(overview: &CortexOverview) -> CortexDrawing {
    let each = || {
        let regions = overview.regions.iter();
        regions.flat_map(|region| region.candidates.iter().map(move |view| (region, view)))
    };
    let mut edges: Vec<GraphEdge<'_>> = each()
        .map(|(region, view)| GraphEdge {
            region: &region.region,
            skill: &view.slug,
            weight: view.effective_weight,
            reflex: view.reflex.fires,
        })
        .collect();
    let undrawn = edges.len().saturating_sub(DRAWN);
    if undrawn > 0 {
        edges.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        edges.truncate(DRAWN);
    }
    let rows = each().map(|(region, view)| row(&region.region, view)).collect();
    let curves = curves(overview);
    let more_curves = curves.len().saturating_sub(CURVES);
    let curves = curves.into_iter().take(CURVES).map(|curve| {
        let name = format!("{} in {}", curve.slug, curve.region);
        (line(&name), chart::decay(&name, &curve.points, DECAY_AHEAD))
    });
    CortexDrawing {
        graph: chart::graph(&edges),
        undrawn,
        rows,
        curves: curves.collect(),
        more_curves,
    }
}

pub(super) async fn show(State(app): State<WebApp>, visitor: PageVisitor) -> PageResult {
    let page = app.ask(move |look| {
        let frame = visitor.frame(look, "cortex", "Cortex");
        let cortex = match look.engine.cortex() {
            Ok(cortex) => cortex,
            Err(error) => return off(frame, &error),
        };
        let overview = cortex.overview(None)?;
        let drawing = drawn(&overview);
        let lessons = cortex.lessons()?;
        let stats = overview.stats;
        HtmlPage::of(&CortexPage {
            frame,
            off: None,
            policy: format!("{:?}", cortex.policy().order).to_lowercase(),
            graph: drawing.graph,
            undrawn: drawing.undrawn,
            more_rows: drawing.rows.len().saturating_sub(LISTED),
            rows: drawing.rows.into_iter().take(LISTED).collect(),
            regions: overview.regions.iter().map(|region| line(&region.region)).collect(),
            curves: drawing.curves,
            more_curves: drawing.more_curves,
            more_lessons: lessons.len().saturating_sub(LISTED),
            lessons: lessons
                .iter()
                .take(LISTED)
                .map(|row| LessonCard {
                    number: row.number,
                    text: lesson_text(&row.lesson.lesson),
                    sure: percent(row.lesson.confidence),
                    stale: row.lesson.stale,
                })
                .collect(),
            hidden: overview.blacklist.iter().map(|slug| line(slug)).collect(),
            read_only: cortex
                .read_only()?
                .iter()
                .map(|row| ReadOnlyCard {
                    slug: line(&row.skill),
                    digest: line(&row.digest),
                    by: line(&format!("{}, since {}", row.who, row.since.day())),
                    contradicted: line(&row.contradicted.join(", ")),
                })
                .collect(),
            kept: overview.retained.iter().map(|slug| line(slug)).collect(),
            numbers: vec![
                ("records", overview.records),
                ("searches", stats.searches),
                ("installs", stats.installs),
                ("cache hits", stats.cache_hits),
                ("reflexes fired", stats.reflexes_fired),
            ],
        })
    });
    Ok(page.await?)
}

fn off(frame: PageFrame, error: &EngineError) -> Result<HtmlPage, EngineError> {
    HtmlPage::of(&CortexPage {
        frame,
        off: Some(line(&error.message)),
        policy: String::new(),
        graph: String::new(),
        undrawn: 0,
        rows: Vec::new(),
        more_rows: 0,
        regions: Vec::new(),
        curves: Vec::new(),
        more_curves: 0,
        lessons: Vec::new(),
        more_lessons: 0,
        hidden: Vec::new(),
        read_only: Vec::new(),
        kept: Vec::new(),
        numbers: Vec::new(),
    })
}

/// The memory as a file, in the original's schema.
pub(super) async fn export(
    State(app): State<WebApp>,
    _: PageVisitor,
) -> Result<Response, PageError> {
    let text = app.ask(|look| Ok(look.engine.cortex()?.export(None)?.text)).await?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CONTENT_DISPOSITION, "attachment; filename=\"cortex.json\""),
    ];
    Ok((headers, text).into_response())
}

/// Forgets what was learned in a region.
pub(super) async fn reset(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let region = form.text("region").unwrap_or_default();
    app.change(move |look| look.engine.cortex()?.reset(ForgetScope::Region(region))).await?;
    Ok(Redirect::to("/cortex?done=forgotten"))
}

/// Says that a skill's files only read on this machine, or takes it back.
pub(super) async fn read_only(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let slug = form.text("slug").unwrap_or_default();
    let digest = form.text("digest").filter(|digest| !digest.is_empty());
    let revoke = form.text("revoke").is_some();
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let by = Actor::on_page();
        match revoke {
            true => cortex.revoke_read_only(&slug, digest.as_deref(), &by),
            false => cortex.declare_read_only(&slug, digest.as_deref(), &by),
        }
    })
    .await?;
    Ok(Redirect::to("/cortex?done=declared"))
}

/// Hides a skill from offers, or shows it again.
pub(super) async fn blacklist(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let slug = form.text("slug").unwrap_or_default();
    let show = form.text("show").is_some();
    let reason = form.text("reason");
    app.change(move |look| {
        let cortex = look.engine.cortex()?;
        let by = Actor::on_page();
        match show {
            true => cortex.blacklist_remove(&slug, &by),
            false => cortex.blacklist_add(&slug, reason.as_deref(), &by),
        }
    })
    .await?;
    Ok(Redirect::to(if show { "/cortex?done=shown" } else { "/cortex?done=hidden" }))
}
