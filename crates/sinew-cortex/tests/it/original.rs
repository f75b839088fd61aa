//! `cortex.json` in and out.

use serde_json::{Value, json};
use sinew_cortex::failure::FailureKind::RuntimeError;
use sinew_cortex::original::{CortexJson, export, merge, read_cortex_json};
use sinew_cortex::record::{CortexImportMode, RecordBody};

use crate::bundle::{DAY, Log, R, S, close, today};

fn example() -> Value {
    json!({
        "version": 1,
        "cortex": {
            "sensory": {
                "patterns": [
                    { "signal": ["manage", "todo", "task", "reminder"], "region": "task-management", "since": "x" },
                    { "signal": ["image", "convert"], "region": "image-processing" }
                ],
                "tuned": true
            },
            "motor": {
                "task-management": {
                    "candidates": [{
                        "slug": "todoist-cli", "source": "clawhub", "version": "1.2.0",
                        "weight": 0.85,
                        "runs": { "success": 11, "fail": 1, "recent_successes_7d": 2, "mood": "good" },
                        "last_fail": { "type": "api_error", "detail": "429 rate limited", "date": "2026-02-20", "by": "x" },
                        "side_effects": ["read:env:TODOIST_API_KEY", "network:api.todoist.com"],
                        "skill_md_chars": 3200, "reflex": false, "stars": 5
                    }],
                    "last_used": "2026-03-02", "colour": "red"
                },
                "image-processing": {
                    "candidates": [{
                        "slug": "imagemagick", "source": "github", "version": "0.3.1",
                        "weight": 0.5,
                        "runs": { "success": 0, "fail": 0, "recent_successes_7d": 0 },
                        "last_fail": null, "side_effects": ["write:files"],
                        "skill_md_chars": 900, "reflex": false
                    }],
                    "last_used": "2026-02-24"
                }
            },
            "prefrontal": {
                "lessons": [
                    { "type": "dependency_warning", "region": "image-processing", "key": "magick",
                      "action": "check_bin_before_install", "confidence": 0.7, "created": "2026-02-01" },
                    { "type": "skill_quality_warning", "slug": "todoist-cli", "detail": "says it sorts",
                      "confidence": 0.6, "created": "2026-02-02", "who": "me" },
                    { "type": "env_ready", "region": "task-management", "key": "TODOIST_API_KEY",
                      "confidence": 1.0, "created": "2026-02-03" }
                ]
            },
            "dreams": []
        },
        "blacklist": ["evil-skill"],
        "stats": { "searches": 4, "installs": 3, "cache_hits": 9, "reflexes_fired": 1, "naps": 2 },
        "motto": { "a": [1, 2] }
    })
}

fn imported(value: &Value, mode: CortexImportMode, log: &mut Log) -> Vec<String> {
    let (file, repaired) = read_cortex_json(&value.to_string(), log.now.day()).expect("a file");
    log.push(RecordBody::Import { mode, file: Box::new(file) });
    repaired.iter().map(ToString::to_string).collect()
}

fn exported(log: &Log) -> Value {
    serde_json::to_value(export(&log.memory(), log.now, &log.policy)).expect("a file")
}

#[test]
fn what_comes_in_goes_out_again_unknown_keys_included() {
    let mut log = Log::new();
    assert_eq!(imported(&example(), CortexImportMode::Merge, &mut log), [] as [&str; 0]);
    assert_eq!(exported(&log), example());
    // Importing its own export changes nothing.
    let own = exported(&log);
    imported(&own, CortexImportMode::Merge, &mut log);
    assert_eq!(exported(&log), example());
    // A week later the window is empty: the only difference that is allowed.
    log.pass(7 * DAY);
    let mut later = example();
    *later
        .pointer_mut("/cortex/motor/task-management/candidates/0/runs/recent_successes_7d")
        .expect("it") = json!(0);
    assert_eq!(exported(&log), later);
}

#[test]
fn an_export_has_the_order_and_the_form_of_the_original() {
    let mut log = Log::new();
    imported(&example(), CortexImportMode::Merge, &mut log);
    insta::assert_snapshot!(export(&log.memory(), log.now, &log.policy).to_text());
}

#[test]
fn an_imported_window_counts() {
    let mut log = Log::new();
    imported(&example(), CortexImportMode::Merge, &mut log);
    log.outcome(sinew_cortex::record::SkillOutcome::success(R, "todoist-cli", "1.2.0"));
    close(log.memory().candidate(R, "todoist-cli").expect("a record").weight, 0.8575);
}

#[test]
fn a_streak_is_believed_where_nothing_ever_failed() {
    let mut log = Log::new();
    let mut file = example();
    file["cortex"]["motor"][R]["candidates"][0]["runs"]["fail"] = json!(0);
    imported(&file, CortexImportMode::Merge, &mut log);
    let memory = log.memory();
    let known = memory.candidate(R, "todoist-cli").expect("a record");
    assert_eq!((known.streak, known.counts.sum()), (11, 0.0));
    imported(&example(), CortexImportMode::Replace, &mut log);
    assert_eq!(log.memory().candidate(R, "todoist-cli").expect("a record").streak, 0);
}

#[test]
fn merging_keeps_the_record_with_more_runs_and_ties_go_to_the_file() {
    let mut log = Log::new();
    for _ in 0..3 {
        log.ok();
    }
    let file = |success: u64, weight: f64| {
        json!({"version": 1, "cortex": {"motor": {R: {"last_used": "2026-03-01", "candidates": [
            {"slug": S, "source": "clawhub", "version": "9", "weight": weight,
             "runs": {"success": success, "fail": 0, "recent_successes_7d": 0},
             "last_fail": null, "side_effects": [], "skill_md_chars": 1, "reflex": false}]}}}})
    };
    let ours = log.weight();
    imported(&file(2, 0.9), CortexImportMode::Merge, &mut log);
    close(log.weight(), ours);
    imported(&file(3, 0.9), CortexImportMode::Merge, &mut log);
    close(log.weight(), 0.9);
    assert_eq!(log.memory().motor[R].last_used, today(), "the later day stays");
    imported(&file(1, 0.7), CortexImportMode::Replace, &mut log);
    close(log.weight(), 0.7);
}

#[test]
fn bad_items_are_repaired_or_dropped_and_named() {
    let mut log = Log::new();
    let secret = format!("ghp_{}", "a1".repeat(18));
    let file = json!({
        "cortex": {
            "sensory": { "patterns": [
                { "signal": ["a", 5, "a"], "region": "Task Management" },
                { "signal": ["b"], "region": "task-management" },
                { "signal": ["c"] }
            ]},
            "motor": {
                "task-management": { "last_used": "3026-01-01", "candidates": [
                    { "slug": "x", "source": "clawhub", "version": "1", "weight": 7,
                      "runs": { "success": 2, "fail": -1, "recent_successes_7d": 9 },
                      "last_fail": { "type": "gremlins", "detail": format!("key {secret}"), "date": "never" },
                      "skill_md_chars": "many", "reflex": "yes" },
                    { "weight": 1 }, { "slug": "x" }
                ]},
                "!!!": {}, "flat": 3
            },
            "prefrontal": { "lessons": [
                { "type": "free_text", "text": "always be kind", "confidence": 1, "created": "2026-01-01" }
            ]}
        },
        "blacklist": "all",
        "stats": { "searches": -3 }
    });
    let repaired = imported(&file, CortexImportMode::Merge, &mut log);
    insta::assert_snapshot!(repaired.join("\n"));
    assert!(!exported(&log).to_string().contains(&secret));
    let memory = log.memory();
    let known = memory.candidate(R, "x").expect("a record");
    assert_eq!(
        (known.weight, known.reflex, known.side_effect_tags()),
        (1.0, false, vec!["shell:unknown"])
    );
    assert_eq!(known.last_fail.as_ref().map(|fail| fail.kind), Some(RuntimeError));
}

#[test]
fn lists_that_are_too_long_are_cut_by_the_rules_of_pruning() {
    let mut log = Log::new();
    let mut file = example();
    let motor = file["cortex"]["motor"].as_object_mut().expect("regions");
    let pattern = motor["task-management"].clone();
    for number in 0..85 {
        let mut region = pattern.clone();
        region["last_used"] = json!(format!("2025-{:02}-{:02}", 1 + number / 28, 1 + number % 28));
        motor.insert(format!("region-{number}"), region);
    }
    let candidates = motor["task-management"]["candidates"].as_array_mut().expect("candidates");
    for number in 0..6 {
        let mut candidate = candidates[0].clone();
        candidate["slug"] = json!(format!("skill-{number}"));
        candidate["weight"] = json!(0.1 * f64::from(number));
        candidates.push(candidate);
    }
    let repaired = imported(&file, CortexImportMode::Merge, &mut log);
    assert_eq!(repaired.len(), 7 + 2, "{repaired:#?}");
    let memory = log.memory();
    assert_eq!(memory.motor.len(), 80);
    assert!(!memory.motor.contains_key("region-0") && memory.motor.contains_key("region-84"));
    assert_eq!(memory.motor[R].candidates.len(), 5);
    assert!(memory.candidate(R, "skill-0").is_none() && memory.candidate(R, "skill-5").is_some());
}

#[test]
fn what_is_no_memory_at_all_is_refused() {
    for text in
        ["", "{\"version\":1,", "[]", "{}", "{\"cortex\": 1}", "{\"version\": 2, \"cortex\": {}}"]
    {
        read_cortex_json(text, today()).expect_err(text);
    }
}

fn part(region: &str, slug: &str, success: u64) -> CortexJson {
    let file = json!({"version": 1, "cortex": {
        "sensory": {"patterns": [{"signal": [slug], "region": region}]},
        "motor": {region: {"last_used": "2026-03-01", "candidates": [
            {"slug": slug, "source": "clawhub", "version": "1", "weight": 0.5,
             "runs": {"success": success, "fail": 0, "recent_successes_7d": 0},
             "last_fail": null, "side_effects": [], "skill_md_chars": 1, "reflex": false}]}}},
        "blacklist": [slug], "stats": {"searches": success}});
    read_cortex_json(&file.to_string(), today()).expect("a file").0
}

#[test]
fn what_another_program_wrote_survives() {
    let nothing = CortexJson::default();
    let merged = merge(&nothing, &part("a", "x", 1), &part("b", "y", 2));
    let names: Vec<&str> = merged.cortex.motor.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        (names, merged.blacklist, merged.stats.searches),
        (vec!["a", "b"], vec!["x".to_owned(), "y".to_owned()], 2)
    );
    let ours = part("a", "x", 5);
    assert_eq!(merge(&nothing, &ours, &part("a", "x", 4)), ours);
    assert_eq!(merge(&nothing, &ours, &part("a", "x", 6)), part("a", "x", 6));
}

#[test]
fn what_we_removed_stays_out_unless_another_writer_changed_it() {
    let before = part("a", "x", 1);
    let ours = CortexJson::default();
    let merged = merge(&before, &ours, &before);
    assert!(merged.cortex.motor.is_empty() && merged.blacklist.is_empty());
    let merged = merge(&before, &ours, &part("a", "x", 2));
    assert_eq!(merged.cortex.motor.len(), 1);
}
