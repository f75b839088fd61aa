//! How much is kept, and what is removed first.

use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_cortex::lesson::Lesson;
use sinew_cortex::memory::RegionCandidate;
use sinew_cortex::prune::{PruneRule, RemovalTarget, due_removals};
use sinew_cortex::record::{ForgetScope, LessonOp, RecordBody, RegionSkill, SkillOutcome};
use sinew_cortex::{CortexMemory, CortexPolicy};

use crate::bundle::{DAY, Log, R, S, close, today};

fn prune(log: &mut Log, in_use: Option<(&str, &str)>) -> Vec<String> {
    let removed = due_removals(&log.memory(), log.now.day(), &log.policy, in_use);
    let shown = removed.iter().map(|removal| {
        let what = match &removal.what {
            RemovalTarget::Region { region } => region.clone(),
            RemovalTarget::Candidate { slug, .. } => slug.clone(),
            RemovalTarget::Signal { word, .. } => word.clone(),
            RemovalTarget::Lesson { lesson } => format!("{lesson:?}"),
        };
        format!("{what}: {}", removal.rule.as_str())
    });
    let shown = shown.collect();
    log.push(RecordBody::Prune { removed });
    shown
}

fn warning(region: &str, key: &str) -> Lesson {
    Lesson::DependencyWarning { region: region.to_owned(), key: key.to_owned() }
}

fn create(log: &mut Log, lesson: Lesson) {
    log.push(RecordBody::Lesson { op: LessonOp::Create, lesson, evidence: Vec::new() });
}

#[test]
fn the_81st_region_pushes_out_the_one_that_was_not_used_for_longest() {
    let mut log = Log::new();
    for number in 0..81 {
        log.outcome(SkillOutcome::success(&format!("region-{number:02}"), S, "1"));
        log.pass(DAY);
    }
    let region = "region-00".to_owned();
    let words = vec!["manage".to_owned(), "todo".to_owned()];
    log.push(RecordBody::Signals { region: region.clone(), words, vocabulary: 1 });
    create(&mut log, warning("region-00", "jq"));
    create(&mut log, warning("region-01", "jq"));
    let shown = prune(&mut log, Some(("region-80", S)));
    assert_eq!(shown[0], "region-00: regions>80");
    assert!(shown[1].ends_with("region pruned"), "{shown:?}");
    let memory = log.memory();
    assert_eq!(memory.motor.len(), 80);
    assert!(memory.pattern(&region).is_none() && !memory.motor.contains_key(&region));
    assert_eq!(memory.lessons.len(), 1);
}

#[test]
fn regions_of_one_day_leave_by_name() {
    let mut log = Log::new();
    for number in (0..82).rev() {
        log.outcome(SkillOutcome::success(&format!("region-{number:02}"), S, "1"));
    }
    assert_eq!(prune(&mut log, None), ["region-00: regions>80", "region-01: regions>80"]);
}

#[test]
fn the_6th_candidate_pushes_out_the_weakest_unless_it_is_in_use() {
    let mut log = Log::new();
    for number in 0..5 {
        log.outcome(SkillOutcome::success(R, &format!("skill-{number}"), "1"));
    }
    log.outcome(SkillOutcome::failure(R, "newest", "1", RuntimeError));
    let in_use = prune(&mut log, Some((R, "newest")));
    assert_eq!(in_use, ["skill-4: candidates>5"]);
    log.outcome(SkillOutcome::success(R, "skill-5", "1"));
    assert_eq!(prune(&mut log, Some((R, "skill-5"))), ["newest: candidates>5"]);
}

#[test]
fn the_11th_word_pushes_out_the_oldest() {
    let mut log = Log::new();
    for number in 0..11 {
        let words = vec![format!("word{}", char::from(b'a' + number))];
        log.push(RecordBody::Signals { region: R.to_owned(), words, vocabulary: 1 });
        log.pass(1_000);
    }
    let memory = log.memory();
    let words: Vec<&str> =
        memory.pattern(R).expect("a pattern").signals.iter().map(|s| s.word.as_str()).collect();
    assert_eq!((words.len(), words[0], words[9]), (10, "wordb", "wordk"));
}

#[test]
fn the_31st_lesson_pushes_out_the_least_sure() {
    let mut log = Log::new();
    for number in 0..31 {
        create(&mut log, warning(R, &format!("bin-{number:02}")));
        log.pass(1_000);
    }
    for number in (0..31).filter(|number| *number != 7) {
        let lesson = warning(R, &format!("bin-{number:02}"));
        log.push(RecordBody::Lesson { op: LessonOp::Validate, lesson, evidence: Vec::new() });
    }
    let shown = prune(&mut log, None);
    assert_eq!(shown.len(), 1);
    assert!(shown[0].contains("bin-07") && shown[0].ends_with("lessons>30"), "{shown:?}");
    assert_eq!(log.memory().lessons.len(), 30);
}

fn with_weight(weight: f64) -> CortexMemory {
    let mut log = Log::new();
    log.ok();
    let mut memory = log.memory();
    let mut candidate = RegionCandidate::new(S, "clawhub", "1", today());
    candidate.weight = weight;
    memory.motor.get_mut(R).expect("the region").candidates = vec![candidate];
    memory
}

#[test]
fn what_is_too_weak_leaves() {
    let policy = CortexPolicy::default();
    let later = today().plus_days(126);
    let removed = due_removals(&with_weight(0.32), later, &policy, None);
    assert_eq!((removed.len(), removed[0].rule), (1, PruneRule::Weak));
    assert_eq!(due_removals(&with_weight(0.34), later, &policy, None), []);
}

#[test]
fn a_kept_skill_leaves_the_regions_and_comes_back_when_it_is_released() {
    let mut log = Log::new();
    log.every(7 * DAY, 8);
    let before = log.candidate();
    let place = || RegionSkill { slug: S.to_owned(), region: R.to_owned(), run: None };
    log.push(RecordBody::Retained(place()));
    assert_eq!(log.memory().candidate(R, S), None);
    close(log.memory().retained_candidate(R, S).expect("its record").weight, before.weight);
    log.pass(7 * DAY);
    log.ok();
    assert_eq!(log.memory().candidate(R, S), None, "outcomes of a kept skill stay with it");
    log.push(RecordBody::Released(place()));
    assert_eq!(log.candidate().success, before.success + 1);
}

#[test]
fn a_reset_forgets_what_came_before_in_its_scope() {
    let mut log = Log::new();
    log.ok();
    log.outcome(SkillOutcome::success("other", S, "1"));
    log.outcome(SkillOutcome::success("other", "second", "1"));
    create(&mut log, warning(R, "jq"));
    let slugs = |log: &Log| -> Vec<String> {
        let memory = log.memory();
        let each = memory.motor.iter().flat_map(|(name, region)| {
            region.candidates.iter().map(move |candidate| format!("{name}/{}", candidate.slug))
        });
        each.collect()
    };
    log.push(RecordBody::Reset { scope: ForgetScope::Slug(S.to_owned()) });
    assert_eq!(slugs(&log), ["other/second"]);
    log.push(RecordBody::Reset { scope: ForgetScope::Region(R.to_owned()) });
    assert!(log.memory().lessons.is_empty());
    assert_eq!(slugs(&log), ["other/second"]);
    log.push(RecordBody::Reset { scope: ForgetScope::All });
    assert_eq!(slugs(&log), [] as [&str; 0]);
    log.ok();
    close(log.weight(), 0.575);
}
