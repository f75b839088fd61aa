//! Pruning: how much is kept, and what is removed if there is more.
//!
//! Removals are decided at the end of learning and written to the log, so that a replay gives the
//! same memory whenever pruning ran.

use serde::{Deserialize, Serialize};

use crate::lesson::{self, Lesson};
use crate::memory::{CortexMemory, Region, RegionCandidate};
use crate::policy::CortexPolicy;
use crate::time::UtcDay;
use crate::weight;

/// The number of regions: a person's work has fewer areas than this.
pub const MAX_REGIONS: usize = 80;
/// Candidates per region: more than this are never compared.
pub const MAX_CANDIDATES: usize = 5;
/// Words per pattern.
pub const MAX_SIGNALS: usize = 10;
/// The number of lessons.
pub const MAX_LESSONS: usize = 30;

/// A removal, and the rule behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PruneRemoval {
    /// What is removed.
    #[serde(flatten)]
    pub what: RemovalTarget,
    /// Why.
    pub rule: PruneRule,
}

/// What is removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum RemovalTarget {
    /// A region, with its pattern and its lessons.
    Region {
        /// The region.
        region: String,
    },
    /// A candidate.
    Candidate {
        /// Its region.
        region: String,
        /// The skill.
        slug: String,
    },
    /// A word of a pattern.
    Signal {
        /// The region.
        region: String,
        /// The word.
        word: String,
    },
    /// A lesson.
    Lesson {
        /// The lesson.
        lesson: Lesson,
    },
}

/// Why something is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum PruneRule {
    /// There are more than 80 regions, and it is the one unused for the longest time.
    #[serde(rename = "regions>80")]
    Regions,
    /// Its region has more than five candidates, and it is the weakest.
    #[serde(rename = "candidates>5")]
    Candidates,
    /// Its effective weight is below 0.1.
    #[serde(rename = "effective_weight<0.1")]
    Weak,
    /// Its pattern has more than ten words, and it is the oldest.
    #[serde(rename = "signals>10")]
    Signals,
    /// There are more than 30 lessons, and it is the least certain.
    #[serde(rename = "lessons>30")]
    Lessons,
    /// Its confidence fell below 0.3.
    #[serde(rename = "confidence<0.3")]
    Unsure,
    /// Its region was removed.
    #[serde(rename = "region pruned")]
    RegionGone,
}

impl PruneRule {
    /// The rule as shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regions => "regions>80",
            Self::Candidates => "candidates>5",
            Self::Weak => "effective_weight<0.1",
            Self::Signals => "signals>10",
            Self::Lessons => "lessons>30",
            Self::Unsure => "confidence<0.3",
            Self::RegionGone => "region pruned",
        }
    }
}

/// The removals that are due. The candidate in use, given as region and slug, is not removed in
/// favour of five stronger ones.
pub fn due_removals(
    memory: &CortexMemory,
    today: UtcDay,
    policy: &CortexPolicy,
    in_use: Option<(&str, &str)>,
) -> Vec<PruneRemoval> {
    let mut due = Vec::new();
    let gone = old_regions(memory, &mut due);
    for (name, region) in memory.motor.iter().filter(|(name, _)| !gone.contains(&name.as_str())) {
        weak_candidates(name, region, today, policy, in_use, &mut due);
    }
    for pattern in &memory.patterns {
        let over = pattern.signals.len().saturating_sub(MAX_SIGNALS);
        let mut oldest: Vec<_> = pattern.signals.iter().collect();
        oldest.sort_by_key(|signal| signal.added);
        due.extend(oldest.into_iter().take(over).map(|signal| PruneRemoval {
            what: RemovalTarget::Signal {
                region: pattern.region.clone(),
                word: signal.word.clone(),
            },
            rule: PruneRule::Signals,
        }));
    }
    lessons(memory, today, policy, &gone, &mut due);
    due
}

/// Oldest first; a pattern without a region was never used. Ties by name.
fn old_regions<'a>(memory: &'a CortexMemory, due: &mut Vec<PruneRemoval>) -> Vec<&'a str> {
    let unused = memory.patterns.iter().map(|pattern| pattern.region.as_str());
    let unused = unused.filter(|name| !memory.motor.contains_key(*name)).map(|name| (None, name));
    let used = memory.motor.iter().map(|(name, region)| (Some(region.last_used), name.as_str()));
    let mut all: Vec<(Option<UtcDay>, &str)> = unused.chain(used).collect();
    all.sort_unstable();
    all.dedup();
    let over = all.len().saturating_sub(MAX_REGIONS);
    let gone: Vec<&str> = all.into_iter().take(over).map(|(_, name)| name).collect();
    due.extend(gone.iter().map(|name| PruneRemoval {
        what: RemovalTarget::Region { region: (*name).to_owned() },
        rule: PruneRule::Regions,
    }));
    gone
}

fn weak_candidates(
    name: &str,
    region: &Region,
    today: UtcDay,
    policy: &CortexPolicy,
    in_use: Option<(&str, &str)>,
    due: &mut Vec<PruneRemoval>,
) {
    let effective = |candidate: &RegionCandidate| region.effective_weight(candidate, today, policy);
    let removal = |candidate: &RegionCandidate, rule| PruneRemoval {
        what: RemovalTarget::Candidate { region: name.to_owned(), slug: candidate.slug.clone() },
        rule,
    };
    let (weak, mut rest): (Vec<&RegionCandidate>, Vec<&RegionCandidate>) =
        region.candidates.iter().partition(|candidate| effective(candidate) < weight::KEEP_MIN);
    due.extend(weak.into_iter().map(|candidate| removal(candidate, PruneRule::Weak)));
    rest.sort_by(|a, b| effective(a).total_cmp(&effective(b)).then_with(|| b.slug.cmp(&a.slug)));
    let over = rest.len().saturating_sub(MAX_CANDIDATES);
    let leaving = rest.into_iter().filter(|candidate| in_use != Some((name, &candidate.slug)));
    due.extend(leaving.take(over).map(|candidate| removal(candidate, PruneRule::Candidates)));
}

fn lessons(
    memory: &CortexMemory,
    today: UtcDay,
    policy: &CortexPolicy,
    gone: &[&str],
    due: &mut Vec<PruneRemoval>,
) {
    let removal = |lesson: &Lesson, rule| PruneRemoval {
        what: RemovalTarget::Lesson { lesson: lesson.clone() },
        rule,
    };
    let mut kept = Vec::new();
    for held in &memory.lessons {
        if held.lesson.region().is_some_and(|region| gone.contains(&region)) {
            due.push(removal(&held.lesson, PruneRule::RegionGone));
        } else if held.faded_confidence(today, policy) < lesson::KEEP_MIN {
            due.push(removal(&held.lesson, PruneRule::Unsure));
        } else {
            kept.push(held);
        }
    }
    kept.sort_by_key(|held| (held.faded_confidence(today, policy), held.created));
    let over = kept.len().saturating_sub(MAX_LESSONS);
    due.extend(kept.into_iter().take(over).map(|held| removal(&held.lesson, PruneRule::Lessons)));
}

/// Applies a removal from the log. What no longer exists is ignored.
pub(crate) fn remove(memory: &mut CortexMemory, removal: &PruneRemoval) {
    match &removal.what {
        RemovalTarget::Region { region } => remove_region(memory, region),
        RemovalTarget::Candidate { region, slug } => {
            if let Some(found) = memory.motor.get_mut(region) {
                found.candidates.retain(|candidate| candidate.slug != *slug);
            }
            if let Some(slugs) = memory.approved.get_mut(region) {
                slugs.remove(slug);
            }
        }
        RemovalTarget::Signal { region, word } => {
            for pattern in memory.patterns.iter_mut().filter(|found| found.region == *region) {
                pattern.signals.retain(|signal| signal.word != *word);
            }
        }
        RemovalTarget::Lesson { lesson } => memory.lessons.retain(|held| held.lesson != *lesson),
    }
}

pub(crate) fn remove_region(memory: &mut CortexMemory, region: &str) {
    memory.motor.remove(region);
    memory.approved.remove(region);
    memory.patterns.retain(|pattern| pattern.region != region);
    memory.lessons.retain(|held| held.lesson.region() != Some(region));
}
