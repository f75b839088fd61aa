//! Activities: what people ask for, in the words they ask with.
//!
//! A correction holds for a kind of task, and the next task of that kind comes in other words. The
//! table in `data/activities.tsv` says which wordings mean the same kind of task; a message is of the
//! activity whose wordings it is nearest to. None of it knows any skill.

mod fit;
mod question;
mod table;
mod wording_vectors;

pub use fit::{ActivityFit, MessageMeaning, NearestActivity};
pub(crate) use fit::{STATIC_TABLE, is_dense};
pub use question::is_lookup;
pub use table::{ActivityGroup, activity_groups};
pub use wording_vectors::{wording_vectors_id, write_wording_vectors};

/// The key of a skill's front matter under which its activities are kept.
pub const TAUGHT_KEY: &str = "sinew-taught";

/// A learned skill, by the activities that its rules hold for.
#[derive(Debug, Clone)]
pub struct TaughtSkill {
    /// Its name.
    pub name: String,
    /// The ids of its activity groups.
    pub groups: Vec<String>,
}

impl TaughtSkill {
    /// Reads what a skill's front matter says; none where it was not taught.
    pub fn of(skill: &sinew_skill::Skill) -> Option<Self> {
        let metadata = skill.frontmatter.get("metadata")?;
        let written = metadata.as_map()?.get(TAUGHT_KEY)?.as_str()?;
        let groups: Vec<String> =
            written.split(',').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
        Some(Self { name: skill.name.clone(), groups })
    }
}

/// The learned skill that a message is for, and how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaughtHit {
    /// Its place among the skills that were given.
    pub at: usize,
    /// The score of its activity.
    pub score: f32,
    /// The activity, in words.
    pub when: &'static str,
}

/// A message whose nearest activity is further than this is of none.
const NEAR_ENOUGH: f32 = 0.6;

/// The learned skill whose rules hold for a message. A question that only wants to know something gets
/// none, unless answering questions is what the rules are about.
pub fn taught_hit(meaning: &MessageMeaning, skills: &[TaughtSkill]) -> Option<TaughtHit> {
    if skills.is_empty() {
        return None;
    }
    let fit = ActivityFit::of(meaning);
    let best = fit.best()?;
    let only_asks = meaning.is_lookup && (!best.answers || meaning.is_fact_question);
    if best.score < NEAR_ENOUGH || only_asks {
        return None;
    }
    // A skill that was divided holds a single activity, which says more than the group.
    let of = |id: &str| skills.iter().position(|skill| skill.groups.iter().any(|one| one == id));
    let at = of(best.id).or_else(|| of(best.group.id))?;
    Some(TaughtHit { at, score: best.score, when: best.group.when })
}
