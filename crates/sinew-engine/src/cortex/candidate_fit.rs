//! How well remembered skills fit a task: the router over what they say of themselves and the words that
//! were learned with them.
//!
//! What a skill says is kept when it worked, because it is gone from the disk when the next task comes.
//! The index of it lies in the cache, so that a fresh process asks it without reading a text again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sinew_cortex::memory::{CortexMemory, RegionCandidate};
use sinew_cortex::recall::CandidateFit;
use sinew_guard::atomic::{self, FileAccess};
use sinew_route::{
    DocumentKey, RouteContext, RouteDocument, RouteIndex, Router, RouterConfig, UserMessage,
};
use sinew_settings::config::ModelChoice;
use sinew_skill::content_hash;
use sinew_store::{ExpectedVersion, JsonText, Store};

use super::Cortex;
use crate::EngineError;
use crate::routing::read_skill;

/// The texts of remembered skills, by source and slug.
const TEXTS: &str = "candidate_texts";
/// Bytes of a text that are kept.
const MAX_TEXT: usize = 16 * 1024;
/// So many missing vectors are computed at once: a fraction of a second.
const FILL_AT_ONCE: usize = 8;
/// The index of them.
const INDEX: &str = "remembered.bin";

/// What a skill says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct CandidateText {
    /// The SKILL.md, or its beginning.
    text: String,
}

/// The router over remembered skills, kept while these are the same: making it costs a hundred times
/// what asking it does.
#[derive(Debug, Default)]
pub(super) struct CandidateRouter(Mutex<Option<Arc<Router>>>);

/// A skill that is remembered, and what its document is made of.
struct RememberedSkill<'m> {
    candidate: &'m RegionCandidate,
    /// Words that were learned with it.
    words: Vec<&'m str>,
    hash: String,
}

/// How well each remembered skill fits one task.
pub(crate) struct CandidateFits(BTreeMap<String, f64>);

impl CandidateFit for CandidateFits {
    fn of(&self, slug: &str) -> Option<f64> {
        self.0.get(slug).copied()
    }
}

impl Cortex<'_> {
    /// Keeps what a skill says of itself, for later tasks. Without it the skill is recalled by words.
    pub(crate) fn keep_text(
        &self,
        source: &str,
        slug: &str,
        text: &str,
    ) -> Result<(), EngineError> {
        let mut end = text.len().min(MAX_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let kept = CandidateText { text: text[..end].to_owned() };
        let store = self.store()?;
        store.put(TEXTS, &key(source, slug), ExpectedVersion::Any, JsonText::of(&kept)?)?;
        Ok(())
    }

    /// How well the remembered skills fit a task. `None` where none is remembered.
    pub(crate) fn candidate_fits(
        &self,
        memory: &CortexMemory,
        task: &str,
    ) -> Option<CandidateFits> {
        let skills = self.remembered_skills(memory);
        if skills.is_empty() || task.trim().is_empty() {
            return None;
        }
        let router = self.candidate_router(&skills);
        let result = router.route(&UserMessage::from_user(task), &RouteContext::default());
        let mut fits: BTreeMap<String, f64> =
            (0..router.index().len()).map(|at| (router.index().id(at).to_owned(), 0.0)).collect();
        for found in result.matches {
            fits.insert(found.id, found.probability);
        }
        // What says nothing of itself cannot be held to it.
        let index = router.index();
        for at in 0..index.len() {
            if index.description(at).is_empty() {
                fits.remove(index.id(at));
            }
        }
        Some(CandidateFits(fits))
    }

    fn remembered_skills<'m>(&self, memory: &'m CortexMemory) -> Vec<RememberedSkill<'m>> {
        let mut skills: BTreeMap<&str, RememberedSkill<'m>> = BTreeMap::new();
        for (name, region) in &memory.motor {
            let words = memory.pattern(name).into_iter().flat_map(|pattern| &pattern.signals);
            let words: Vec<&str> = words.map(|signal| signal.word.as_str()).collect();
            for candidate in &region.candidates {
                let known = skills.entry(candidate.slug.as_str()).or_insert_with(|| {
                    RememberedSkill { candidate, words: Vec::new(), hash: String::new() }
                });
                // A region that several skills share says little about each of them.
                if region.candidates.len() == 1 {
                    known.words.extend(&words);
                }
            }
        }
        let installed = self.engine.current();
        let mut hashes: BTreeMap<&str, &str> = BTreeMap::new();
        for entry in &installed.catalog.entries {
            hashes.entry(&entry.name).or_insert(&entry.content_hash);
        }
        let mut skills: Vec<RememberedSkill<'m>> = skills.into_values().collect();
        for skill in &mut skills {
            let here = hashes.get(skill.candidate.slug.as_str()).copied().unwrap_or_default();
            let (source, version) = (&skill.candidate.source, &skill.candidate.version);
            let about = format!("{source}\n{version}\n{here}\n{}", skill.words.join(" "));
            skill.hash = content_hash(about.as_bytes());
        }
        skills
    }

    fn candidate_router(&self, skills: &[RememberedSkill<'_>]) -> Arc<Router> {
        let mut kept = self.state.candidates.0.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |index: &RouteIndex| {
            index.holds_exactly(skills.iter().map(|skill| DocumentKey {
                id: &skill.candidate.slug,
                name: &skill.candidate.slug,
                hash: &skill.hash,
            }))
        };
        let models = self.engine.models(ModelChoice::Default);
        let encoder = models.encoder.clone().filter(|encoder| encoder.is_local());
        let models = match encoder {
            Some(_) => models,
            // What a user says is not sent elsewhere to be remembered by.
            None => models.without_encoder(),
        };
        let encodes = models.encoder.is_some();
        let is_whole =
            |index: &RouteIndex| holds(index) && (!encodes || index.pending_count() == 0);
        if let Some(router) = kept.as_ref().filter(|router| is_whole(router.index())) {
            return Arc::clone(router);
        }
        let path = self.engine.env.sinew_home().join("cache").join(INDEX);
        let old = fs::read(&path).ok().and_then(|bytes| RouteIndex::load(&bytes).ok());
        let old = old.filter(|index| index.fits(&models));
        let (mut index, mut is_new) = match old {
            Some(index) if holds(&index) => (index, false),
            old => {
                let documents: Vec<RouteDocument> =
                    skills.iter().map(|skill| self.document_of(skill)).collect();
                let index = match old {
                    Some(old) => old.update(&documents, &models).0,
                    None => RouteIndex::build(&documents, &models),
                };
                (index, true)
            }
        };
        // Mostly one skill is new. Until all have theirs, words and static vectors answer.
        let pending: Vec<usize> = index.pending().into_iter().take(FILL_AT_ONCE).collect();
        if let Some(encoder) = models.encoder.as_deref().filter(|_| !pending.is_empty()) {
            is_new |= index.fill(encoder, &pending, &|_| {}).is_ok();
        }
        if is_new {
            // One that cannot be kept is made again.
            let _ = atomic::write(&path, &index.to_bytes(), FileAccess::OwnerOnly);
        }
        let config = RouterConfig { top: index.len(), floor: 0.0, ..RouterConfig::default() };
        let router = Arc::new(Router::from_index(Arc::new(index), models, config).0);
        *kept = Some(Arc::clone(&router));
        router
    }

    /// What the router reads of a skill: its text as it was when it worked, or as it is installed, and the
    /// words that were learned with it.
    fn document_of(&self, skill: &RememberedSkill<'_>) -> RouteDocument {
        let RegionCandidate { source, slug, .. } = skill.candidate;
        let stored = self.store().ok().and_then(|store| stored_text(&*store, source, slug));
        let text = stored.or_else(|| {
            let installed = self.engine.current();
            let here = installed.catalog.entries.iter().find(|entry| entry.name == *slug)?;
            let bytes = read_skill(&here.file_path)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        });
        let mut document = match text {
            Some(text) => RouteDocument::from_text(slug, slug, &text),
            None => RouteDocument { id: slug.clone(), ..RouteDocument::default() },
        };
        document.name.clone_from(slug);
        if !skill.words.is_empty() {
            document.triggers.push(skill.words.join(" "));
        }
        document.hash.clone_from(&skill.hash);
        document
    }
}

fn stored_text(store: &dyn Store, source: &str, slug: &str) -> Option<String> {
    let found = store.get(TEXTS, &key(source, slug)).ok()??;
    found.body.read::<CandidateText>().ok().map(|kept| kept.text)
}

fn key(source: &str, slug: &str) -> String {
    format!("{source}/{slug}")
}
