//! The fold: one log, one memory, however it was read.

use sinew_cortex::failure::FailureKind::{ApiError, RuntimeError};
use sinew_cortex::record::{CortexRecord, RecordBody, SkillOutcome};
use sinew_cortex::{CortexPolicy, MemoryHistory, fold};
use sinew_settings::config::ShieldScope;

use crate::bundle::{DAY, HOUR, Log, R, S, close};

#[test]
fn a_snapshot_and_the_rest_give_the_same_bytes() {
    let mut log = Log::new();
    for number in 0..400_u32 {
        if number % 7 == 0 {
            log.fail(RuntimeError)
        } else {
            log.ok()
        };
        log.pass(5 * HOUR);
    }
    let whole = log.memory().to_bytes();
    assert_eq!(whole, log.memory().to_bytes());
    for cut in [0, 1, 95, 96, 97, 200, 399, 400] {
        let history = MemoryHistory::of(&log.records[..cut], &log.policy);
        let stored = serde_json::to_string(&history.snapshot()).expect("a snapshot");
        let stored = serde_json::from_str(&stored).expect("a snapshot");
        let mut history = MemoryHistory::resume(stored, &log.policy).expect("the same policy");
        history.add(log.records[cut..].to_vec(), &log.policy).expect("what follows");
        assert_eq!(history.memory().to_bytes(), whole, "cut at {cut}");
    }
}

#[test]
fn a_retraction_restores_the_weight_exactly() {
    let mut log = Log::new();
    log.every(DAY, 5);
    let before = log.weight();
    let wrong = log.fail(RuntimeError);
    assert!(log.weight() < before);
    let retraction = log.push(RecordBody::Retract { target: wrong });
    assert_eq!(log.weight().to_bits(), before.to_bits());
    assert_eq!(log.candidate().fail, 0);
    // A retraction can itself be wrong.
    log.push(RecordBody::Retract { target: retraction });
    assert_eq!(log.candidate().fail, 1);
}

#[test]
fn a_record_that_arrives_late_takes_its_place() {
    let mut log = Log::new();
    log.every(HOUR, 20);
    let mut arrived = log.records.clone();
    let late = arrived.remove(12);
    let mut history = MemoryHistory::of(&arrived, &log.policy);
    history.add(vec![late.clone()], &log.policy).expect("among the recent records");
    assert_eq!(history.memory().to_bytes(), log.memory().to_bytes());
    history.add(vec![late], &log.policy).expect("a record that is known");
    assert_eq!(history.memory().to_bytes(), log.memory().to_bytes());
}

#[test]
fn a_record_that_arrives_much_too_late_needs_the_whole_log() {
    let mut log = Log::new();
    log.every(HOUR, 400);
    let mut arrived = log.records.clone();
    let late = arrived.remove(3);
    let mut history = MemoryHistory::of(&arrived, &log.policy);
    let before = history.memory().to_bytes();
    history.add(vec![late], &log.policy).expect_err("it is too old");
    assert_eq!(history.memory().to_bytes(), before, "a refusal changes nothing");
}

#[test]
fn an_outage_reaches_back_over_a_snapshot() {
    let mut log = Log::new();
    log.outcome(SkillOutcome::failure(R, "one", "1", ApiError));
    log.pass(60_000);
    log.outcome(SkillOutcome::failure(R, "two", "1", ApiError));
    let mut memory = fold::fold(&log.records[..1], &log.policy);
    fold::apply_all(&mut memory, &log.records[1..], &log.policy).expect_err("it was folded before");
    let mut history = MemoryHistory::of(&log.records[..1], &log.policy);
    history.add(log.records[1..].to_vec(), &log.policy).expect("still recent");
    assert_eq!(history.memory().to_bytes(), log.memory().to_bytes());
    assert_eq!(history.memory().candidate(R, "one").expect("a record").env_fails, 1);
}

#[test]
fn another_policy_is_another_fold() {
    let mut log = Log::new();
    log.every(30 * HOUR, 10);
    let history = MemoryHistory::of(&log.records, &log.policy);
    let daily = CortexPolicy { window_hours: 24, ..CortexPolicy::default() };
    assert!(MemoryHistory::resume(history.snapshot(), &daily).is_none());
    assert!(
        fold::fold(&log.records, &daily).candidate(R, S).expect("a record").weight > log.weight()
    );
    let off = CortexPolicy { shield: ShieldScope::Off, ..CortexPolicy::default() };
    assert!(MemoryHistory::resume(history.snapshot(), &off).is_none());
    // Settings that apply on reading need no fold.
    let gentle = CortexPolicy { min_lb: 0.9, lesson_decay: false, ..CortexPolicy::default() };
    assert!(MemoryHistory::resume(history.snapshot(), &gentle).is_some());
}

#[test]
fn a_daily_window_takes_what_the_settings_page_says() {
    let uses = |every: i64| {
        let mut log = Log::with(CortexPolicy { window_hours: 24, ..CortexPolicy::default() });
        for number in 1.. {
            log.ok();
            if log.weight() >= 0.9 {
                return number;
            }
            log.pass(every);
        }
        0
    };
    assert_eq!((uses(24 * HOUR), uses(24 * HOUR / 5)), (10, 47));
}

#[test]
fn a_record_of_a_later_version_is_kept_and_skipped() {
    let text = r#"{"id":"01ARYZ6S410000000000000000","ts":"2026-03-02T09:00:00.000Z","type":"dream","of":"sheep"}"#;
    let record: CortexRecord = serde_json::from_str(text).expect("a record");
    assert_eq!(record.body, RecordBody::Unknown);
    let memory = fold::fold([&record], &CortexPolicy::default());
    assert_eq!((memory.records, memory.motor.len()), (1, 0));
}

#[test]
fn an_outcome_is_small_and_reads_back() {
    let mut log = Log::new();
    log.outcome(SkillOutcome::success("task-management", "todoist-cli", "1.2.0"));
    let text = serde_json::to_string(&log.records[0]).expect("a record");
    assert!(text.len() < 200, "{} bytes: {text}", text.len());
    let full = SkillOutcome {
        run: Some("01ARYZ6S410000000000000000".to_owned()),
        digest: Some(format!("sha256:{}", "a".repeat(64))),
        detail: Some("rate limit".to_owned()),
        key: Some("ffmpeg".to_owned()),
        blame: 0.5,
        shielded: true,
        attempts: 2,
        ms: Some(1_234),
        ..SkillOutcome::failure(R, S, "1.0.0", ApiError)
    };
    log.outcome(full);
    for record in &log.records {
        let text = serde_json::to_string(record).expect("a record");
        assert_eq!(serde_json::from_str::<CortexRecord>(&text).expect("a record"), *record);
    }
}

#[test]
fn clocks_that_go_backwards_or_ahead_lose_nothing() {
    let mut log = Log::new();
    log.every(DAY, 3);
    log.pass(-30 * DAY);
    log.ok();
    log.pass(4_000 * DAY);
    log.ok();
    log.pass(-3_900 * DAY);
    log.ok();
    assert_eq!(log.candidate().success, 6);
    let effective =
        log.memory().motor[R].effective_weight(&log.candidate(), log.now.day(), &log.policy);
    close(effective, log.weight());
}

/// A clock in the year 2090, once, kept what was learned fresh until then.
#[test]
fn a_clock_far_in_the_future_does_not_freeze_decay() {
    let mut log = Log::new();
    log.every(DAY, 5);
    log.pass(23_000 * DAY);
    log.ok();
    log.pass(-23_000 * DAY);
    log.ok();
    let idle =
        |log: &Log| log.memory().motor[R].idle_days(&log.candidate(), log.now.day(), &log.policy);
    assert_eq!(idle(&log), 0);
    log.pass(40 * DAY);
    assert_eq!(idle(&log), 40);
    let fresh = log.weight();
    let effective =
        log.memory().motor[R].effective_weight(&log.candidate(), log.now.day(), &log.policy);
    assert!(effective < 0.8 * fresh, "{effective} of {fresh}");

    // A log that holds nothing else does not count for ever either.
    let mut log = Log::new();
    log.pass(23_000 * DAY);
    log.ok();
    log.pass(-23_000 * DAY);
    assert!(idle(&log) > 1_000, "{}", idle(&log));
}
