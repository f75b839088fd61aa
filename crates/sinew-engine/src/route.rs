//! From a message to the right skill: the router over the catalog, with its index on disk.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use sinew_catalog::{Catalog, Entry};
use sinew_guard::atomic::{self, Access};
use sinew_route::{
    Built, Config, Context, Decision, Document, DocumentKey, Explanation, Index, Match, Message,
    Models, RouteResult, Router,
};

use crate::{Engine, Error, ErrorKind};

/// So few missing vectors are computed before the answer: it takes less time than reading it.
const FILL_AT_ONCE: usize = 32;

/// Vectors between two saves: what is done stays done when a person loses patience.
const FILL_STEP: usize = 128;

/// Which models rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// All that are there.
    #[default]
    Default,
    /// Words and static vectors.
    Static,
    /// Words alone.
    Words,
}

impl ModelChoice {
    fn models(self) -> Models {
        match self {
            Self::Default => Models::embedded(),
            Self::Static => Models::embedded().without_encoder(),
            Self::Words => Models::none(),
        }
    }
}

/// A router over the skills of a catalog.
#[derive(Debug)]
pub struct CatalogRouter {
    router: Router,
    models: Models,
    /// Skills that are ranked but may not be offered.
    excluded: Vec<String>,
    path: PathBuf,
    /// How the index came about.
    pub status: IndexStatus,
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
        let mut config = Config::default();
        config.threshold = self.config.route.threshold.unwrap_or(config.threshold);
        config.margin = self.config.route.margin.unwrap_or(config.margin);
        let path =
            self.env.sinew_home().join("cache").join(format!("index-{}.bin", self.profile.name));
        let entries: Vec<&Entry> = catalog.active().filter(|entry| entry.skill.is_some()).collect();
        let keys = entries.iter().map(|entry| DocumentKey {
            id: &entry.name,
            name: &entry.name,
            hash: &entry.content_hash,
        });
        let (loaded, notice) = load(&path);
        let usable = loaded.filter(|index| index.fits(&models));
        let (index, built) = match usable {
            Some(index) if index.holds(keys) => {
                let built = Built { kept: index.len(), read: 0 };
                (index, built)
            }
            usable => {
                let documents: Vec<Document> =
                    entries.iter().map(|entry| document(entry)).collect();
                match usable {
                    Some(index) => index.update(&documents, &models),
                    None => {
                        let read = documents.len();
                        (Index::build(&documents, &models), Built { kept: 0, read })
                    }
                }
            }
        };
        let (router, _) = Router::over(Arc::new(index), models.clone(), config);
        let mut router = CatalogRouter {
            status: IndexStatus {
                skills: router.index().len(),
                kept: built.kept,
                read: built.read,
                pending: 0,
                notice,
                path: path.clone(),
            },
            excluded: entries
                .iter()
                .filter(|entry| !entry.model_visible)
                .map(|entry| entry.name.clone())
                .collect(),
            router,
            models,
            path,
        };
        router.status.pending = router.pending();
        if (1..=FILL_AT_ONCE).contains(&router.pending()) {
            // Without its vectors the answer is that of words and static vectors, and says so.
            let _ = router.fill(&|_| {});
        } else if built.read > 0 {
            router.save();
        }
        router
    }
}

impl Engine {
    /// The models of a choice; the default one is what the configuration says.
    pub(crate) fn models(&self, choice: ModelChoice) -> Models {
        match (choice, self.config.route.model.as_deref()) {
            (ModelChoice::Default, Some("remote")) => {
                crate::remote::models(&self.config.route.remote, &self.env)
            }
            (ModelChoice::Default, Some("static")) => ModelChoice::Static.models(),
            (ModelChoice::Default, Some("words")) => ModelChoice::Words.models(),
            (choice, _) => choice.models(),
        }
    }
}

impl CatalogRouter {
    /// The right skills for a message, or none.
    pub fn route(&self, message: &str, top: usize) -> RouteResult {
        let router = self.with_top(top);
        let excluded: Vec<&str> = self.excluded.iter().map(String::as_str).collect();
        router.route(&Message::from_user(message), &Context { excluded: &excluded, prior: None })
    }

    /// A skill that would be the answer if it could be used.
    pub fn held_back(&self, message: &str) -> Option<Match> {
        let result = self.router.route(&Message::from_user(message), &Context::default());
        let is_answer = result.decision != Decision::None;
        let first = result.matches.into_iter().next().filter(|_| is_answer)?;
        self.excluded.contains(&first.name).then_some(first)
    }

    /// Where one skill stands for a message.
    pub fn explain(&self, message: &str, skill: &str) -> Option<Explanation> {
        let excluded: Vec<&str> = self.excluded.iter().map(String::as_str).collect();
        let context = Context { excluded: &excluded, prior: None };
        self.router.explain(&Message::from_user(message), skill, &context)
    }

    fn with_top(&self, top: usize) -> Router {
        let config = Config { top, ..self.router.config().clone() };
        Router::over(Arc::clone(self.router.index()), self.models.clone(), config).0
    }

    /// The router itself, for evaluation.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// How many skills have no encoder vector yet.
    pub fn pending(&self) -> usize {
        match self.models.encoder {
            Some(_) => self.router.index().pending_count(),
            None => 0,
        }
    }

    /// Computes the missing encoder vectors, saving as it goes; `progress` hears how many are done.
    pub fn fill(&mut self, progress: &(dyn Fn(usize) + Sync)) -> Result<(), Error> {
        let Some(encoder) = self.models.encoder.clone() else { return Ok(()) };
        let mut index = Index::clone(self.router.index());
        for step in index.pending().chunks(FILL_STEP) {
            index.fill(encoder.as_ref(), step, progress).map_err(|error| {
                Error::new(
                    ErrorKind::Environment,
                    "model-failed",
                    format!("the encoder failed: {error}"),
                )
            })?;
            self.router = self.router.with_index(Arc::new(index.clone()));
            self.save();
        }
        self.status.pending = self.pending();
        Ok(())
    }

    /// An index that cannot be saved only costs time at the next start.
    fn save(&self) {
        let _ = atomic::write(&self.path, &self.router.index().to_bytes(), Access::OwnerOnly);
    }
}

/// The index on disk, or why it is not used. One that is not there needs no word.
fn load(path: &PathBuf) -> (Option<Index>, Option<String>) {
    match fs::read(path) {
        Err(_) => (None, None),
        Ok(bytes) => match Index::load(&bytes) {
            Ok(index) => (Some(index), None),
            Err(error) => (None, Some(format!("the index was rebuilt: {error}"))),
        },
    }
}

/// A skill as the router reads it; a body that cannot be read any more leaves the description.
fn document(entry: &Entry) -> Document {
    let bytes = fs::read(&entry.file_path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let body = sinew_skill::split(&text).map(|fenced| fenced.body.to_owned()).unwrap_or_default();
    match &entry.skill {
        Some(skill) => Document::from_skill(&entry.name, skill, &body, &entry.content_hash),
        None => Document::from_description(&entry.name, &entry.name, &entry.description),
    }
}
