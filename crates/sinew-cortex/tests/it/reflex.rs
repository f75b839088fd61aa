//! Reflexes: earned slowly, lost at once.

use sinew_cortex::CortexPolicy;
use sinew_cortex::explain::PlanMode;
use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_cortex::memory::RegionCandidate;
use sinew_cortex::recall::{RecallTask, recall};
use sinew_cortex::record::{RecordBody, SkillOutcome};
use sinew_cortex::reflex::{self, ReflexContext, decide, notice};
use sinew_settings::config::{CandidateOrder, ReflexGate};

use crate::bundle::{DAY, Log, R, S, rounded, today};

fn fires(log: &Log) -> bool {
    let memory = log.memory();
    let region = &memory.motor[R];
    let idle = region.idle_days(&region.candidates[0], log.now.day(), &log.policy);
    decide(&region.candidates[0], &ReflexContext { idle, ..ReflexContext::default() }, &log.policy)
        .fires
}

fn proven() -> RegionCandidate {
    let mut candidate = RegionCandidate::new(S, "clawhub", "1.2.0", today());
    candidate.side_effects = Some(vec!["network:api.todoist.com".to_owned()]);
    candidate.weight = 0.95;
    candidate.success = 20;
    candidate.streak = 6;
    candidate.reflex = true;
    candidate
}

/// The first use that is a reflex, counted from 1, and the use at which it was earned.
fn first_reflex(every: i64) -> (u32, f64, u32) {
    let mut log = Log::new();
    let mut earned = None;
    for number in 1.. {
        if fires_now(&log) {
            let (at, weight) = earned.expect("a reflex is earned before it fires");
            return (at, weight, number);
        }
        log.ok();
        let candidate = log.candidate();
        if candidate.reflex && earned.is_none() {
            earned = Some((number, candidate.weight));
        }
        log.pass(every);
    }
    unreachable!("the loop is endless")
}

fn fires_now(log: &Log) -> bool {
    !log.records.is_empty() && fires(log)
}

#[test]
fn ten_weekly_successes_earn_a_reflex_that_fires_at_use_14() {
    let (earned, weight, first) = first_reflex(7 * DAY);
    rounded(weight, 0.901563);
    assert_eq!((earned, first), (10, 14));
}

#[test]
fn sixty_three_daily_successes_earn_one_that_fires_at_use_66() {
    let (earned, weight, first) = first_reflex(DAY);
    rounded(weight, 0.901098);
    assert_eq!((earned, first), (63, 66));
}

#[test]
fn an_idle_reflex_waits_and_says_why() {
    let mut log = Log::new();
    log.every(7 * DAY, 1);
    let mut memory = log.memory();
    memory.motor.get_mut(R).expect("the region").candidates = vec![proven()];
    let later = today().plus_days(10);
    let answer = recall(
        &memory,
        &RecallTask { region: Some(R), ..RecallTask::default() },
        later,
        &log.policy,
    );
    assert_eq!(answer.decision.mode, PlanMode::Standard);
    rounded(answer.candidates[0].effective_weight, 0.897222);
    assert_eq!(answer.candidates[0].reflex.missing, ["effective_weight 0.8972 < 0.90"]);
    assert!(answer.candidates[0].notes[0].contains("within 9.5 idle days"), "{answer:?}");
}

#[test]
fn another_version_resets_before_the_user_is_asked() {
    // The prompt is tested in `acquire`.
    let mut log = Log::new();
    log.every(7 * DAY, 14);
    assert!(log.candidate().reflex && fires(&log));
    let (stored, found) = ("1.0.0".to_owned(), "1.3.0".to_owned());
    log.push(RecordBody::VersionSeen { slug: S.to_owned(), stored, found });
    let candidate = log.candidate();
    assert!(!candidate.reflex && candidate.streak == 0);
    assert!(!fires(&log));
    // Seeing it again has no further effect.
    let counts = candidate.counts;
    let (stored, found) = ("1.0.0".to_owned(), "1.3.0".to_owned());
    log.push(RecordBody::VersionSeen { slug: S.to_owned(), stored, found });
    assert_eq!(log.candidate().counts, counts);
    log.pass(DAY);
    log.outcome(SkillOutcome::success(R, S, "1.3.0"));
    let candidate = log.candidate();
    assert_eq!((candidate.version.as_str(), candidate.streak), ("1.3.0", 1));
    assert!(candidate.counts.a > counts.a * 0.97 + 0.99, "discounted once");
}

#[test]
fn what_writes_deletes_or_runs_a_shell_never_becomes_a_reflex() {
    for tag in ["write:api.x", "delete:mail", "shell:bash", "SHELL:bash"] {
        let mut log = Log::new();
        for _ in 0..50 {
            let side_effects = Some(vec![tag.to_owned()]);
            log.outcome(SkillOutcome { side_effects, ..SkillOutcome::success(R, S, "1.0.0") });
            log.pass(8 * DAY);
        }
        let mut candidate = log.candidate();
        assert!(candidate.weight > 0.99 && !candidate.reflex, "{tag}");
        candidate.reflex = true;
        let decided = decide(&candidate, &ReflexContext::default(), &log.policy);
        assert_eq!((decided.fires, decided.missing), (false, vec![format!("side_effect {tag}")]));
    }
}

#[test]
fn an_unknown_side_effect_counts_as_a_shell() {
    let mut log = Log::new();
    for _ in 0..20 {
        log.outcome(SkillOutcome { side_effects: None, ..SkillOutcome::success(R, S, "1.0.0") });
        log.pass(8 * DAY);
    }
    assert!(!log.candidate().reflex);
    assert_eq!(log.candidate().side_effect_tags(), ["shell:unknown"]);
}

#[test]
fn a_tag_that_was_seen_once_stays() {
    let mut log = Log::new();
    let side_effects = Some(vec!["write:disk".to_owned()]);
    log.outcome(SkillOutcome { side_effects, ..SkillOutcome::success(R, S, "1.0.0") });
    log.ok();
    assert_eq!(log.candidate().side_effect_tags(), ["write:disk"]);
}

#[test]
fn the_files_that_would_be_installed_have_the_last_word() {
    let shown = ["shell:exec".to_owned()];
    let moment = ReflexContext { shown: &shown, ..ReflexContext::default() };
    let decided = decide(&proven(), &moment, &CortexPolicy::default());
    assert_eq!(decided.missing, ["side_effect shell:exec"]);
}

#[test]
fn the_notice_rounds_the_success_rate() {
    let mut candidate = proven();
    (candidate.success, candidate.fail) = (24, 1);
    let signals = ["manage".to_owned(), "todo".to_owned()];
    assert_eq!(
        notice(&candidate, &signals),
        "⚡ Skill Cortex reflex: todoist v1.2.0 (96% success rate)\n   \
         Task: manage todo (read-only) | Will install and execute. Say cancel to abort."
    );
    (candidate.success, candidate.fail) = (1, 1);
    assert!(notice(&candidate, &[]).contains("(50% success rate)\n   Task: todoist ("));
    (candidate.success, candidate.fail) = (199, 1);
    assert!(notice(&candidate, &[]).contains("(100% success rate)"), "99.5 rounds up");
}

#[test]
fn each_gate_asks_for_its_own_conditions() {
    let gate = |gate: ReflexGate| CortexPolicy { gate: Some(gate), ..CortexPolicy::default() };
    let mut candidate = proven();
    let moment = ReflexContext::default();
    let missing =
        |candidate: &RegionCandidate, policy: &CortexPolicy, moment: &ReflexContext<'_>| {
            decide(candidate, moment, policy).missing
        };
    assert!(missing(&candidate, &gate(ReflexGate::Reference), &moment).is_empty());
    let bound = ["lower_bound 0.0000 < 0.80"];
    assert_eq!(missing(&candidate, &gate(ReflexGate::ReferenceAndBound), &moment), bound);
    assert_eq!(missing(&candidate, &gate(ReflexGate::Off), &moment).len(), 1);
    candidate.counts.a = 20.0;
    candidate.weight = 0.4;
    candidate.reflex = false;
    assert!(missing(&candidate, &gate(ReflexGate::Bound), &moment).is_empty());
    let idle = ReflexContext { idle: 91, ..moment };
    assert_eq!(
        missing(&candidate, &gate(ReflexGate::Bound), &idle),
        ["idle 91 days > 90: one confirmed use re-arms it"]
    );
    candidate.streak = 4;
    assert_eq!(missing(&candidate, &gate(ReflexGate::Bound), &moment), ["streak 4 < 5"]);
}

#[test]
fn the_gate_follows_the_policy_unless_it_is_set() {
    let bayes = CortexPolicy { order: CandidateOrder::Bayes, ..CortexPolicy::default() };
    assert_eq!(
        (CortexPolicy::default().gate(), bayes.gate()),
        (ReflexGate::Reference, ReflexGate::Bound)
    );
    let off = CortexPolicy { gate: Some(ReflexGate::Off), ..bayes };
    assert_eq!(off.gate(), ReflexGate::Off);
}

#[test]
fn a_reflex_that_was_lost_is_earned_again_by_a_success_and_fires_after_five() {
    let mut log = Log::new();
    log.every(8 * DAY, 30);
    log.pass(8 * DAY);
    log.fail(RuntimeError);
    assert!(!log.candidate().reflex);
    for _ in 0..20 {
        log.pass(8 * DAY);
        log.ok();
    }
    let candidate = log.candidate();
    assert!(candidate.reflex && candidate.streak == 20 && reflex::is_earned(&candidate));
}
