//! What was learned, as the router's prior: a skill that works for tasks like this one is a little
//! likelier, one that fails a little less. Never more than half a deviation: what a skill says about
//! itself outweighs it.

use std::collections::BTreeMap;

use sinew_cortex::lesson::Lesson;
use sinew_cortex::memory::{CortexMemory, RegionCandidate};
use sinew_cortex::recall::{RecallTask, find_region};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_cortex::{CortexPolicy, UtcDay, weight};
use sinew_route::SkillPrior;

use crate::{Engine, store};

/// Fewer outcomes than this say nothing.
const ENOUGH: u64 = 5;
/// What the last outcome adds or takes.
const LATEST: f64 = 0.1;
/// The weight that counts neither for nor against a skill.
const NEUTRAL: f64 = weight::NEW_WEIGHT;

/// The longest program name that a lesson may contain.
const MAX_PLAIN: usize = 64;

/// What is remembered, for messages that are routed.
#[derive(Debug)]
pub(crate) struct RoutingMemory {
    memory: CortexMemory,
    policy: CortexPolicy,
    today: UtcDay,
    vocabulary: SignalVocabulary,
}

/// What speaks for each skill, for one message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnedPrior(BTreeMap<String, f64>);

impl SkillPrior for LearnedPrior {
    fn of(&self, id: &str) -> Option<f64> {
        self.0.get(id).copied()
    }
}

impl Engine {
    /// What is remembered, where there is enough of it. Routing is local: a database on a server is
    /// asked only where it is open already, and one that does not exist is not made.
    pub(crate) fn routing_memory<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
    ) -> Option<RoutingMemory> {
        if self.cortex.get().is_none() && !store::local_exists(&self.env) {
            return None;
        }
        let cortex = self.cortex().ok()?;
        let memory = cortex.memory().ok()?;
        if memory.outcomes() < ENOUGH {
            return None;
        }
        Some(RoutingMemory {
            memory,
            policy: cortex.policy().clone(),
            today: cortex.now().day(),
            vocabulary: SignalVocabulary::with_slugs(names),
        })
    }
}

impl Engine {
    /// The day on which each skill last worked, by its name in the catalog, where that is known
    /// without making a database.
    pub(crate) fn last_successes(&self) -> BTreeMap<String, UtcDay> {
        if self.cortex.get().is_none() && !store::local_exists(&self.env) {
            return BTreeMap::new();
        }
        let by_name = |memory: &CortexMemory| {
            let mut days: BTreeMap<String, UtcDay> = BTreeMap::new();
            for (slug, day) in memory.last_successes() {
                // Registries name skills `owner/name`; the catalog uses the last part.
                let name = slug.rsplit('/').next().unwrap_or(slug).to_owned();
                days.entry(name).and_modify(|known| *known = day.max(*known)).or_insert(day);
            }
            days
        };
        self.cortex().and_then(|cortex| cortex.with_memory(by_name)).unwrap_or_else(|error| {
            tracing::warn!(%error, "earlier outcomes could not be read and do not order the prompt");
            BTreeMap::new()
        })
    }

    /// How many outcomes are remembered, where that is known without making a database.
    pub(crate) fn known_outcomes(&self) -> u64 {
        if self.cortex.get().is_none() && !store::local_exists(&self.env) {
            return 0;
        }
        let counted = self.cortex().and_then(|cortex| cortex.with_memory(CortexMemory::outcomes));
        counted.unwrap_or_else(|error| {
            tracing::warn!(%error, "earlier outcomes could not be read and count for nothing");
            0
        })
    }
}

impl RoutingMemory {
    /// How many outcomes it is made of.
    pub(crate) fn outcomes(&self) -> u64 {
        self.memory.outcomes()
    }

    /// What speaks for the skills of the region that a message belongs to.
    pub(crate) fn prior(&self, message: &str) -> LearnedPrior {
        let words = signal_words(message, &self.vocabulary);
        let (name, _) =
            find_region(&self.memory, &RecallTask { words: &words, ..RecallTask::default() });
        let region = name.as_deref().and_then(|name| Some((name, self.memory.motor.get(name)?)));
        let Some((name, region)) = region else { return LearnedPrior::default() };
        let kept = self.memory.retained.iter().filter(|kept| kept.region == name);
        let each = region.candidates.iter().chain(kept.map(|kept| &kept.candidate));
        let each = each.map(|candidate| {
            let effective = region.effective_weight(candidate, self.today, &self.policy);
            // Registries name skills `owner/name`; the catalog uses the last part.
            let id = candidate.slug.rsplit('/').next().unwrap_or(&candidate.slug);
            (id.to_owned(), effective - NEUTRAL + latest(candidate))
        });
        LearnedPrior(each.collect())
    }
}

impl RoutingMemory {
    /// What was learned about tasks like this one and these skills. Lessons that the machine
    /// contradicts are left out, and those about a description do not quote it: apart from names,
    /// they hold nothing that a skill or a user wrote.
    pub(crate) fn lessons(
        &self,
        message: &str,
        skills: &[&str],
        engine: &Engine,
    ) -> MessageLessons {
        let words = signal_words(message, &self.vocabulary);
        let (region, _) =
            find_region(&self.memory, &RecallTask { words: &words, ..RecallTask::default() });
        let mut told = MessageLessons::default();
        for held in &self.memory.lessons {
            match &held.lesson {
                Lesson::DependencyWarning { region: of, key } => {
                    let here = region.as_ref() == Some(of);
                    if !here
                        || !is_plain(key)
                        || sinew_catalog::find_program(&engine.env, key).is_some()
                    {
                        continue;
                    }
                    let known = |skill: &&&str| self.memory.candidate(of, skill).is_some();
                    let sentence = format!(
                        "tasks like this one need the program {key}, which is missing here"
                    );
                    for skill in skills.iter().filter(known) {
                        told.add(skill, &sentence);
                    }
                    if !told.about_task.contains(&sentence) {
                        told.about_task.push(sentence);
                    }
                }
                Lesson::SkillQualityWarning { slug, .. } => {
                    let name = slug.rsplit('/').next().unwrap_or(slug);
                    for skill in skills.iter().filter(|skill| **skill == name) {
                        told.add(skill, "its description was found to promise more than it does");
                    }
                }
                Lesson::EnvReady { .. } => {}
            }
        }
        told
    }
}

/// What was learned that applies to a message, in sinew's own sentences.
#[derive(Debug, Default)]
pub(crate) struct MessageLessons {
    /// About tasks like this one.
    pub(crate) about_task: Vec<String>,
    /// About skills, by name.
    pub(crate) about_skills: BTreeMap<String, Vec<String>>,
}

impl MessageLessons {
    fn add(&mut self, skill: &str, sentence: &str) {
        let lessons = self.about_skills.entry(skill.to_owned()).or_default();
        if !lessons.iter().any(|known| known == sentence) {
            lessons.push(sentence.to_owned());
        }
    }
}

/// Whether a recorded key is a plain name: anything else is not put into a prompt.
fn is_plain(key: &str) -> bool {
    key.len() <= MAX_PLAIN
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
}

fn latest(candidate: &RegionCandidate) -> f64 {
    match candidate.ring.chars().next_back() {
        Some('S') => LATEST,
        Some('x') | None => 0.0,
        Some(_) => -LATEST,
    }
}
