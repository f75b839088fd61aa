//! Recording and recalling through the engine.

use sinew_cortex::failure::FailureKind::{DependencyMissing, RuntimeError, TaskMismatch};
use sinew_cortex::record::{CortexImportMode, ForgetScope};
use sinew_engine::{NewOutcome, WhyAnswer};
use sinew_settings::Actor;
use sinew_settings::{ErrorCode, ErrorKind};

use crate::cortex::support::{DAY, R, S, World, failed, ok, used};

on_both! {
    /// Ten weekly successes, each from a process of its own.
    fn ten_weekly_successes_earn_a_reflex(world) {
        for number in 1..=10 {
            let engine = world.engine();
            let recorded = engine.cortex().expect("a cortex").record(&ok()).expect("a record");
            assert_eq!(recorded.reflex, number == 10, "{number}");
            world.pass(7 * DAY as i64);
        }
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        let memory = cortex.memory().expect("a memory");
        assert!((memory.candidate(R, S).expect("a record").weight - 0.901563).abs() < 5e-7);
        assert_eq!(memory.records, 10);
        let rebuilt = cortex.rebuild().expect("a fold");
        assert!(rebuilt.agreed);
    }

    /// Reports of the past take their place, whatever the order in which they come.
    fn the_order_of_reports_does_not_matter(world) {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        let now = cortex.now();
        for weeks in [5, 9, 0, 3, 7, 1, 8, 2, 6, 4] {
            let at = Some(now.plus_ms(-(weeks * 7 * DAY as i64)));
            cortex.record(&NewOutcome { at, ..ok() }).expect("a record");
        }
        let memory = cortex.memory().expect("a memory");
        assert!((memory.candidate(R, S).expect("a record").weight - 0.901563).abs() < 5e-7);
        assert!(cortex.rebuild().expect("a fold").agreed);
    }

    /// Two processes that finish runs in different regions at once.
    fn what_another_process_writes_is_there_too(world) {
        let (one, two) = (world.engine(), world.engine());
        let (one, two) = (one.cortex().expect("a cortex"), two.cortex().expect("a cortex"));
        one.record(&used("first", "a")).expect("a record");
        two.record(&used("second", "b")).expect("a record");
        one.record(&used("first", "a")).expect("a record");
        for cortex in [one, two] {
            let memory = cortex.memory().expect("a memory");
            assert_eq!(memory.candidate("first", "a").expect("a record").success, 2);
            assert_eq!(memory.candidate("second", "b").expect("a record").success, 1);
        }
    }

    /// A wrong report is taken back.
    fn a_report_can_be_taken_back(world) {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        let before = cortex.record(&ok()).expect("a record").weight;
        let wrong = cortex.record(&failed(RuntimeError)).expect("a record");
        cortex.retract(wrong.id).expect("a retraction");
        let memory = cortex.memory().expect("a memory");
        assert_eq!(memory.candidate(R, S).map(|candidate| candidate.weight), before);
        assert!(world.engine().cortex().expect("a cortex").rebuild().expect("a fold").agreed);
    }

    /// A long log: snapshots are taken, and a new process reads one and the rest.
    fn a_new_process_needs_only_the_tail(world) {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        for number in 0..600 {
            cortex.record(&used(&format!("region-{}", number % 7), S)).expect("a record");
            world.pass(60_000);
        }
        let fresh = world.engine();
        let fresh = fresh.cortex().expect("a cortex");
        assert_eq!(fresh.memory().expect("a memory"), cortex.memory().expect("a memory"));
        assert!(fresh.rebuild().expect("a fold").agreed);
        let snapshot = engine.store().expect("a store").snapshot("cortex").expect("a snapshot");
        assert!(snapshot.is_some_and(|snapshot| snapshot.through.0 >= 256));
    }
}

#[test]
fn the_weight_is_told_before_pruning_takes_it() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&failed(TaskMismatch)).expect("a record");
    let recorded = cortex.record(&failed(TaskMismatch)).expect("a record");
    assert!((recorded.weight.expect("a weight") - 0.08).abs() < 1e-9);
    assert_eq!(recorded.pruned.len(), 1);
    assert!(cortex.memory().expect("a memory").candidate(R, S).is_none());
}

#[test]
fn lessons_are_learned_on_the_way() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let missing = NewOutcome { key: Some("ffmpeg".to_owned()), ..failed(DependencyMissing) };
    assert!(cortex.record(&missing).expect("a record").lessons.is_empty());
    let recorded = cortex.record(&missing).expect("a record");
    assert_eq!(
        recorded.lessons,
        ["learned: task-management needs `ffmpeg`, which is often missing"]
    );
    assert_eq!(cortex.lessons().expect("lessons")[0].lesson.confidence, 0.6);
}

#[test]
fn lessons_meet_what_is_the_case() {
    // As this machine shows them.
    let world = World::new();
    let missing = NewOutcome { key: Some("ffmpeg".to_owned()), ..failed(DependencyMissing) };
    let reads = Some(vec!["read:env:TODOIST_API_KEY".to_owned()]);
    let reader = NewOutcome { side_effects: reads, ..ok() };
    let confidences = |engine: &sinew_engine::Engine| -> Vec<f64> {
        let lessons = engine.cortex().expect("a cortex").lessons().expect("lessons");
        lessons.iter().map(|row| row.lesson.confidence).collect()
    };
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&missing).expect("a record");
    cortex.record(&missing).expect("a record");
    cortex.record(&reader).expect("a record");
    assert_eq!(confidences(&engine), [0.7], "it is missing again");
    // From now on the program is there, and the variable is set. A moment has passed: within one the
    // records of two processes have no order.
    world.pass(1);
    let world = world.with_bin("ffmpeg").with_var("TODOIST_API_KEY", "hunter2");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&reader).expect("a record");
    assert_eq!(confidences(&engine), [0.5]);
    cortex.record(&reader).expect("a record");
    assert_eq!(confidences(&engine), [0.3, 0.6]);
    let told = cortex.recall("anything", Some(R));
    assert_eq!(told.lessons.iter().map(|lesson| lesson.found).collect::<Vec<_>>(), [Some(true); 2]);
}

#[test]
fn a_variables_value_is_nowhere() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let secret = format!("ghp_{}", "a1".repeat(18));
    for _ in 0..3 {
        let outcome = NewOutcome {
            probes: [("env:TODOIST_API_KEY".to_owned(), true)].into(),
            detail: Some(format!("TODOIST_API_KEY={secret} was set")),
            ..failed(RuntimeError)
        };
        cortex.record(&outcome).expect("a record");
    }
    assert_eq!(cortex.lessons().expect("lessons").len(), 1);
    let refused = NewOutcome { key: Some(secret.clone()), ..failed(RuntimeError) };
    assert_eq!(cortex.record(&refused).expect_err("a secret").code, ErrorCode::Secret);
    cortex.export(Some(&world.path("work/out.json"))).expect("a file");
    drop(engine);
    for entry in std::fs::read_dir(world.path("home/.sinew"))
        .expect("the home")
        .chain(std::fs::read_dir(world.path("work")).expect("the workspace"))
    {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

#[test]
fn a_task_finds_its_region_by_words_and_by_meaning() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let outcome = NewOutcome {
        region: None,
        task: Some("Compress the holiday photos of Alice".to_owned()),
        ..used("", "imagemagick")
    };
    let recorded = cortex.record(&outcome).expect("a record");
    assert_eq!((recorded.region.as_str(), recorded.signals.len()), ("holiday-compress", 3));
    let told = cortex.recall("compress my photos", None);
    assert_eq!(told.explanation.decision.slug.as_deref(), Some("imagemagick"));
    assert!(matches!(cortex.why("compress my photos").expect("an answer"), WhyAnswer::Task(_)));
    assert!(matches!(cortex.why("imagemagick").expect("an answer"), WhyAnswer::Skill { .. }));
    assert_eq!(cortex.why("unknown-to-all").expect_err("unknown").kind(), ErrorKind::No);
}

#[test]
fn a_blacklisted_skill_is_gone_at_once() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    assert!(cortex.blacklist_add(S, Some("spam"), &Actor::System).expect("a change"));
    assert!(!cortex.blacklist_add(S, None, &Actor::System).expect("no change"));
    let told = cortex.recall("anything", Some(R));
    assert_eq!(told.explanation.decision.slug, None);
    assert!(matches!(
        cortex.why(S).expect("an answer"),
        WhyAnswer::Skill { blacklisted: true, .. }
    ));
    assert!(cortex.blacklist_remove(S, &Actor::System).expect("a change"));
    assert_eq!(cortex.recall("anything", Some(R)).explanation.decision.slug.as_deref(), Some(S));
}

#[test]
fn what_was_learned_can_be_forgotten() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    cortex.record(&ok()).expect("a record");
    cortex.record(&used("other", "b")).expect("a record");
    let unknown =
        cortex.reset(ForgetScope::Region("task-managment".to_owned())).expect_err("a typo");
    assert_eq!(unknown.hints, ["did you mean `task-management`?"]);
    cortex.reset(ForgetScope::Region(R.to_owned())).expect("a reset");
    assert!(!cortex.memory().expect("a memory").motor.contains_key(R));
    cortex.reset(ForgetScope::All).expect("a reset");
    assert!(cortex.memory().expect("a memory").motor.is_empty());
}

#[test]
fn a_file_of_the_original_comes_in_and_goes_out() {
    let world = World::new();
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let text = r#"{"version":1,"cortex":{"sensory":{"patterns":[]},"motor":{"task-management":{
        "candidates":[{"slug":"todoist","source":"clawhub","version":"1.0.0","weight":0.85,
        "runs":{"success":11,"fail":1,"recent_successes_7d":2},"last_fail":null,"side_effects":[],
        "skill_md_chars":3200,"reflex":false,"mine":1}],"last_used":"2026-03-02"}},
        "prefrontal":{"lessons":[]}},"blacklist":[],
        "stats":{"searches":1,"installs":1,"cache_hits":0,"reflexes_fired":0}}"#;
    world.write("work/in.json", text);
    let imported =
        cortex.import("in.json".as_ref(), CortexImportMode::Merge, &Actor::System).expect("a file");
    assert_eq!((imported.candidates, imported.repaired.len()), (1, 0));
    let exported: serde_json::Value =
        serde_json::from_str(&cortex.export(None).expect("a file").text).expect("JSON");
    assert_eq!(exported, serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
    let recorded = cortex.record(&ok()).expect("a record");
    assert!((recorded.weight.expect("a weight") - 0.8575).abs() < 1e-9);
}

#[test]
fn the_settings_decide() {
    let world = World::new().config("{cortex: {enabled: false}}");
    let refused = world.engine().cortex().expect_err("switched off");
    assert_eq!(refused.kind(), ErrorKind::Refused);
    let world = World::new().config(
        "{cortex: {policy: 'bayes', window_hours: 24, reflex: {min_lb: 0.9, cancel_window_ms: 0}}}",
    );
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    let policy = cortex.policy();
    assert_eq!((policy.window_hours, policy.min_lb, policy.cancel_window_ms), (24, 0.9, 0));
    assert_eq!(policy.order, sinew_settings::config::CandidateOrder::Bayes);
}

#[test]
fn other_settings_fold_the_same_log_anew() {
    let world = World::new();
    {
        let engine = world.engine();
        let cortex = engine.cortex().expect("a cortex");
        for _ in 0..300 {
            cortex.record(&ok()).expect("a record");
            world.pass(5 * 3_600_000);
        }
    }
    let weight = |world: &World| {
        let engine = world.engine();
        let memory = engine.cortex().expect("a cortex").memory().expect("a memory");
        memory.candidate(R, S).expect("a record").weight
    };
    let before = weight(&world);
    let world = world.config("{cortex: {window_hours: 1}}");
    assert!(weight(&world) > before);
    let world = world.config("{}");
    assert_eq!(weight(&world).to_bits(), before.to_bits());
}
