//! What was learned, as the router's prior: a skill that works for tasks like this one is a little
//! likelier, one that fails a little less. Never more than half a deviation: what a skill says about
//! itself outweighs it.

use std::collections::BTreeMap;

use sinew_catalog::Catalog;
use sinew_cortex::memory::{Candidate, Memory};
use sinew_cortex::recall::{Task, find_region};
use sinew_cortex::signals::{Vocabulary, words};
use sinew_cortex::{Day, Policy, weight};
use sinew_route::Prior;

use crate::{Engine, store};

/// Fewer outcomes than this say nothing.
const ENOUGH: u64 = 5;
/// What the last outcome adds or takes.
const LATEST: f64 = 0.1;
/// The weight that speaks neither for nor against a skill.
const NEUTRAL: f64 = weight::NEW_WEIGHT;

/// What is remembered, for messages that are routed.
#[derive(Debug)]
pub(crate) struct Learned {
    memory: Memory,
    policy: Policy,
    today: Day,
    vocabulary: Vocabulary,
}

/// What speaks for each skill, for one message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnedPrior(BTreeMap<String, f64>);

impl Prior for LearnedPrior {
    fn of(&self, id: &str) -> Option<f64> {
        self.0.get(id).copied()
    }
}

impl Engine {
    /// What is remembered, where there is enough of it. Routing is local: a database on a server is
    /// asked only where it is open already, and one that does not exist is not made.
    pub(crate) fn learned(&self, catalog: &Catalog) -> Option<Learned> {
        if self.cortex.get().is_none() && !store::exists_here(&self.env) {
            return None;
        }
        let cortex = self.cortex().ok()?;
        let memory = cortex.memory().ok()?;
        if memory.outcomes() < ENOUGH {
            return None;
        }
        let names = catalog.entries.iter().map(|entry| entry.name.as_str());
        Some(Learned {
            memory,
            policy: cortex.policy().clone(),
            today: cortex.now().day(),
            vocabulary: Vocabulary::with_slugs(names),
        })
    }
}

impl Learned {
    /// What speaks for the skills of the region that a message belongs to.
    pub(crate) fn prior(&self, message: &str) -> LearnedPrior {
        let words = words(message, &self.vocabulary);
        let (name, _) = find_region(&self.memory, &Task { words: &words, ..Task::default() });
        let region = name.as_deref().and_then(|name| Some((name, self.memory.motor.get(name)?)));
        let Some((name, region)) = region else { return LearnedPrior::default() };
        let kept = self.memory.retained.iter().filter(|kept| kept.region == name);
        let each = region.candidates.iter().chain(kept.map(|kept| &kept.candidate));
        let each = each.map(|candidate| {
            let effective = region.effective(candidate, self.today, &self.policy);
            // Registries name skills `owner/name`; a catalog knows the name.
            let id = candidate.slug.rsplit('/').next().unwrap_or(&candidate.slug);
            (id.to_owned(), effective - NEUTRAL + latest(candidate))
        });
        LearnedPrior(each.collect())
    }
}

fn latest(candidate: &Candidate) -> f64 {
    match candidate.ring.chars().next_back() {
        Some('S') => LATEST,
        Some('x') | None => 0.0,
        Some(_) => -LATEST,
    }
}
