//! From a task to a region, and to the offered candidates.

use sinew_cortex::explain::{FilterReason, RecallAction, RegionMatchKind};
use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_cortex::lesson::Lesson;
use sinew_cortex::recall::{CandidateFit, RecallTask, TaskSimilarity, recall};
use sinew_cortex::record::{BlacklistOp, LessonOp, RecordBody, RegionSkill, SkillOutcome};
use sinew_cortex::signals::{SignalVocabulary, signal_words};
use sinew_cortex::{CortexPolicy, learn};
use sinew_settings::config::DecayScope;

use crate::bundle::{DAY, Log, R, S, close, rounded};

fn pattern(log: &mut Log, region: &str, list: &[&str]) {
    let words = list.iter().map(|word| (*word).to_owned()).collect();
    log.push(RecordBody::Signals { region: region.to_owned(), words, vocabulary: 1 });
}

fn usual() -> Log {
    let mut log = Log::new();
    log.ok();
    pattern(&mut log, R, &["manage", "todo", "task", "reminder"]);
    pattern(&mut log, "image-processing", &["image", "convert", "resize", "compress", "thumbnail"]);
    log
}

fn recalled(log: &Log, task: &str) -> sinew_cortex::explain::RecallExplanation {
    let words = signal_words(task, &SignalVocabulary::built_in());
    recall(
        &log.memory(),
        &RecallTask { words: &words, ..RecallTask::default() },
        log.now.day(),
        &log.policy,
    )
}

#[test]
fn nothing_is_known_at_first() {
    let answer = recalled(&Log::new(), "manage my to-do list");
    assert_eq!((answer.region, answer.decision.action), (None, RecallAction::Search));
}

#[test]
fn two_shared_words_are_a_hit() {
    let answer = recalled(&usual(), "manage my to-do list");
    assert_eq!(answer.task_signals, ["manage", "todo", "list"]);
    assert_eq!(
        (answer.region.as_deref(), answer.matched.kind),
        (Some(R), RegionMatchKind::Lexical)
    );
    assert_eq!(answer.matched.shared, ["manage", "todo"]);
    close(answer.matched.score, 2.0 / 3.0);
    assert_eq!(answer.decision.slug.as_deref(), Some(S));
}

#[test]
fn one_shared_word_must_be_half_of_the_shorter_side() {
    let log = usual();
    assert_eq!(recalled(&log, "convert the invoice").matched.kind, RegionMatchKind::Lexical);
    assert_eq!(recalled(&log, "convert the invoice and send it to the customer").region, None);
    assert_eq!(recalled(&log, "write a poem").region, None);
}

#[test]
fn a_region_that_the_caller_names_wins() {
    let log = usual();
    let words = signal_words("resize and compress the image", &SignalVocabulary::built_in());
    let task = RecallTask { words: &words, region: Some(R), ..RecallTask::default() };
    let answer = recall(&log.memory(), &task, log.now.day(), &log.policy);
    assert_eq!((answer.region.as_deref(), answer.matched.kind), (Some(R), RegionMatchKind::Named));
}

#[test]
fn ties_go_to_the_region_that_was_used_last_then_to_the_name() {
    let mut log = usual();
    pattern(&mut log, "b-region", &["manage", "todo", "task", "reminder"]);
    pattern(&mut log, "a-region", &["manage", "todo", "task", "reminder"]);
    let answer = recalled(&log, "manage my to-do list");
    assert_eq!(answer.region.as_deref(), Some(R));
    let second = answer.matched.runner_up.expect("a runner-up");
    assert_eq!((second.region.as_str(), second.near_tie), ("a-region", true));
    log.pass(DAY);
    log.outcome(SkillOutcome::success("b-region", S, "1"));
    assert_eq!(recalled(&log, "manage my to-do list").region.as_deref(), Some("b-region"));
}

struct Means(&'static str, f64);

impl TaskSimilarity for Means {
    fn of(&self, region: &str) -> Option<f64> {
        (region == self.0).then_some(self.1)
    }

    fn accepts_from(&self) -> f64 {
        0.75
    }
}

#[test]
fn meaning_finds_what_words_do_not() {
    let log = usual();
    let ask = |task: &str, similarity: &dyn TaskSimilarity| {
        let words = signal_words(task, &SignalVocabulary::built_in());
        let task =
            RecallTask { words: &words, similarity: Some(similarity), ..RecallTask::default() };
        recall(&log.memory(), &task, log.now.day(), &log.policy)
    };
    let answer = ask("make these pictures smaller", &Means("image-processing", 0.8));
    assert_eq!(answer.region.as_deref(), Some("image-processing"));
    assert_eq!((answer.matched.kind, answer.matched.score), (RegionMatchKind::Meaning, 0.8));
    assert_eq!(ask("make these pictures smaller", &Means("image-processing", 0.74)).region, None);
    // The better of the two scores decides.
    let answer = ask("manage my to-do list", &Means("image-processing", 0.9));
    assert_eq!(answer.region.as_deref(), Some("image-processing"));
}

#[test]
fn a_pattern_in_another_language_is_understood() {
    let mut log = Log::new();
    pattern(&mut log, "bilder", &["Bild", "komprimieren"]);
    assert_eq!(recalled(&log, "compress this image").region.as_deref(), Some("bilder"));
}

#[test]
fn a_weak_candidate_is_not_offered_and_the_run_searches() {
    let mut log = Log::new();
    log.outcome(SkillOutcome { blame: 1e-12, ..SkillOutcome::success(R, S, "1") });
    let mut memory = log.memory();
    memory.motor.get_mut(R).expect("the region").candidates[0].weight = 0.5;
    let answer = |days: i32| {
        let task = RecallTask { region: Some(R), ..RecallTask::default() };
        recall(&memory, &task, log.now.day().plus_days(days), &log.policy)
    };
    let offered = answer(72);
    close(offered.candidates[0].effective_weight, 0.3);
    assert_eq!(
        (offered.candidates[0].filtered, offered.decision.action),
        (None, RecallAction::Present)
    );
    let filtered = answer(73);
    rounded(filtered.candidates[0].effective_weight, 0.297222);
    assert_eq!(filtered.candidates[0].filtered, Some(FilterReason::Weak));
    assert_eq!(filtered.decision.action, RecallAction::Search);
    assert_eq!(filtered.decision.reason, "all 1 candidates of task-management are filtered");
}

#[test]
fn each_candidate_can_fade_on_its_own() {
    let mut log = Log::new();
    log.outcome(SkillOutcome::success(R, "early", "1"));
    log.pass(90 * DAY);
    log.outcome(SkillOutcome::success(R, "late", "1"));
    let effective = |policy: &CortexPolicy| {
        let memory = log.memory();
        let region = &memory.motor[R];
        region.effective_weight(&region.candidates[0], log.now.day(), policy)
    };
    close(effective(&CortexPolicy::default()), 0.575);
    let own = CortexPolicy { decay: DecayScope::Candidate, ..CortexPolicy::default() };
    close(effective(&own), 0.575 * 0.5);
}

#[test]
fn a_blacklisted_skill_is_gone_until_it_is_taken_off() {
    let mut log = usual();
    let answer = |log: &Log| recalled(log, "manage my to-do list");
    let blacklist = |log: &mut Log, op| {
        log.push(RecordBody::Blacklist { op, slug: S.to_owned(), reason: Some("spam".to_owned()) });
    };
    blacklist(&mut log, BlacklistOp::Add);
    assert_eq!(answer(&log).candidates[0].filtered, Some(FilterReason::Blacklisted));
    assert_eq!(answer(&log).decision.action, RecallAction::Search);
    blacklist(&mut log, BlacklistOp::Remove);
    assert_eq!(answer(&log).decision.action, RecallAction::Present);
}

#[test]
fn candidates_are_ordered_by_effective_weight_then_weight_successes_and_name() {
    let mut log = Log::new();
    for slug in ["b", "a", "c"] {
        log.outcome(SkillOutcome::success(R, slug, "1"));
    }
    log.outcome(SkillOutcome::success(R, "c", "1"));
    log.outcome(SkillOutcome::failure(R, "d", "1", RuntimeError));
    let order = |log: &Log| {
        let task = RecallTask { region: Some(R), ..RecallTask::default() };
        let answer = recall(&log.memory(), &task, log.now.day(), &log.policy);
        answer.candidates.iter().map(|view| view.slug.clone()).collect::<String>()
    };
    assert_eq!(order(&log), "cabd");
    // A skill whose description misleads comes after its peers.
    let lesson = Lesson::SkillQualityWarning { slug: "c".to_owned(), detail: "sorts".to_owned() };
    log.push(RecordBody::Lesson { op: LessonOp::Create, lesson, evidence: Vec::new() });
    assert_eq!(order(&log), "abdc");
}

#[test]
fn words_are_learned_after_a_miss_into_one_pattern() {
    // That a hit learns nothing is in `acquire`.
    let mut log = usual();
    let vocabulary = SignalVocabulary::built_in();
    let learned = |task: &str| learn::signals_record(task, R, S, &vocabulary).expect("words");
    log.push(learned("plan the week with todo notes"));
    let memory = log.memory();
    assert_eq!(memory.patterns.iter().filter(|pattern| pattern.region == R).count(), 1);
    let words: Vec<&str> =
        memory.pattern(R).expect("a pattern").signals.iter().map(|s| s.word.as_str()).collect();
    assert_eq!(words, ["manage", "todo", "task", "reminder", "plan", "notes"]);
}

/// What each skill is worth for the task, as the router would say it.
struct Fits(&'static [(&'static str, f64)]);

impl CandidateFit for Fits {
    fn of(&self, slug: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == slug).map(|(_, fit)| *fit)
    }
}

fn fitting(
    log: &Log,
    task: &str,
    fit: &'static [(&'static str, f64)],
) -> sinew_cortex::explain::RecallExplanation {
    let words = signal_words(task, &SignalVocabulary::built_in());
    let fits = Fits(fit);
    let asked = RecallTask { words: &words, fit: Some(&fits), ..RecallTask::default() };
    recall(&log.memory(), &asked, log.now.day(), &log.policy)
}

#[test]
fn shared_words_count_only_where_the_skill_fits_the_task() {
    let log = usual();
    let task = "manage the todo notes of the orchestra";
    assert_eq!(fitting(&log, task, &[(S, 0.65)]).decision.action, RecallAction::Present);
    assert_eq!(fitting(&log, task, &[(S, 0.3)]).decision.action, RecallAction::Search);
    // A skill that fits well needs no shared word.
    let told = fitting(&log, "what is still open this week", &[(S, 0.8)]);
    assert_eq!(
        (told.decision.action, told.matched.kind),
        (RecallAction::Present, RegionMatchKind::Meaning)
    );
}

#[test]
fn one_word_is_the_same_task_only_where_there_is_no_other() {
    let mut log = Log::new();
    log.ok();
    pattern(&mut log, R, &["photo"]);
    // Said in a language that the router reads badly, it is the same task again.
    let again = fitting(&log, "¿puedes sacar una foto?", &[(S, 0.2)]);
    assert_eq!(again.decision.action, RecallAction::Present, "{again:?}");
    let other = fitting(&log, "sort the photo albums and archive the invoices", &[(S, 0.2)]);
    assert_eq!(other.decision.action, RecallAction::Search, "{other:?}");
    let unfit = fitting(&log, "a photo", &[(S, 0.05)]);
    assert_eq!(unfit.decision.action, RecallAction::Search, "{unfit:?}");
}

#[test]
fn what_vanished_is_not_offered_and_hides_no_other() {
    let mut log = Log::new();
    for slug in ["gone", "gone", "there"] {
        log.outcome(SkillOutcome::success(R, slug, "1"));
    }
    pattern(&mut log, R, &["invoice", "archive"]);
    let ask = |log: &Log| fitting(log, "archive the invoice", &[("gone", 0.9), ("there", 0.5)]);
    assert_eq!(ask(&log).decision.slug.as_deref(), Some("gone"));
    let place = RegionSkill { slug: "gone".to_owned(), region: R.to_owned(), run: None };
    log.push(RecordBody::Vanished(place));
    let told = ask(&log);
    assert_eq!(told.decision.slug.as_deref(), Some("there"), "{told:?}");
    let gone = told.candidates.iter().find(|view| view.slug == "gone").expect("it is known");
    assert_eq!((gone.filtered, gone.rank.cortex), (Some(FilterReason::Vanished), None));
    // Used again, it is there again.
    log.outcome(SkillOutcome::success(R, "gone", "1"));
    assert_eq!(ask(&log).decision.slug.as_deref(), Some("gone"));
}

#[test]
fn verbs_that_every_task_has_recall_nothing() {
    let mut log = Log::new();
    log.ok();
    pattern(&mut log, R, &["send", "show", "create"]);
    let answer = recalled(&log, "create a page and show it to me");
    assert_eq!((answer.region, answer.decision.action), (None, RecallAction::Search));
    assert_eq!(
        fitting(&log, "create a page and show it to me", &[(S, 0.3)]).decision.action,
        RecallAction::Search
    );
}

#[test]
fn the_best_fit_comes_before_the_weight() {
    let mut log = Log::new();
    for slug in ["strong", "strong", "strong", "right"] {
        log.outcome(SkillOutcome::success(R, slug, "1"));
    }
    pattern(&mut log, R, &["invoice", "archive"]);
    let ask = |fit| fitting(&log, "archive the invoice", fit);
    let told = ask(&[("strong", 0.2), ("right", 0.7)]);
    assert_eq!(told.decision.slug.as_deref(), Some("right"));
    let strong = told.candidates.iter().find(|view| view.slug == "strong").expect("it is there");
    assert_eq!(strong.filtered, Some(FilterReason::Unfit));
    // Among peers the weight decides.
    let told = ask(&[("strong", 0.6), ("right", 0.7)]);
    assert_eq!(told.decision.slug.as_deref(), Some("strong"));
}
