//! Lessons: what is learned from failures, and how it fades.

use std::collections::BTreeMap;

use sinew_cortex::failure::FailureKind::{DependencyMissing, TaskMismatch};
use sinew_cortex::lesson::Lesson;
use sinew_cortex::original;
use sinew_cortex::record::{LessonOp, RecordBody, SkillOutcome};
use sinew_cortex::{CortexPolicy, learn, prune};

use crate::bundle::{DAY, Log, R, S};

/// Records an outcome and its lessons.
fn learn_from(log: &mut Log, outcome: &SkillOutcome, point: Option<&str>) -> Vec<LessonOp> {
    let id = log.outcome(outcome.clone());
    let bodies = learn::lesson_records(&log.memory(), id, outcome, point, &log.policy);
    let mut ops = Vec::new();
    for body in bodies {
        if let RecordBody::Lesson { op, .. } = &body {
            ops.push(*op);
        }
        log.push(body);
    }
    ops
}

fn missing(key: &str) -> SkillOutcome {
    SkillOutcome {
        key: Some(key.to_owned()),
        ..SkillOutcome::failure(R, S, "1.0.0", DependencyMissing)
    }
}

fn probed(probe: &str, is_there: bool) -> SkillOutcome {
    SkillOutcome {
        probes: BTreeMap::from([(probe.to_owned(), is_there)]),
        ..SkillOutcome::success(R, S, "1.0.0")
    }
}

fn confidences(log: &Log) -> Vec<u8> {
    log.memory().lessons.iter().map(|held| held.confidence).collect()
}

#[test]
fn a_program_that_is_missing_twice_becomes_a_warning() {
    let mut log = Log::new();
    assert_eq!(learn_from(&mut log, &missing("ffmpeg"), None), []);
    assert_eq!(learn_from(&mut log, &missing("jq"), None), []);
    assert_eq!(learn_from(&mut log, &missing("ffmpeg"), None), [LessonOp::Create]);
    assert_eq!(confidences(&log), [60]);
    let (region, key) = (R.to_owned(), "ffmpeg".to_owned());
    assert_eq!(log.memory().lessons[0].lesson, Lesson::DependencyWarning { region, key });
    assert_eq!(log.memory().lessons[0].evidence.len(), 2);
    for _ in 0..5 {
        assert_eq!(learn_from(&mut log, &missing("ffmpeg"), None), [LessonOp::Validate]);
    }
    assert_eq!(confidences(&log), [100]);
    for _ in 0..4 {
        assert_eq!(learn_from(&mut log, &probed("bin:ffmpeg", true), None), [LessonOp::Contradict]);
    }
    assert_eq!(confidences(&log), [20]);
    assert_eq!(log.memory().lessons[0].contradicted, 4);
    let due = prune::due_removals(&log.memory(), log.now.day(), &log.policy, None);
    assert_eq!(due[0].rule, prune::PruneRule::Unsure);
    log.push(RecordBody::Prune { removed: due });
    assert_eq!(confidences(&log), [] as [u8; 0]);
}

#[test]
fn a_variable_that_is_set_twice_in_a_row_is_ready() {
    let mut log = Log::new();
    assert_eq!(learn_from(&mut log, &probed("env:TODOIST_API_KEY", true), None), []);
    assert_eq!(learn_from(&mut log, &probed("env:TODOIST_API_KEY", false), None), []);
    assert_eq!(learn_from(&mut log, &probed("env:TODOIST_API_KEY", true), None), []);
    let ops = learn_from(&mut log, &probed("env:TODOIST_API_KEY", true), None);
    assert_eq!((ops, confidences(&log)), (vec![LessonOp::Create], vec![60]));
    learn_from(&mut log, &probed("env:TODOIST_API_KEY", true), None);
    assert_eq!(confidences(&log), [70]);
    learn_from(&mut log, &probed("env:TODOIST_API_KEY", false), None);
    assert_eq!(confidences(&log), [50]);
    // A probe records whether a variable is set, never its value: a record has no field for one.
    let exported = original::export(&log.memory(), log.now, &log.policy).to_text();
    assert!(exported.contains("\"key\": \"TODOIST_API_KEY\""));
    assert!(exported.contains("\"type\": \"env_ready\""));
}

#[test]
fn a_warning_fades_without_being_right() {
    let mut log = Log::new();
    learn_from(&mut log, &missing("ffmpeg"), None);
    learn_from(&mut log, &missing("ffmpeg"), None);
    let due = |log: &Log, days: i32, policy: &CortexPolicy| {
        prune::due_removals(&log.memory(), log.now.day().plus_days(days), policy, None).len()
    };
    let held = &log.memory().lessons[0];
    assert_eq!(held.faded_confidence(log.now.day().plus_days(42), &log.policy), 30);
    assert_eq!(due(&log, 42, &log.policy), 0);
    assert_eq!(held.faded_confidence(log.now.day().plus_days(56), &log.policy), 20);
    assert_eq!(due(&log, 56, &log.policy), 1);
    let undecayed = CortexPolicy { lesson_decay: false, ..CortexPolicy::default() };
    assert_eq!(due(&log, 100, &undecayed), 0);
    assert!(
        !held.is_stale(log.now.day().plus_days(13)) && held.is_stale(log.now.day().plus_days(14))
    );
}

#[test]
fn a_variable_stays_ready_for_ninety_days() {
    let mut log = Log::new();
    learn_from(&mut log, &probed("env:TOKEN", true), None);
    learn_from(&mut log, &probed("env:TOKEN", true), None);
    let held = &log.memory().lessons[0];
    assert_eq!(held.faded_confidence(log.now.day().plus_days(89), &log.policy), 60);
    assert_eq!(held.faded_confidence(log.now.day().plus_days(90), &log.policy), 50);
}

#[test]
fn a_description_misleads_only_if_it_is_reported() {
    let mismatch = || SkillOutcome::failure(R, S, "1.0.0", TaskMismatch);
    let mut log = Log::new();
    assert_eq!(learn_from(&mut log, &mismatch(), None), []);
    assert_eq!(learn_from(&mut log, &mismatch(), Some("says it sorts")), [LessonOp::Create]);
    log.pass(DAY);
    assert_eq!(learn_from(&mut log, &mismatch(), None), [LessonOp::Validate]);
    assert_eq!(confidences(&log), [70]);
    let ok = || SkillOutcome::success(R, S, "1.0.0");
    assert_eq!(learn_from(&mut log, &ok(), None), []);
    assert_eq!(learn_from(&mut log, &ok(), Some("another point")), []);
    assert_eq!(learn_from(&mut log, &ok(), Some("says it sorts")), [LessonOp::Contradict]);
    assert_eq!(confidences(&log), [50]);
}

#[test]
fn an_outage_teaches_nothing() {
    let mut log = Log::new();
    for _ in 0..3 {
        let outcome = SkillOutcome { shielded: true, ..missing("ffmpeg") };
        assert_eq!(learn_from(&mut log, &outcome, None), []);
    }
}

#[test]
fn one_outcome_speaks_once_about_one_lesson() {
    let mut log = Log::new();
    learn_from(&mut log, &missing("ffmpeg"), None);
    let mut both = missing("ffmpeg");
    both.probes.insert("bin:ffmpeg".to_owned(), false);
    learn_from(&mut log, &both.clone(), None);
    assert_eq!(learn_from(&mut log, &both, None), [LessonOp::Validate]);
}
