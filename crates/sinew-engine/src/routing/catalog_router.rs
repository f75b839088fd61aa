//! From a message to the right skill: the router over the catalog, with its index on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sinew_catalog::{Catalog, CatalogEntry};
use sinew_route::{
    DocumentKey, IndexBuildCounts, RankExplanation, RouteContext, RouteDecision, RouteDocument,
    RouteIndex, RouteResult, Router, RouterConfig, RouterModels, SkillMatch, SkillPrior,
    UserMessage,
};
use sinew_settings::ErrorKind;

use super::index_file::{IndexFile, LoadedIndex};
use crate::cortex::RoutingMemory;
use crate::{Engine, EngineError, ModelChoice, validate};

/// So few missing vectors are computed before the answer: it takes less time than reading it.
const FILL_AT_ONCE: usize = 8;

/// Vectors between two saves: what is done stays done when a person loses patience.
const FILL_STEP: usize = 128;

/// A router over the skills of a catalog.
#[derive(Debug)]
pub struct CatalogRouter {
    pub(crate) router: Router,
    pub(crate) models: RouterModels,
    /// Skills that are ranked but may not be offered.
    excluded: Vec<String>,
    file: IndexFile,
    /// What earlier outcomes say.
    learned: Option<RoutingMemory>,
    /// How the index came about.
    pub status: IndexStatus,
}

/// The answer to a message.
#[derive(Debug)]
pub struct CatalogRouteResult {
    /// The right skills, or none.
    pub result: RouteResult,
    /// A skill that would be the answer if it could be used.
    pub held_back: Option<SkillMatch>,
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

impl Engine {
    /// The router over a catalog. The index is read from disk where it fits, and brought up to date
    /// where it does not; encoder vectors that are missing are computed here only if they are few.
    pub fn router(&self, catalog: &Catalog, choice: ModelChoice) -> CatalogRouter {
        let models = self.models(choice);
        let file = IndexFile::of(
            &self.env.sinew_home().join("cache"),
            self.profile.name,
            &self.places.workspace,
        );
        let entries: Vec<&CatalogEntry> =
            catalog.unshadowed().filter(|entry| entry.skill.is_some()).collect();
        let keys = entries.iter().map(|entry| DocumentKey {
            id: &entry.name,
            name: &entry.name,
            hash: &entry.content_hash,
        });
        let LoadedIndex { index, notice } = file.load();
        let current =
            index.as_ref().is_some_and(|index| index.fits(&models) && index.holds_exactly(keys));
        let (index, built) = match index {
            Some(index) if current => {
                let built = IndexBuildCounts { kept: index.len(), read: 0 };
                (index, built)
            }
            // The file serves every choice of models, so it is made for all that are configured.
            old => {
                let models = match choice {
                    ModelChoice::Static | ModelChoice::Words => self.models(ModelChoice::Default),
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
        let (router, _) = Router::from_index(Arc::new(index), models.clone(), self.route_config());
        let mut router = CatalogRouter {
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
            learned: self.routing_memory(catalog),
        };
        router.status.pending = router.pending_vectors();
        let local = router.models.encoder.as_ref().is_some_and(|encoder| encoder.is_local());
        if local && (1..=FILL_AT_ONCE).contains(&router.pending_vectors()) {
            // Without its vectors the answer is that of words and static vectors, and says so.
            if router.fill_vectors(&|_| {}).is_err() && !current {
                router.file.save(router.router.index());
            }
        } else if !current {
            router.file.save(router.router.index());
        }
        router
    }

    /// How the configuration wants decisions to be made.
    pub(crate) fn route_config(&self) -> RouterConfig {
        let (route, mut config) = (&self.config.route, RouterConfig::default());
        config.threshold = route.threshold.unwrap_or(config.threshold);
        config.margin = route.margin.unwrap_or(config.margin);
        config.top = route.top.unwrap_or(config.top);
        config
    }
}

impl CatalogRouter {
    /// The right skills for a message, or none; `top` as configured where absent.
    pub fn find(&self, message: &str, top: Option<usize>) -> CatalogRouteResult {
        let mut config = self.router.config().clone();
        config.top = top.unwrap_or(config.top);
        let router =
            Router::from_index(Arc::clone(self.router.index()), self.models.clone(), config).0;
        let heard = router.score(&UserMessage::from_user(message));
        let excluded = self.excluded();
        let prior = self.learned.as_ref().map(|learned| learned.prior(message));
        let prior = prior.as_ref().map(|prior| prior as &dyn SkillPrior);
        let result = router.route_scored(&heard, &RouteContext { excluded: &excluded, prior });
        let held_back = if excluded.is_empty() {
            None
        } else {
            let all = router.route_scored(&heard, &RouteContext::default());
            let first =
                all.matches.into_iter().next().filter(|_| all.decision != RouteDecision::None);
            first.filter(|first| excluded.contains(&first.name.as_str()))
        };
        CatalogRouteResult { result, held_back }
    }

    /// The same router with what was learned since; `None` where nothing was.
    pub(crate) fn with_new_outcomes(&self, engine: &Engine, catalog: &Catalog) -> Option<Self> {
        let known = self.learned.as_ref().map_or(0, RoutingMemory::outcomes);
        if engine.known_outcomes() == known {
            return None;
        }
        let learned = engine.routing_memory(catalog);
        // Too few outcomes to count are as good as none.
        let nothing_new = learned.as_ref().map_or(0, RoutingMemory::outcomes) == known;
        (!nothing_new).then(|| Self {
            router: self.router.clone(),
            models: self.models.clone(),
            excluded: self.excluded.clone(),
            file: self.file.clone(),
            learned,
            status: self.status.clone(),
        })
    }

    /// Where one skill stands for a message.
    pub fn explain(&self, message: &str, skill: &str) -> Option<RankExplanation> {
        let excluded = self.excluded();
        let prior = self.learned.as_ref().map(|learned| learned.prior(message));
        let prior = prior.as_ref().map(|prior| prior as &dyn SkillPrior);
        let context = RouteContext { excluded: &excluded, prior };
        self.router.explain(&UserMessage::from_user(message), skill, &context)
    }

    /// What was learned about these skills for a message, in sentences of ours: nothing that a skill or
    /// a user wrote is in them but names.
    pub(crate) fn lessons(
        &self,
        message: &str,
        skills: &[&str],
        engine: &Engine,
    ) -> BTreeMap<String, Vec<String>> {
        match &self.learned {
            Some(learned) if !skills.is_empty() => learned.lessons(message, skills, engine),
            _ => BTreeMap::new(),
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
        self.fill_by(FILL_STEP, progress, &|| {})
    }

    /// The same behind other work: text by text on this thread, and `give_way` before each. A model
    /// elsewhere takes no time of ours, and gets its texts together.
    pub(crate) fn fill_vectors_in_background(
        &mut self,
        give_way: &dyn Fn(),
    ) -> Result<(), EngineError> {
        let local = self.models.encoder.as_ref().is_some_and(|encoder| encoder.is_local());
        self.fill_by(if local { 1 } else { FILL_STEP }, &|_| {}, give_way)
    }

    fn fill_by(
        &mut self,
        at_once: usize,
        progress: &(dyn Fn(usize) + Sync),
        give_way: &dyn Fn(),
    ) -> Result<(), EngineError> {
        let Some(encoder) = self.models.encoder.clone() else { return Ok(()) };
        let failed = |error| {
            let said = format!("the encoder failed: {error}");
            EngineError::new(ErrorKind::Environment, "model-failed", said)
        };
        let mut index = RouteIndex::clone(self.router.index());
        for step in index.pending().chunks(FILL_STEP) {
            for texts in step.chunks(at_once) {
                give_way();
                index.fill(encoder.as_ref(), texts, progress).map_err(failed)?;
            }
            self.router = self.router.with_index(Arc::new(index.clone()));
            self.file.save(&index);
        }
        self.status.pending = self.pending_vectors();
        Ok(())
    }
}

/// A skill as the router reads it; a body that cannot be read any more leaves the description.
pub(crate) fn document(entry: &CatalogEntry) -> RouteDocument {
    let bytes = read_skill(&entry.file_path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let body = sinew_skill::split_front_matter(&text)
        .map(|fenced| fenced.body.to_owned())
        .unwrap_or_default();
    match &entry.skill {
        Some(skill) => RouteDocument::from_skill(&entry.name, skill, &body, &entry.content_hash),
        None => RouteDocument::from_description(&entry.name, &entry.name, &entry.description),
    }
}

/// The bytes of a skill's file: a regular one, never what a link or a pipe leads to.
pub(crate) fn read_skill(file: &Path) -> Option<Vec<u8>> {
    validate::read(file.parent()?, file.file_name()?.to_str()?).ok()
}
