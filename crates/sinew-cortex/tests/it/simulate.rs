//! The simulated worlds compared with tables of expected figures.

use sinew_cortex::drift;
use sinew_cortex::failure::FailureKind;
use sinew_cortex::simulate::{
    CADENCES, RegretPolicy, SimulationRequest, SimulationRng, TaskCadence, WINDOW_ONLY,
    clean_successes, in_one_window, simulate, simulate_calibration, simulate_regret,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[test]
fn clean_successes_match_to_the_unit() {
    for cadence in &CADENCES {
        let row = clean_successes(cadence);
        let (to_90, days, to_80, first) = row.said;
        assert_eq!((row.to_90, row.to_80), (Some(to_90), Some(to_80)), "{}", row.cadence);
        let found = row.days.expect("days");
        // The table rounds to whole days, or to a tenth.
        assert!((found - days).abs() < 0.5, "{}: {found} days", row.cadence);
        assert!(first.is_none() || row.first_reflex == first, "{}", row.cadence);
    }
    for (successes, weight) in WINDOW_ONLY {
        assert!((in_one_window(successes) - weight).abs() < 5e-5, "{successes}");
    }
}

#[test]
fn regret_lies_within_three_standard_errors() {
    for policy in RegretPolicy::ALL {
        for cell in simulate_regret(policy, None, 1).cells {
            assert!(cell.distance() < 3.0, "{}, {}: {cell:?}", policy.name(), cell.column);
        }
    }
}

/// The values of a cell of table C: granted, median first use, share of uses, failed; all but the
/// use in percent.
fn parsed(cell: &str) -> [Option<f64>; 4] {
    let number = |text: &str| text.trim_matches([' ', '%']).parse::<f64>().ok();
    let (grants, rest) = cell.split_once(',').unwrap_or((cell, ""));
    let (ever, first) = grants.split_once('@').unwrap_or((grants, ""));
    let (share, failed) = match rest.trim().strip_prefix("fails ") {
        Some(failed) => ("", failed),
        None => (rest, ""),
    };
    [number(ever), number(first), number(share), number(failed)]
}

#[test]
fn table_c_is_read_as_it_is_written() {
    assert_eq!(parsed("42 % @102, fails 27 %"), [Some(42.0), Some(102.0), None, Some(27.0)]);
    assert_eq!(parsed("23 % @48, 1.2 %"), [Some(23.0), Some(48.0), Some(1.2), None]);
    assert_eq!(parsed("0"), [Some(0.0), None, None, None]);
}

#[test]
fn reflexes_are_granted_as_often_as_early_and_as_wrongly_as_the_table_says() {
    // Table C is one draw of 200 histories per cell. Several draws of ours show how far one may be
    // from their mean.
    const DRAWS: u64 = 6;
    // Three standard errors, where the error is itself estimated from six draws (Student's t).
    const T_5: f64 = 5.5;
    let draws: Vec<_> = (1..=DRAWS).map(simulate_calibration).collect();
    let mut compared = 0;
    for row in 0..draws[0].len() {
        for column in 0..draws[0][row].grants.len() {
            let cells: Vec<_> = draws.iter().map(|draw| &draw[row].grants[column]).collect();
            let figures = cells.iter().map(|cell| {
                let first = f64::from(cell.first.unwrap_or_default());
                [100.0 * cell.ever, first, 100.0 * cell.share, 100.0 * cell.failed]
            });
            let figures: Vec<[f64; 4]> = figures.collect();
            let names = ["ever", "first", "share", "failed"];
            for (at, said) in parsed(cells[0].said).into_iter().enumerate() {
                let Some(said) = said else { continue };
                let mean = figures.iter().map(|figure| figure[at]).sum::<f64>() / DRAWS as f64;
                let spread = figures.iter().map(|figure| (figure[at] - mean).powi(2)).sum::<f64>();
                // One draw compared with the mean of several.
                let error = (spread / (DRAWS - 1) as f64 * (1.0 + 1.0 / DRAWS as f64)).sqrt();
                // A share of 200 histories has a known error; the others are judged by their
                // spread.
                let known = match at {
                    0 => (mean * (100.0 - mean) / 200.0 * (1.0 + 1.0 / DRAWS as f64)).sqrt(),
                    _ => 0.0,
                };
                // Half a unit for the table's own rounding, and one history in 200 where all agree.
                let allowed = (T_5 * error).max(3.0 * known).max(0.5) + 0.5;
                let (gate, reliability) = (cells[0].gate, draws[0][row].reliability);
                assert!(
                    (mean - said).abs() <= allowed,
                    "{gate} at {reliability}, {}: {mean:.2} ({error:.2}), and the table says {said}",
                    names[at],
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 66, "every number of the table");
}

#[test]
fn a_monthly_task_never_becomes_a_reflex() {
    let monthly = TaskCadence { name: "monthly", step_ms: 30 * DAY_MS, said: (0, 0.0, 0, None) };
    assert_eq!(clean_successes(&monthly).first_reflex, None);
}

#[test]
fn drift_alarms_are_as_rare_and_as_quick_as_said() {
    const HISTORIES: u32 = 2_000;
    let use_once = |sum: f64, reliability: f64, rng: &mut SimulationRng| {
        drift::sum_after(sum, (!rng.happens(reliability)).then_some(FailureKind::RuntimeError))
    };
    for (reliability, said) in [(0.98, 0.0), (0.95, 0.4), (0.90, 8.0)] {
        let mut rng = SimulationRng::new(1);
        let mut alarmed = 0_u32;
        for _ in 0..HISTORIES {
            let mut sum = 0.0;
            alarmed += u32::from((0..200).any(|_| {
                sum = use_once(sum, reliability, &mut rng);
                drift::raises_alarm(sum)
            }));
        }
        let found = 100.0 * f64::from(alarmed) / f64::from(HISTORIES);
        // Both are samples of 2,000.
        let error = 100.0 * (found / 100.0 * (1.0 - found / 100.0) * 2.0 / 2_000.0).sqrt();
        assert!((found - said).abs() <= 3.0 * error + 0.1, "{reliability}: {found} %");
    }
    let mut rng = SimulationRng::new(1);
    let mut quick: Vec<u32> = (0..HISTORIES)
        .map(|_| {
            let mut sum = 0.0;
            let mut uses = 0;
            while !drift::raises_alarm(sum) {
                sum = use_once(sum, 0.9 * 0.3, &mut rng);
                uses += 1;
            }
            uses
        })
        .collect();
    quick.sort_unstable();
    assert_eq!(quick[quick.len() / 2], 5, "uses to the alarm");
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let run = |seed: u64| {
        let wanted = SimulationRequest { cadence: Some("1/week"), policy: Some("cortex"), seed };
        serde_json::to_string(&simulate(&wanted)).expect("tables")
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
