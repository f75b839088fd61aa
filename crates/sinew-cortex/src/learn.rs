//! What an outcome teaches beyond its own numbers: lessons and pruning, as records to append to the
//! log.

use sinew_settings::config::ShieldScope;

use crate::failure::FailureKind;
use crate::id::Ulid;
use crate::lesson::{Lesson, SEEN_TWICE};
use crate::memory::CortexMemory;
use crate::policy::CortexPolicy;
use crate::prune;
use crate::record::{LessonOp, RecordBody, SkillOutcome, UseResult};
use crate::signals::{self, SignalVocabulary};
use crate::time::UtcDay;

/// The lessons of an outcome that was just folded.
///
/// `point` is what the caller reports about the skill's description: what misleads, with a
/// mismatch, or what was right, with a success. It is never inferred.
pub fn lesson_records(
    memory: &CortexMemory,
    id: Ulid,
    outcome: &SkillOutcome,
    point: Option<&str>,
    policy: &CortexPolicy,
) -> Vec<RecordBody> {
    if outcome.result == UseResult::Unknown || outcome.shielded && policy.shield != ShieldScope::Off
    {
        return Vec::new();
    }
    let mut found = LessonCollector { memory, id, bodies: Vec::new() };
    found.missing_program(outcome);
    found.probes(outcome);
    found.description(outcome, point);
    found.bodies
}

/// The pruning that is due after an outcome, as a record.
pub fn pruning_record(
    memory: &CortexMemory,
    today: UtcDay,
    policy: &CortexPolicy,
    in_use: Option<(&str, &str)>,
) -> Option<RecordBody> {
    let removed = prune::due_removals(memory, today, policy, in_use);
    (!removed.is_empty()).then_some(RecordBody::Prune { removed })
}

/// The words learned for a region: only after a task that no pattern matched and that a search led
/// to success. `None` if there are too few.
pub fn signals_record(
    task: &str,
    region: &str,
    slug: &str,
    vocabulary: &SignalVocabulary,
) -> Option<RecordBody> {
    let words = signals::learned_words(task, slug, vocabulary)?;
    Some(RecordBody::Signals { region: region.to_owned(), words, vocabulary: signals::VERSION })
}

struct LessonCollector<'a> {
    memory: &'a CortexMemory,
    id: Ulid,
    bodies: Vec<RecordBody>,
}

impl LessonCollector<'_> {
    fn knows(&self, lesson: &Lesson) -> bool {
        self.memory.lessons.iter().any(|held| held.lesson == *lesson)
    }

    fn push(&mut self, op: LessonOp, lesson: Lesson, evidence: Vec<Ulid>) {
        let is_same = |body: &RecordBody| matches!(body, RecordBody::Lesson { lesson: known, .. } if *known == lesson);
        // One outcome counts once for each lesson.
        if !self.bodies.iter().any(is_same) {
            self.bodies.push(RecordBody::Lesson { op, lesson, evidence });
        }
    }

    fn missing_program(&mut self, outcome: &SkillOutcome) {
        let Some(key) = &outcome.key else { return };
        if outcome.result != UseResult::Failure
            || outcome.failure_kind() != FailureKind::DependencyMissing
        {
            return;
        }
        let region = outcome.region.clone();
        let lesson = Lesson::DependencyWarning { region, key: key.clone() };
        if self.knows(&lesson) {
            return self.push(LessonOp::Validate, lesson, vec![self.id]);
        }
        let seen =
            self.memory.motor.get(&outcome.region).and_then(|region| region.missing.get(key));
        if let Some(seen) = seen.filter(|seen| seen.len() >= SEEN_TWICE as usize) {
            self.push(LessonOp::Create, lesson, seen.clone());
        }
    }

    fn probes(&mut self, outcome: &SkillOutcome) {
        for (probe, is_there) in &outcome.probes {
            let region = outcome.region.clone();
            match probe.split_once(':') {
                Some(("bin", key)) => {
                    let lesson = Lesson::DependencyWarning { region, key: key.to_owned() };
                    if self.knows(&lesson) {
                        let op = if *is_there { LessonOp::Contradict } else { LessonOp::Validate };
                        self.push(op, lesson, vec![self.id]);
                    }
                }
                Some(("env", key)) => self.variable(region, key, *is_there),
                _ => {}
            }
        }
    }

    fn variable(&mut self, region: String, key: &str, is_set: bool) {
        let uses = self.memory.motor.get(&region).and_then(|region| region.env_set.get(key));
        let often = uses.is_some_and(|uses| *uses >= SEEN_TWICE);
        let lesson = Lesson::EnvReady { region, key: key.to_owned() };
        match (self.knows(&lesson), is_set) {
            (true, true) => self.push(LessonOp::Validate, lesson, vec![self.id]),
            (true, false) => self.push(LessonOp::Contradict, lesson, vec![self.id]),
            (false, true) if often => self.push(LessonOp::Create, lesson, vec![self.id]),
            (false, _) => {}
        }
    }

    fn description(&mut self, outcome: &SkillOutcome, point: Option<&str>) {
        let slug = outcome.slug.clone();
        let named = point.map(|point| Lesson::SkillQualityWarning {
            slug: slug.clone(),
            detail: point.to_owned(),
        });
        let mismatch = outcome.result == UseResult::Failure
            && outcome.failure_kind() == FailureKind::TaskMismatch;
        if mismatch {
            let known = self.memory.lessons.iter().map(|held| held.lesson.clone());
            for lesson in known.filter(|lesson| lesson.slug() == Some(&slug)).collect::<Vec<_>>() {
                self.push(LessonOp::Validate, lesson, vec![self.id]);
            }
            if let Some(lesson) = named {
                self.push(LessonOp::Create, lesson, vec![self.id]);
            }
        } else if let Some(lesson) = named.filter(|lesson| self.knows(lesson))
            && outcome.result == UseResult::Success
        {
            self.push(LessonOp::Contradict, lesson, vec![self.id]);
        }
    }
}
