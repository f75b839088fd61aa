//! The skills that one question is about, without a look at all the others.
//!
//! For a catalog of ordinary size the answer to "which skills are there" is a look at every file. For a
//! large one an earlier process has left the catalog behind: the router ranks over its index, the
//! entries that come out are woken and their files compared with the disk, and those that differ do not
//! take part. Skills that came or went meanwhile, and changes elsewhere, are seen by the process in the
//! background that is asked for then.
//!
//! What must never happen here: a skill in an answer whose files are not those that were scanned.

use std::sync::Arc;
use std::time::Instant;

use sinew_catalog::{AssembledCatalog, CatalogExcerpt, Snapshot};

use super::catalog_router::CatalogRouter;
use super::{RouteRequest, Routing};
use crate::Engine;
use crate::assembled_file::FoundCatalog;

/// How often a message is ranked again without skills that have changed. After a change of that many of
/// the best, the whole catalog is looked at.
const MAX_ROUNDS: usize = 4;

/// What a question found out about the catalog beside its answer.
#[derive(Debug, Default)]
pub(crate) struct QuestionFindings {
    /// Skills came or went since the last look at everything.
    folders_differ: bool,
    /// Skills whose files differ from those that were looked at.
    changed: Vec<String>,
    is_due: bool,
}

impl QuestionFindings {
    /// What is not ready, in one line.
    fn notice(&self) -> Option<String> {
        let what = match (self.changed.len(), self.folders_differ) {
            (0, false) => return None,
            (0, true) => "skills were added or removed".to_owned(),
            (1, _) => format!("the skill {} has changed", self.changed[0]),
            (count, _) => format!("{count} skills that would be looked at have changed"),
        };
        Some(format!("{what} since the catalog was read; it is read again in the background"))
    }
}

impl Engine {
    /// The skills as an answer to this request needs them: every skill, or of a large catalog those that
    /// the message is about. [`Routing::work_is_due`] says whether a look at everything should follow.
    pub fn snapshot_for(&self, request: &RouteRequest) -> Arc<Snapshot> {
        let started = Instant::now();
        match self.excerpt_for(request) {
            Some(snapshot) => {
                tracing::info!(
                    skills = snapshot.catalog.entries.len(),
                    ms = started.elapsed().as_millis(),
                    "woke the skills that a message is about"
                );
                snapshot
            }
            None => self.snapshot(),
        }
    }

    /// The skills as lists show them. Those of a large catalog come from what an earlier process left
    /// behind, if every file is as it was: taking a hundred thousand of them apart again would take
    /// twice the memory.
    pub fn snapshot_for_listing(&self) -> Arc<Snapshot> {
        let listing = || {
            let trust = self.trust();
            let asked = self.request(&trust);
            self.assembled_catalog(&asked)?.catalog.listing(&asked)
        };
        match listing().filter(|_| !self.has_snapshot()) {
            Some(snapshot) => Arc::new(snapshot),
            None => self.snapshot(),
        }
    }

    fn excerpt_for(&self, request: &RouteRequest) -> Option<Arc<Snapshot>> {
        // A process that has the whole catalog, or whose prompt needs it, takes that.
        if self.has_snapshot() || request.prompt != super::AnswerPrompt::Omit {
            return None;
        }
        let trust = self.trust();
        let asked = self.request(&trust);
        let FoundCatalog { catalog, is_due } = self.assembled_catalog(&asked)?;
        let mut findings = QuestionFindings {
            folders_differ: !catalog.has_same_folders(),
            is_due,
            ..QuestionFindings::default()
        };
        let mut router = CatalogRouter::over_assembled(self, &catalog, request.models)?;
        for _ in 0..MAX_ROUNDS {
            let excerpt = self.wake_matches(&catalog, &router, request, &findings.changed);
            let known = &findings.changed;
            let more: Vec<String> =
                excerpt.changed.iter().filter(|name| !known.contains(name)).cloned().collect();
            if more.is_empty() {
                router.status.notice = findings.notice().or(router.status.notice);
                let snapshot = Arc::new(catalog.snapshot(&asked, excerpt, &request.message));
                self.routers.keep(snapshot.version, request.models, router);
                *self.findings() = Some(findings);
                return Some(snapshot);
            }
            router.exclude(&more);
            findings.changed.extend(more);
        }
        None
    }

    /// The entries of every skill that an answer may name.
    fn wake_matches(
        &self,
        catalog: &AssembledCatalog,
        router: &CatalogRouter,
        request: &RouteRequest,
        changed: &[String],
    ) -> CatalogExcerpt {
        let mut names: Vec<String> = Vec::new();
        for message in [Some(request.message.as_str()), request.intent.as_deref()] {
            let Some(message) = message.filter(|message| !message.trim().is_empty()) else {
                continue;
            };
            let ranked = router.rank(message, request.top, request.until);
            let ungated = ranked.ungated.into_iter().flat_map(|result| result.matches);
            names.extend(ranked.result.matches.into_iter().chain(ungated).map(|one| one.name));
        }
        // What is known to differ is excluded, and still ranked among what cannot be used.
        names.retain(|name| !changed.contains(name));
        catalog.wake(names.iter().map(String::as_str))
    }
}

impl Routing<'_> {
    /// Whether a process in the background should look at every file: a question about a large catalog
    /// found that something differs, that the last look is long ago, or that there was none yet.
    pub fn work_is_due(&self, snapshot: &Snapshot) -> bool {
        match snapshot.whole() {
            None => {
                let is_large = snapshot.catalog.entries.len() >= self.engine.large_from;
                is_large && !self.engine.is_served()
            }
            Some(_) => self.engine.findings().as_ref().is_some_and(|found| {
                found.is_due || found.folders_differ || !found.changed.is_empty()
            }),
        }
    }
}
