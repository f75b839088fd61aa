//! What earlier outcomes say about a message: its task area, who leads there, and whose reflex fires.

use sinew_cortex::recall::recall;
use sinew_cortex::reflex;
use sinew_cortex::signals::signal_words;

use super::{ReflexHit, RegionLeader};
use crate::{Engine, store};

/// What is known about the task area of a message.
pub(super) struct LearnedRegion {
    pub(super) region: String,
    pub(super) leader: Option<RegionLeader>,
    pub(super) reflex: Option<ReflexHit>,
}

impl Engine {
    /// The task area of a message and its reflex. Routing is local: no database is made for it.
    pub(super) fn learned_about(&self, message: &str) -> Option<LearnedRegion> {
        if self.cortex.get().is_none() && !store::local_exists(&self.env) {
            return None;
        }
        let cortex = self.cortex().ok()?;
        if cortex.with_memory(|memory| memory.patterns.is_empty()).ok()? {
            return None;
        }
        let words = signal_words(message, self.vocabulary());
        let today = cortex.now().day();
        let about = cortex.with_task(message, None, |memory, task| {
            let told = recall(memory, task, today, cortex.policy());
            let (region, views) = (told.region?, told.candidates);
            let leader = views.first().map(|view| RegionLeader {
                slug: view.slug.clone(),
                effective_weight: view.effective_weight,
                reflex: view.reflex.fires,
                missing: view.reflex.missing.clone(),
            });
            let firing = views.iter().find(|view| view.reflex.fires && view.filtered.is_none());
            let reflex = firing.and_then(|view| {
                let candidate = memory.candidate(&region, &view.slug)?;
                Some(ReflexHit {
                    slug: view.slug.clone(),
                    version: view.version.clone(),
                    success_rate: candidate.success_percent() as f64 / 100.0,
                    notice: reflex::notice(candidate, &words),
                })
            });
            Some(LearnedRegion { region, leader, reflex })
        });
        about.ok().flatten()
    }
}
