//! The playground: which skill a message would find, and why; and which of two descriptions serves
//! it better.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Redirect;
use serde::Deserialize;
use sinew_engine::{
    CASES_FILE, Engine, EngineError, RegionLeader, RouteAnswer, RouteMatch, RouteRequest,
    RouteStep, UnavailableSkill,
};
use sinew_route::{AbstainReason, RouteDecision, ScoreParts};
use sinew_settings::config::ModelChoice;
use sinew_settings::{Actor, ErrorCode};
use url::form_urlencoded;

use super::chart;
use super::frame::{FormResult, HtmlPage, PageFrame, PageResult, PageVisitor, SignedForm};
use super::text::{block, line, number, path_segment, percent};
use crate::api::prompt_for;
use crate::app::{WebApp, WebContext};

/// The longest message that is routed here.
const MAX_MESSAGE: usize = 20_000;
/// Skills that are shown.
const SHOWN: usize = 8;
/// Skills that are shown for each of the two descriptions.
const COMPARED: usize = 4;

#[derive(Debug, Default, Deserialize)]
pub(super) struct RoutePageQuery {
    #[serde(default)]
    message: String,
    #[serde(default)]
    skill: String,
    #[serde(default)]
    first: String,
    #[serde(default)]
    second: String,
}

#[derive(Template)]
#[template(path = "route.html")]
struct RoutePage {
    frame: PageFrame,
    message: String,
    answer: Option<RoutePanel>,
    keyword: Option<String>,
    prompt: String,
    prompt_chars: String,
    /// Names worth suggesting: those that the message found.
    suggested: Vec<String>,
    skill: String,
    first: String,
    second: String,
    compared: Option<[RoutePanel; 2]>,
    /// The skill that a test case would name first.
    likely: String,
    cases: String,
}

/// What the router says, as a page shows it.
struct RoutePanel {
    decision: &'static str,
    class: &'static str,
    sentence: String,
    rows: Vec<MatchRow>,
    threshold: String,
    model: String,
    took: String,
    region: Option<String>,
    /// The standing of that region's best skill.
    standing: Option<String>,
    reflex: Option<String>,
    unavailable: Vec<UnavailableRow>,
    notes: Vec<String>,
}

/// A skill that would fit, but cannot be used.
struct UnavailableRow {
    name: String,
    path: String,
    lacks: String,
    command: String,
}

struct MatchRow {
    place: usize,
    name: String,
    path: String,
    description: String,
    sure: String,
    bar: String,
    offered: bool,
    parts: Vec<(&'static str, String, String)>,
    words: String,
}

impl RoutePanel {
    fn of(answer: &RouteAnswer) -> Self {
        let (decision, class) = match answer.decision {
            RouteDecision::Match => ("match", "good"),
            RouteDecision::Shortlist => ("shortlist", "info"),
            RouteDecision::None => ("none", "warn"),
        };
        let first = answer.matches.first().map(|first| line(&first.name)).unwrap_or_default();
        let sentence = match (answer.decision, answer.reason) {
            (RouteDecision::Match, _) => format!("{first} is the skill for this."),
            (RouteDecision::Shortlist, _) if !answer.steps.is_empty() => {
                let step =
                    |step: &RouteStep| format!("{} ({})", line(&step.text), line(&step.skill));
                let steps: Vec<String> = answer.steps.iter().map(step).collect();
                format!("Several skills are needed in turn: {}.", steps.join(", then "))
            }
            (RouteDecision::Shortlist, _) => match answer.offered {
                1 => "One skill is worth reading, but it does not stand out.".to_owned(),
                offered => format!("{offered} skills are worth reading; none stands out."),
            },
            (RouteDecision::None, Some(AbstainReason::EmptyCatalog)) => {
                "There is no skill to match.".to_owned()
            }
            (RouteDecision::None, Some(AbstainReason::NoWords)) => {
                "The message has no words to match.".to_owned()
            }
            (RouteDecision::None, Some(AbstainReason::OnlyUnavailable)) => {
                "No skill that fits can be used. The agent goes on without one.".to_owned()
            }
            (RouteDecision::None, _) => "No skill fits. The agent goes on without one.".to_owned(),
        };
        let largest = answer.matches.iter().flat_map(|found| values(&found.parts));
        let largest = largest.map(|(_, value)| value.abs()).fold(0.0, f64::max);
        let rows =
            answer.matches.iter().enumerate().map(|(at, found)| row(at, found, answer, largest));
        Self {
            decision,
            class,
            sentence,
            rows: rows.collect(),
            threshold: percent(answer.threshold),
            model: line(&answer.model),
            took: format!("{:.1} ms", answer.took.total as f64 / 1000.0),
            region: answer.region.as_deref().map(line),
            standing: answer.leader.as_ref().map(standing),
            reflex: answer.reflex.as_ref().map(|hit| block(&hit.notice)),
            unavailable: answer.unavailable.iter().map(unavailable_row).collect(),
            notes: answer.degraded.iter().map(|signal| line(&signal.sentence())).collect(),
        }
    }
}

fn values(parts: &ScoreParts) -> Vec<(&'static str, f64)> {
    parts
        .each()
        .filter(|(_, part)| part.weight != 0.0)
        .map(|(name, part)| (name, part.value()))
        .collect()
}

/// A smaller part is not shown.
const SILENT: f64 = 0.005;

fn row(at: usize, found: &RouteMatch, answer: &RouteAnswer, largest: f64) -> MatchRow {
    let parts = values(&found.parts)
        .into_iter()
        .filter(|(_, value)| value.abs() >= SILENT)
        .map(|(name, value)| (name, format!("{value:+.2}"), chart::part(value, largest)));
    let words: Vec<&str> = found.terms.iter().take(6).map(|term| term.term.as_str()).collect();
    MatchRow {
        place: at + 1,
        name: line(&found.name),
        path: path_segment(&found.name),
        description: line(&found.description),
        sure: percent(found.probability),
        bar: chart::probability(found.probability, answer.threshold),
        offered: at < answer.offered,
        parts: parts.collect(),
        words: line(&words.join(", ")),
    }
}

fn unavailable_row(skill: &UnavailableSkill) -> UnavailableRow {
    UnavailableRow {
        name: line(&skill.name),
        path: path_segment(&skill.name),
        lacks: line(&skill.lacks()),
        command: line(&skill.command),
    }
}

fn answer(look: &WebContext, message: &str, actor: Actor) -> RoutePanel {
    let request = RouteRequest { top: Some(SHOWN), actor, ..RouteRequest::new(message) };
    RoutePanel::of(&look.route(&request))
}

/// The standing of a region's best skill, and what it lacks to act by reflex.
fn standing(leader: &RegionLeader) -> String {
    let reflex = match (leader.reflex, leader.missing.as_slice()) {
        (true, _) => "it acts by reflex".to_owned(),
        (false, []) => "no reflex".to_owned(),
        (false, missing) => format!("no reflex yet ({})", missing.join("; ")),
    };
    line(&format!("{} leads there with {:.2}, {reflex}", leader.slug, leader.effective_weight))
}

/// The message under two descriptions of one skill.
fn compared(
    engine: &Engine,
    look: &WebContext,
    asked: &RoutePageQuery,
) -> Result<Option<[RoutePanel; 2]>, EngineError> {
    let wanted = [&asked.message, &asked.skill, &asked.first, &asked.second];
    if wanted.iter().any(|text| text.trim().is_empty()) {
        return Ok(None);
    }
    let entry = engine.find(&look.snapshot.catalog, asked.skill.trim())?;
    let descriptions = [asked.first.as_str(), asked.second.as_str()];
    let answers = engine.routing().compare_descriptions(
        &look.snapshot,
        entry,
        descriptions,
        &asked.message,
        COMPARED,
    );
    Ok(Some(answers.map(|answer| RoutePanel::of(&answer))))
}

/// The first skill that is offered.
fn likely(answer: &RoutePanel) -> String {
    answer.rows.iter().find(|row| row.offered).map(|row| row.name.clone()).unwrap_or_default()
}

/// Keeps the message as a test case, with the skill that should answer it.
pub(super) async fn save(State(app): State<WebApp>, form: SignedForm) -> FormResult {
    let message = form.text("message").unwrap_or_default();
    let none = form.text("none").is_some();
    let expected = form.text("expected").filter(|_| !none);
    let to = form_urlencoded::Serializer::for_suffix("/route?".to_owned(), "/route?".len())
        .append_pair("message", &message)
        .append_pair("done", "case")
        .finish();
    app.change(move |look| {
        if expected.is_none() && !none {
            let said =
                "a test case needs the skill that should answer, or the word that none should";
            return Err(EngineError::new(ErrorCode::BadCase, said));
        }
        let expected = expected.as_deref().map(str::trim);
        let actor = Actor::on_page();
        look.engine.quality().save_case(&look.snapshot.catalog, &message, expected, &actor)
    })
    .await?;
    Ok(Redirect::to(&to))
}

pub(super) async fn show(
    State(app): State<WebApp>,
    visitor: PageVisitor,
    Query(mut asked): Query<RoutePageQuery>,
) -> PageResult {
    if let Some((at, _)) = asked.message.char_indices().nth(MAX_MESSAGE) {
        asked.message.truncate(at);
    }
    let page = app.ask(move |look| {
        let (engine, catalog) = (&look.engine, &look.snapshot.catalog);
        let message = Some(asked.message.as_str()).filter(|text| !text.trim().is_empty());
        let options = prompt_for(look, message);
        let block_text = engine.skills().prompt(catalog, &options);
        let keyword = message.map(|message| {
            let by_words = look.route(&RouteRequest {
                top: Some(1),
                models: ModelChoice::Words,
                ..RouteRequest::new(message)
            });
            match by_words.matched() {
                Some(first) => line(&first.name),
                None => "none".to_owned(),
            }
        });
        let skill = asked.skill.trim();
        let first = match (asked.first.is_empty(), catalog.lookup(skill)) {
            (true, Ok(entry)) if !skill.is_empty() => entry.description.clone(),
            _ => asked.first.clone(),
        };
        let answer = message.map(|message| answer(look, message, Actor::on_page()));
        let rows = answer.iter().flat_map(|answer| &answer.rows);
        HtmlPage::of(&RoutePage {
            frame: visitor.frame(look, "route", "Route"),
            suggested: rows.map(|row| row.name.clone()).collect(),
            likely: answer.as_ref().map(likely).unwrap_or_default(),
            cases: CASES_FILE.to_owned(),
            answer,
            keyword,
            prompt_chars: number(block_text.report.used),
            prompt: block_text.text,
            skill: asked.skill.clone(),
            first,
            second: asked.second.clone(),
            compared: compared(engine, look, &asked)?,
            message: asked.message.clone(),
        })
    });
    Ok(page.await?)
}
