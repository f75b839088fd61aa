//! From a message to the right skill: the router over the catalog, with its index on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew_catalog::{AssembledCatalog, Catalog, CatalogEntry, LARGE_CATALOG};
use sinew_route::{
    DocumentKey, Embedder, IndexBuildCounts, RankExplanation, RouteContext, RouteDecision,
    RouteDocument, RouteIndex, RouteResult, Router, RouterConfig, RouterModels, SkillPrior,
    StuffingReason, TaskStep, UserMessage,
};
use sinew_settings::ErrorCode;
use sinew_settings::config::ModelChoice;

use super::index_file::{IndexFile, LoadedIndex};
use super::punctual_embedder::PunctualEmbedder;
use crate::cortex::{MessageLessons, RoutingMemory};
use crate::{Engine, EngineError, quality};

/// So few missing vectors are computed before the answer: it takes less time than reading it.
const FILL_AT_ONCE: usize = 8;

/// Vectors between two saves: what is done stays done when a person loses patience.
const FILL_STEP: usize = 128;

/// Computing between two saves takes so many times as long as a save.
const SAVE_SHARE: u32 = 10;

/// A router over the skills of a catalog.
#[derive(Debug, Clone)]
pub struct CatalogRouter {
    pub(crate) router: Router,
    pub(crate) models: RouterModels,
    /// Skills that are ranked but may not be offered.
    excluded: Vec<String>,
    file: IndexFile,
    /// What earlier outcomes say.
    learned: Option<Arc<RoutingMemory>>,
    /// How the index came about.
    pub(super) status: IndexStatus,
    /// Why vectors could not be computed the last time.
    pub(super) fill_failure: Option<String>,
}

/// A message that was ranked.
#[derive(Debug)]
pub(super) struct RankedMessage {
    /// Over the skills that can be used.
    pub(super) result: RouteResult,
    /// Over all skills, as if the gate let everything through; absent where it does.
    pub(super) ungated: Option<RouteResult>,
}

impl RankedMessage {
    /// The surer of two answers; this one where neither is.
    pub(super) fn or_surer(self, other: Self) -> Self {
        let rank = |ranked: &Self| match ranked.result.decision {
            RouteDecision::Match => 2,
            RouteDecision::Shortlist => 1,
            RouteDecision::None => 0,
        };
        let is_surer = (rank(&other), other.result.fit) > (rank(&self), self.result.fit);
        if is_surer { other } else { self }
    }
}

/// How an index came about, and how complete it is.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// The file.
    pub path: PathBuf,
    /// Skills in it.
    pub skills: usize,
    /// Skills that were taken over from the file.
    pub kept: usize,
    /// Skills that were read anew.
    pub read: usize,
    /// Skills without an encoder vector.
    pub pending: usize,
    /// What was wrong with the file, if it was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl CatalogRouter {
    /// The router over a catalog. The index is read from disk where it fits, and brought up to date
    /// where it does not; encoder vectors that are missing are computed here only if they are few, and
    /// only in half of the time until the answer is needed.
    pub(super) fn open(
        engine: &Engine,
        catalog: &Catalog,
        choice: ModelChoice,
        until: Option<Instant>,
    ) -> Self {
        let models = engine.models(choice);
        let file = IndexFile::of(
            &engine.env.sinew_home().join("cache"),
            engine.profile.name,
            &engine.places.workspace,
        );
        let entries: Vec<&CatalogEntry> =
            catalog.unshadowed().filter(|entry| entry.skill.is_some()).collect();
        let keys = entries.iter().map(|entry| DocumentKey {
            id: &entry.name,
            name: &entry.name,
            hash: &entry.content_hash,
        });
        let LoadedIndex { index, notice } = file.load();
        let current = index.as_ref().is_some_and(|index| {
            // A file of an older program has no digest; it gets one, and keeps its vectors.
            let is_marked = entries.is_empty() || !index.keys_digest().is_empty();
            is_marked && index.fits(&models) && index.holds_exactly(keys)
        });
        let (index, built) = match index {
            Some(index) if current => {
                let built = IndexBuildCounts { kept: index.len(), read: 0 };
                (index, built)
            }
            // The file serves every choice of models, so it is made for all that are configured.
            old => {
                let models = match choice {
                    ModelChoice::Static | ModelChoice::Words => engine.models(ModelChoice::Default),
                    _ => models.clone(),
                };
                let documents: Vec<RouteDocument> =
                    entries.iter().map(|entry| document(entry)).collect();
                match old {
                    Some(old) => old.update(&documents, &models),
                    None => {
                        let read = documents.len();
                        (RouteIndex::build(&documents, &models), IndexBuildCounts { kept: 0, read })
                    }
                }
            }
        };
        let (router, _) =
            Router::from_index(Arc::new(index), models.clone(), engine.route_config());
        let mut router = Self {
            status: IndexStatus {
                skills: router.index().len(),
                kept: built.kept,
                read: built.read,
                pending: 0,
                notice,
                path: file.path.clone(),
            },
            excluded: entries
                .iter()
                .filter(|entry| !entry.model_visible)
                .map(|entry| entry.name.clone())
                .collect(),
            router,
            models,
            file,
            learned: engine.routing_memory(names_of(catalog)).map(Arc::new),
            fill_failure: None,
        };
        router.status.pending = router.pending_vectors();
        let local = router.models.encoder.as_ref().is_some_and(|encoder| encoder.is_local());
        if local && (1..=FILL_AT_ONCE).contains(&router.pending_vectors()) {
            // Without its vectors the answer is that of words and static vectors, and says so.
            let filled = match until {
                None => router.fill_vectors(&|_| {}).is_ok(),
                Some(until) => router.fill_some_vectors(until),
            };
            if !filled && !current {
                router.file.save(router.router.index());
            }
        } else if !current {
            router.file.save(router.router.index());
        }
        router
    }
}

impl CatalogRouter {
    /// The router over a catalog of an earlier process, where its index is on disk and complete but for
    /// encoder vectors.
    pub(super) fn over_assembled(
        engine: &Engine,
        catalog: &AssembledCatalog,
        choice: ModelChoice,
    ) -> Option<Self> {
        let models = engine.models(choice);
        let file = IndexFile::of(
            &engine.env.sinew_home().join("cache"),
            engine.profile.name,
            &engine.places.workspace,
        );
        let LoadedIndex { index, notice } = file.load();
        let index = index
            .filter(|index| index.fits(&models) && index.keys_digest() == catalog.documents())?;
        let count = index.len();
        let (router, _) =
            Router::from_index(Arc::new(index), models.clone(), engine.route_config());
        let mut router = Self {
            status: IndexStatus {
                skills: count,
                kept: count,
                read: 0,
                pending: 0,
                notice,
                path: file.path.clone(),
            },
            excluded: catalog.hidden_names().map(str::to_owned).collect(),
            router,
            models,
            file,
            learned: engine.routing_memory(catalog.names()).map(Arc::new),
            fill_failure: None,
        };
        router.status.pending = router.pending_vectors();
        Some(router)
    }

    /// Leaves skills out of answers: their files are not those that were read.
    pub(super) fn exclude(&mut self, names: &[String]) {
        self.excluded.extend(names.iter().cloned());
    }
}

impl Engine {
    /// How the configuration wants decisions to be made.
    pub(crate) fn route_config(&self) -> RouterConfig {
        let (route, mut config) = (&self.config.route, RouterConfig::default());
        config.threshold = route.threshold.unwrap_or(config.threshold);
        config.margin = route.margin.unwrap_or(config.margin);
        config.floor = route.floor.unwrap_or(config.floor);
        config.top = route.top.unwrap_or(config.top);
        config.calibrations = self.calibrations();
        config
    }
}

impl CatalogRouter {
    /// Ranks the skills for a message; `top` as configured where absent. What is not known by `until` is
    /// left out.
    pub(super) fn rank(
        &self,
        message: &str,
        top: Option<usize>,
        until: Option<Instant>,
    ) -> RankedMessage {
        let router = self.asked_until(top, until);
        let scored = router.score(&UserMessage::from_user(message));
        let excluded = self.excluded();
        let prior = self.learned.as_ref().map(|learned| learned.prior(message));
        let prior = prior.as_ref().map(|prior| prior as &dyn SkillPrior);
        let result = router.route_scored(&scored, &RouteContext { excluded: &excluded, prior });
        let ungated = (!excluded.is_empty())
            .then(|| router.route_scored(&scored, &RouteContext { excluded: &[], prior }));
        RankedMessage { result, ungated }
    }

    /// The skills that a message needs in turn, of those that can be used; none where one will do.
    pub(super) fn steps(&self, message: &str, until: Option<Instant>) -> Vec<TaskStep> {
        let excluded = self.excluded();
        let context = RouteContext { excluded: &excluded, prior: None };
        self.asked_until(None, until).steps(message, &context)
    }

    /// The router for a question that must be answered by a moment.
    fn asked_until(&self, top: Option<usize>, until: Option<Instant>) -> Router {
        let mut config = self.router.config().clone();
        config.top = top.unwrap_or(config.top);
        let mut models = self.models.clone();
        if let Some(until) = until {
            let punctual =
                |encoder| -> Arc<dyn Embedder> { Arc::new(PunctualEmbedder::new(encoder, until)) };
            models.encoder = models.encoder.map(punctual);
        }
        Router::from_index(Arc::clone(self.router.index()), models, config).0
    }

    /// The same router with what was learned since; `None` where nothing was.
    pub(crate) fn with_new_outcomes(&self, engine: &Engine, catalog: &Catalog) -> Option<Self> {
        let known = self.learned.as_ref().map_or(0, |learned| learned.outcomes());
        if engine.known_outcomes() == known {
            return None;
        }
        let learned = engine.routing_memory(names_of(catalog));
        // Too few outcomes to count are as good as none.
        let nothing_new = learned.as_ref().map_or(0, RoutingMemory::outcomes) == known;
        (!nothing_new).then(|| Self { learned: learned.map(Arc::new), ..self.clone() })
    }

    /// Where one skill stands for a message.
    pub fn explain(&self, message: &str, skill: &str) -> Option<RankExplanation> {
        let excluded = self.excluded();
        let prior = self.learned.as_ref().map(|learned| learned.prior(message));
        let prior = prior.as_ref().map(|prior| prior as &dyn SkillPrior);
        let context = RouteContext { excluded: &excluded, prior };
        self.router.explain(&UserMessage::from_user(message), skill, &context)
    }

    /// What was learned about a message and these skills.
    pub(super) fn lessons(
        &self,
        message: &str,
        skills: &[&str],
        engine: &Engine,
    ) -> MessageLessons {
        match &self.learned {
            Some(learned) => learned.lessons(message, skills, engine),
            None => MessageLessons::default(),
        }
    }

    fn excluded(&self) -> Vec<&str> {
        self.excluded.iter().map(String::as_str).collect()
    }

    /// The router itself, for evaluation.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// How many skills have no encoder vector yet.
    pub fn pending_vectors(&self) -> usize {
        match self.models.encoder {
            Some(_) => self.router.index().pending_count(),
            None => 0,
        }
    }

    /// Computes the missing encoder vectors, saving as it goes; `progress` hears how many are done.
    pub fn fill_vectors(&mut self, progress: &(dyn Fn(usize) + Sync)) -> Result<(), EngineError> {
        self.fill_by(FILL_STEP, progress, &|| true)
    }

    /// The same behind other work: text by text on this thread, for as long as `goes_on`, which is asked
    /// before each and may wait. A model elsewhere takes no time of ours, and gets its texts together.
    pub(crate) fn fill_vectors_in_background(
        &mut self,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), EngineError> {
        let local = self.models.encoder.as_ref().is_some_and(|encoder| encoder.is_local());
        self.fill_by(if local { 1 } else { FILL_STEP }, &|_| {}, goes_on)
    }

    /// Computes the vectors of the skills that matter for a message until a moment; what is done is
    /// kept. Returns whether there was any.
    pub(super) fn fill_candidates(&mut self, message: &str, until: Instant) -> bool {
        let local = self.models.encoder.clone().filter(|encoder| encoder.is_local());
        let Some(encoder) = local else { return false };
        let candidates = self.router.first_candidates(&UserMessage::from_user(message));
        let index = self.router.index();
        let missing: Vec<usize> =
            candidates.into_iter().filter(|&at| !index.has_vector(at)).collect();
        // The file of a large catalog takes longer to write than these take to compute.
        if missing.is_empty() || index.len() >= LARGE_CATALOG {
            return false;
        }
        let mut index = RouteIndex::clone(index);
        let mut filled = false;
        for some in missing.chunks(FILL_AT_ONCE) {
            if Instant::now() >= until || index.fill(encoder.as_ref(), some, &|_| {}).is_err() {
                break;
            }
            filled = true;
        }
        if filled {
            self.file.save(&index);
            self.router = self.router.with_index(Arc::new(index));
            self.status.pending = self.pending_vectors();
        }
        filled
    }

    /// Computes missing vectors one by one in half of the time that is left, and keeps them; returns
    /// whether there was any.
    fn fill_some_vectors(&mut self, until: Instant) -> bool {
        let Some(encoder) = self.models.encoder.clone() else { return false };
        let now = Instant::now();
        let stop = now + until.saturating_duration_since(now) / 2;
        let mut index = RouteIndex::clone(self.router.index());
        let mut filled = false;
        for document in index.pending() {
            if Instant::now() >= stop || index.fill(encoder.as_ref(), &[document], &|_| {}).is_err()
            {
                break;
            }
            filled = true;
        }
        if filled {
            self.file.save(&index);
            self.router = self.router.with_index(Arc::new(index));
            self.status.pending = self.pending_vectors();
        }
        filled
    }

    fn keep_filled(&mut self, index: &RouteIndex) {
        if index.pending_count() == self.router.index().pending_count() {
            return;
        }
        self.router = self.router.with_index(Arc::new(index.clone()));
        self.file.save(index);
    }

    fn fill_by(
        &mut self,
        at_once: usize,
        progress: &(dyn Fn(usize) + Sync),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), EngineError> {
        let Some(encoder) = self.models.encoder.clone() else { return Ok(()) };
        let mut index = RouteIndex::clone(self.router.index());
        let (mut saved_at, mut save_took) = (Instant::now(), Duration::ZERO);
        'all: for step in index.pending().chunks(FILL_STEP) {
            for texts in step.chunks(at_once) {
                if !goes_on() {
                    break 'all;
                }
                if let Err(error) = index.fill(encoder.as_ref(), texts, progress) {
                    self.keep_filled(&index);
                    self.fill_failure = Some(error.to_string());
                    let said = format!("the encoder failed: {error}");
                    return Err(EngineError::new(ErrorCode::ModelFailed, said));
                }
            }
            // Writing the whole file again and again must not take longer than what it keeps.
            if saved_at.elapsed() >= SAVE_SHARE * save_took {
                let began = Instant::now();
                self.keep_filled(&index);
                (saved_at, save_took) = (Instant::now(), began.elapsed());
            }
        }
        self.keep_filled(&index);
        self.status.pending = self.pending_vectors();
        self.fill_failure = None;
        Ok(())
    }
}

fn names_of(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.entries.iter().map(|entry| entry.name.as_str())
}

/// A skill as the router reads it; a body that cannot be read any more leaves the description.
pub(crate) fn document(entry: &CatalogEntry) -> RouteDocument {
    let body = body_of(entry);
    match &entry.skill {
        Some(skill) => RouteDocument::from_skill(&entry.name, skill, &body, &entry.content_hash),
        None => RouteDocument::from_description(&entry.name, &entry.name, &entry.description),
    }
}

/// Why parts of a skill's text do not count for routing.
pub(crate) fn discounts(entry: &CatalogEntry) -> Vec<StuffingReason> {
    let skill = entry.skill.as_ref();
    skill.map_or_else(Vec::new, |skill| RouteDocument::discounts(skill, &body_of(entry)))
}

fn body_of(entry: &CatalogEntry) -> String {
    let bytes = read_skill(&entry.file_path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let body = sinew_skill::split_front_matter(&text).map(|fenced| fenced.body.to_owned());
    body.unwrap_or_default()
}

/// The bytes of a skill's file: a regular one, never what a link or a pipe leads to.
pub(crate) fn read_skill(file: &Path) -> Option<Vec<u8>> {
    quality::read(file.parent()?, file.file_name()?.to_str()?).ok()
}
