//! Skills of our own in the tiers that others measure: harmful scripts behind harmless steps, orders
//! that were slipped into a skill, malware of one behaviour, odd encodings, and honest skills of the
//! same kinds. Whole templates are kept aside, so that a third of the figures is about what no rule
//! was tuned on.

use std::collections::BTreeMap;

use sinew_guard::eval::RateEstimate;
use sinew_guard::scan::Verdict;

use crate::own_skills::{AsideBy, read};
use crate::support::{scanner, summary};

/// How many were blocked, warned about and allowed.
type Verdicts = [usize; 3];

/// What must hold of a class: per cent blocked, and per cent blocked or warned about, for what rules
/// may be tuned on. These are ratchets: they go up.
const GOALS: &[(&str, usize, usize)] = &[
    ("script", 70, 85),
    ("obvious", 60, 90),
    ("contextual", 10, 45),
    ("synthetic", 80, 90),
    ("fixture", 70, 85),
    ("encoding", 70, 75),
];
/// Honest skills that may be blocked, per cent; a command that writes AGENTS.md is one of them.
const HONEST: usize = 2;

#[test]
fn the_tiers_hold_their_goals() {
    let mut counts: BTreeMap<(bool, bool, String), Verdicts> = BTreeMap::new();
    let mut wrong = Vec::new();
    let all = read("tiers", AsideBy::Template);
    for skill in &all {
        let report = scanner().scan_bundle(&skill.bundle());
        let column = match report.verdict {
            Verdict::Block => 0,
            Verdict::Warn => 1,
            Verdict::Allow => 2,
        };
        let key = (skill.is_aside, skill.is_malicious, skill.class.clone());
        counts.entry(key).or_default()[column] += 1;
        if !skill.is_aside
            && skill.is_malicious != (column == 0)
            && (skill.is_malicious || column == 0)
        {
            wrong.push(format!("{} {:?}\n{}", skill.id, report.verdict, summary(&report)));
        }
    }
    for ((aside, malicious, class), [block, warn, allow]) in &counts {
        let rate = RateEstimate::new(*block, block + warn + allow);
        eprintln!(
            "{} {class:10} aside {aside:5} block {block:3} warn {warn:3} allow {allow:3}  {:.1} % [{:.1}–{:.1}]",
            if *malicious { "malicious" } else { "honest   " },
            100.0 * rate.rate,
            100.0 * rate.low,
            100.0 * rate.high,
        );
    }
    let told = wrong.join("\n");
    for (class, blocked, flagged) in GOALS {
        let [block, warn, allow] = counts[&(false, true, (*class).to_owned())];
        let total = block + warn + allow;
        assert!(block * 100 >= total * blocked, "{class}: {block} of {total} blocked\n{told}");
        assert!(
            (block + warn) * 100 >= total * flagged,
            "{class}: {allow} of {total} pass\n{told}"
        );
    }
    let honest = counts.iter().filter(|((_, malicious, _), _)| !malicious);
    let (blocked, total) = honest.fold((0, 0), |(blocked, total), (_, [block, warn, allow])| {
        (blocked + block, total + block + warn + allow)
    });
    assert!(blocked * 100 <= total * HONEST, "{blocked} of {total} honest ones blocked\n{told}");
    let malicious = all.iter().filter(|skill| skill.is_malicious).count();
    assert!(malicious >= 400 && all.len() - malicious >= 400, "{malicious} of {}", all.len());
}
