//! The second policy.

use sinew_cortex::CortexPolicy;
use sinew_cortex::bayes::{BayesCounts, Z, wilson};
use sinew_cortex::drift;
use sinew_cortex::explain::{FilterReason, candidate_views};
use sinew_cortex::failure::FailureKind::{self, ApiError, RuntimeError, TaskMismatch};
use sinew_cortex::memory::RegionCandidate;
use sinew_cortex::record::{RecordBody, RegionSkill};
use sinew_settings::config::CandidateOrder;

use crate::bundle::{DAY, Log, R, S, close, rounded, today};

fn bayes() -> CortexPolicy {
    CortexPolicy { order: CandidateOrder::Bayes, ..CortexPolicy::default() }
}

#[test]
fn counts_fade_with_each_use() {
    let story = |kind: FailureKind| {
        let mut log = Log::with(bayes());
        for _ in 0..3 {
            log.ok();
        }
        log.fail(kind);
        log.ok();
        log.candidate().counts
    };
    let counts = story(RuntimeError);
    close(counts.a, 3.82396016);
    close(counts.b, 0.98);
    rounded(counts.mean(), 0.775101);
    rounded(counts.lower_bound(), 0.424986);
    let counts = story(ApiError);
    close(counts.b, 0.147);
    rounded(counts.mean(), 0.856103);
    rounded(counts.lower_bound(), 0.552513);
}

#[test]
fn what_is_not_known_is_tried_first() {
    let mut log = Log::with(bayes());
    log.ok();
    let mut memory = log.memory();
    let counts = [("first", 9.0, 1.0), ("second", 0.0, 0.0), ("third", 2.0, 2.0)];
    memory.motor.get_mut(R).expect("the region").candidates = counts
        .iter()
        .map(|&(slug, a, b)| {
            let mut candidate = RegionCandidate::new(slug, "clawhub", "1", today());
            candidate.counts = BayesCounts { a, b };
            candidate
        })
        .collect();
    let views = candidate_views(&memory, R, today(), &log.policy);
    let order: Vec<&str> = views.iter().map(|view| view.slug.as_str()).collect();
    assert_eq!(order, ["second", "first", "third"]);
    for (view, score) in views.iter().zip([1.166277, 1.079652, 0.919353]) {
        rounded(view.bayes.score, score);
    }
    let ranks: Vec<_> = views.iter().map(|view| view.rank.bayes).collect();
    assert_eq!(ranks, [Some(1), Some(2), Some(3)]);
}

#[test]
fn the_bound_is_reached_at_success_13_and_lost_with_another_version() {
    let mut log = Log::with(bayes());
    for number in 1..=13 {
        log.ok();
        log.pass(DAY);
        assert_eq!(log.candidate().counts.lower_bound() >= 0.80, number == 13, "{number}");
    }
    rounded(log.candidate().counts.a, 11.548881);
    rounded(log.candidate().counts.lower_bound(), 0.810169);
    let fires =
        |log: &Log| candidate_views(&log.memory(), R, log.now.day(), &log.policy)[0].reflex.fires;
    assert!(fires(&log));
    let (stored, found) = ("1.0.0".to_owned(), "2.0.0".to_owned());
    log.push(RecordBody::VersionSeen { slug: S.to_owned(), stored, found });
    rounded(log.candidate().counts.a, 2.887220);
    rounded(log.candidate().counts.lower_bound(), 0.516198);
    assert!(!fires(&log));
}

#[test]
fn clean_streaks_reach_the_bounds_that_the_table_names() {
    let bound = |n: u32| wilson(f64::from(n), f64::from(n), Z);
    let first = |min: f64| (1..100).find(|n| bound(*n) >= min);
    assert!((bound(5) - 0.6488).abs() < 5e-5);
    assert!((bound(11) - 0.8026).abs() < 5e-5);
    assert!((bound(25) - 0.9023).abs() < 5e-5);
    assert_eq!([0.80, 0.85, 0.90].map(first), [Some(11), Some(16), Some(25)]);
    let faded = |min: f64| {
        let mut counts = BayesCounts::default();
        (1..100).find(|_| {
            counts = counts.success(1.0);
            counts.lower_bound() >= min
        })
    };
    assert_eq!([0.80, 0.85, 0.90].map(faded), [Some(13), Some(19), Some(34)]);
}

#[test]
fn nothing_known_has_no_bound() {
    close(BayesCounts::default().lower_bound(), 0.0);
    close(BayesCounts::default().mean(), 0.75);
    close(wilson(0.0, 3.0, Z), 0.0);
}

#[test]
fn four_failures_in_a_row_raise_the_alarm() {
    let mut sum = 0.0;
    for expected in [0.7, 1.4, 2.1, 2.8] {
        assert!(!drift::raises_alarm(sum));
        sum = drift::sum_after(sum, Some(RuntimeError));
        close(sum, expected);
    }
    assert!(drift::raises_alarm(sum));
    let quiet = (0..1_000).fold(0.0, |sum, _| drift::sum_after(sum, Some(ApiError)));
    close(quiet, 0.0);

    let mut log = Log::new();
    log.every(DAY, 10);
    let before = log.candidate().counts;
    for number in 1..=4 {
        assert_eq!(log.candidate().alarm, None);
        log.pass(DAY);
        log.fail(RuntimeError);
        assert_eq!(log.candidate().ring.chars().filter(|c| *c == 'r').count(), number);
    }
    let candidate = log.candidate();
    assert_eq!(candidate.alarm, Some(log.now));
    close(candidate.drift, 0.0);
    let mut expected = before;
    for _ in 0..4 {
        expected = expected.failure(RuntimeError, 1.0);
    }
    close(candidate.counts.a, expected.quartered().a);
    close(candidate.counts.b, expected.quartered().b);
}

#[test]
fn an_unreliable_skill_is_the_last_resort_once_in_thirty_days() {
    let mut log = Log::with(bayes());
    log.fail(TaskMismatch);
    // The drift alarm keeps counts low, so that few skills ever fall this far.
    let view = |log: &Log| {
        let mut memory = log.memory();
        let region = memory.motor.get_mut(R).expect("the region");
        region.candidates[0].counts = BayesCounts { a: 0.0, b: 8.0 };
        candidate_views(&memory, R, log.now.day(), &log.policy).remove(0)
    };
    assert!(view(&log).bayes.mean < 0.3);
    assert_eq!(view(&log).filtered, None);
    let place = RegionSkill { slug: S.to_owned(), region: R.to_owned(), run: None };
    log.push(RecordBody::Offered(place));
    assert_eq!(view(&log).filtered, Some(FilterReason::LastResort));
    log.pass(29 * DAY);
    assert_eq!(view(&log).filtered, Some(FilterReason::LastResort));
    log.pass(DAY);
    assert_eq!(view(&log).filtered, None);
}

#[test]
fn both_policies_are_there_at_any_time() {
    let mut log = Log::new();
    log.ok();
    let cortex = candidate_views(&log.memory(), R, today(), &log.policy);
    let bayes = candidate_views(&log.memory(), R, today(), &bayes());
    assert_eq!((cortex[0].weight, cortex[0].bayes), (bayes[0].weight, bayes[0].bayes));
    assert_eq!(cortex[0].rank, bayes[0].rank);
}
