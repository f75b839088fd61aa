//! A routed message as every surface shows it: the router's answer, where each skill lies, and what
//! was learned about such tasks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use sinew_catalog::{Catalog, Snapshot};
use sinew_cortex::explain::candidate_views;
use sinew_cortex::recall::{RecallTask, find_region};
use sinew_cortex::reflex;
use sinew_cortex::signals::signal_words;
use sinew_route::{
    AbstainReason, DegradedSignal, RouteDecision, RouteResult, RouteTiming, SkillMatch,
};
use sinew_settings::path_text;

use crate::{CatalogRouteResult, CatalogRouter, Engine, ModelChoice, PromptOptions, store};

/// Words of a skill that a reason names; more are noise.
const SHOWN_TERMS: usize = 4;

/// The answer to a message, as every surface shows it.
#[derive(Debug, Clone)]
pub struct RoutedMessage {
    /// What the router says.
    pub result: RouteResult,
    /// Where each match lies, in the order of the matches.
    places: Vec<MatchLocation>,
    /// The task area that the message belongs to, where one is known.
    pub region: Option<String>,
    /// A skill of that area that is trusted to go ahead.
    pub reflex: Option<ReflexHit>,
}

/// Where a match lies.
#[derive(Debug, Clone, Serialize)]
struct MatchLocation {
    /// Its address over MCP, where it is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    /// Its file, as the prompt block names it.
    location: String,
    /// Why it is here, in a few words.
    reason: String,
}

/// A candidate whose reflex fires.
#[derive(Debug, Clone, Serialize)]
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

#[derive(Serialize)]
struct RoutedMatchView<'a> {
    #[serde(flatten)]
    found: &'a SkillMatch,
    #[serde(flatten)]
    place: &'a MatchLocation,
}

#[derive(Serialize)]
struct RoutedMessageView<'a> {
    decision: RouteDecision,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<AbstainReason>,
    offered: usize,
    matches: Vec<RoutedMatchView<'a>>,
    fit: f64,
    threshold: f64,
    margin: f64,
    model: &'a str,
    calibration: &'a str,
    language: &'a str,
    degraded: &'a [DegradedSignal],
    took: RouteTiming,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reflex: Option<&'a ReflexHit>,
}

impl Serialize for RoutedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let result = &self.result;
        let matches = result.matches.iter().zip(&self.places);
        RoutedMessageView {
            decision: result.decision,
            reason: result.reason,
            offered: result.offered,
            matches: matches.map(|(found, place)| RoutedMatchView { found, place }).collect(),
            fit: result.fit,
            threshold: result.threshold,
            margin: result.margin,
            model: &result.model,
            calibration: &result.calibration,
            language: result.language,
            degraded: &result.degraded,
            took: result.took,
            region: self.region.as_deref(),
            reflex: self.reflex.as_ref(),
        }
        .serialize(serializer)
    }
}

impl Engine {
    /// Adds to the router's answer what belongs to it on every surface.
    pub fn describe_route(
        &self,
        catalog: &Catalog,
        message: &str,
        result: RouteResult,
    ) -> RoutedMessage {
        let homes = self.homes();
        let place = |found: &SkillMatch| {
            let entry = catalog.unshadowed().find(|entry| entry.name == found.name);
            MatchLocation {
                uri: entry.and_then(|entry| self.skill_uri(entry)),
                location: entry
                    .map(|entry| homes.compact(&path_text(&entry.file_path)).into_owned())
                    .unwrap_or_default(),
                reason: reason(found),
            }
        };
        let places = result.matches.iter().map(place).collect();
        let (region, reflex) = self.learned_about(message).unwrap_or_default();
        RoutedMessage { result, places, region, reflex }
    }

    /// The task area of a message and its reflex. Routing is local: no database is made for it.
    fn learned_about(&self, message: &str) -> Option<(Option<String>, Option<ReflexHit>)> {
        if self.cortex.get().is_none() && !store::local_exists(&self.env) {
            return None;
        }
        let cortex = self.cortex().ok()?;
        if cortex.with_memory(|memory| memory.patterns.is_empty()).ok()? {
            return None;
        }
        let words = signal_words(message, self.vocabulary());
        let today = cortex.now().day();
        let about = cortex.with_memory(|memory| {
            let (region, _) =
                find_region(memory, &RecallTask { words: &words, ..RecallTask::default() });
            let region = region?;
            let views = candidate_views(memory, &region, today, cortex.policy());
            let firing = views.iter().find(|view| view.reflex.fires && view.filtered.is_none());
            let hit = firing.and_then(|view| {
                let candidate = memory.candidate(&region, &view.slug)?;
                Some(ReflexHit {
                    slug: view.slug.clone(),
                    version: view.version.clone(),
                    success_rate: candidate.success_percent() as f64 / 100.0,
                    notice: reflex::notice(candidate, &words),
                })
            });
            Some((Some(region), hit))
        });
        about.ok().flatten()
    }

    /// The prompt block for a message: the skills that fit it keep their descriptions longest.
    pub fn prompt_options_for(
        &self,
        catalog: &Catalog,
        router: &CatalogRouter,
        message: &str,
    ) -> PromptOptions {
        let visible = catalog.unshadowed().filter(|entry| entry.model_visible).count();
        let found = router.find(message, Some(visible.max(1)));
        let scores: BTreeMap<String, f64> =
            found.result.matches.into_iter().map(|found| (found.name, found.score)).collect();
        PromptOptions { message: Some(message.to_owned()), scores, ..PromptOptions::default() }
    }
}

impl CatalogRouter {
    /// The right skills for a message that somebody has also put into other words: the surer answer
    /// counts. The other words are the caller's, so that they add certainty and never take it away.
    pub fn find_with_intent(
        &self,
        message: &str,
        intent: Option<&str>,
        top: Option<usize>,
    ) -> CatalogRouteResult {
        let heard = self.find(message, top);
        let Some(intent) = intent.filter(|intent| !intent.trim().is_empty()) else { return heard };
        let meant = self.find(intent, top);
        let rank = |found: &CatalogRouteResult| match found.result.decision {
            RouteDecision::Match => 2,
            RouteDecision::Shortlist => 1,
            RouteDecision::None => 0,
        };
        let surer = (rank(&meant), meant.result.fit) > (rank(&heard), heard.result.fit);
        if surer { meant } else { heard }
    }
}

/// Why a skill is among the matches: how sure we are, and the words it shares.
fn reason(found: &SkillMatch) -> String {
    let sure = format!("{:.0} % sure", 100.0 * found.probability);
    let terms: Vec<&str> =
        found.terms.iter().take(SHOWN_TERMS).map(|term| term.term.as_str()).collect();
    match terms.as_slice() {
        [] => format!("{sure}; shares no word, but its meaning"),
        terms => format!("{sure}; shares {}", terms.join(", ")),
    }
}

/// Routers that stay open between questions: opening the index of a large catalog takes longer than
/// asking it.
#[derive(Debug, Default)]
pub struct RouterPool {
    kept: Mutex<Vec<PooledRouter>>,
    /// Whether vectors are being computed behind the answers.
    filling: AtomicBool,
    /// Questions that are being answered now.
    asked: AtomicUsize,
}

/// A question that is being answered: as long as it is held, what is computed behind the answers
/// gives way.
#[derive(Debug)]
pub struct QuestionGuard(Arc<RouterPool>);

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.0.asked.fetch_sub(1, Ordering::AcqRel);
    }
}

/// How long the next vector waits for questions at most: where somebody always asks, vectors still
/// come.
const GIVE_WAY: Duration = Duration::from_millis(100);
/// How often it is seen whether they are answered.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Choices of models that are kept open; few callers use more than one.
const MAX_KEPT: usize = 3;

#[derive(Debug)]
struct PooledRouter {
    version: u64,
    choice: ModelChoice,
    router: Arc<CatalogRouter>,
}

impl RouterPool {
    /// Says that a question is being answered, until what it gives is dropped.
    pub fn begin_question(self: &Arc<Self>) -> QuestionGuard {
        self.asked.fetch_add(1, Ordering::AcqRel);
        QuestionGuard(Arc::clone(self))
    }

    fn give_way(&self) {
        let began = Instant::now();
        while self.asked.load(Ordering::Acquire) > 0 && began.elapsed() < GIVE_WAY {
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// The router over a snapshot. Vectors that are missing are computed behind the answer.
    pub fn get(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        snapshot: &Arc<Snapshot>,
        choice: ModelChoice,
    ) -> Arc<CatalogRouter> {
        let known = self.lock().iter().find_map(|kept| {
            let fits = kept.version == snapshot.version && kept.choice == choice;
            fits.then(|| Arc::clone(&kept.router))
        });
        let router = match known {
            Some(router) => match router.with_new_outcomes(engine, &snapshot.catalog) {
                None => return router,
                Some(newer) => Arc::new(newer),
            },
            None => Arc::new(engine.router(&snapshot.catalog, choice)),
        };
        self.keep(snapshot.version, choice, &router);
        if router.pending_vectors() > 0 && !self.filling.swap(true, Ordering::AcqRel) {
            self.fill_in_background(engine, snapshot, choice);
        }
        router
    }

    fn fill_in_background(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        snapshot: &Arc<Snapshot>,
        choice: ModelChoice,
    ) {
        let (this, engine, snapshot) = (Arc::clone(self), Arc::clone(engine), Arc::clone(snapshot));
        thread::spawn(move || {
            let mut router = engine.router(&snapshot.catalog, choice);
            // A model that fails now is asked again with the next catalog; answers say so until then.
            let filled = router.fill_vectors_in_background(&|| this.give_way()).is_ok();
            if filled {
                this.keep(snapshot.version, choice, &Arc::new(router));
                this.filling.store(false, Ordering::Release);
            }
        });
    }

    fn keep(&self, version: u64, choice: ModelChoice, router: &Arc<CatalogRouter>) {
        let mut kept = self.lock();
        kept.retain(|kept| kept.choice != choice || kept.version > version);
        kept.truncate(MAX_KEPT - 1);
        kept.insert(0, PooledRouter { version, choice, router: Arc::clone(router) });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<PooledRouter>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
