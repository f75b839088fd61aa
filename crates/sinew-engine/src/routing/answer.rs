//! The answer to a message, as every surface shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_route::{
    AbstainReason, DegradedKind, DegradedSignal, MatchedTerm, RouteDecision, RouteResult,
    RouteTiming, ScoreParts, SkillMatch, TaskStep,
};
use sinew_settings::path_text;

use super::UnavailableSkill;
use super::shared_words::shared_words;
use crate::{Engine, percent};

/// Words of a skill that a reason names; more are noise.
const SHOWN_TERMS: usize = 4;

/// Characters of a part of a message that a reason quotes.
const SHOWN_PART: usize = 60;

/// The right skills for a message, or none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RouteAnswer {
    /// The answer.
    pub decision: RouteDecision,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<AbstainReason>,
    /// How many of the matches are offered: one for a match, none for `none`.
    pub offered: usize,
    /// Ranked skills. With `match` the first is the answer; with `none` they are what came closest.
    pub matches: Vec<RouteMatch>,
    /// The parts of a message that needs several skills in turn: these are what is offered then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RouteStep>,
    /// Skills that the message itself asks for, by their commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NamedSkill>,
    /// Skills that would fit, but cannot be used.
    pub unavailable: Vec<UnavailableSkill>,
    /// How sure we are that any skill of the catalog fits.
    pub fit: f64,
    /// The probability a match needed.
    pub threshold: f64,
    /// The lead it needed.
    pub margin: f64,
    /// The models that were used.
    pub model: String,
    /// The calibration that was used.
    pub calibration: String,
    /// The language the message was taken for.
    pub language: &'static str,
    /// Signals that were not available, and why.
    pub degraded: Vec<DegradedSignal>,
    /// How long it took, in microseconds.
    pub took: RouteTiming,
    /// The task area that the message belongs to, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The skill that leads in that area.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<RegionLeader>,
    /// A skill of that area that is trusted to go ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflex: Option<ReflexHit>,
    /// What was learned about tasks like this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
    /// What was wrong with the index on disk, which was made anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// The prompt block, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// A part of a message, and the skill that serves it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RouteStep {
    /// The part, as the user wrote it.
    pub text: String,
    /// The skill's name.
    pub skill: String,
    /// How sure we are that it is the right one for this part.
    pub probability: f64,
}

/// One ranked skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RouteMatch {
    /// Its id in the index.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How sure we are that it is the right one.
    pub probability: f64,
    /// What it was ranked by.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// Words it shares with the message, best first.
    pub terms: Vec<MatchedTerm>,
    /// The same words as they were written.
    #[serde(skip)]
    pub shared: Vec<String>,
    /// Its address over MCP, where it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its file, as the prompt block names it.
    pub location: String,
    /// Its file.
    #[serde(skip)]
    pub file_path: PathBuf,
    /// Why it is here, in a few words.
    pub reason: String,
    /// What was learned about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

/// A skill that a message asks for by its command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NamedSkill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its address over MCP, where it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its file, as the prompt block names it.
    pub location: String,
    /// Its file.
    #[serde(skip)]
    pub file_path: PathBuf,
    /// What was learned about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

/// The skill that leads in a task area.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RegionLeader {
    /// The skill.
    pub slug: String,
    /// What it counts today.
    pub effective_weight: f64,
    /// Whether it goes ahead unasked.
    pub reflex: bool,
    /// What it lacks for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A candidate whose reflex fires.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReflexHit {
    /// The skill.
    pub slug: String,
    /// The version that was learned.
    pub version: String,
    /// The share of successes, 0 to 1.
    pub success_rate: f64,
    /// The two lines that are shown before anything happens.
    pub notice: String,
}

impl RouteAnswer {
    /// The router's answer with where each skill lies and what was learned about it.
    pub(super) fn of(
        engine: &Engine,
        catalog: &Catalog,
        message: &str,
        result: RouteResult,
        lessons: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let matches = result.matches.into_iter().map(|found| {
            let entry = catalog.unshadowed().find(|entry| entry.name == found.name);
            RouteMatch::of(engine, entry, message, found, lessons)
        });
        Self {
            decision: result.decision,
            reason: result.reason,
            offered: result.offered,
            matches: matches.collect(),
            steps: Vec::new(),
            named: Vec::new(),
            unavailable: Vec::new(),
            fit: result.fit,
            threshold: result.threshold,
            margin: result.margin,
            model: result.model,
            calibration: result.calibration,
            language: result.language,
            degraded: result.degraded,
            took: result.took,
            region: None,
            leader: None,
            reflex: None,
            lessons: Vec::new(),
            notice: None,
            prompt: None,
        }
    }

    /// Whether nothing fits.
    pub fn is_none(&self) -> bool {
        self.decision == RouteDecision::None
    }

    /// The answer of a `match`.
    pub fn matched(&self) -> Option<&RouteMatch> {
        self.matches.first().filter(|_| self.decision == RouteDecision::Match)
    }

    /// The matches that are offered, best first.
    pub fn offers(&self) -> &[RouteMatch] {
        &self.matches[..self.offered.min(self.matches.len())]
    }

    /// Says which part of the message each skill serves.
    pub(super) fn name_steps(&mut self, steps: Vec<TaskStep>) {
        for step in &steps {
            let served = self.matches.iter_mut().find(|found| found.id == step.skill.id);
            if let Some(found) = served {
                let part: String = step.text.chars().take(SHOWN_PART).collect();
                found.reason = format!("for \"{part}\"; {}", found.reason);
            }
        }
        let step = |step: TaskStep| RouteStep {
            text: step.text,
            skill: step.skill.name,
            probability: step.skill.probability,
        };
        self.steps = steps.into_iter().map(step).collect();
    }

    /// Says why vectors are missing, where computing them failed.
    pub(super) fn explain_pending_vectors(&mut self, failure: Option<&str>) {
        let pending = |signal: &&mut DegradedSignal| signal.kind == DegradedKind::VectorsPending;
        for signal in self.degraded.iter_mut().filter(pending) {
            signal.cause = failure.map(str::to_owned);
        }
    }
}

impl RouteMatch {
    fn of(
        engine: &Engine,
        entry: Option<&CatalogEntry>,
        message: &str,
        found: SkillMatch,
        lessons: &BTreeMap<String, Vec<String>>,
    ) -> Self {
        let shared = shared_words(message, &[&found.name, &found.description], &found.terms);
        let reason = reason(&found, &shared);
        Self {
            uri: entry.and_then(|entry| engine.skills().skill_uri(entry)),
            location: entry.map(|entry| location(engine, entry)).unwrap_or_default(),
            file_path: entry.map(|entry| entry.file_path.clone()).unwrap_or_default(),
            reason,
            lessons: lessons.get(&found.name).cloned().unwrap_or_default(),
            id: found.id,
            name: found.name,
            description: found.description,
            probability: found.probability,
            score: found.score,
            parts: found.parts,
            terms: found.terms,
            shared,
        }
    }
}

impl NamedSkill {
    /// The skill of a name, where the model may see it.
    pub(super) fn of(
        engine: &Engine,
        catalog: &Catalog,
        name: &str,
        lessons: &BTreeMap<String, Vec<String>>,
    ) -> Option<Self> {
        let entry = catalog.unshadowed().find(|entry| entry.name == name && entry.model_visible)?;
        Some(Self {
            name: entry.name.clone(),
            description: entry.description.clone(),
            uri: engine.skills().skill_uri(entry),
            location: location(engine, entry),
            file_path: entry.file_path.clone(),
            lessons: lessons.get(&entry.name).cloned().unwrap_or_default(),
        })
    }
}

/// A skill's file, as the prompt block names it.
fn location(engine: &Engine, entry: &CatalogEntry) -> String {
    engine.skills().homes().compact(&path_text(&entry.file_path)).into_owned()
}

/// Why a skill is among the matches: how sure we are, and the words it shares.
fn reason(found: &SkillMatch, shared: &[String]) -> String {
    let sure = format!("{} sure", percent(found.probability));
    match &shared[..shared.len().min(SHOWN_TERMS)] {
        [] => format!("{sure}; shares no word, but its meaning"),
        terms => format!("{sure}; shares {}", terms.join(", ")),
    }
}
