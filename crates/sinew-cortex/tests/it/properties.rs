//! Properties that hold for every log and every text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::lesson::Lesson;
use sinew_cortex::original::{CortexJson, export, merge, read_cortex_json};
use sinew_cortex::record::{
    BlacklistOp, CortexImportMode, CortexRecord, ForgetScope, LessonOp, RecordBody, RegionSkill,
    SkillOutcome, StatKey, UseResult,
};
use sinew_cortex::signals::{
    SignalVocabulary, clean_detail, is_region, learned_words, region_name, signal_words,
};
use sinew_cortex::{
    CortexMemory, CortexPolicy, MemoryHistory, Ulid, UtcInstant, fold, learn, prune,
};
use sinew_settings::config::ShieldScope;

use crate::bundle::{DAY, start};

fn slug() -> impl Strategy<Value = String> {
    (0..8_u8).prop_map(|n| format!("skill-{n}"))
}

fn region() -> impl Strategy<Value = String> {
    (0..6_u8).prop_map(|n| format!("region-{n}"))
}

fn outcome() -> impl Strategy<Value = SkillOutcome> {
    let blame = prop_oneof![Just(1.0), 0.01..1.0_f64, Just(0.0), Just(-3.0), Just(9.0)];
    (region(), slug(), 0..12_usize, blame, any::<bool>(), 0..3_u8).prop_map(
        |(region, slug, which, blame, shielded, version)| {
            let version = format!("{version}");
            let base = match which {
                0..5 => SkillOutcome::failure(&region, &slug, &version, FailureKind::ALL[which]),
                5 => SkillOutcome::new(&region, &slug, &version, UseResult::Unknown),
                6 => SkillOutcome::failure(&region, &slug, &version, FailureKind::ApiError),
                _ => SkillOutcome::success(&region, &slug, &version),
            };
            let probes = BTreeMap::from([("env:TOKEN".to_owned(), shielded)]);
            let key = Some("ffmpeg".to_owned());
            SkillOutcome { blame, shielded: shielded && which == 1, key, probes, ..base }
        },
    )
}

fn body() -> impl Strategy<Value = RecordBody> {
    let place =
        || (slug(), region()).prop_map(|(slug, region)| RegionSkill { slug, region, run: None });
    let lesson = (region(), any::<bool>()).prop_map(|(region, ready)| match ready {
        true => Lesson::EnvReady { region, key: "TOKEN".to_owned() },
        false => Lesson::DependencyWarning { region, key: "ffmpeg".to_owned() },
    });
    let ops = prop_oneof![
        Just(LessonOp::Create),
        Just(LessonOp::Create),
        Just(LessonOp::Validate),
        Just(LessonOp::Contradict),
        Just(LessonOp::Remove)
    ];
    prop_oneof![
        20 => outcome().prop_map(|outcome| RecordBody::Outcome(Box::new(outcome))),
        2 => (region(), prop::collection::vec("[a-z]{2,5}", 1..4))
            .prop_map(|(region, words)| RecordBody::Signals { region, words, vocabulary: 1 }),
        2 => (ops, lesson)
            .prop_map(|(op, lesson)| RecordBody::Lesson { op, lesson, evidence: Vec::new() }),
        1 => (slug(), 0..3_u8, 0..3_u8).prop_map(|(slug, a, b)| RecordBody::VersionSeen {
            slug,
            stored: a.to_string(),
            found: b.to_string()
        }),
        1 => place().prop_map(RecordBody::Retained),
        1 => place().prop_map(RecordBody::Released),
        1 => place().prop_map(RecordBody::Offered),
        1 => (slug(), any::<bool>()).prop_map(|(slug, add)| RecordBody::Blacklist {
            op: if add { BlacklistOp::Add } else { BlacklistOp::Remove },
            slug,
            reason: None
        }),
        1 => Just(RecordBody::Stat { key: StatKey::Searches, by: 1 }),
        1 => prop_oneof![
            Just(ForgetScope::All),
            region().prop_map(ForgetScope::Region),
            slug().prop_map(ForgetScope::Slug)
        ]
        .prop_map(|scope| RecordBody::Reset { scope }),
    ]
}

/// A log with gaps from milliseconds to weeks, some retractions, and an order of arrival.
fn log() -> impl Strategy<Value = (Vec<CortexRecord>, Vec<usize>)> {
    let gap = prop_oneof![0..3_i64, 0..600_000_i64, 0..DAY, 0..20 * DAY];
    let steps =
        prop::collection::vec((gap, body(), prop::option::weighted(0.03, 0..100_usize)), 1..220);
    let jumps = prop::collection::vec(0..6_usize, 220);
    (steps, jumps).prop_map(|(steps, jumps)| {
        let mut now = start();
        let mut records: Vec<CortexRecord> = Vec::new();
        for (number, (gap, body, retracts)) in steps.into_iter().enumerate() {
            now = now.plus_ms(gap);
            let id = Ulid::new(now, number as u128);
            let target =
                retracts.filter(|_| !records.is_empty()).map(|at| records[at % records.len()].id);
            let body = target.map_or(body, |target| RecordBody::Retract { target });
            records.push(CortexRecord { id, ts: now, body });
        }
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_by_key(|&at| at + jumps[at]);
        (records, order)
    })
}

fn shield() -> impl Strategy<Value = ShieldScope> {
    prop_oneof![Just(ShieldScope::Bayes), Just(ShieldScope::All), Just(ShieldScope::Off)]
}

fn check_bounds(memory: &CortexMemory) -> Result<(), TestCaseError> {
    for region in memory.motor.values() {
        for candidate in &region.candidates {
            prop_assert!((0.0..=1.0).contains(&candidate.weight), "{}", candidate.weight);
            prop_assert!(candidate.counts.a >= 0.0 && candidate.counts.b >= 0.0);
            prop_assert!((0.0..=1.0).contains(&candidate.counts.lower_bound()));
            prop_assert!((0.0..=1.0).contains(&candidate.counts.mean()));
            prop_assert!(candidate.drift >= 0.0 && candidate.drift < 2.5);
            prop_assert!(u64::from(candidate.streak) <= candidate.success);
            prop_assert!(candidate.ring.chars().count() <= 32);
        }
    }
    prop_assert!(memory.lessons.iter().all(|held| held.confidence <= 100));
    prop_assert!(memory.patterns.iter().all(|pattern| pattern.signals.len() <= 10));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(96)
    ))]

    /// fold(log) = incremental updates, whatever the order of arrival and wherever it was stored.
    #[test]
    fn a_log_folds_to_one_memory((records, order) in log(), shield in shield(), step in 1..40_usize) {
        let policy = CortexPolicy { shield, ..CortexPolicy::default() };
        let whole = fold::fold(&records, &policy);
        check_bounds(&whole)?;
        let shuffled: Vec<CortexRecord> = order.iter().map(|&at| records[at].clone()).collect();
        prop_assert_eq!(fold::fold(&shuffled, &policy).to_bytes(), whole.to_bytes());

        let mut history = MemoryHistory::new(&policy);
        let mut seen = Vec::new();
        for chunk in shuffled.chunks(step) {
            seen.extend_from_slice(chunk);
            if history.add(chunk.to_vec(), &policy).is_err() {
                history = MemoryHistory::of(&seen, &policy);
            }
            let stored = serde_json::to_string(&history.snapshot()).expect("a snapshot");
            let stored = serde_json::from_str(&stored).expect("a snapshot");
            history = MemoryHistory::resume(stored, &policy).expect("the same policy");
        }
        prop_assert_eq!(history.memory().to_bytes(), whole.to_bytes());
    }

    /// Pruning at the end of learning leaves no list too long.
    #[test]
    fn pruning_never_exceeds_the_caps(
        uses in prop::collection::vec((0..120_u8, 0..9_u8, 0..6_usize, 0..3 * DAY), 1..400),
    ) {
        let policy = CortexPolicy::default();
        let mut history = MemoryHistory::new(&policy);
        let mut now = start();
        for (number, (region, slug, kind, gap)) in uses.into_iter().enumerate() {
            now = now.plus_ms(gap);
            let (region, slug) = (format!("region-{region}"), format!("skill-{slug}"));
            let outcome = match FailureKind::ALL.get(kind) {
                Some(kind) => SkillOutcome {
                    key: Some(format!("bin-{number}")),
                    ..SkillOutcome::failure(&region, &slug, "1", *kind)
                },
                None => SkillOutcome::success(&region, &slug, "1"),
            };
            let mut id = Ulid::new(now, (number as u128) << 20);
            let mut add = |body: RecordBody, history: &mut MemoryHistory| {
                id = id.next();
                history.add(vec![CortexRecord { id, ts: now, body }], &policy).expect("it follows");
                id
            };
            let learned = add(RecordBody::Outcome(Box::new(outcome.clone())), &mut history);
            let lesson = Lesson::DependencyWarning { region: region.clone(), key: format!("b{number}") };
            add(RecordBody::Lesson { op: LessonOp::Create, lesson, evidence: vec![learned] }, &mut history);
            if let Some(body) = learn::pruning_record(history.memory(), now.day(), &policy, Some((&region, &slug))) {
                add(body, &mut history);
            }
            let memory = history.memory();
            prop_assert!(memory.motor.len() <= prune::MAX_REGIONS);
            prop_assert!(memory.lessons.len() <= prune::MAX_LESSONS);
            prop_assert!(memory.motor.values().all(|region| region.candidates.len() <= prune::MAX_CANDIDATES));
        }
        check_bounds(history.memory())?;
    }

    /// Changes of writers to different regions can be merged in any grouping.
    #[test]
    fn merging_is_associative_on_disjoint_writers(sizes in prop::array::uniform3(0..6_usize), seed in 0..1_000_u64) {
        let mut next = 0;
        let parts: Vec<CortexJson> = sizes.iter().map(|&size| {
            let mut records = Vec::new();
            for _ in 0..size {
                next += 1;
                let at = start().plus_ms(i64::try_from(seed * next).expect("small"));
                let (region, slug) = (format!("region-{next}"), format!("skill-{next}"));
                let body = RecordBody::Outcome(Box::new(SkillOutcome::success(&region, &slug, "1")));
                records.push(CortexRecord { id: Ulid::new(at, u128::from(next)), ts: at, body });
                let words = vec![format!("word{next}")];
                records.push(CortexRecord {
                    id: Ulid::new(at, u128::from(next) + 1_000),
                    ts: at,
                    body: RecordBody::Signals { region, words, vocabulary: 1 },
                });
            }
            export(&fold::fold(&records, &CortexPolicy::default()), start(), &CortexPolicy::default())
        }).collect();
        let nothing = CortexJson::default();
        let join = |a: &CortexJson, b: &CortexJson| merge(&nothing, a, b);
        let left = join(&join(&parts[0], &parts[1]), &parts[2]);
        let right = join(&parts[0], &join(&parts[1], &parts[2]));
        prop_assert_eq!(left, right);
    }

    /// Whatever a task says, a signal contains nothing that could identify someone.
    #[test]
    fn no_signal_holds_an_entity(
        names in prop::collection::vec("[A-Z][a-zéüñ]{2,9}[xqzj]", 0..4),
        noise in "\\PC{0,60}",
        path in "(/[a-z]{1,8}){1,4}/[a-z]{1,8}\\.[a-z]{2,4}",
        mail in "[a-z]{1,8}@[a-z]{1,8}\\.(com|de)",
        number in "[0-9]{1,9}",
    ) {
        let vocabulary = SignalVocabulary::built_in();
        let task = format!("Send {} the report {noise} {path} {mail} {number} {}", names.join(" "), names.join(", "));
        for word in signal_words(&task, &vocabulary) {
            prop_assert!(!word.contains(|c: char| c.is_numeric() || c.is_uppercase()), "{word}");
            prop_assert!(!word.contains(['@', '/', '\\', '.', '\'']), "{word}");
            prop_assert!(vocabulary.class(&word).is_some(), "{word}");
            prop_assert!(!names.iter().any(|name| name.to_lowercase() == word), "{word}");
        }
        if let Some(found) = learned_words(&task, "skill", &vocabulary) {
            prop_assert!((2..=4).contains(&found.len()));
        }
        prop_assert!(is_region(&region_name(&signal_words(&task, &vocabulary), &noise, &vocabulary)));
        let detail = clean_detail(&task, &vocabulary);
        prop_assert!(detail.chars().count() <= 200);
        prop_assert!(!detail.contains('@') && !detail.contains('/'));
        prop_assert!(names.iter().all(|name| !detail.contains(&name.to_lowercase())), "{detail}");
    }

    /// No file makes reading panic, and a file that was read once reads back without repairs.
    #[test]
    fn a_file_reads_or_is_refused(text in "\\PC{0,200}", hole in 0..900_usize, byte in any::<u8>()) {
        let today = start().day();
        let _ = read_cortex_json(&text, today);
        let mut bytes = include_bytes!("../../data/words.tsv")[..900].to_vec();
        bytes[hole] = byte;
        let _ = read_cortex_json(&String::from_utf8_lossy(&bytes), today);
    }

    /// An import reproduces what was exported.
    #[test]
    fn an_export_imports_to_the_same_export((records, _) in log()) {
        let policy = CortexPolicy::default();
        let now = records.last().map_or(start(), |record| record.ts);
        let first = export(&fold::fold(&records, &policy), now, &policy);
        let (file, repaired) = read_cortex_json(&first.to_text(), now.day()).expect("our own file");
        let over = first.cortex.motor.iter().any(|(_, region)| region.candidates.len() > 5);
        prop_assert!(over || repaired.is_empty(), "{repaired:?}");
        let at: UtcInstant = now;
        let body = RecordBody::Import { mode: CortexImportMode::Merge, file: Box::new(file.clone()) };
        let record = CortexRecord { id: Ulid::new(at, 1), ts: at, body };
        let second = export(&fold::fold([&record], &policy), now, &policy);
        // Successes of earlier days count from midnight, which may be outside the window.
        let without_window = |file: &CortexJson| {
            let mut file = file.clone();
            for (_, region) in &mut file.cortex.motor {
                region.candidates.iter_mut().for_each(|c| c.runs.recent_successes_7d = 0);
            }
            file
        };
        prop_assert_eq!(without_window(&second), without_window(&file));
    }
}
