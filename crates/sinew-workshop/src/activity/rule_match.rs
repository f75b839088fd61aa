//! Which learned skill a message is for: by what the requests mean that were corrected, by what the rules
//! say, and by the kind of task.
//!
//! The shares were fitted to three sets of corrections with their later messages (`BENCHMARKS.md`,
//! "Corrections"); sets that are kept for measuring had no part in it.

use sinew_route::{Embedder, static_vector};

use super::fit::{ActivityFit, MessageMeaning, STATIC_TABLE, WITHOUT_ENCODER, dot};
use super::question::is_lookup;
use super::table::TABLE;
use super::taught_memory::TaughtMemory;
use super::taught_skill::TaughtSkill;

/// The mean of the two nearest requests that were corrected.
const REQUEST_SHARE: f32 = 9.09;
/// The nearest rule.
const RULE_SHARE: f32 = 2.75;
/// How alike the kinds of task are, over all activities.
const KIND_SHARE: f32 = 4.01;
/// The message is of the skill's own activity, and how surely.
const GROUP_SHARE: f32 = 1.71;
/// How near the message is to the activity of a request that was corrected.
const ACTIVITY_SHARE: f32 = 0.56;
/// What a skill needs in all to be brought: among the fitted sets 6.64 is where it is as likely right as
/// not. Each further skill is one more that may come at the wrong time, so that few need less.
const ENOUGH_ALONE: f32 = 3.2;
const ENOUGH_PER_DOUBLING: f32 = 0.62;
const LEAST: f32 = 4.6;
const MOST: f32 = 6.3;

/// A question that only wants to know something needs this much more where the rule was taught at a
/// question, too.
const LOOKUP_NEEDS: f32 = 2.0;
/// And this much where answering questions is what the skill is for.
const ANSWER_NEEDS: f32 = 1.0;

/// An activity that a message is no nearer to is none of its.
const NO_ACTIVITY: f32 = 0.3;
/// How sharply the nearest activities stand out among all.
const SHARPNESS: f32 = 0.08;

/// The learned skill that a message is for, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaughtHit {
    /// Its place among the skills that were given.
    pub at: usize,
    /// How far it is above what is enough.
    pub score: f32,
}

impl TaughtHit {
    /// How likely it is the right one.
    pub fn probability(self) -> f64 {
        f64::from(1.0 / (1.0 + (-(self.score + 1.0)).exp())).min(0.99)
    }
}

/// The learned skill whose rules hold for a message. `memory` says what its texts mean; what is missing
/// there is compared by the static table.
pub fn taught_hit(
    meaning: &MessageMeaning,
    skills: &[TaughtSkill],
    memory: Option<&TaughtMemory>,
) -> Option<TaughtHit> {
    if skills.is_empty() {
        return None;
    }
    let message = ComparedText::of(meaning);
    let enough = enough_among(skills.len());
    let scores = skills.iter().enumerate().map(|(at, skill)| {
        let score = message.score(skill, memory) - enough;
        TaughtHit {
            at,
            score: if meaning.is_lookup {
                score - message.lookup_needs(meaning, skill)
            } else {
                score
            },
        }
    });
    scores.max_by(|a, b| a.score.total_cmp(&b.score)).filter(|best| best.score >= 0.0)
}

/// What the best of so many skills needs.
fn enough_among(skills: usize) -> f32 {
    (ENOUGH_ALONE + ENOUGH_PER_DOUBLING * (skills as f32).log2()).clamp(LEAST, MOST)
}

/// What two requests have in common, from 0 to 1.
pub(crate) fn likeness(a: &str, b: &str, encoder: Option<&dyn Embedder>) -> f32 {
    let of = |text: &str| ComparedText::of(&MessageMeaning::of(text, encoder));
    of(a).cosine(&of(b))
}

/// A text with its vectors and its activities.
struct ComparedText {
    encoder: Option<Vec<f32>>,
    table: Vec<f32>,
    fit: Vec<f32>,
    /// The same as shares of one text, of length one.
    kind: Vec<f32>,
    nearest: usize,
}

impl ComparedText {
    fn of(meaning: &MessageMeaning) -> Self {
        let encoder = meaning.vector().map(<[f32]>::to_vec);
        let fit = ActivityFit::of(meaning).scores().to_vec();
        Self::with(encoder, meaning.table_vector().to_vec(), fit)
    }

    /// A text of a learned skill.
    fn of_taught(text: &str, memory: Option<&TaughtMemory>) -> Self {
        match memory.and_then(|memory| memory.meaning(text)) {
            Some(known) => {
                let table = STATIC_TABLE.as_ref().map(|table| static_vector(table, text));
                Self::with(Some(known.vector.clone()), table.unwrap_or_default(), known.fit.clone())
            }
            None => Self::of(&MessageMeaning::of(text, None)),
        }
    }

    fn with(encoder: Option<Vec<f32>>, table: Vec<f32>, fit: Vec<f32>) -> Self {
        let nearest = fit.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let (nearest, best) = nearest.map_or((0, 0.0), |(at, best)| (at, *best));
        let mut kind: Vec<f32> =
            fit.iter().map(|score| ((score - best) / SHARPNESS).exp()).collect();
        let length = dot(&kind, &kind).sqrt().max(f32::EPSILON);
        kind.iter_mut().for_each(|share| *share /= length);
        Self { encoder, table, fit, kind, nearest }
    }

    fn cosine(&self, other: &Self) -> f32 {
        match (&self.encoder, &other.encoder) {
            (Some(a), Some(b)) => dot(a, b),
            _ => (WITHOUT_ENCODER * dot(&self.table, &other.table)).min(1.0),
        }
    }

    fn score(&self, skill: &TaughtSkill, memory: Option<&TaughtMemory>) -> f32 {
        let known = |text: &String| Self::of_taught(text, memory);
        let rules: Vec<Self> = skill.rules.iter().map(known).collect();
        let asked: Vec<Self> = skill.asked.iter().map(known).collect();
        // A rule that was said out of the blue is its own request.
        let asked = if asked.is_empty() { &rules } else { &asked };
        let mut requests: Vec<f32> = asked.iter().map(|request| self.cosine(request)).collect();
        requests.sort_by(|a, b| b.total_cmp(a));
        requests.truncate(2);
        let request = requests.iter().sum::<f32>() / requests.len().max(1) as f32;
        let most = |values: &mut dyn Iterator<Item = f32>| values.reduce(f32::max).unwrap_or(0.0);
        let rule = most(&mut rules.iter().map(|rule| self.cosine(rule)));
        let kind = most(&mut asked.iter().map(|request| dot(&request.kind, &self.kind)));
        let near = |at: usize| self.fit.get(at).copied().unwrap_or(0.0);
        let activity = most(&mut asked.iter().map(|request| near(request.nearest)));
        let group = match self.is_of_group(skill) {
            true => (near(self.nearest) - NO_ACTIVITY).max(0.0),
            false => 0.0,
        };
        REQUEST_SHARE * request
            + RULE_SHARE * rule
            + KIND_SHARE * kind
            + GROUP_SHARE * group
            + ACTIVITY_SHARE * activity
    }

    /// Whether it is of a kind of task that a skill was taught for. A skill that was divided holds a
    /// single activity, and not its group.
    fn is_of_group(&self, skill: &TaughtSkill) -> bool {
        let activity = TABLE.activities.get(self.nearest);
        let group = activity.and_then(|activity| TABLE.groups.get(activity.group));
        let ids = [activity.map(|activity| activity.id), group.map(|group| group.id)];
        ids.into_iter().flatten().any(|id| skill.groups.iter().any(|own| own == id))
    }

    /// How much more a question needs than a task.
    fn lookup_needs(&self, meaning: &MessageMeaning, skill: &TaughtSkill) -> f32 {
        let answers = TABLE.activities.get(self.nearest).is_some_and(|activity| activity.answers);
        if answers && !meaning.is_fact_question && self.is_of_group(skill) {
            ANSWER_NEEDS
        } else if skill.asked.iter().any(|request| is_lookup(request)) {
            LOOKUP_NEEDS
        } else {
            f32::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_route::TextEncoder;

    fn skill(name: &str, asked: &str, rule: &str) -> TaughtSkill {
        TaughtSkill {
            name: name.to_owned(),
            asked: vec![asked.to_owned()],
            rules: vec![rule.to_owned()],
            ..TaughtSkill::default()
        }
    }

    /// What was taught outside the table of activities comes back by its own request and by others like
    /// it, and not by what has only a word in common.
    #[test]
    fn a_rule_comes_back_by_the_request_that_it_corrected() {
        let Some(Ok(encoder)) = TextEncoder::embedded() else { return };
        let skills = [
            skill("our-hives", "sort the bee hives by age", "the oldest hive goes first"),
            skill("our-telescope", "align the telescope", "use two stars for the alignment"),
        ];
        let mut memory = TaughtMemory::for_encoder(&encoder);
        memory.follow(&skills, &encoder, &|| true);
        let hit = |message: &str| {
            let meaning = MessageMeaning::of(message, Some(&encoder));
            taught_hit(&meaning, &skills, Some(&memory)).map(|hit| hit.at)
        };
        assert_eq!(hit("sort the bee hives by age"), Some(0));
        assert_eq!(hit("align the telescope"), Some(1));
        assert_eq!(hit("put the beehives in order"), Some(0));
        assert_eq!(hit("line up the telescope for tonight"), Some(1));
        assert_eq!(hit("how old is the telescope?"), None);
        assert_eq!(hit("order a pizza"), None);
        // Without the encoder the request itself is still found.
        let plain = MessageMeaning::of("align the telescope", None);
        assert_eq!(taught_hit(&plain, &skills, None).map(|hit| hit.at), Some(1));
    }
}
