//! The simulated worlds against the specification's tables.

use sinew_cortex::simulate::{
    CADENCES, RegretPolicy, WINDOW_ONLY, Wanted, calibration, clean, in_one_window, regret,
    simulate,
};

#[test]
fn clean_successes_match_to_the_unit() {
    // [41], table A
    for cadence in &CADENCES {
        let row = clean(cadence);
        let (to_90, days, to_80, first) = row.said;
        assert_eq!((row.to_90, row.to_80), (Some(to_90), Some(to_80)), "{}", row.cadence);
        let found = row.days.expect("days");
        // The table rounds: whole days, or a tenth.
        assert!((found - days).abs() < 0.5, "{}: {found} days", row.cadence);
        assert!(first.is_none() || row.first_reflex == first, "{}", row.cadence);
    }
    for (successes, weight) in WINDOW_ONLY {
        assert!((in_one_window(successes) - weight).abs() < 5e-5, "{successes}");
    }
}

#[test]
fn regret_lies_within_three_standard_errors() {
    // [41], table B
    for policy in RegretPolicy::ALL {
        for cell in regret(policy, None, 1).cells {
            assert!(cell.distance() < 3.0, "{}, {}: {cell:?}", policy.name(), cell.column);
        }
    }
}

#[test]
fn reflexes_are_granted_about_as_often_as_the_table_says() {
    // Table C, whose own noise is several points: 200 histories per cell.
    for row in calibration(1) {
        for grant in &row.grants {
            let said: f64 =
                grant.said.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
            let off = (100.0 * grant.ever - said).abs();
            assert!(off <= 15.0, "{} at {}: {grant:?}", grant.gate, row.reliability);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    // [41]
    let run = |seed: u64| {
        let wanted = Wanted { cadence: Some("1/week"), policy: Some("cortex"), seed };
        serde_json::to_string(&simulate(&wanted)).expect("tables")
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
