//! Search by meaning where the words differ: skills and queries are compared by the router's table of
//! token vectors.
//!
//! **Must never happen here:** a hit for a query that means nothing. Below [`FLOOR`], two texts have no
//! more in common than two random ones.

use sinew_route::{MeaningVectors, RouteDocument, RouterModels, UserMessage};

use super::model::SkillDoc;

/// The cosine from which on a skill is near what was asked for. Of the router's own messages none that
/// asks for no skill reaches it, and more than half of the others do (the tests below count).
const FLOOR: f32 = 0.35;
/// The score for meaning exactly what was asked for: as much as two rare words. With less, the common
/// words of a long question decide; more changes little.
const SAME: f32 = 16.0;
/// Cosines count in steps of this: finer differences come from the small words of a summary, and must
/// not outweigh what people chose.
const STEP: f32 = 0.05;

/// What skills mean, by their places in the index.
#[derive(Debug)]
pub(super) struct MeaningIndex {
    /// Absent where the program was built without the table.
    vectors: Option<MeaningVectors>,
}

impl Default for MeaningIndex {
    fn default() -> Self {
        Self { vectors: RouterModels::embedded_table().table.map(MeaningVectors::new) }
    }
}

impl MeaningIndex {
    /// Words only, for tests of words.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { vectors: None }
    }

    pub(super) fn set(&mut self, place: u32, skill: &SkillDoc) {
        let Some(vectors) = &mut self.vectors else { return };
        let about = skill.summary.as_deref().unwrap_or_default();
        let name = match skill.display_name.eq_ignore_ascii_case(&skill.slug) {
            true => skill.slug.clone(),
            false => format!("{} {}", skill.slug, skill.display_name),
        };
        let document = RouteDocument {
            name,
            description: about.to_owned(),
            triggers: skill.topics.clone(),
            ..RouteDocument::default()
        };
        vectors.set(place as usize, &document);
    }

    pub(super) fn clear(&mut self, place: u32) {
        if let Some(vectors) = &mut self.vectors {
            vectors.clear(place as usize);
        }
    }

    /// Calls `near` with the place of each skill that is near a query, and what that is worth.
    pub(super) fn each(&self, query: &str, mut near: impl FnMut(u32, f32)) {
        let Some(vectors) = &self.vectors else { return };
        for (place, cosine) in (0..).zip(vectors.cosines(&UserMessage::from_user(query))) {
            if cosine >= FLOOR {
                near(place, SAME * STEP * (cosine / STEP).floor());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sinew_route::eval::{EvalQuestion, read_questions, read_skills};

    use super::super::index::RegistryIndex;
    use super::super::index::tests::skill;
    use super::*;

    fn corpus() -> (RegistryIndex, Vec<EvalQuestion>) {
        let skills = include_str!("../../sinew-route/tests/corpus/skills.jsonl");
        let messages = include_str!("../../sinew-route/tests/corpus/messages.jsonl");
        let mut index = RegistryIndex::default();
        for document in read_skills(skills).rows {
            let summary = Some(document.description);
            index.set(SkillDoc { summary, ..skill(&document.id) }, 0, 0);
        }
        (index, read_questions(messages).rows)
    }

    #[test]
    fn what_asks_for_no_skill_is_near_none() {
        let (index, questions) = corpus();
        let small_talk = questions.iter().filter(|question| question.expected.is_empty());
        let nonsense = ["zzz", "asdf", "qwertyuiop", "xkcd blorp", "foo bar", "12345", "\u{1f600}"];
        let all = small_talk.map(|question| question.query.as_str()).chain(nonsense);
        let near = |query: &&str| index.search(query, 5).iter().any(|hit| hit.parts.meaning > 0.0);
        assert_eq!(all.filter(near).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    /// Words alone put the right skill first in 45 of 100 cases.
    #[test]
    fn other_words_lead_to_the_same_skill() {
        let (index, questions) = corpus();
        let asking: Vec<&EvalQuestion> =
            questions.iter().filter(|q| !q.expected.is_empty()).collect();
        let (mut near, mut first) = (0, 0);
        for question in &asking {
            let hits = index.search(&question.query, 5);
            let right =
                |hit: &super::super::index::IndexHit<'_>| question.accepts(&hit.entry.skill.id);
            near += usize::from(hits.iter().any(|hit| right(hit) && hit.parts.meaning > 0.0));
            first += usize::from(hits.first().is_some_and(right));
        }
        let share = |count: usize| count as f64 / asking.len() as f64;
        assert!(share(near) > 0.55, "{}", share(near));
        assert!(share(first) > 0.65, "{}", share(first));
    }
}
