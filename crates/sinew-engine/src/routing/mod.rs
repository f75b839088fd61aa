//! From a message to the right skill: the router over the catalog, and the one answer that every
//! surface shows.
//!
//! [`Routing::route`] reads as the way of a message: a router from the `pool.rs` (made by
//! `catalog_router.rs` over an index on disk) ranks it, `unavailable.rs` weighs what cannot be used,
//! `taught.rs` puts rules that the user taught first, `learned.rs` adds what earlier outcomes say, and
//! `answer.rs` is what comes out.
//!
//! What must never happen here: an answer that offers a skill which the gate holds back, or a surface
//! that has to put an answer together itself.

mod answer;
mod calibration;
mod cases;
mod catalog_router;
mod description_trial;
mod embedding_client;
mod eval;
mod explain;
mod index_file;
mod learned;
mod models;
mod neighbours;
mod pool;
mod punctual_embedder;
mod question_snapshot;
mod recent_messages;
mod shared_words;
mod taught;
mod unavailable;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_catalog::references::expand_references;
use sinew_catalog::{CatalogEntry, Snapshot};
use sinew_guard::own_frames::without_own_frames;
use sinew_route::RouteDecision;
use sinew_settings::Actor;
use sinew_settings::config::ModelChoice;

use crate::{Engine, EngineError, PromptOptions};
pub use answer::{NamedSkill, ReflexHit, RegionLeader, RouteAnswer, RouteMatch, RouteStep};
pub use calibration::RouteCalibration;
pub use cases::{CASES_FILE, SavedCase};
pub use catalog_router::{CatalogRouter, IndexStatus};
pub(crate) use catalog_router::{discounts, document, read_skill};
pub use eval::{EvalData, EvalRunSide, ModelComparison, VectorProgress};
pub use neighbours::{NeighbourReport, SkillNeighbour};
pub use pool::QuestionGuard;
pub(crate) use pool::RouterPool;
pub(crate) use question_snapshot::QuestionFindings;
pub use unavailable::UnavailableSkill;

/// A message that looks for its skill.
#[derive(Debug, Clone)]
pub struct RouteRequest {
    /// What the user said.
    pub message: String,
    /// The same in other words, where the caller has some: the surer answer counts, so that they add
    /// certainty and never take it away.
    pub intent: Option<String>,
    /// The most matches; `route.top` of the configuration where absent.
    pub top: Option<usize>,
    /// What ranks.
    pub models: ModelChoice,
    /// Whether a prompt block comes along.
    pub prompt: AnswerPrompt,
    /// Who asks: what is told about skills that the guard holds back depends on it.
    pub actor: Actor,
    /// When the answer is needed, where the caller cannot wait: a model that is not done by then is left
    /// out, and the answer says so.
    pub until: Option<Instant>,
}

/// Which prompt block comes along with an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerPrompt {
    /// None.
    #[default]
    Omit,
    /// The one in which the skills that fit the message keep their descriptions longest.
    ForMessage,
    /// The one that every message gets.
    ForSession,
}

impl RouteRequest {
    /// A message, ranked as the configuration says, for a program. What sinew added to it earlier, and an
    /// agent hands back with it, does not count.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message: without_own_frames(&message).into_owned(),
            intent: None,
            top: None,
            models: ModelChoice::Default,
            prompt: AnswerPrompt::Omit,
            actor: Actor::System,
            until: None,
        }
    }
}

/// Says which skill fits a message. Made by [`Engine::routing`].
#[derive(Debug, Clone, Copy)]
pub struct Routing<'e> {
    pub(crate) engine: &'e Engine,
}

impl Engine {
    /// Says which skill fits a message.
    pub fn routing(&self) -> Routing<'_> {
        Routing { engine: self }
    }

    /// The right skills for a message, or none, over the skills as they are now.
    pub fn route(&self, request: &RouteRequest) -> RouteAnswer {
        self.routing().route(&self.snapshot_for(request), request)
    }
}

impl Routing<'_> {
    /// The right skills for a message, or none, over one version of the catalog.
    pub fn route(&self, snapshot: &Arc<Snapshot>, request: &RouteRequest) -> RouteAnswer {
        let (engine, catalog) = (self.engine, &snapshot.catalog);
        let started = Instant::now();
        let router = engine.routers.get(engine, snapshot, request.models, request.until);
        let rank = |message: &str| router.rank(message, request.top, request.until);
        let ranked = rank(&request.message);
        let intent = request.intent.as_deref().filter(|intent| !intent.trim().is_empty());
        let ranked = match intent {
            Some(intent) => ranked.or_surer(rank(intent)),
            None => ranked,
        };
        let (mut result, unavailable) = engine.weigh_unavailable(catalog, ranked, &request.actor);
        let steps = match result.decision {
            RouteDecision::None => Vec::new(),
            _ => router.steps(&request.message, request.until),
        };
        result.follow_steps(&steps);
        let taught = match request.models {
            ModelChoice::Words => None,
            _ => engine.put_taught_first(catalog, &mut result, &request.message, request.until),
        };
        let names: Vec<&str> = result.matches.iter().map(|found| found.name.as_str()).collect();
        let named = expand_references(&request.message, &catalog.commands).skill_names;
        let names = names.into_iter().chain(named.iter().map(String::as_str)).collect::<Vec<_>>();
        let lessons = router.lessons(&request.message, &names, engine);
        let mut answer =
            RouteAnswer::of(engine, catalog, &request.message, result, &lessons.about_skills);
        answer.name_steps(steps);
        if let (Some(taught), Some(first)) = (taught, answer.matches.first_mut())
            && first.name == taught.skill
        {
            first.reason = taught.reason;
        }
        answer.unavailable = unavailable;
        answer.named = named
            .iter()
            .filter_map(|name| NamedSkill::of(engine, catalog, name, &lessons.about_skills))
            .collect();
        answer.lessons = lessons.about_task;
        answer.explain_pending_vectors(router.fill_failure.as_deref());
        answer.notice = router.status.notice.clone();
        if let Some(learned) = engine.learned_about(&request.message) {
            answer.region = Some(learned.region);
            answer.leader = learned.leader;
            answer.reflex = learned.reflex;
        }
        let options = match request.prompt {
            AnswerPrompt::Omit => None,
            AnswerPrompt::ForMessage => Some(self.prompt_options(snapshot, &request.message)),
            AnswerPrompt::ForSession => Some(PromptOptions::default()),
        };
        answer.prompt = options.map(|options| engine.skills().prompt(catalog, &options).text);
        // Neither the message nor a word of it: a log may be read by others than the user.
        tracing::info!(
            decision = ?answer.decision,
            matches = answer.matches.len(),
            unavailable = answer.unavailable.len(),
            degraded = answer.degraded.len(),
            us = started.elapsed().as_micros(),
            "routed a message"
        );
        answer
    }

    /// The router over one version of the catalog. It stays open between questions: opening the index
    /// of a large catalog takes longer than asking it.
    pub fn router(&self, snapshot: &Arc<Snapshot>, choice: ModelChoice) -> Arc<CatalogRouter> {
        self.engine.routers.get(self.engine, snapshot, choice, None)
    }

    /// How the prompt block for a message is made: the skills that fit it keep their descriptions
    /// longest.
    pub fn prompt_options(&self, snapshot: &Arc<Snapshot>, message: &str) -> PromptOptions {
        let visible = snapshot.catalog.unshadowed().filter(|entry| entry.model_visible).count();
        let router = self.router(snapshot, ModelChoice::Default);
        let result = router.rank(message, Some(visible.max(1)), None).result;
        let scores: BTreeMap<String, f64> =
            result.matches.into_iter().map(|found| (found.name, found.score)).collect();
        PromptOptions { message: Some(message.to_owned()), scores, ..PromptOptions::default() }
    }

    /// The answers that a message would get if a skill were known by each of these descriptions alone.
    pub fn compare_descriptions<const N: usize>(
        &self,
        snapshot: &Arc<Snapshot>,
        entry: &CatalogEntry,
        descriptions: [&str; N],
        message: &str,
        top: usize,
    ) -> [RouteAnswer; N] {
        let catalog = &snapshot.catalog;
        let router = self.router(snapshot, ModelChoice::Static);
        let results = router.route_with_descriptions(catalog, entry, descriptions, message, top);
        let none = BTreeMap::new();
        results.map(|result| RouteAnswer::of(self.engine, catalog, message, result, &none))
    }

    /// How complete the index of the configured models is.
    pub fn index_status(&self, snapshot: &Arc<Snapshot>) -> IndexStatus {
        self.router(snapshot, ModelChoice::Default).status.clone()
    }

    /// How many skills have no vector of a choice of models yet.
    pub fn pending_vectors(&self, snapshot: &Arc<Snapshot>, choice: ModelChoice) -> usize {
        self.router(snapshot, choice).pending_vectors()
    }

    /// Computes the vectors that are missing; `progress` hears how many are done.
    pub fn fill_vectors(
        &self,
        snapshot: &Arc<Snapshot>,
        choice: ModelChoice,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<IndexStatus, EngineError> {
        let mut router = CatalogRouter::clone(&self.router(snapshot, choice));
        let filled = router.fill_vectors(progress);
        let router = self.engine.routers.keep(snapshot.version, choice, router);
        filled.map(|()| router.status.clone())
    }

    /// Computes the vectors that are missing, text by text on this thread and for as long as `goes_on`:
    /// for a process in the background, beside which people work. Returns how many are still missing.
    pub fn fill_vectors_slowly(
        &self,
        snapshot: &Arc<Snapshot>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<usize, EngineError> {
        let choice = ModelChoice::Default;
        let mut router = CatalogRouter::clone(&self.router(snapshot, choice));
        let filled = router.fill_vectors_in_background(goes_on);
        let router = self.engine.routers.keep(snapshot.version, choice, router);
        filled.map(|()| router.pending_vectors())
    }

    /// Computes the vectors of the skills that matter for a message, for as long as the caller waits at
    /// most: the first question over new skills is answered with the encoder, too.
    pub fn fill_candidates(
        &self,
        snapshot: &Arc<Snapshot>,
        request: &RouteRequest,
        most: Duration,
    ) {
        let until = Instant::now() + most;
        let router = self.router(snapshot, request.models);
        if router.pending_vectors() == 0 {
            return;
        }
        let mut router = CatalogRouter::clone(&router);
        if router.fill_candidates(&request.message, until) {
            self.engine.routers.keep(snapshot.version, request.models, router);
        }
    }

    /// Brings the index on disk up to date, and leaves a large catalog behind for the questions of later
    /// processes.
    pub fn keep_for_questions(&self, snapshot: &Arc<Snapshot>) {
        self.router(snapshot, ModelChoice::Default);
        self.engine.keep_assembled(snapshot);
    }

    /// From now on missing vectors are computed behind the answers. For processes that stay up.
    pub fn fill_in_background(&self) {
        self.engine.routers.fill_in_background();
    }

    /// Says that a question is being answered, until what it gives is dropped: what is computed behind
    /// the answers gives way meanwhile.
    pub fn begin_question(&self) -> QuestionGuard {
        self.engine.routers.begin_question()
    }
}
