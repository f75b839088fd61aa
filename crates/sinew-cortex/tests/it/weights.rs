//! Skill Cortex's formulas, through the fold.

use sinew_cortex::CortexPolicy;
use sinew_cortex::failure::FailureKind::{
    ApiError, AuthError, DependencyMissing, RuntimeError, TaskMismatch,
};
use sinew_cortex::learn;
use sinew_cortex::prune::{PruneRule, RemovalTarget};
use sinew_cortex::record::{RecordBody, SkillOutcome, UseResult};
use sinew_cortex::weight::effective;
use sinew_settings::config::ShieldScope;

use crate::bundle::{DAY, HOUR, Log, R, S, close, rounded};

#[test]
fn three_successes_within_an_hour_add_less_each_time() {
    let mut log = Log::new();
    for weight in [0.575, 0.606875, 0.62653125] {
        log.ok();
        close(log.weight(), weight);
        log.pass(HOUR / 4);
    }
}

#[test]
fn a_success_a_week_ago_to_the_hour_is_outside_the_window() {
    for (later, weight) in [(168 * HOUR, 0.63875), (168 * HOUR - 60_000, 0.606875)] {
        let mut log = Log::new();
        log.ok();
        close(log.weight(), 0.575);
        log.pass(later);
        log.ok();
        close(log.weight(), weight);
    }
}

#[test]
fn each_kind_of_failure_costs_what_the_table_says() {
    let table = [
        (TaskMismatch, 0.2, 0.08),
        (RuntimeError, 0.3, 0.18),
        (AuthError, 0.4, 0.32),
        (DependencyMissing, 0.425, 0.36125),
        (ApiError, 0.45, 0.405),
    ];
    for (kind, once, twice) in table {
        let mut log = Log::new();
        log.fail(kind);
        close(log.weight(), once);
        log.fail(kind);
        close(log.weight(), twice);
    }
    let mut log = Log::new();
    for _ in 0..5 {
        log.fail(ApiError);
    }
    close(log.weight(), 0.295245);
}

#[test]
fn two_mismatches_prune_a_new_skill_at_once() {
    let mut log = Log::new();
    log.fail(TaskMismatch);
    log.fail(TaskMismatch);
    close(log.weight(), 0.08);
    let pruning = learn::pruning_record(&log.memory(), log.now.day(), &log.policy, Some((R, S)));
    let Some(RecordBody::Prune { removed }) = pruning else { panic!("nothing is pruned") };
    assert_eq!(removed[0].rule, PruneRule::Weak);
    assert_eq!(
        removed[0].what,
        RemovalTarget::Candidate { region: R.to_owned(), slug: S.to_owned() }
    );
    log.push(RecordBody::Prune { removed });
    assert_eq!(log.memory().candidate(R, S), None);
}

#[test]
fn half_the_blame_is_half_the_effect() {
    let with_blame = |outcome: SkillOutcome| {
        let mut log = Log::new();
        log.outcome(SkillOutcome { blame: 0.5, ..outcome });
        log.weight()
    };
    close(with_blame(SkillOutcome::success(R, S, "1")), 0.5375);
    rounded(with_blame(SkillOutcome::failure(R, S, "1", TaskMismatch)), 0.316228);
}

#[test]
fn disuse_fades_a_weight_by_the_day() {
    // Only the numbers; their consequences are tested in `recall` and `pruning`.
    close(effective(0.5, 72), 0.3);
    rounded(effective(0.5, 73), 0.297222);
    rounded(effective(0.95, 10), 0.897222);
    close(effective(0.32, 126), 0.096);
    close(effective(0.34, 126), 0.102);
}

#[test]
fn days_are_those_of_the_calendar() {
    let mut log = Log::new();
    log.now = "2026-03-02T23:59:00Z".parse().unwrap();
    log.ok();
    let region = &log.memory().motor[R];
    let candidate = &region.candidates[0];
    let idle = |text: &str| {
        let at: sinew_cortex::UtcInstant = text.parse().unwrap();
        region.idle_days(candidate, at.day(), &log.policy)
    };
    assert_eq!(idle("2026-03-02T23:59:59Z"), 0);
    assert_eq!(idle("2026-03-03T00:00:00Z"), 1);
    assert_eq!(idle("2026-02-01T00:00:00Z"), 0);
}

#[test]
fn a_failure_takes_the_reflex_and_the_streak_and_is_remembered() {
    for kind in sinew_cortex::failure::FailureKind::ALL {
        let mut log = Log::new();
        log.every(7 * DAY, 12);
        assert!(log.candidate().reflex);
        log.outcome(SkillOutcome {
            detail: Some("rate limit".to_owned()),
            ..SkillOutcome::failure(R, S, "1.0.0", kind)
        });
        let candidate = log.candidate();
        assert!(!candidate.reflex);
        assert_eq!((candidate.streak, candidate.success, candidate.fail), (0, 12, 1));
        let fail = candidate.last_fail.expect("the failure");
        assert_eq!(
            (fail.kind, fail.detail.as_str(), fail.date),
            (kind, "rate limit", log.now.day())
        );
    }
}

#[test]
fn an_unknown_result_changes_nothing() {
    let mut log = Log::new();
    log.ok();
    let before = log.memory();
    log.pass(DAY);
    log.outcome(SkillOutcome::new(R, S, "1.0.0", UseResult::Unknown));
    log.outcome(SkillOutcome::new("elsewhere", "other", "1", UseResult::Unknown));
    let after = log.memory();
    assert_eq!((before.motor, before.outage), (after.motor, after.outage));
}

#[test]
fn two_services_that_fail_together_are_an_outage() {
    let story = |policy: CortexPolicy| {
        let mut log = Log::with(policy);
        log.outcome(SkillOutcome::failure(R, "one", "1", ApiError));
        log.pass(4 * 60_000);
        log.outcome(SkillOutcome::failure(R, "two", "1", ApiError));
        let memory = log.memory();
        ["one", "two"].map(|slug| {
            let candidate = memory.candidate(R, slug).expect("a record");
            (candidate.weight, candidate.env_fails, candidate.counts.b)
        })
    };
    let all = CortexPolicy { shield: ShieldScope::All, ..CortexPolicy::default() };
    assert_eq!(story(all), [(0.5, 1, 0.0); 2]);
    assert_eq!(story(CortexPolicy::default()), [(0.45, 1, 0.0); 2]);
    let off = CortexPolicy { shield: ShieldScope::Off, ..CortexPolicy::default() };
    assert_eq!(story(off), [(0.45, 0, 0.15); 2]);
}

#[test]
fn one_service_or_a_long_pause_is_no_outage() {
    let mut log = Log::new();
    log.outcome(SkillOutcome::failure(R, "one", "1", ApiError));
    log.outcome(SkillOutcome::failure(R, "one", "1", ApiError));
    log.pass(10 * 60_000 + 1);
    log.outcome(SkillOutcome::failure(R, "two", "1", ApiError));
    log.pass(60_000);
    log.outcome(SkillOutcome::failure(R, "three", "1", RuntimeError));
    assert!(log.memory().motor[R].candidates.iter().all(|candidate| candidate.env_fails == 0));
    // If the host is offline, any failure is the network's.
    log.outcome(SkillOutcome {
        shielded: true,
        ..SkillOutcome::failure(R, "three", "1", RuntimeError)
    });
    assert_eq!(log.memory().candidate(R, "three").expect("a record").env_fails, 1);
}

#[test]
fn a_search_result_that_is_known_keeps_its_record() {
    let mut log = Log::new();
    log.fail(TaskMismatch);
    log.pass(DAY);
    log.ok();
    close(log.weight(), 0.2 + 0.8 * 0.15);
}
