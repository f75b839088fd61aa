//! Ways past the scanner, by class, beside honest texts that look alike: templates of our own in
//! `tests/data/holes`, filled with the values of their slots. A third of the variants is kept aside:
//! no rule is tuned on them.

use std::collections::BTreeMap;

use sinew_guard::scan::Verdict;

use crate::own_skills::{AsideBy, read};
use crate::support::{scanner, summary};

/// How many were blocked, warned about and allowed.
type Verdicts = [usize; 3];

/// Per cent of a class that must be blocked where it is not nearly all: ratchets, which go up.
const FLOORS: &[(&str, usize)] = &[("misc", 90), ("files", 94), ("pipe", 94)];

#[test]
fn every_class_of_holes_is_watched() {
    let mut counts: BTreeMap<(bool, String, bool), Verdicts> = BTreeMap::new();
    let tell = std::env::var_os("SINEW_HOLES").is_some();
    let all = read("holes", AsideBy::Variant);
    for variant in &all {
        let report = scanner().scan_bundle(&variant.bundle());
        let key = (variant.is_malicious, variant.class.clone(), variant.is_aside);
        let column = match report.verdict {
            Verdict::Block => 0,
            Verdict::Warn => 1,
            Verdict::Allow => 2,
        };
        counts.entry(key).or_default()[column] += 1;
        if tell && !variant.is_aside && variant.is_malicious != (column == 0) {
            let text: String = variant.files.iter().map(|(_, text)| text.as_str()).collect();
            let body = text.rsplit("# Demo").next().unwrap_or("").trim();
            eprintln!("{} {:?} {:?}\n{}", variant.id, report.verdict, body, summary(&report));
        }
    }
    let mut sums: BTreeMap<(bool, bool), Verdicts> = BTreeMap::new();
    for ((malicious, class, aside), verdicts) in &counts {
        eprintln!(
            "{} {class:10} aside {aside:5} block/warn/allow {verdicts:?}",
            if *malicious { "malicious" } else { "honest   " }
        );
        let sum = sums.entry((*malicious, *aside)).or_default();
        for (total, count) in sum.iter_mut().zip(verdicts) {
            *total += count;
        }
    }
    eprintln!("{sums:?}");
    for ((malicious, class, aside), [block, warn, allow]) in &counts {
        let total = block + warn + allow;
        if *malicious {
            let floor = FLOORS.iter().find(|(known, _)| known == class).map_or(97, |(_, at)| *at);
            assert!(block * 100 >= total * floor, "{class}: {block} of {total}, aside: {aside}");
        } else {
            assert_eq!(*block, 0, "honest {class} blocked, aside: {aside}");
        }
    }
    for aside in [false, true] {
        let [blocked, warned, allowed] = sums[&(true, aside)];
        let total = blocked + warned + allowed;
        assert!(blocked * 100 >= total * 97, "{blocked} of {total} blocked, aside: {aside}");
        assert!(
            (blocked + warned) * 100 >= total * 98,
            "{allowed} of {total} pass, aside: {aside}"
        );
        // Warnings on honest look-alikes are read and cost trust.
        let [blocked, warned, allowed] = sums[&(false, aside)];
        let total = blocked + warned + allowed;
        assert!(warned * 100 <= total * 20, "{warned} of {total} honest ones warned about");
    }
    let malicious = all.iter().filter(|variant| variant.is_malicious).count();
    assert!(malicious >= 400 && all.len() - malicious >= 400, "{malicious} of {}", all.len());
}
